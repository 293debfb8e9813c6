#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of reading a large trace: processor time, wall time and peak memory of each question, and the processor time as
# a multiple of a report.  report-1 is a report that may use one processor only.
#
# The trace is one of scale_program.c: two threads, 64 functions, nested zones, texts.  By the environment: HYPROF_BENCH_ZONES
# (5000000), HYPROF_BENCH_RUNS (3, of which the least time counts), HYPROF_BASE (another hyprof, whose report is the measure,
# and whose figures are shown beside), HYPROF_BENCH_FOLDER (where there is room: 2 bytes a zone, 60 with the database).
set -eu
: "${HYPROF:?run it by make bench-scale}"
n_zones=${HYPROF_BENCH_ZONES:-5000000}
n_runs=${HYPROF_BENCH_RUNS:-3}
folder=$(mktemp -d -p "${HYPROF_BENCH_FOLDER:-${TMPDIR:-/tmp}}")
trap 'rm -rf "$folder"' EXIT
trace=$folder/scale.hyp

gcc -O2 -D_GNU_SOURCE -Iinstrument/client/include tests/bench/scale_program.c "$BUILD/libhyprof.a" -pthread -o "$folder/program"
"$HYPROF" record -q -F 997 --client-ring 16M -o "$trace" -- "$folder/program" "$n_zones"
middle_ns=$("$HYPROF" report --json --limit 0 "$trace" | jq '.duration_ns / 2 | floor')

asks() { # hyprof, question
        case $2 in
        report) "$1" report "$trace" ;;
        report-1) taskset -c 0 "$1" report "$trace" ;;
        zone) "$1" report --zone 'random zone 40' "$trace" ;;
        why) "$1" why --zone 'random zone 40' "$trace" ;;
        why-outer) "$1" why --zone batch "$trace" ;;
        pprof) "$1" export pprof -o "$folder/out.pb.gz" --force "$trace" ;;
        range) "$1" report --from "${middle_ns}ns" --to "$((middle_ns + middle_ns / 10))ns" "$trace" ;;
        sqlite) "$1" query --sqlite "$folder/out.db" --force "$trace" ;;
        esac
}
export -f asks
export folder trace middle_ns

# Processor and wall seconds, the least of all runs, and MiB: "0.52 0.31 18"; "- - -" if it cannot.
measured() { # hyprof, question
        for ((run = 0; run < n_runs; run++)); do
                /usr/bin/time -q -f '%U %S %e %M' -o "$folder/time" bash -c 'asks "$@"' - "$1" "$2" >/dev/null 2>"$folder/said" || {
                        echo "- - - -"
                        sed 's/^/  /' "$folder/said" >&2
                        return
                }
                cat "$folder/time"
        done | awk '$1 == "-" { print "- - -"; exit failed = 1 }
                { s = $1 + $2; if (!n++ || s < least) least = s; if (n == 1 || $3 < wall) wall = $3; if ($4 > most) most = $4 }
                END { if (!failed) printf "%.2f %.2f %.0f\n", least, wall, most / 1024 }'
}

base=${HYPROF_BASE:-}
read -r unit _ _ <<<"$(measured "${base:-$HYPROF}" report)"
echo "$n_zones zones, $(stat -c %s "$trace") bytes; processor time, the least of $n_runs runs; ratio: to report${base:+ of the other}"
printf '%-10s %8s %8s %6s %6s%s\n' question s wall MiB ratio "${base:+   other s     wall   MiB  ratio}"
for question in report report-1 zone why why-outer pprof range sqlite; do
        line=$(measured "$HYPROF" "$question")
        [ -z "$base" ] || line+=" $(measured "$base" "$question")"
        awk -v question="$question" -v unit="$unit" -v n="$n_zones" '
                function ratio(s) { return s == "-" || unit <= 0 ? "-" : sprintf("%.2f", s / unit) }
                { printf "%-10s %8s %8s %6s %6s", question, $1, $2, $3, ratio($1)
                  if (NF > 3) printf "  %8s %8s %5s %6s", $4, $5, $6, ratio($4)
                  if (question == "sqlite" && $2 > 0) printf "   %.2f million zones a second", n / $2 / 1e6
                  print "" }' <<<"$line"
done
