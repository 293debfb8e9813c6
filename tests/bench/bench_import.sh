#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How fast a million rows of each format are imported, from the file to the trace, and in how much memory; of JSON also jq and python3.
#
# jq and Python's json only count the rows and add up the durations.  Medians of HYPROF_BENCH_RUNS=5, and the largest resident
# memory.  HYPROF_BENCH_ROWS=1000000; HYPROF_BENCH_FORMATS has the names of formats.  tt-metal's own script took 35 s for 449,000 rows.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
n_rows=${HYPROF_BENCH_ROWS:-1000000}
n_runs=${HYPROF_BENCH_RUNS:-5}
read -ra formats <<<"${HYPROF_BENCH_FORMATS:-trace-event ireeperf-jsonl ireeprof tt-device ninja-log pftrace perf.data ftrace rocprofv3 tracy-csv csv}"

makes() { # format, file
        case $1 in
        pftrace) # as many events as rows
                python3 tests/bench/make_foreign.py csv $((n_rows / 2)) >"$folder/spans.csv"
                "$HYPROF" import -q --force "$folder/spans.csv" -o "$folder/made.hyp"
                "$HYPROF" export perfetto -q --force "$folder/made.hyp" -o "$2"
                ;;
        perf.data)
                "$BUILD/tools/made_trace" many "$folder/made.hyp" 1000 "$n_rows"
                "$HYPROF" export perf-data -q --force "$folder/made.hyp" -o "$2"
                ;;
        *) python3 tests/bench/make_foreign.py "$1" "$n_rows" >"$2" ;;
        esac
}
imports() { # file
        "$HYPROF" import -q --force "$1" -o "$folder/out.hyp"
}
counts_with_jq() {
        case $1 in
        *trace-event) jq -c '[.traceEvents[] | .dur] | [length, add]' "$1" ;;
        *) jq -c -n 'reduce inputs as $row ([0, 0]; [.[0] + 1, .[1] + ($row.duration_ticks // 0)])' "$1" ;;
        esac
}
counts_with_python() {
        case $1 in
        *trace-event) python3 -c 'import json, sys; rows = json.load(open(sys.argv[1]))["traceEvents"]; print(len(rows), sum(r["dur"] for r in rows))' "$1" ;;
        *) python3 -c 'import json, sys; print(sum(json.loads(line).get("duration_ticks", 0) for line in open(sys.argv[1])))' "$1" ;;
        esac
}
export -f imports counts_with_jq counts_with_python
export folder
measures() { # what, file
        local i
        for ((i = 0; i < n_runs; i++)); do
                command time -f '%e %U %S %M' bash -c "$1 \"\$0\"" "$2" 2>&1 >/dev/null | tail -1
        done | sort -k 2n | awk -v what="$1" -v rows="$n_rows" '{ clock[NR] = $1; cpu[NR] = $2 + $3; if ($4 > most) most = $4 }
                END { k = int((NR + 1) / 2); printf "  %-20s %6.2f s  %6.2f s of the processor  %9.0f rows/s  %6.0f MB\n",
                      what, clock[k], cpu[k], rows / (cpu[k] + 0.001), most / 1024 }'
}

for format in "${formats[@]}"; do
        file=$folder/$format
        makes "$format" "$file"
        echo "$format: $n_rows rows, $(($(stat -c %s "$file") / 1000000)) MB"
        measures imports "$file"
        case $format in
        trace-event | *jsonl) measures counts_with_jq "$file" && measures counts_with_python "$file" ;;
        esac
        rm -f "$file"
done
