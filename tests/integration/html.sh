#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `hyprof html`: one file with all answers as the commands print them, within its size, and what --redact leaves out
set -eu
. tests/tap.sh
plan 17
need jq python3

trace=tests/golden/v1.4.hyp

# Unpacks a part of a page.
part() { # file, name
        python3 -c '
import base64, gzip, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
found = re.search("id=\"data-%s\">([^<]*)<" % sys.argv[2], text)
sys.stdout.buffer.write(gzip.decompress(base64.b64decode(found.group(1))) if found else b"")' "$1" "$2"
}

html() { # name, options...
        "$HYPROF" html "$trace" -o "$TMPDIR/$1.html" "${@:2}" >"$TMPDIR/out" 2>"$TMPDIR/err"
}

answers_like() { # key, options of report...
        part "$TMPDIR/a.html" answers | jq -S --arg key "$1" '.[$key]' >"$TMPDIR/page.json" &&
                "$HYPROF" report --json -i "$trace" "${@:2}" | jq -S . >"$TMPDIR/cli.json" &&
                cmp "$TMPDIR/cli.json" "$TMPDIR/page.json"
}

holds 'a page is written' html a
holds 'a second one does not replace it' ends_with 1 html a
holds 'unless that is asked for' html a --force
html b
holds 'the same trace gives the same bytes' cmp "$TMPDIR/a.html" "$TMPDIR/b.html"
holds 'it runs nothing of elsewhere' grep -q "default-src 'none'; script-src 'unsafe-inline'" "$TMPDIR/a.html"
holds 'and names no other address' sh -c "! grep -oE '(src|href)=.(https?:)?//' '$TMPDIR/a.html'"
holds 'nothing was left out' sh -c "test -z \"\$(tr -d '\\n' <'$TMPDIR/err' | grep 'to fit')\""
holds 'functions as the command shows them' answers_like functions --functions
holds 'zones likewise' answers_like zones --zones
holds 'a zone likewise' answers_like 'zone&zone=z1' --zone z1
part "$TMPDIR/a.html" lanes >"$TMPDIR/lanes"
holds 'the lanes have their mark' same HYLN "$(head -c 4 "$TMPDIR/lanes")"
holds 'there are as many as in the model' same "$(part "$TMPDIR/a.html" model | jq '[.tracks[].lanes[]] | length')" \
        "$(od -A n -t u4 -j 8 -N 4 "$TMPDIR/lanes" | tr -d ' ')"

holds 'a size into which not even the tables fit' ends_with 1 html small --max-size 64K
holds 'leaves no file' test ! -e "$TMPDIR/small.html"

command=$("$HYPROF" report --json -i "$trace" | jq -r .command)
html redacted --redact
part "$TMPDIR/redacted.html" model >"$TMPDIR/redacted.json"
part "$TMPDIR/redacted.html" answers >>"$TMPDIR/redacted.json"
holds 'a redacted page has no command line' sh -c "! grep -qF -- '$command' '$TMPDIR/redacted.json'"
holds 'no host name' jq -e -s '.[0].host == null' "$TMPDIR/redacted.json"
holds 'no folder' sh -c "! grep -oE '\"[^\" ]*/(usr|home|lib|src)/[^\"]*\"' '$TMPDIR/redacted.json'"
