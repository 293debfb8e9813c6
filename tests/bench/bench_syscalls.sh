#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of counting system calls: a program calls getppid and write to /dev/null as often as it can.
#
# The program tells how long that took.  Runs alternate, untouched ones among them; medians of RUNS (5) of the time for
# one call, over that of the untouched runs of the same round.  perf and strace need far more for each call, so they get
# fewer.  The target: at most a tenth of perf trace -s.
set -u
: "${HYPROF:=build/release/hyprof}" "${WORKLOADS:=build/release/workloads}"
runs=${RUNS:-5} rounds=${ROUNDS:-500000} few=${FEW_ROUNDS:-10000}
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
program=$WORKLOADS/w_syscalls

[ "$(id -u)" -eq 0 ] || { echo "left out: needs root, for BPF"; exit 0; }

ways=(untouched record syscalls samples)
! command -v perf >/dev/null || ways+=(perf_trace)
! command -v strace >/dev/null || ways+=(strace)

one() { # way: ns a call
        local n=$rounds
        case $1 in
        untouched)  "$program" "$n" bench ;;
        record)     "$HYPROF" record -q -o "$folder/t.hyp" "$program" "$n" bench ;;
        syscalls)   "$HYPROF" record -q --syscalls -o "$folder/t.hyp" "$program" "$n" bench ;;
        samples)    n=$few && "$HYPROF" record -q -e raw_syscalls:sys_enter -c 1 -o "$folder/t.hyp" "$program" "$n" bench ;;
        perf_trace) n=$few && perf trace -s -o "$folder/p" "$program" "$n" bench ;;
        strace)     n=$few && strace -c -o "$folder/s" "$program" "$n" bench ;;
        esac 2>"$folder/err" >"$folder/us" || return 1
        awk -v n="$n" '{ print 1000 * $1 / (2 * n) }' "$folder/us"
}

median() { # file
        sort -n "$1" | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

cost() { # way: ns a call, over the untouched run of the round
        paste "$folder/$1.ns" "$folder/untouched.ns" | awk '{ print $1 - $2 }' >"$folder/costs"
        median "$folder/costs"
}

for ((i = 0; i < runs; i++)); do
        for way in "${ways[@]}"; do
                one "$way" >>"$folder/$way.ns" || {
                        grep -q 'tracefs\|not permitted\|BPF' "$folder/err" || { echo "$way failed"; cat "$folder/err"; exit 1; }
                        echo "left out: $way: $(head -n 1 "$folder/err")"
                        mapfile -t ways < <(printf '%s\n' "${ways[@]}" | grep -vx "$way")
                }
        done
done

printf 'getppid and write by turns, medians of %s runs\n' "$runs"
printf '  %-12s %12s %16s\n' way 'ns a call' 'more than plain'
for way in "${ways[@]}"; do
        printf '  %-12s %12.0f %16.0f\n' "$way" "$(median "$folder/$way.ns")" "$(cost "$way")"
done
if [ -s "$folder/perf_trace.ns" ] && [ -s "$folder/syscalls.ns" ]; then
        awk -v ours="$(cost syscalls)" -v theirs="$(cost perf_trace)" 'BEGIN {
                printf "counting costs %.3f of perf trace -s (at most 0.1)\n", ours / theirs
                exit ours / theirs > 0.1 }'
fi
