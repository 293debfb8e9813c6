#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of context switches when they are recorded: two threads on one CPU hand a byte back and forth, 300,000 switches.
#
# The program tells its processor time, so that other programs on the machine disturb less.  Runs alternate, untouched
# ones among them; medians of RUNS (7), slowdowns are medians of what each round says for itself.  The targets are shares of what perf's own records cost: at most 0.55 for
# BPF's, 0.65 with stacks at the places of waiting and waking; and at most 5% slower at 999 Hz without switches.  Each
# way also samples at 999 Hz, except the untouched one, for that is what a recording does.
#
# HYPROF_BEFORE=HYPROF compares --off-cpu of two builds instead, by pipes and by TCP: each round records with both, and the
# ratio is the median of the rounds' ratios; at most 1.03.  The same build twice shows what the machine adds.
set -u
: "${HYPROF:=build/release/hyprof}" "${WORKLOADS:=build/release/workloads}"
runs=${RUNS:-7} switches=${SWITCHES:-300000}
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
program=$WORKLOADS/w_pingpong

[ "$(id -u)" -eq 0 ] || { echo "left out: needs root, for BPF and for events of all CPUs"; exit 0; }

off_cpu() { # hyprof, way of w_pingpong
        "$1" record -F 999 --off-cpu -o "$folder/t.hyp" "$program" "$switches" "$2" 2>"$folder/err" || { cat "$folder/err" >&2 && exit 1; }
}

if [ -n "${HYPROF_BEFORE:-}" ]; then
        echo "--off-cpu, $switches switches on one CPU, processor time: this build to the one before, and that one to itself"
        for way in pipe tcp; do
                for ((i = 0; i < runs; i++)); do
                        echo "$(off_cpu "$HYPROF_BEFORE" $way) $(off_cpu "$HYPROF" $way) $(off_cpu "$HYPROF_BEFORE" $way)"
                done | awk '{ print $2 * 2 / ($1 + $3), $3 / $1 }' >"$folder/$way"
                for column in 1 2; do
                        cut -d ' ' -f $column "$folder/$way" | sort -n >"$folder/$way.$column"
                done
                printf '  %-5s %5.3f (at most 1.03)   %5.3f\n' $way "$(awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }' "$folder/$way.1")" \
                        "$(awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }' "$folder/$way.2")"
        done
        exit 0
fi
command -v perf >/dev/null || { echo "left out: perf is not installed"; exit 0; }

one() { # way
        case $1 in
        untouched)     "$program" "$switches" ;;
        sampling)      "$HYPROF" record -F 999 --no-switches -o "$folder/t.hyp" "$program" "$switches" 2>"$folder/err" ;;
        sampling_cpus) "$HYPROF" record -F 999 --no-switches --scope=cpus -o "$folder/t.hyp" "$program" "$switches" 2>"$folder/err" ;;
        bpf)           "$HYPROF" record -F 999 -o "$folder/t.hyp" "$program" "$switches" 2>"$folder/err" ;;
        bpf_stacks)    "$HYPROF" record -F 999 --off-cpu -o "$folder/t.hyp" "$program" "$switches" 2>"$folder/err" ;;
        perf_stacks)   perf record -q -B -N -g -e cpu-clock -F 999 -o "$folder/p" "$program" "$switches" 2>"$folder/err" ;;
        perf_sampling) perf record -q -B -N -a -e cpu-clock -F 999 -o "$folder/p" "$program" "$switches" 2>"$folder/err" ;;
        perf_switches) perf record -q -B -N -a -e cpu-clock -F 999 --switch-events -o "$folder/p" "$program" "$switches" 2>"$folder/err" ;;
        esac
}

median() { # file
        sort -n "$1" | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

slowdown() { # way, or the way over which: % of the untouched run
        paste "$folder/$1.us" "$folder/${2:-untouched}.us" "$folder/untouched.us" |
                awk '{ printf "%.2f\n", 100 * ($1 - $2) / $3 }' >"$folder/slowdowns"
        median "$folder/slowdowns"
}

ways=(untouched sampling sampling_cpus bpf bpf_stacks perf_stacks perf_sampling perf_switches)
for ((i = 0; i < runs; i++)); do
        for way in "${ways[@]}"; do
                one "$way" >>"$folder/$way.us" || { echo "$way failed"; cat "$folder/err"; exit 1; }
        done
done

printf 'two threads on one CPU, %s switches, processor time, medians of %s runs\n' "$switches" "$runs"
printf '  %-14s %9s %10s %14s\n' way 'ms' 'slowdown' 'us a switch'
for way in "${ways[@]}"; do
        printf '  %-14s %9.1f %9.1f%% %14.3f\n' "$way" "$(awk "BEGIN { print $(median "$folder/$way.us") / 1000 }")" \
                "$(slowdown "$way")" \
                "$(awk "BEGIN { print ($(median "$folder/$way.us") - $(median "$folder/untouched.us")) / $switches }")"
done

# Each over its own sampling.
perf_cost=$(slowdown perf_switches perf_sampling)
share() { # name, way, target
        printf '  %-52s %5.2f of perf (at most %s)\n' "$1" \
                "$(awk "BEGIN { print $(slowdown "$2" sampling) / $perf_cost }")" "$3"
}
share 'T9 a record a switch' bpf 0.55
share 'T9 with stacks of waiting and waking, and wakers' bpf_stacks 0.65
printf '  %-52s %5.1f%% (at most 5%%)\n' 'T8 999 Hz without switches, over untouched' "$(slowdown sampling)"
printf '  %-52s %5.1f%%\n' '   the same with events of CPUs (--scope=cpus)' "$(slowdown sampling_cpus)"
printf '  %-52s %5.1f%% (at most 10%%)\n' '   999 Hz with switches, the default' "$(slowdown bpf)"
printf '  %-52s %5.1f%%\n' '   perf record -g, which records no switches' "$(slowdown perf_stacks)"
