#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Events that are lost by default: bursts at full speed, also within fibers, 20 million zones a second, and more threads than CPUs
# beside other programs.
#
# Each case HYPROF_BENCH_RUNS (3) times, HYPROF_BENCH_SECONDS (10) long.  Then what a resting program costs: how often its
# recorder wakes.
set -eu
folder=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX")
spinners=()
trap 'kill ${spinners[@]+"${spinners[@]}"} 2>/dev/null || true; rm -rf "$folder"' EXIT
n_runs=${HYPROF_BENCH_RUNS:-3}
seconds=${HYPROF_BENCH_SECONDS:-10}
program=$folder/burst_program
gcc -O2 -Iinstrument/client/include tests/bench/burst_program.c "$BUILD/libhyprof.a" -pthread -o "$program"

said() { awk -v word="$1" '$1 == word { print $2 }' "$folder/out"; }

printf '%-44s %12s %12s %12s %10s %10s\n' case emitted recorded lost "ns a zone" "first"
row() { # words, arguments...
        local words=$1 run recorded lost
        shift
        for run in $(seq "$n_runs"); do
                "$HYPROF" record -q --no-symbolize -o "$folder/trace" -- "$program" "$@" >"$folder/out" 2>"$folder/err" ||
                        { cat "$folder/err" && exit 1; }
                "$HYPROF" report --json --limit 0 "$folder/trace" >"$folder/json"
                recorded=$(jq .n_zones "$folder/json")
                lost=$(jq '[.missing.rows[] | select(.code | test("DROPPED|CLIENT_RING")) | .count] | add // 0' "$folder/json")
                printf '%-44s %12s %12s %12s %10s %10s\n' "$words, run $run" "$(said zones)" "$recorded" "$lost" "$(said ns)" "$(said first_ns)"
                rm -f "$folder/trace" "$folder/trace.old"
        done
}
row "1 M zones at full speed each 200 ms" bursts 1000000 180 $((seconds * 5))
row "the same, within fibers" bursts 1000000 180 $((seconds * 5)) fiber
row "20 M/s, one thread" paced 20e6 "$seconds" 1
for _ in 1 2; do
        (while :; do :; done) &
        spinners+=($!)
done
row "2 M/s, four threads, two spinning processes" paced 2e6 "$seconds" 4
kill "${spinners[@]}"
spinners=()

# ---- at rest: wake-ups of the recorder's threads while a program has a ring and writes nothing
"$HYPROF" record -q --no-symbolize --no-sampling -o "$folder/trace" -- "$program" bursts 1000 5000 1 >"$folder/out" &
recorder=$!
sleep 1
switches() { cat "/proc/$recorder"/task/*/status | awk '/ctxt_switches/ { n += $2 } END { print n }'; }
before=$(switches)
sleep 3
printf 'wake-ups of the recorder in a second, program at rest: %d\n' $((($(switches) - before) / 3))
wait "$recorder"
