#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Who builds unwind tables has no rights, ends with the recording, and costs callstacks, not the recording, if it dies
set -eu
. tests/tap.sh
plan 11
need_sampling

# Run as the command of a recording: shows or kills its recorder's builder of tables, then starts programs.
cat >"$TMPDIR/command" <<'END'
for process in /proc/[0-9]*; do
        [ "$(cat "$process/comm" 2>/dev/null)" = hyprof-tables ] || continue
        [ "$(sed -n 's/^PPid:\t//p' "$process/status")" = "$PPID" ] || continue
        cat "$process/status" >"$1"
        [ "$2" != kill ] || kill -9 "${process#/proc/}"
done
uname >/dev/null
exit 3
END

# How many files the report says could not be read.
n_failed() { sed -nE 's/^[^0-9]*([0-9,]+) files? whose unwind information could not be read.*/\1/p' "$1"; }

record_with() { # what the command does, option...
        "$HYPROF" record -q --no-symbolize "${@:2}" -o "$TMPDIR/t.hyp" -- sh "$TMPDIR/command" "$TMPDIR/status" "$1"
}

report() { "$HYPROF" report "$TMPDIR/t.hyp" >"$TMPDIR/report"; }

is_gone() { [ ! -d "/proc/$(sed -n 's/^Pid:\t//p' "$TMPDIR/status")" ]; }

holds "a recording has a builder of tables" ends_with 3 record_with show
holds "it has no capabilities" same "0000000000000000" "$(sed -n 's/^Cap\(Prm\|Eff\|Amb\):\t//p' "$TMPDIR/status" | sort -u)"
holds "and can gain none" same 1 "$(sed -n 's/^NoNewPrivs:\t//p' "$TMPDIR/status")"
holds "it ends with the recording" is_gone
holds "the trace can be read" report
holds "all files could be read" same "" "$(n_failed "$TMPDIR/report")"

holds "it is killed: the recording goes on" ends_with 3 record_with kill
holds "the trace can be read" report
holds "the report says what is missing" compare "$(n_failed "$TMPDIR/report")" ">" 0

rm "$TMPDIR/status"
holds "by frame pointers alone there is none" ends_with 3 record_with show --unwind=fp
holds "it was left alone" [ ! -e "$TMPDIR/status" ]
