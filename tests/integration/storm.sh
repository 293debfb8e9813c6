#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A storm of short children and short threads: nothing crashes, and what is not in the trace is counted as lost
set -eu
. tests/tap.sh
plan 22
need jq
need_sampling

n_children=200
n_threads=2000

# The number of losses of a kind.
n_lost() { reported "$1" "[.missing.rows[] | select(.code == \"$2\") | .count] | add // 0"; }

# 200 children, 20 at a time, each one zone and gone.
# shellcheck disable=SC2016 # for the recorded shell
holds "children are recorded" record children sh -c '
        i=0
        while [ $i -lt "$1" ]; do
                "$0/w_exit" &
                i=$((i + 1))
                [ $((i % 20)) -ne 0 ] || wait
        done
        wait' "$WORKLOADS" $n_children
holds "children: the trace is whole" is_whole children
read_trace children
zones=$(n_events children 'kind == "zone_begin" && zone == "only"')
gone=$(n_lost children CLIENT_GONE)
figure "children: $zones zones of $n_children programs, $gone lost"
holds "children: each zone is there or counted as lost" same $n_children $((zones + gone))
holds "children: nearly all are there" compare "$zones" ">=" "0.9 * $n_children"
holds "children: each in a process of its own" same "$zones" "$(n_different children 'zone == "only"' pid)"
# Or more: the leak checker of a build with sanitizers has a process of its own.
holds "children: all processes are known" compare "$(reported children .n_processes)" ">=" $((n_children + 1))
"$HYPROF" report "$TMPDIR/children.hyp" >"$TMPDIR/report"
if [ "$gone" -gt 0 ]; then
        holds "children: the report says what was lost" grep -q 'client regions lost' "$TMPDIR/report"
else
        holds "children: the report says nothing of losses" same 0 "$(grep -c 'client regions lost' "$TMPDIR/report")"
fi
holds "children: so does the last line of the recording" same \
        "$(lost children | awk '{ n += $2 } END { print n + 0 }')" \
        "$(sed -n 's/.* \([0-9,]*\) lost;.*/\1/p' "$TMPDIR/children.err" | tr -d ,)"

holds "threads are recorded" record threads "$WORKLOADS/w_threads" $n_threads
holds "threads: the trace is whole" is_whole threads
read_trace threads
zones=$(n_events threads 'kind == "zone_begin"')
lost_events=$(($(n_lost threads CLIENT_NO_RING) + $(n_lost threads CLIENT_RING_FULL)))
figure "threads: $zones of $((10 * n_threads)) zones, $lost_events events lost"
holds "threads: each zone is there, or its events are counted as lost" \
        compare "2 * $zones + $lost_events" ">=" $((20 * n_threads))
holds "threads: nearly all are there" compare "$zones" ">=" "0.9 * 10 * $n_threads"
holds "threads: no zone is there twice" compare "$zones" "<=" $((10 * n_threads))
holds "threads: all ends too" same "$zones" "$(n_events threads 'kind == "zone_end"')"
holds "threads: all are listed" compare "$(reported threads '.threads.rows | length')" ">=" $((n_threads + 1))

# Both at once, with samples, at the highest rate: processes of many threads, and much forking.
# shellcheck disable=SC2016
holds "both at once" record both -F 9973 sh -c '"$0/w_threads" 500 & "$0/w_fork" 30 100 & "$0/w_two_zones" 1 16 & wait' "$WORKLOADS"
holds "both: the trace is whole" is_whole both
read_trace both
holds "both: zones of w_fork" same "3000 200 1" "$(for zone in child parent forking; do
        n_events both "kind == \"zone_begin\" && zone == \"$zone\""; done | xargs)"
holds "both: zones of w_threads" same 5000 "$(n_events both 'kind == "zone_begin" && zone == "short"')"
holds "both: zones of w_two_zones" same "$(awk '/^zones/ { print 2 * $2 }' "$TMPDIR/both.out")" \
        "$(n_events both 'kind == "zone_begin" && (zone == "a" || zone == "b")')"
holds "both: samples in the right zones" same 0 \
        "$(n_events both 'kind == "sample" && (self == "busy_a" && path != "/a" || self == "busy_b" && path != "/b")')"
holds "both: nothing is lost" same "" "$(lost both)"
