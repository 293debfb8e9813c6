#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How fast a million rows of each format are imported, from the file to the trace, and in how much memory, also of four times as many; of JSON also jq and python3.
#
# Python's json reads all of the file: python_loads does nothing else (of lines: a line at a time), python_counts also counts its rows by
# name and adds up the durations; jq only counts rows and adds up, because names take it several times as long.  hyprof writes all names,
# keys, texts and spans into a trace.  Medians of HYPROF_BENCH_RUNS=5, in turns, and the largest resident memory; of jq and Python also
# how many times hyprof's time that is.  Then HYPROF_BENCH_LARGER=4 times as many rows, once (0: not): memory that is flat stays the same.
# Each figure is judged by its target, in processor time: 1,000,000 rows/s, and a tenth of what jq and Python need.  Exits with 1 if
# one of them is missed.  HYPROF_BENCH_ROWS=1000000; HYPROF_BENCH_FORMATS has the names of formats.  tt-metal's own script took 35 s for 449,000 rows.
set -euo pipefail
status=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
n_rows=${HYPROF_BENCH_ROWS:-1000000}
n_runs=${HYPROF_BENCH_RUNS:-5}
larger=${HYPROF_BENCH_LARGER:-4}
read -ra formats <<<"${HYPROF_BENCH_FORMATS:-trace-event ireeperf-jsonl ireeprof tt-device ninja-log pftrace perf.data ftrace rocprofv3 otlp tracy-csv csv}"

makes() { # format, file, rows
        case $1 in
        pftrace) # as many events as rows
                python3 tests/bench/make_foreign.py csv $(($3 / 2)) >"$folder/spans.csv"
                "$HYPROF" import -q --force "$folder/spans.csv" -o "$folder/made.hyp"
                "$HYPROF" export perfetto -q --force "$folder/made.hyp" -o "$2"
                ;;
        perf.data)
                "$BUILD/tools/made_trace" many "$folder/made.hyp" "$3" "$3"
                "$HYPROF" export perf-data -q --force "$folder/made.hyp" -o "$2"
                ;;
        *) python3 tests/bench/make_foreign.py "$1" "$3" >"$2" ;;
        esac
        rm -f "$folder/spans.csv" "$folder/made.hyp"
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
loads_with_python() {
        python3 -c '
import json, sys
with open(sys.argv[1]) as file:
    if sys.argv[1].endswith("trace-event"):
        json.load(file)
    else:
        for line in file:
            json.loads(line)' "$1"
}
counts_with_python() {
        python3 -c '
import collections, json, sys
with open(sys.argv[1]) as file:
    rows = json.load(file)["traceEvents"] if sys.argv[1].endswith("trace-event") else map(json.loads, file)
    n, total = collections.Counter(), 0
    for row in rows:
        n[row.get("name")] += 1
        total += row.get("dur") or row.get("duration_ticks") or 0
print(len(n), total)' "$1"
}
export -f imports counts_with_jq counts_with_python loads_with_python
export folder
# Runs each once in turns, so that a load of the machine is a load of all.
measures() { # file, what...
        local i what file=$1
        shift
        for ((i = 0; i < n_runs; i++)); do
                for what in "$@"; do
                        command time -o "$folder/time" -f "$what %e %U %S %M" bash -c "$what \"\$0\"" "$file" >/dev/null
                        cat "$folder/time"
                done
        done | awk -v rows="$n_rows" -v formats="$*" '
                function median(values, what, i, j, n, sorted, value) {
                        n = split(values, sorted, " ")
                        for (i = 2; i <= n; i++)
                                for (j = i; j > 1 && sorted[j - 1] + 0 > sorted[j] + 0; j--) {
                                        value = sorted[j]; sorted[j] = sorted[j - 1]; sorted[j - 1] = value
                                }
                        return sorted[int((n + 1) / 2)]
                }
                function judge(value, target) {
                        if (value < target)
                                missed = 1
                        return value < target ? "missed" : "met"
                }
                { clock[$1] = clock[$1] " " $2; cpu[$1] = cpu[$1] " " $3 + $4; if ($5 > most[$1]) most[$1] = $5 }
                END {
                        n = split(formats, order, " ")
                        for (i = 1; i <= n; i++) {
                                c = median(cpu[order[i]]) + 0.001; w = median(clock[order[i]]) + 0.001
                                if (i == 1) { first_c = c; first_w = w }
                                if (i == 1)
                                        text = sprintf("  target 1000000 rows/s: %s", judge(rows / c, 1000000))
                                else
                                        text = sprintf("  %.1f times the processor, %.1f the clock; target 10 times: %s",
                                                       c / first_c, w / first_w, judge(c / first_c, 10))
                                printf "  %-20s %6.2f s  %6.2f s of the processor  %9.0f rows/s  %6.0f MB%s\n",
                                       order[i], w, c, rows / c, most[order[i]] / 1024, text
                        }
                        exit missed
                }'
}

# The largest resident memory of one import, in MB.
memory_of() { # file
        # shellcheck disable=SC2016 # the inner shell's
        command time -o "$folder/time" -f %M bash -c 'imports "$0"' "$1" && awk '{ printf "%.0f", $1 / 1024 }' "$folder/time"
}

for format in "${formats[@]}"; do
        file=$folder/$format
        makes "$format" "$file" "$n_rows"
        echo "$format: $n_rows rows, $(($(stat -c %s "$file") / 1000000)) MB"
        case $format in
        trace-event | *jsonl) measures "$file" imports counts_with_jq loads_with_python counts_with_python || status=1 ;;
        *) measures "$file" imports || status=1 ;;
        esac
        if ((larger > 0)); then
                before=$(memory_of "$file")
                makes "$format" "$file" $((n_rows * larger))
                echo "  memory of $larger times as many rows: $(memory_of "$file") MB, of these $before MB"
        fi
        rm -f "$file"
done
((status == 0))
