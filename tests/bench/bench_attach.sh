#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of a short recording of a running program with many processes: 300 ms of a tree of PROCESSES (150) processes,
# which mostly wait; two of them burn time and start programs.
#
# Wall time of the whole command, median and range of RUNS (11), in turns with perf, which is given the PIDs of all of
# them because it follows no children that are already running.  The target is 400 ms.
set -u
: "${HYPROF:=build/release/hyprof}"
runs=${RUNS:-11} processes=${PROCESSES:-150}
folder=$(mktemp -d) || exit 2
tree='' pids=()
trap '[ -z "$tree" ] || kill -- "-$tree" 2>/dev/null; rm -rf "$folder"' EXIT

[ "$(id -u)" -eq 0 ] || { echo "left out: needs root, for events of all CPUs"; exit 0; }
ways=(hyprof)
! command -v perf >/dev/null || ways+=(perf)

mkfifo "$folder/up"
# shellcheck disable=SC2016 # the inner shell's
setsid bash -c 'for ((i = 2; i < $1; i++)); do
                        if ((i % 4)); then sleep 1000 & else bash -c "sleep 1000; :" & fi
                done
                (while :; do :; done) &
                (while :; do /bin/true; done) &
                echo $$ >"$2"
                wait' tree "$((processes * 4 / 5))" "$folder/up" &
read -r tree <"$folder/up"
sleep 1 # until all have begun: what they do then is not part of what is measured
for pid in $(ps -o pid= -s "$tree"); do
        [ ! -d "/proc/$pid" ] || pids+=("$pid") # perf takes no PID that has ended
done

now() { # microseconds
        echo "${EPOCHREALTIME/[.,]/}"
}

one() { # way
        local list=${pids[*]} began
        began=$(now)
        case $1 in
        hyprof) "$HYPROF" record -q -o "$folder/t.hyp" -d 300ms -p "$tree" 2>"$folder/err" ;;
        perf)   perf record -q -B -N -g -e cpu-clock -F 997 -o "$folder/p" -p "${list// /,}" -- sleep 0.3 \
                        >/dev/null 2>"$folder/err" ;;
        esac || { echo "$1 failed: $(tail -1 "$folder/err")" >&2; return 1; }
        echo $(($(now) - began)) >>"$folder/$1.us"
}

for ((i = 0; i < runs; i++)); do
        for way in "${ways[@]}"; do
                one "$way" || exit 1
        done
done
printf '300 ms of %d processes, whole command, of %d runs\n' "${#pids[@]}" "$runs"
for way in "${ways[@]}"; do
        sort -n "$folder/$way.us" | awk -v way="$way" '{ v[NR] = $1 / 1000 }
                END { printf "  %-8s %6.0f ms (%.0f to %.0f)\n", way, v[int((NR + 1) / 2)], v[1], v[NR] }'
done
