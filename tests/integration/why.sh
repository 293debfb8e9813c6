#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `hyprof why`: its exit statuses, its four formats, and an answer for traces that say little
set -eu
. tests/tap.sh
need jq
need_sampling

why() {
        "$HYPROF" why "$@"
}

record small "$WORKLOADS/w_why" none 100
record bare true

holds 'an answer' ends_with 0 why --zone request "$TMPDIR/small.hyp"
holds 'its first line is words' grep -q '^[a-z0-9]' "$TMPDIR/out"
holds 'too few slow instances are said to be' ends_with 0 why --zone request --json "$TMPDIR/small.hyp"
holds 'and no cause is named' jq -e '.schema == "hyprof.why/1" and .cause == "none" and
        (.answer | startswith("not enough instances"))' "$TMPDIR/out"
holds 'more slow instances' ends_with 0 why --zone request --slowest 20% --json "$TMPDIR/small.hyp"
holds 'their shares add up' jq -e '(.slow_instances == 20) and
        ([.causes.rows[].share] | add | . > 0.999 and . < 1.001)' "$TMPDIR/out"
holds 'a limit in time' ends_with 0 why --zone request --slower-than 1us --json "$TMPDIR/small.hyp"
holds 'all last longer than a microsecond' jq -e '.slow_instances == 100' "$TMPDIR/out"
holds 'Markdown' ends_with 0 why --zone request --format md "$TMPDIR/small.hyp"
holds 'CSV of a table' ends_with 0 why --zone request --slowest 20% --csv --section slowest "$TMPDIR/small.hyp"
holds 'with the names of the columns' grep -q '^at_ns,duration_ns,' "$TMPDIR/out"
holds 'standard input' ends_with 0 why --zone request - <"$TMPDIR/small.hyp"
holds 'no zone is named' ends_with 2 why "$TMPDIR/small.hyp"
holds 'a share that is none' ends_with 2 why --zone request --slowest 200% "$TMPDIR/small.hyp"
holds 'a time that is none' ends_with 2 why --zone request --slower-than soon "$TMPDIR/small.hyp"
holds 'an empty pattern' ends_with 2 why --zone '' "$TMPDIR/small.hyp"
holds 'no such zone' ends_with 1 why --zone nowhere "$TMPDIR/small.hyp"
holds 'no such zone in a trace without any' ends_with 1 why --zone request "$TMPDIR/bare.hyp"
holds 'no such file' ends_with 1 why --zone request "$TMPDIR/nothing.hyp"
echo "1..$n_cases"
