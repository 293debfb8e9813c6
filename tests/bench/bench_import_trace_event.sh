#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How fast a million rows of trace-event JSON like PyTorch's are imported, and in how much memory; jq and python3 beside.
#
# jq and Python's json only count the rows and add up the durations.  HYPROF_BENCH_ROWS=1000000, HYPROF_BENCH_RUNS=5: medians of
# seconds of processor time, and the largest resident memory.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
n_rows=${HYPROF_BENCH_ROWS:-1000000}
n_runs=${HYPROF_BENCH_RUNS:-5}
file=$folder/kineto.json

# A tenth of the rows are kernels on a device; names repeat, arguments do not.  As many bytes a row as PyTorch writes.
awk -v n="$n_rows" 'BEGIN {
        printf "{\"schemaVersion\": 1,\"deviceProperties\": [{\"id\": 0}],\"traceEvents\": [\n"
        for (i = 0; i < n; i++) {
                us = sprintf("17121954%08d.%03d", i * 11, i % 1000)
                if (i % 10 == 9)
                        printf "{\"ph\": \"X\",\"cat\": \"kernel\",\"name\": \"void at::native::elementwise_kernel_%d\",\"pid\": 0,\"tid\": 7,\"ts\": %s,\"dur\": %d.%03d,\"args\": {\"External id\": %d,\"device\": 0,\"stream\": 7,\"correlation\": %d,\"grid\": [%d,1,1]}}", \
                                i % 97, us, i % 50, i % 1000, i, i, i % 512
                else
                        printf "{\"ph\": \"X\",\"cat\": \"cpu_op\",\"name\": \"aten::operation_%d\",\"pid\": 1102,\"tid\": %d,\"ts\": %s,\"dur\": %d.%03d,\"args\": {\"External id\": %d,\"Record function id\": 0,\"Ev Idx\": %d}}", \
                                i % 331, 1102 + i % 4, us, i % 50, i % 1000, i, i
                printf i + 1 < n ? ",\n" : "\n"
        }
        printf "],\"displayTimeUnit\": \"ns\"}\n"
}' >"$file"
bytes=$(stat -c %s "$file")
echo "$n_rows rows, $((bytes / 1000000)) MB"

imports() {
        rm -f "$folder/out.hyp"
        "$HYPROF" import "$file" -o "$folder/out.hyp" >/dev/null 2>&1
}

counts_with_jq() {
        jq -c '[.traceEvents[] | .dur] | [length, add]' "$file" >/dev/null
}

counts_with_python() {
        python3 -c 'import json, sys; rows = json.load(open(sys.argv[1]))["traceEvents"]; print(len(rows), sum(r["dur"] for r in rows))' \
                "$file" >/dev/null
}

for side in imports counts_with_jq counts_with_python; do
        for ((i = 0; i < n_runs; i++)); do
                export -f "${side?}"
                export folder file
                command time -f '%e %U %S %M' bash -c "$side" 2>&1 | tail -1
        done | sort -n | awk -v side="$side" -v rows="$n_rows" '{ clock[NR] = $1; cpu[NR] = $2 + $3; if ($4 > most) most = $4 }
                END { k = int((NR + 1) / 2); printf "%-20s %6.2f s  %6.2f s of the processor  %9.0f rows/s  %6.0f MB\n",
                      side, clock[k], cpu[k], rows / cpu[k], most / 1024 }'
done
