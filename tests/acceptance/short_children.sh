#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Children that live for less than a sampling period are sampled as long as they run, each under its own name and number
set -eu
. tests/tap.sh
plan 16
need jq
need_sampling
# With a sanitizer, the search for leaks at the end is a process of its own.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"

cpu_ms() { # trace: what its samples stand for
        "$HYPROF" dump "$TMPDIR/$1.hyp" | awk '$1 == "sample" { for (i = 2; i <= NF; i++) if ($i ~ /^weight=/) { sub("weight=", "", $i); sum += $i } }
                END { printf "%.1f", sum / 1e6 }'
}

# Besides the promised 5%, two standard deviations of chance are allowed, at a sample each 1.003 ms.  A higher rate would
# not help: the time in the timer's interrupt, 5% of all at 5 kHz, belongs to no child.  The time that a child runs after
# its parent saw its end is in no rusage (2 to 3%), nor is the time that a virtual machine's host takes away meanwhile.
stolen_ms() {
        awk -v hz="$(getconf CLK_TCK)" '$1 == "cpu" { print $9 * 1000 / hz }' /proc/stat
}

# A scope may be left out for a missing right alone, which hyprof names; any other failure is one.
is_permitted() { # scope
        record "$1" --scope="$1" -- true || ! grep -qE '^hyprof: error: .*(not permitted|cgroup2)' "$TMPDIR/$1.err"
}

for scope in cgroup cpus; do
        stolen_ms=$(stolen_ms)
        if ! is_permitted "$scope"; then
                skips_group "$scope" "$(head -n 1 "$TMPDIR/$scope.err")"
                continue
        fi
        watch_others
        record "$scope" --scope="$scope" -- "$WORKLOADS/w_short_lived" 9000
        used_ms=$(awk '{ printf "%.1f", $1 * 1000 }' "$TMPDIR/$scope.out")
        stolen_ms=$(($(stolen_ms) - stolen_ms))
        sampled_ms=$(cpu_ms $scope)
        figure "$scope: 9,000 children of 0.3 ms used $used_ms ms, the samples stand for $sampled_ms ms, $stolen_ms ms stolen:\
 $(awk "BEGIN { printf \"%.1f\", 100 * $sampled_ms / $used_ms }")%"
        chance_ms="2 * sqrt(1.003 * $used_ms)"
        holds "$scope: sampled time at least 95% of what was used, but for chance" \
                compare "$sampled_ms" ">" "0.95 * $used_ms - $chance_ms"
        holds "$scope: ... and at most 105%" compare "$sampled_ms" "<" "1.05 * ($used_ms + $stolen_ms) + $chance_ms"
        "$HYPROF" report --json --limit 0 "$TMPDIR/$scope.hyp" >"$TMPDIR/$scope.json"
        holds "$scope: all children are there" same 9001 "$(reported "$scope" .n_processes)"
        holds_all_records "$scope: nothing is lost" "$scope"
done

# 1.5 ms each: about 500 a second.  The name of each says which it is, and it prints that beside its number.
for scope in cgroup cpus; do
        is_permitted "$scope" || continue # which is said above
        watch_others
        record "$scope" --scope="$scope" -- "$WORKLOADS/w_named_children" 2000
        read_trace "$scope"
        busy='kind == "sample" && self == "burn_named"'
        figure "$scope: 2,000 named children of 1.5 ms in $(reported "$scope" .duration_ns | awk '{ printf "%.1f s", $1 / 1e9 }'):\
 $(n_different "$scope" "$busy" pid) have samples"
        holds "$scope: children that have samples" compare "$(n_different "$scope" "$busy" pid)" ">=" "0.95 * 2000"
        # shellcheck disable=SC2016,SC2154 # for awk; of tap.sh
        holds "$scope: each sample is under its child's name" awk -F '\t' "$columns"'
                NR == FNR { split($0, word, " "); name[word[1]] = word[2]; next }
                '"$busy"' { n++; bad += name[pid] != thread }
                END { print n + 0, "samples,", bad + 0, "under a wrong name"; exit !(n > 0 && bad == 0) }' \
                "$TMPDIR/$scope.out" "$TMPDIR/$scope.events"
        holds "$scope: no name is lost" same 2000 "$(awk -F '\t' '$5 ~ /^child-/ { seen[$5] = 1 }
                END { for (one in seen) n++; print n + 0 }' "$TMPDIR/$scope.events")"
        holds_all_records "$scope: nothing is lost of them" "$scope"
done
