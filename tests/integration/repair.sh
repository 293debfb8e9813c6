#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof check --repair: the trace is never written to, and the old file stays; for a lack of memory see no_memory.sh
set -eu
. tests/tap.sh
plan 23
need jq python3 sha256sum

trace=$TMPDIR/intact.hyp
"$BUILD/tools/made_trace" many "$trace" 10000 3000
sum() { sha256sum <"$1"; }
events() { "$HYPROF" check --json --limit 0 "$1" 2>/dev/null | jq '.traces.rows[0].n_events'; }

# ---- a trace that is cut off
head -c "$(($(stat -c %s "$trace") * 2 / 3))" "$trace" >"$TMPDIR/cut.hyp"
chmod 640 "$TMPDIR/cut.hyp"
cut=$(sum "$TMPDIR/cut.hyp")
n_cut=$(events "$TMPDIR/cut.hyp")
holds "there is something to lose" compare "$n_cut" ">" 1000
try_repair() { "$HYPROF" check --repair "$1" >"$TMPDIR/out" 2>"$TMPDIR/err"; }
holds "a trace that is cut off is repaired" ends_with 0 "$HYPROF" check --repair "$TMPDIR/cut.hyp"
holds "says where the old file is" grep -qF "kept as $TMPDIR/cut.hyp.unrepaired" "$TMPDIR/err"
holds "which is as it was" same "$cut" "$(sum "$TMPDIR/cut.hyp.unrepaired")"
holds "the new one is whole, with all events" same "$n_cut" "$(events "$TMPDIR/cut.hyp")"
holds "with the mode of the old one" same 640 "$(stat -c %a "$TMPDIR/cut.hyp")"
repaired=$(sum "$TMPDIR/cut.hyp")
holds "repairing what is whole" ends_with 0 "$HYPROF" check --repair "$TMPDIR/cut.hyp"
holds "changes nothing" same "$repaired" "$(sum "$TMPDIR/cut.hyp")"
head -c "$(($(stat -c %s "$trace") / 3))" "$trace" >"$TMPDIR/cut.hyp"
holds "another one of that name" ends_with 0 "$HYPROF" check --repair "$TMPDIR/cut.hyp"
holds "does not replace the old file that was kept" same "$cut" "$(sum "$TMPDIR/cut.hyp.unrepaired")"
holds "its own is beside it" test -s "$TMPDIR/cut.hyp.unrepaired-2"
holds "nothing else is left behind" same 3 "$(find "$TMPDIR" -name 'cut.hyp*' | wc -l)"
advises_file() { # command that reads the trace from a pipe
        ends_with 1 sh -c "cat '$TMPDIR/cut.hyp.unrepaired' | '$HYPROF' $1 >'$TMPDIR/said'" &&
                same "  try: write it to a FILE, and then hyprof check --repair FILE" "$(grep 'try:' "$TMPDIR/err")"
}
holds "one from standard input goes to a file first" advises_file "check -"
holds "dump says so" advises_file "dump -"
holds "dump of a part, too" advises_file "dump --from 0s -"
holds "standard input cannot be repaired" ends_with 1 "$HYPROF" check --repair - <"$TMPDIR/cut.hyp.unrepaired"

# ---- a trace that is still being written: another process has its lock, as a recorder does
head -c "$(($(stat -c %s "$trace") * 2 / 3))" "$trace" >"$TMPDIR/grows.hyp"
mkfifo "$TMPDIR/gate"
python3 -c 'import fcntl, sys
with open(sys.argv[1], "r+b") as trace:
    fcntl.lockf(trace, fcntl.LOCK_EX)
    print("locked", flush=True)
    sys.stdin.read()' "$TMPDIR/grows.hyp" <"$TMPDIR/gate" >"$TMPDIR/locked" &
writer=$!
exec 7>"$TMPDIR/gate"
until [ -s "$TMPDIR/locked" ]; do sleep 0.05; done
holds "one that is still being written is not repaired" ends_with 1 "$HYPROF" check --repair "$TMPDIR/grows.hyp"
holds "and stays" test ! -e "$TMPDIR/grows.hyp.unrepaired"
holds "check says what it is" same "still being written" "$("$HYPROF" check --json --limit 0 "$TMPDIR/grows.hyp" 2>/dev/null | jq -r '.traces.rows[0].result')"
holds "report shows it so far" ends_with 0 "$HYPROF" report --zones "$TMPDIR/grows.hyp"
holds "and says so" grep -q 'grows.hyp: still being written, after byte' "$TMPDIR/err"
holds "symbolize does not write over it" ends_with 1 "$HYPROF" symbolize "$TMPDIR/grows.hyp"
exec 7>&-
wait "$writer"
holds "without its writer it is cut off" same "cut off" "$("$HYPROF" check --json --limit 0 "$TMPDIR/grows.hyp" 2>/dev/null | jq -r '.traces.rows[0].result')"
