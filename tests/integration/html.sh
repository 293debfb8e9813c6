#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `hyprof html`: one file with all answers as the commands print them, within its size, and what --redact leaves out
set -eu
. tests/tap.sh
. tests/page_part.sh
plan 47
need jq python3 script

trace=tests/golden/v1.4.hyp

html() { # name, options...
        "$HYPROF" html "$trace" -o "$TMPDIR/$1.html" "${@:2}" >"$TMPDIR/out" 2>"$TMPDIR/err"
}

answers_like() { # key, options of report...
        part "$TMPDIR/a.html" answers | jq -S --arg key "$1" '.[$key]' >"$TMPDIR/page.json" &&
                "$HYPROF" report --json --limit 0 -i "$trace" "${@:2}" | jq -S . >"$TMPDIR/cli.json" &&
                cmp "$TMPDIR/cli.json" "$TMPDIR/page.json"
}

holds 'a page is written' html a
holds 'a second one does not replace it' ends_with 1 html a
holds 'unless that is asked for' html a --force
html b
holds 'the same trace gives the same bytes' cmp "$TMPDIR/a.html" "$TMPDIR/b.html"
shown() { # 1 = a terminal is told what is made; options...
        script -qec "'$HYPROF' html '$trace' -o '$TMPDIR/shown.html' --force ${*:2}" /dev/null </dev/null >"$TMPDIR/screen"
        same "$1" "$(grep -c 'making the page: the timeline' "$TMPDIR/screen")"
}
holds 'a terminal is told what is made' shown 1
holds 'but not with -q' shown 0 -q
holds 'and nothing else is' sh -c "! grep 'making the page' '$TMPDIR/err'"
holds 'it runs nothing of elsewhere' grep -q "default-src 'none'; script-src 'unsafe-inline'" "$TMPDIR/a.html"
holds 'and names no other address' sh -c "! grep -oE '(src|href)=.(https?:)?//' '$TMPDIR/a.html'"
holds 'nothing was left out' sh -c "test -z \"\$(tr -d '\\n' <'$TMPDIR/err' | grep 'to fit')\""
holds 'functions as the command shows them' answers_like functions --functions
holds 'zones likewise' answers_like zones --zones
# One reading of the trace answers these and the two before.
while read -r key option; do
        holds "likewise $key" answers_like "$key" "$option"
done <<'END'
top_down --top-down
top_down&zones_as_frames=1 --zones-as-frames
bottom_up --bottom-up
threads --threads
off_cpu --off-cpu
cpus --cpus
syscalls --syscalls
END
also() { "$HYPROF" report --json --whole -i "$trace" "$@"; }
also --functions --also=zones --also=threads >"$TMPDIR/also"
for view in functions zones threads; do
        also --$view
        printf '\0'
done >"$TMPDIR/alone"
holds 'each document of several has a NUL after it' cmp "$TMPDIR/also" "$TMPDIR/alone"
holds 'only views come together' ends_with 2 also --functions --also=native
holds 'a zone likewise' answers_like 'zone&zone=z1' --zone z1
part "$TMPDIR/a.html" lanes >"$TMPDIR/lanes"
holds 'the lanes have their mark' same HYLN "$(head -c 4 "$TMPDIR/lanes")"
holds 'there are as many as in the model' same "$(part "$TMPDIR/a.html" model | jq '[.tracks[].lanes[]] | length')" \
        "$(od -A n -t u4 -j 8 -N 4 "$TMPDIR/lanes" | tr -d ' ')"

holds 'a size into which not even the tables fit' ends_with 1 html small --max-size 64K
holds 'leaves no file' test ! -e "$TMPDIR/small.html"
# The page is no larger than it may be; its file is.
holds 'a file that may not be as large' ends_with 1 sh -c "ulimit -f 8; trap '' XFSZ; exec \"$HYPROF\" html \"$trace\" -o \"$TMPDIR/small.html\""
holds 'is no reason for a larger --max-size' same 1 "$(grep -c '' "$TMPDIR/err")"

holds 'notes and pins come along' html marked --note '1s=here' --note '1.5s..2s=<b>&' --pin 'frames*' --pin '*'
note_is() { part "$TMPDIR/marked.html" notes | jq -e "$1"; }
holds 'a note has its time and text' note_is '.[0] == {from: 1000000000, to: 1000000000, text: "here"}'
holds 'or its range, and any text' note_is '.[1] == {from: 1500000000, to: 2000000000, text: "<b>&"} and length == 2'
track_keys() { part "$TMPDIR/marked.html" model | jq -c '[.tracks[] | .kind + ":" + (.id | tostring)] | sort'; }
holds 'each track is pinned once' same "$(track_keys)" "$(part "$TMPDIR/marked.html" tracks | jq -c '.pinned | sort')"
holds 'without them there is no such part' sh -c "! grep -q 'id=.data-\(notes\|tracks\)' '$TMPDIR/a.html'"
html marked --force --redact --note '1s=of /home/someone/x.c'
holds 'a note is redacted as all else' note_is '.[0].text == "of x.c"'

command=$("$HYPROF" report --json --limit 0 -i "$trace" | jq -r .command)
html redacted --redact
part "$TMPDIR/redacted.html" model >"$TMPDIR/redacted.json"
part "$TMPDIR/redacted.html" answers >>"$TMPDIR/redacted.json"
holds 'a redacted page has no command line' sh -c "! grep -qF -- '$command' '$TMPDIR/redacted.json'"
holds 'no host name' jq -e -s '.[0].host == null' "$TMPDIR/redacted.json"
holds 'no folder' sh -c "! grep -oE '\"[^\" ]*/(usr|home|lib|src)/[^\"]*\"' '$TMPDIR/redacted.json'"

# Folders with blanks and other signs, in paths of modules, of sources and of the program's messages.
if "$HYPROF" doctor >"$TMPDIR/doctor" 2>&1; then
        there="$TMPDIR/jane doe/secret=a,(b):c"
        mkdir -p "$there"
        cp "$WORKLOADS/w_two_zones" "$there/my prog"
        "$HYPROF" record -q -o "$TMPDIR/far.hyp" -- "$there/my prog" 0.2 >"$TMPDIR/out"
        "$HYPROF" html --redact "$TMPDIR/far.hyp" -o "$TMPDIR/far.html" 2>"$TMPDIR/err"
        for name in model answers strings; do part "$TMPDIR/far.html" $name; done >"$TMPDIR/far.json"
        holds 'a folder with a blank is left out' same 0 "$(grep -c 'jane\|secret' "$TMPDIR/far.json" || true)"
        holds 'its file is named' grep -q 'my prog' "$TMPDIR/far.json"
else
        skips_group 'folders with blanks' "$(grep -m 1 '^ *no ' "$TMPDIR/doctor")"
fi

# ---- the ladder of what is left out; sizes from what is written, since the pages' own size changes
"$BUILD/tools/made_trace" many "$TMPDIR/many.hyp" 100000 20000
# The words of the page and of standard error agree, and the file is not larger than was asked for.
fits() { # bytes, words of what is left out, how many lines
        "$HYPROF" html "$TMPDIR/many.hyp" -o "$TMPDIR/fit.html" --force --max-size "$1" 2>"$TMPDIR/err" || { cat "$TMPDIR/err" && return 1; }
        part "$TMPDIR/fit.html" model | jq -r '.file.dropped[]' >"$TMPDIR/dropped"
        grep -q "$2" "$TMPDIR/dropped" || { cat "$TMPDIR/dropped" && return 1; }
        same "$3" "$(wc -l <"$TMPDIR/dropped")" &&
                same "$(cat "$TMPDIR/dropped")" "$(sed -n 's/.*to fit: //p' "$TMPDIR/err")" &&
                compare "$(stat -c %s "$TMPDIR/fit.html")" '<=' "$1" &&
                part "$TMPDIR/fit.html" model | jq -e '.file.is_complete == false' >/dev/null
}
"$HYPROF" html "$TMPDIR/many.hyp" -o "$TMPDIR/whole.html" 2>/dev/null
whole=$(stat -c %s "$TMPDIR/whole.html")
holds 'a whole page says so' sh -c "$(declare -f part); part '$TMPDIR/whole.html' model | jq -e '.file.is_complete and .file.dropped == [] and .file.merged_below_ns == 0'"
"$HYPROF" html "$TMPDIR/many.hyp" -o "$TMPDIR/fit.html" --max-size $((whole + 66000)) 2>/dev/null
holds 'lanes so regular that an item has less than two bytes are whole where they fit' jq -e '.file.is_complete' <(part "$TMPDIR/fit.html" model)
holds 'what is short is merged first' fits $((whole + 44000)) '^zones and other items shorter than .* are merged$' 1
holds 'the page knows below which time' jq -e '.file.merged_below_ns >= 256 and .file.has_samples' <(part "$TMPDIR/fit.html" model)
holds 'too small a size' ends_with 1 "$HYPROF" html "$TMPDIR/many.hyp" -o "$TMPDIR/no.html" --max-size 64K
tables=$(sed -n 's/.*the tables alone need \([0-9]*\) bytes.*/\1/p' "$TMPDIR/err")
holds 'samples and single pages go next' fits $((tables + 5000)) '^samples are left out' 3
holds 'the timeline goes last' fits "$tables" '^the timeline is left out$' 3
holds 'the page has no lanes then' same '' "$(part "$TMPDIR/fit.html" lanes)"
