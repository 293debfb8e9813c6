#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Samples lost where programs of a real-time class take every processor, beside `perf record -g`: RUNS=5, RATE=5000.
#
# A `chrt -r 10` loop on each CPU runs for 1.5 s, and the recorder attaches before it begins.  Runs alternate, and each
# prints how many samples it kept and how many it lost; hyprof's also without the right to raise itself.  Ends with 1 if
# hyprof loses any while perf loses none.
set -u
: "${HYPROF:=build/release/hyprof}"
runs=${RUNS:-5} rate=${RATE:-5000} n_cpus=$(nproc)
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT

[ "$(id -u)" -eq 0 ] || { echo "left out: needs root, for real-time priorities"; exit 0; }
command -v perf >/dev/null || { echo "left out: perf is not installed"; exit 0; }
chrt -f 98 true 2>/dev/null || { echo "left out: real-time priorities are not permitted"; exit 0; }

# Its children begin once a line is in the pipe; the recorder follows them, as they are inherited.
cat >"$folder/spin.sh" <<'END_OF_SCRIPT'
read -r line <"$1"
for _ in $(seq "$2"); do timeout -s KILL 1.5 sh -c 'while :; do :; done' & done
wait
END_OF_SCRIPT
mkfifo "$folder/go"

# The command lets the programs begin and waits for them; its descriptor 9 is open in each of them.
beside_spinners() { # recorder and its options, up to -p...
        mkfifo "$folder/alive"
        chrt -r 10 sh "$folder/spin.sh" "$folder/go" "$n_cpus" 2>/dev/null 9<>"$folder/alive" &
        # shellcheck disable=SC2016 # the inner shell expands them
        "$@" "$!" -- sh -c 'exec 3<"$1"; echo >"$0"; exec cat <&3' "$folder/go" "$folder/alive" >"$folder/out" 2>&1
        wait
        rm "$folder/alive"
}

one() { # way: prints "kept lost"
        case $1 in
        hyprof*)
                local front=()
                [ "$1" = hyprof ] || front=(prlimit --rtprio=0 setpriv --bounding-set=-sys_nice)
                beside_spinners "${front[@]}" "$HYPROF" record -F "$rate" -o "$folder/t.hyp" -p
                "$HYPROF" report --json --limit 0 "$folder/t.hyp" | jq -r '"\(.n_samples) \([.missing.rows[] |
                        select(.code == "KERNEL_RING_FULL" or .code == "SAMPLES_LOST") | .count] | add // 0)"'
                ;;
        perf)
                beside_spinners perf record -q -g -e cpu-clock -F "$rate" -o "$folder/p" -p
                perf report -i "$folder/p" --stats 2>/dev/null | awk '$1 == "SAMPLE" { kept = $3 }
                        $1 == "LOST" || $1 == "LOST_SAMPLES" { records = $3 } END { print kept + 0, records + 0 }'
                ;;
        esac
}

printf 'a real-time loop on each of %s CPUs, 1.5 s, %s Hz: samples kept and lost\n' "$n_cpus" "$rate"
worse=0
for ((i = 1; i <= runs; i++)); do
        of_hyprof=$(one hyprof) of_perf=$(one perf) without=$(one hyprof_without_right)
        printf '  run %d: hyprof %s; perf record -g %s (lost: records that say so); hyprof without the right %s\n' \
                "$i" "$of_hyprof" "$of_perf" "$without"
        [ "${of_perf#* }" != 0 ] || [ "${of_hyprof#* }" = 0 ] || worse=1
done
exit $worse
