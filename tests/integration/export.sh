#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `hyprof export`: its exit statuses, where it writes, and words that can be pasted
set -eu
. tests/tap.sh
plan 34

export_to() {
        "$HYPROF" export "$@"
}

"$HYPROF" export folded --waits -o - tests/golden/v1.4.hyp >/dev/null 2>"$TMPDIR/waits.err"
cd "$TMPDIR"
"$BUILD/tools/made_trace" zones plain.hyp

# The command after `try:`.
runs_try() {
        PATH=$(dirname "$HYPROF"):$PATH sh -c "$(sed -n 's/^  try: //p' err)"
}

holds 'the formats' ends_with 0 export_to --list
holds 'are twelve' same 12 "$(wc -l <out)"
holds 'no format' ends_with 2 export_to
holds 'no such format' ends_with 2 export_to nothing plain.hyp
holds 'a trace and -i' ends_with 2 export_to folded -i plain.hyp plain.hyp
holds 'no such trace' ends_with 1 export_to folded nothing.hyp
holds 'a number that is none' ends_with 2 export_to firefox --max-markers many plain.hyp

holds '-i is the trace' ends_with 0 export_to folded -i plain.hyp
holds 'named like it' test -f plain.folded
holds 'standard input' ends_with 0 export_to folded -o - - <plain.hyp
holds 'which gives the same' cmp out plain.folded
holds '--waits is for call stacks' ends_with 2 export_to --waits pprof plain.hyp
holds 'waits without a call stack are counted' grep -q '^hyprof: 3 waits without a call stack' waits.err
holds '--quiet' ends_with 0 export_to --quiet --force folded plain.hyp
holds 'says nothing' test ! -s err

holds 'a file that is there stays' ends_with 1 export_to folded plain.hyp
holds 'and what to try writes it' runs_try
cp plain.hyp "it's a \$(false) trace.hyp"
holds 'a trace with an odd name' ends_with 0 export_to folded "it's a \$(false) trace.hyp"
holds 'what comes next is quoted' grep -qF "flamegraph.pl 'it'\\''s a \$(false) trace.folded'" err
holds 'it is there already' ends_with 1 export_to folded "it's a \$(false) trace.hyp"
holds 'and what to try writes it as well' runs_try
holds 'a file with an odd name' ends_with 0 export_to pprof -o 'a & b.gz' plain.hyp
holds 'that is there already' ends_with 1 export_to pprof -o 'a & b.gz' plain.hyp
holds 'is written by what to try' runs_try
holds 'packed, for who reads that' ends_with 0 export_to perfetto -o packed.gz plain.hyp
holds 'is opened as it is' grep -q '^next: trace_processor_shell packed.gz' err
holds 'packed, for who does not' ends_with 0 export_to folded -o packed.folded.gz plain.hyp
holds 'is unpacked first' grep -q '^next: gunzip packed.folded.gz' err
holds 'a folder' ends_with 1 export_to folded -o . plain.hyp

# ---- for whom root works
if [ "$(id -u)" -eq 0 ]; then
        folder=$(mktemp -d /tmp/hyprof-export.XXXXXX) # the test's own is closed to other users
        trap 'rm -rf "$folder"' EXIT
        cp plain.hyp "$folder/"
        chown -R 65534:65533 "$folder"
        by_sudo() { (cd "$folder" && exec env SUDO_UID=65534 SUDO_GID=65533 "$HYPROF" "$@"); }
        holds "under sudo" ends_with 0 by_sudo export --force -o owned.json chrome plain.hyp
        holds "the file belongs to the user" same "65534 65533" "$(stat -c '%u %g' "$folder/owned.json")"
        holds "a database as well" ends_with 0 by_sudo query --sqlite owned.db plain.hyp
        holds "belongs to the user" same "65534 65533" "$(stat -c '%u %g' "$folder/owned.db")"
else
        skips_group "under sudo" "right: root has no choice of owners here"
fi
limited() { (ulimit -f 0 && "$HYPROF" export --force -o long.json chrome plain.hyp 2>&1) | cat; }
holds "a limit on the length of files is an error, and said" same 1 "$(limited | grep -c 'error: .*File too large')"
