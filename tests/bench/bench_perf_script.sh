#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The same files of perf's, with copies of stacks, unwound by `perf script` and by unwind/; and how many stacks that
# are deeper than a copy are joined rightly to the stack before.
#
# Wall time of the whole process, both print all addresses; each alternates with the other, medians of 5.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/real_programs.sh
folder=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 2
trap 'rm -rf "$folder"' EXIT

command -v perf >/dev/null || { echo "left out: perf is not installed" && exit 0; }
perf record -q -B -e cpu-clock --call-graph dwarf,16384 -o "$folder/try" true 2>"$folder/err" >&2 || {
        echo "left out: perf cannot record here: $(head -n 1 "$folder/err")"
        exit 0
}
tool=$BUILD/tools/perf_data_stacks

seconds_of() { # command...
        local began=$EPOCHREALTIME
        "$@" >"$folder/printed" 2>"$folder/summary"
        awk "BEGIN { printf \"%.6f\", $EPOCHREALTIME - $began }"
}

median() {
        sort -n | awk '{ v[NR] = $1 } END { print (NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2) }'
}

printf '%-10s %8s %10s %14s %14s %8s  %s\n' program stacks "to root" "perf script us" "hyprof us" times target
# shellcheck disable=SC2154 # of real_programs.sh
for name in $real_programs; do
        program_of "$name" "$folder/inputs" 3 || { echo "$name: not installed" && continue; }
        timeout 4 perf record -q -F 4999 -m 4096 -e cpu-clock:u --call-graph dwarf,16384 -o "$folder/$name.data" -- \
                "${command[@]}" >"$folder/out" 2>&1 </dev/null
        rm -f "$folder/perf" "$folder/own"
        for _ in 1 2 3 4 5; do
                seconds_of perf script -i "$folder/$name.data" -F ip --no-inline >>"$folder/perf"
                echo >>"$folder/perf"
                seconds_of "$tool" "$folder/$name.data" >>"$folder/own"
                echo >>"$folder/own"
        done
        read -r stacks _ roots <"$folder/summary"
        awk -v name="$name" -v n="$stacks" -v roots="$roots" -v perf="$(median <"$folder/perf")" \
                -v own="$(median <"$folder/own")" 'BEGIN {
                if (n == 0) { print name ": no samples"; exit }
                printf "%-10s %8d %9.2f%% %14.2f %14.2f %8.1f  >= 10\n", name, n, 100 * roots / n, \
                        1e6 * perf / n, 1e6 * own / n, perf / own }'
        rm -f "$folder/$name.data"
done

printf '\n%-10s %8s %12s %12s %12s %10s %10s  %s\n' "cut to" stacks "complete cut" joined "64 KiB has" checked right target
for name in clang cc1plus python3; do
        program_of "$name" "$folder/inputs" 6 || continue
        timeout 8 perf record -q -F 499 -m 4096 -e cpu-clock:u --call-graph dwarf,65528 -o "$folder/$name.data" -- \
                "${command[@]}" >"$folder/out" 2>&1 </dev/null
        for cut in 8192 16384 32768; do
                "$tool" --cut $cut "$folder/$name.data" | awk -v name="$name" -v cut=$((cut / 1024)) '$1 > 0 {
                        printf "%-7s %2d %8d %11.2f%% %11.2f%% %11.2f%% %10d %9.2f%%  %s\n", name, cut, $1, \
                                100 * $2 / $1, 100 * ($2 + $3) / $1, 100 * $4 / $1, $5, \
                                $5 ? 100 * $6 / $5 : 100, cut == 16 ? ">= 99.5% right" : "" }'
        done
        rm -f "$folder/$name.data"
done
