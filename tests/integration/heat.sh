#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# report --heat: each sample and each instance is in the cell of its time, in text, JSON and CSV, with filters
# shellcheck disable=SC2016 # jq's, awk's
set -eu
. tests/tap.sh
plan 12
need jq
need_sampling

record two -F 997 "$WORKLOADS/w_two_zones" 0.4 2
trace=$TMPDIR/two.hyp

heat() { # jq's expression, options...
        "$HYPROF" report --heat --json --limit 0 "${@:2}" "$trace" | jq -e "$1"
}
n_samples=$("$HYPROF" report --json --limit 0 "$trace" | jq .n_samples)
zone=$("$HYPROF" report --zones --json "$trace" | jq -r '[.zones.rows[] | select(.count > 1)][0].name')
"$HYPROF" report --zone "$zone" --json --limit 0 "$trace" >"$TMPDIR/zone.json"
slowest=$(jq '.slowest.rows[0].at_ns' "$TMPDIR/zone.json")

holds "all samples are in cells" heat ".samples == $n_samples and ([.cells.rows[].samples] | add) == $n_samples"
holds "cells are in the order of time" heat '[.cells.rows[].at_ns] | . == (sort | unique)'
holds "and within the grid" heat '. as $g | all(.cells.rows[]; .at_ns >= $g.begin_ns and .at_ns < $g.begin_ns + $g.columns * $g.column_ns and
        (.at_ns - $g.begin_ns) % $g.row_ns == 0)'
holds "a column has 50 rows" heat '.row_ns * 50 == .column_ns'
holds "instances that were closed are in cells" heat ".zones == $(jq '[.threads.rows[].count] | add' "$TMPDIR/zone.json") and
        ([.cells.rows[].zones] | add) == .zones" --zone "$zone"
holds "the longest one where it began" heat ". as \$g | [.cells.rows[] | select(.zones > 0)] | max_by(.longest_ns) |
        .longest_ns == $(jq '.slowest.rows[0].duration_ns' "$TMPDIR/zone.json") and .at_ns <= $slowest and $slowest < .at_ns + \$g.row_ns" --zone "$zone"
middle=$(("$(jq .duration_ns "$TMPDIR/zone.json")" / 2))
before=$(heat .samples --to "${middle}ns") && after=$(heat .samples --from "${middle}ns")
holds "parts of the time are the whole" same "$n_samples" $((before + after))
holds "CSV has the cells" same "$n_samples" "$("$HYPROF" report --heat --csv "$trace" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next } { n += $column["samples"] } END { print n }')"
COLUMNS=80 "$HYPROF" report --heat "$trace" >"$TMPDIR/text"
holds "text has 25 rows, within 80 columns" awk 'length($0) > 80 { bad = 1 } /█/ { top = 1 } /^ *[0-9.]+ (ns|us|ms|s)  / { rows++ } END { exit bad || !top || rows != 25 }' "$TMPDIR/text"
holds "its first line is the fullest cell" grep -qE "^the most samples in [0-9.]+ (us|ms): $(heat '[.cells.rows[].samples] | max') of " "$TMPDIR/text"
holds "nothing passes" bash -c '! "$0" report --heat --cpu 4095 "$1"' "$HYPROF" "$trace"
holds "one view at a time" ends_with 2 "$HYPROF" report --heat --idle "$trace"
