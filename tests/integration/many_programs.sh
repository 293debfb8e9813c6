#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Thousands of programs, one after the other: all are in the trace, and the recorder's memory does not grow with them
set -eu
. tests/tap.sh
plan 5
need jq
need_sampling

# The recorder is the parent of the command.
cat >"$TMPDIR/programs.sh" <<'SH'
run() {
        i=0
        while [ "$i" -lt "$1" ]; do
                /bin/true
                i=$((i + 1))
        done
}
memory() { awk '/^Anonymous/ { print $2 }' "/proc/$PPID/smaps_rollup" >"$1"; }
run 1000
memory "$1/after_1000"
run 4000
memory "$1/after_5000"
SH
holds "recorded" record programs -F 97 -- sh "$TMPDIR/programs.sh" "$TMPDIR"
holds "the trace is whole" is_whole programs
"$HYPROF" report --json --limit 0 "$TMPDIR/programs.hyp" >"$TMPDIR/programs.json"
holds "all programs are in it" compare "$(reported programs .n_processes)" ">=" 5000
# 570 bytes each, once; the pieces that the allocator takes from the kernel are some hundred kilobytes
grown=$(($(cat "$TMPDIR/after_5000") - $(cat "$TMPDIR/after_1000")))
figure "4,000 programs more: $grown KB more"
holds "the recorder's memory did not grow with them" compare "$grown" "<" 1200
holds "names are found with the mappings that are left" compare \
        "$(reported programs '[.functions.rows[] | select(.kind != "no_symbol")] | length')" ">" 0
