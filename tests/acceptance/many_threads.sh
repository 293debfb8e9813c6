#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# 100,000 threads that start, emit 10 zones and end: all zones are in the trace, the program stays small
set -eu
. tests/tap.sh
plan 10
need jq
need_sampling

n_threads=100000
[ "$VARIANT" != asan ] || n_threads=10000 # a thread costs ten times as much there

said() { # run, word
        awk -v word="$2" '$1 == word { print $2 }' "$TMPDIR/$1.out"
}

"$WORKLOADS/w_churn" $n_threads >"$TMPDIR/alone.out"
watch_others
began_ns=$(date +%s%N)
holds "recorded" record churn -- "$WORKLOADS/w_churn" $n_threads
took_s=$(awk -v a="$began_ns" -v b="$(date +%s%N)" 'BEGIN { printf "%.1f", (b - a) / 1e9 }')
"$HYPROF" report --json --limit 0 "$TMPDIR/churn.hyp" >"$TMPDIR/churn.json"

figure "$n_threads threads in $took_s s with the recording; the program's memory at most $(said churn peak_kib) KiB \
(alone $(said alone peak_kib)), descriptors $(said churn descriptors) (alone $(said alone descriptors))"
holds "the program ran to its end" same $n_threads "$(said churn threads)"
holds "every zone is in the trace" same $((10 * n_threads)) "$(reported churn .n_zones)"
holds "and each has ended" same 0 "$(reported churn .n_unclosed)"
holds "nothing that it said is lost" same "" "$(lost_events churn)"
holds_all_records "no record of the kernel is lost" churn
holds "no thread has more or fewer than ten" same 0 \
        "$(reported churn '[.threads.rows[] | select(.n_zones % 10 != 0)] | length')"
holds "the program holds no more descriptors than alone" compare "$(said churn descriptors)" "<=" \
        "$(said alone descriptors) + 2"
holds "recording takes less than 32 MiB of its memory" compare "$(said churn peak_kib)" "<" "$(said alone peak_kib) + 32768"
holds "it takes less than a minute" compare "$took_s" "<" 60
