#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Two zones, changed 20,000 times a second by each of 4 threads on 2 CPUs: at least 99.9% of the samples are in theirs
set -eu
. tests/tap.sh
plan 20
need jq taskset
need_sampling

seconds=4
n_threads=4

# "0-3,8" becomes "0,1": the first two of the CPUs that we may use.
cpus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | awk -F , '{
        for (i = 1; i <= NF; i++) {
                n = split($i, range, "-")
                for (cpu = range[1]; cpu <= range[n] + 0 && n_found < 2; cpu++)
                        list = list (n_found++ ? "," : "") (cpu + 0)
        }
        print list
}')

# Samples of a function and of what it was interrupted by, and how many of them lie in the zone.
count() { # trace, function, zone
        awk -F '\t' -v name=";$2" -v wanted="/$3" "$columns"'
                kind == "sample" && index(stack ";", name ";") { total++; good += path == wanted }
                END { print good + 0, total + 0 }' "$TMPDIR/$1.events"
}

for hz in 997 9973; do
        trace=at$hz
        holds "$hz Hz: recorded" record $trace -F $hz -- taskset -c "$cpus" "$WORKLOADS/w_two_zones" $seconds $n_threads
        read_trace $trace
        read -r begins cpu_ns <<<"$(reported $trace '[.threads.rows[] | select(.n_zones > 0)] |
                "\(map(.n_zones) | add) \(map(.on_cpu_ns) | add)"')"
        per_second=$(awk -v n="$begins" -v ns="$cpu_ns" 'BEGIN { printf "%.0f", ns ? n * 1e9 / ns : 0 }')
        figure "$hz Hz on CPUs $cpus: $begins zones; $per_second changes a second of processor time"
        # Two CPUs for four threads: 20,000 a second for each is 40,000 a second on a CPU.  The work of a zone is
        # counted, not timed: a machine that others slow down does half of it.
        holds "$hz Hz: the program changes zones as often as it should" compare "$per_second" ">=" 20000
        holds "$hz Hz: all $n_threads threads do" same $n_threads "$(n_different $trace 'kind == "zone_begin"' tid)"
        holds "$hz Hz: every zone that the program counts is in the trace" same \
                "$(awk '/^zones/ { print 2 * $2 }' "$TMPDIR/$trace.out")" "$begins"
        for zone in a b; do
                read -r good total <<<"$(count $trace busy_$zone $zone)"
                figure "$(awk -v z=$zone -v hz=$hz -v good="$good" -v total="$total" 'BEGIN {
                        printf "%d Hz: %d of %d samples of busy_%s() in the zone \"%s\": %.3f%%",
                                hz, good, total, z, z, total ? 100 * good / total : 0 }')"
                # Half of the time is each one's; what a busy machine gives others is not the program's.
                holds "$hz Hz: enough samples of busy_$zone()" compare "$total" ">" "0.1 * $hz * $cpu_ns / 1e9"
                holds "$hz Hz: samples of busy_$zone() in the zone \"$zone\"" compare "$good" ">=" "0.999 * $total"
        done
        holds "$hz Hz: the recorded zones of a sample are those that the events before it leave open" same 0 \
                "$(n_events $trace 'kind == "sample" && path != open')"
        holds "$hz Hz: nothing is lost" same "" "$(lost $trace)"
done
