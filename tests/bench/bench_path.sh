#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What `hyprof path` costs: processor time and peak memory of each question, the least of HYPROF_BENCH_RUNS (3) runs, beside
# those of a report of the same trace.
#
# One trace is of HYPROF_BENCH_WAITS (1000000) waits of threads that ask each other, see tests/tools/wait_trace.c; in "join" the
# first thread waits for all of them, so none can be forgotten; "dense" has six times as many, 380,000
# a second, under a CPU quota; "large" is of HYPROF_BENCH_ZONES (50000000) zones, two events each, with a switch for every 1000
# (0 = left out).
set -eu
: "${HYPROF:?run it by make bench}"
n_waits=${HYPROF_BENCH_WAITS:-1000000}
n_zones=${HYPROF_BENCH_ZONES:-50000000}
n_runs=${HYPROF_BENCH_RUNS:-3}
folder=$(mktemp -d -p "${HYPROF_BENCH_FOLDER:-${TMPDIR:-/tmp}}")
trap 'rm -rf "$folder"' EXIT

# Processor seconds, the least, and MiB, the most.
measured() { # arguments of hyprof
        for ((run = 0; run < n_runs; run++)); do
                /usr/bin/time -q -f '%U %S %M' -o "$folder/time" "$HYPROF" "$@" >/dev/null
                cat "$folder/time"
        done | awk '{ s = $1 + $2; if (!n++ || s < least) least = s; if ($3 > most) most = $3 }
                END { printf "%.2f %.0f\n", least, most / 1024 }'
}

show() { # name of the trace, its file, target, arguments of hyprof
        local seconds mib ratio=-
        read -r seconds mib <<<"$(measured "${@:4}" "$2")"
        [ "$4" = report ] && unit=$seconds || ratio=$(awk -v s="$seconds" -v unit="$unit" 'BEGIN { printf "%.2f", s / (unit > 0 ? unit : 1) }')
        printf '%-6s %-28s %8s %6s %6s   %s\n' "$1" "${*:4}" "$seconds" "$mib" "$ratio" "$3"
}

echo "$n_waits waits, $n_zones zones; processor time, the least of $n_runs runs; ratio: to the report"
printf '%-6s %-28s %8s %6s %6s   %s\n' trace question s MiB ratio target
"$BUILD/tools/wait_trace" "$folder/waits.hyp" "$n_waits" >/dev/null
show waits "$folder/waits.hyp" "" report
show waits "$folder/waits.hyp" "2 s, 128 MiB for 1,000,000" path --zone request
show waits "$folder/waits.hyp" "the same" path
show waits "$folder/waits.hyp" "50 ms: one instance" path --zone request --at 0.5s
"$BUILD/tools/wait_trace" "$folder/join.hyp" "$n_waits" join >/dev/null
show join "$folder/join.hyp" "" report
show join "$folder/join.hyp" "the same" path
"$BUILD/tools/wait_trace" "$folder/dense.hyp" $((6 * n_waits)) dense >/dev/null
show dense "$folder/dense.hyp" "" report
show dense "$folder/dense.hyp" "128 MiB" report --cpus
if [ "$n_zones" != 0 ]; then
        "$BUILD/tools/large_trace" "$folder/large.hyp" "$n_zones"
        show large "$folder/large.hyp" "" report
        show large "$folder/large.hyp" "ratio 2, 128 MiB" path --zone zone0
        show large "$folder/large.hyp" "the same: a million instances" path --zone zone5
        show large "$folder/large.hyp" "the same" path
fi
