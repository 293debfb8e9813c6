#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of a record for the recorder on a machine with many CPUs: 2, 128 and 512, of which all but the real ones are idle.
#
# tests/preload/many_cpus.c makes hyprof see so many: their rings are real and stay empty.  A recording is made of a short and
# of a longer run; the difference of the recorder's processor time, by that of the records, is the cost of a record without
# that of beginning and ending.  RUNS (3) rounds, all ways in turns, medians.  A switch is to cost at most 160 ns, a sample
# what it costs on 2 CPUs and 5%.  HYPROF_BEFORE=HYPROF measures another build beside this one.
set -u
: "${HYPROF:=build/release/hyprof}" "${WORKLOADS:=build/release/workloads}" "${BUILD:=build/release}"
runs=${RUNS:-3} sizes=${SIZES:-2 128 512}
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
[ "$(id -u)" -eq 0 ] || { echo "left out: needs root, for BPF and for events of all CPUs"; exit 0; }

record() { # hyprof, CPUs, options..., --, command...: the recorder's ns, switches, samples, pinned MB, descriptors, lost records
        MANY_CPUS=$2 LD_PRELOAD=$BUILD/tools/many_cpus.so "$1" record -q -o "$folder/t.hyp" "${@:3}" >"$folder/out" 2>&1 ||
                { cat "$folder/out" >&2 && exit 1; }
        "$HYPROF" report --json --limit 1 "$folder/t.hyp" | jq -r '[.recorder_cpu_ns, .n_switches, .n_samples,
                (.pinned_bytes // 0) / 1e6, .n_descriptors,
                ([.missing.rows[] | select(.code == "SWITCHES_LOST" or .code == "KERNEL_RING_FULL") | .count] | add // 0)] | @tsv'
}

for ((i = 0; i < runs; i++)); do
        for n in $sizes; do
                for hyprof in "$HYPROF" ${HYPROF_BEFORE:+"$HYPROF_BEFORE"}; do
                        way=$([ "$hyprof" = "$HYPROF" ] && echo this || echo before)
                        switches=("$(record "$hyprof" "$n" -F 100 -- "$WORKLOADS/w_pingpong" 200000 pipe)" \
                                "$(record "$hyprof" "$n" -F 100 -- "$WORKLOADS/w_pingpong" 800000 pipe)")
                        samples=("$(record "$hyprof" "$n" -F 20000 --no-switches -- "$WORKLOADS/w_depth" 0.5)" \
                                "$(record "$hyprof" "$n" -F 20000 --no-switches -- "$WORKLOADS/w_depth" 2)")
                        printf '%s\t' "$way" "$n" "${switches[@]}" "${samples[@]}" >>"$folder/all"
                        echo >>"$folder/all"
                done
        done
done
python3 - "$folder/all" <<'PYTHON'
import statistics
import sys

rows: dict[tuple[str, int], list[list[float]]] = {}
for line in open(sys.argv[1], encoding="ascii"):
    way, n, *figures = line.split()
    f = [float(figure) for figure in figures]
    short, long, few, many = (f[at:at + 6] for at in range(0, 24, 6))
    rows.setdefault((way, int(n)), []).append([
        (long[0] - short[0]) / (long[1] - short[1]),
        (many[0] - few[0]) / (many[2] - few[2]),
        short[3], short[4], short[5] + long[5]])
print("build   CPUs  ns a switch  ns a sample  pinned MB  descriptors  records lost (all rounds)")
for (way, n), of_runs in rows.items():
    middle = [statistics.median(values) for values in zip(*of_runs)]
    print(f"{way:6} {n:5} {middle[0]:12.0f} {middle[1]:12.0f} {middle[2]:10.0f} {middle[3]:12.0f} "
          f"{sum(run[4] for run in of_runs):10.0f}")
PYTHON
