#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A one-file page adds up functions and zones over a time range to the same digits as the command line
set -eu
. tests/tap.sh
plan 6
need node
need_sampling
. tests/browser/run_node.sh

"$HYPROF" record -q -o "$TMPDIR/examples.hyp" -- "$WORKLOADS/w_examples" >"$TMPDIR/out" 2>&1
"$HYPROF" record -q -o "$TMPDIR/ranges.hyp" -- "$WORKLOADS/w_ranges" 20000 >"$TMPDIR/out" 2>&1
export TRACES="$TMPDIR/examples.hyp $TMPDIR/ranges.hyp"
run_node tests/browser/range_sums.js
