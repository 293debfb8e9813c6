#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The same program has the same shares, whatever its events are bound to: a cgroup, CPUs or threads
set -eu
. tests/tap.sh
plan 30
need jq
need_sampling
# With a sanitizer, the search for leaks at the end is a process of its own.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"

share() { # trace, function: percent of the samples
        reported "$1" "100 * ([.functions.rows[] | select(.function == \"$2\") | .self_samples] | add // 0) / ([.functions.rows[] | .self_samples] | add)"
}

truth="forty 40 twenty_five 25 fifteen 15 twelve 12 eight 8"
for scope in threads cgroup cpus; do
        # Left out for a missing right alone: any other failure is one.
        if ! record "$scope" --scope="$scope" -- "$WORKLOADS/w_shares" 3; then
                grep -qE '^hyprof: error: .*(not permitted|cgroup2)' "$TMPDIR/$scope.err" || { cat "$TMPDIR/$scope.err" && exit 1; }
                skips_group "$scope" "$(head -n 1 "$TMPDIR/$scope.err")"
                continue
        fi
        read_trace "$scope"
        # shellcheck disable=SC2086 # pairs
        set -- $truth
        words=
        while [ $# -gt 0 ]; do
                found=$(share "$scope" "$1")
                words+=$(printf ' %s %.2f%%' "$1" "$found")
                holds "$scope: $1() has $2%, within 1.5 points" compare "($found - $2) ^ 2" "<" "1.5 ^ 2"
                shift 2
        done
        figure "$scope:$words, $(n_events "$scope" 'kind == "sample"') samples"
        holds "$scope: one sample for each period of the 3 seconds, within 4%" compare \
                "($(n_events "$scope" 'kind == "sample"') - 3 * 997) ^ 2" "<" "(0.04 * 3 * 997) ^ 2"
        holds "$scope: samples of no one else" same 1 "$(n_different "$scope" 'kind == "sample"' pid)"
        holds "$scope: the trace says which scope it is" same $scope "$(reported "$scope" .scope)"
        holds "$scope: only threads miss short-lived children" same "$([ $scope = threads ] && echo SHORT_CHILDREN)" \
                "$(reported "$scope" '.missing.rows[] | select(.code == "SHORT_CHILDREN") | .code')"
        holds "$scope: nothing is lost" same "" "$(lost_records "$scope")"
done
