#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How long it takes to read a trace of 10 million zones from beginning to end: statistics, and every zone as CSV.
#
# With TRACY_DIR (a checkout of Tracy), TRACY_CAPTURE and TRACY_CSVEXPORT (its tools) in the environment, the same program is
# recorded by both, and both read their own trace, in turns.  Seconds on the clock, and of processor time.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
include=$PWD/instrument/client/include
flags=(-std=c++17 -O2 -DNDEBUG -DTRACY_ENABLE -pthread -w)
n_runs=${HYPROF_BENCH_RUNS:-5}
n_zones=${HYPROF_BENCH_ZONES:-10000000}
TIMEFORMAT='%R %U %S'

g++ "${flags[@]}" tests/bench/peer_patterns.cpp -I"$include" -I"$include/hyprof/compat" "$BUILD/libhyprof.a" -o "$folder/hyprof"
sides=hyprof
if [ -n "${TRACY_DIR:-}" ] && [ -n "${TRACY_CAPTURE:-}" ] && [ -n "${TRACY_CSVEXPORT:-}" ]; then
        g++ "${flags[@]}" -DTRACY_NO_SYSTEM_TRACING tests/bench/peer_patterns.cpp -I"$TRACY_DIR/public" \
                "$TRACY_DIR/public/TracyClient.cpp" -ldl -o "$folder/tracy"
        sides="hyprof tracy"
else
        echo "Tracy is left out: TRACY_DIR, TRACY_CAPTURE and TRACY_CSVEXPORT are not all set"
fi
export TRACY_NO_INVARIANT_CHECK=1

recorded() { # side, pattern
        if [ "$1" = hyprof ]; then
                "$HYPROF" record -q --client-ring 16M -o "$folder/$2.hyprof" -- "$folder/hyprof" "$2" "$n_zones"
        else
                "$TRACY_CAPTURE" -f -o "$folder/$2.tracy" >"$folder/capture.log" 2>&1 &
                TRACY_NO_EXIT=1 "$folder/tracy" "$2" "$n_zones"
                wait $!
        fi
}

reads() { # side, pattern, what
        case $1.$3 in
        hyprof.report) "$HYPROF" report --zones "$folder/$2.hyprof" ;;
        hyprof.statistics) "$HYPROF" csv "$folder/$2.hyprof" ;;
        hyprof.every) "$HYPROF" csv -u "$folder/$2.hyprof" ;;
        tracy.statistics) "$TRACY_CSVEXPORT" "$folder/$2.tracy" ;;
        tracy.every) "$TRACY_CSVEXPORT" -u "$folder/$2.tracy" ;;
        esac
}

# Seconds on the clock and of the processor, into the file of that side and question.
timed() { # side, pattern, what
        { time reads "$@" >/dev/null 2>"$folder/said"; } 2>>"$folder/$1.$2.$3.times"
}

medians() { # side, pattern, what: "1.23 (1.20)", or "-"
        if [ ! -s "$folder/$1.$2.$3.times" ]; then
                printf -- -
                return
        fi
        awk '{ print $1, $2 + $3 }' "$folder/$1.$2.$3.times" | awk '{ clock[NR] = $1; cpu[NR] = $2 }
                function middle(v, n, i, k, x) { for (i = 1; i <= n; i++) for (k = i + 1; k <= n; k++)
                        if (v[k] < v[i]) { x = v[i]; v[i] = v[k]; v[k] = x }
                        return v[int((n + 1) / 2)] }
                END { printf "%.2f (%.2f)", middle(clock, NR), middle(cpu, NR) }'
}

row() { # words, pattern, what, target
        printf '%-44s %14s' "$1" "$(medians hyprof "$2" "$3")"
        [ "$sides" = hyprof ] || printf ' %14s' "$(medians tracy "$2" "$3")"
        printf '  %s\n' "$4"
}

for pattern in nested random; do
        for side in $sides; do
                recorded "$side" $pattern >"$folder/program.out"
        done
        for ((run = 0; run < n_runs; run++)); do
                for side in $sides; do
                        timed "$side" $pattern statistics
                        timed "$side" $pattern every
                done
                timed hyprof $pattern report
        done
        printf '%-44s %14s' "$pattern, $n_zones zones: seconds (of CPU)" hyprof
        [ "$sides" = hyprof ] || printf ' %14s' tracy
        printf '  target\n'
        row "statistics of all zones, as CSV" $pattern statistics "<= 0.5, and no more than Tracy"
        row "the same as hyprof report --zones" $pattern report "<= 0.5"
        row "every zone, as CSV" $pattern every "<= 5, and no more than Tracy"
        n_read=$("$HYPROF" csv -u "$folder/$pattern.hyprof" | tail -n +2 | wc -l)
        printf 'zones in the trace: hyprof %s' "$n_read"
        [ "$sides" = hyprof ] || printf ', tracy %s' "$("$TRACY_CSVEXPORT" -u "$folder/$pattern.tracy" 2>/dev/null | tail -n +2 | wc -l)"
        printf '\n'
done
