#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How often hyprof diff is wrong, and how often it finds 5% more work in one function.  Usage: diff_rates.sh build/release
#
# Three programs are recorded, each HYPROF_DIFF_RUNS times as it is and with 5% more work in one function, in turns; then
# diff_draws compares pairs and groups that are drawn from these recordings.  A cell is PROGRAM:RATE:LOAD.
#
#      HYPROF_DIFF_CELLS    only these cells, blanks between; default: three programs at 997 and 5000 Hz, quiet and busy
#      HYPROF_DIFF_RUNS     recordings of each; default: 20
#      HYPROF_DIFF_KEEP     a folder for the recordings: those that it has are not made again
#      HYPROF_DIFF_ALONE    a prefix of the program in quiet cells, where others use the machine: "chrt -r 10"
#
# "busy" is with two spinning processes beside.  All cells take about 30 minutes on a quiet machine.
# Exit status: 0 = the bounds of docs/use/diff.md hold for the rates of all cells together, 1 = they do not.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "${1:?Usage: diff_rates.sh build/VARIANT}")
n_runs=${HYPROF_DIFF_RUNS:-20}
read -r -a alone <<<"${HYPROF_DIFF_ALONE:-}"

folder=${HYPROF_DIFF_KEEP:-}
if [ -z "$folder" ]; then
        folder=$(mktemp -d)
        trap 'rm -rf "$folder"' EXIT
fi

all_cells() {
        local rate load program
        for load in quiet busy; do
                for rate in 5000 997; do
                        for program in w_diff w_diff_containers w_diff_system; do
                                echo "$program:$rate:$load"
                        done
                done
        done
}

# A run of it holds at least 7,000 samples of the function at 5000 Hz; half of the units at 997 Hz, where it is too few anyway.
units_of() { # program, rate
        local n
        case $1 in
        w_diff) n=440 ;;
        w_diff_containers) n=2800 ;;
        *) n=500 ;;
        esac
        echo $(($2 < 2000 ? n / 2 : n))
}

# The function that does more work, and the zones around it.
planted_in() { # program
        case $1 in
        w_diff) echo transform unit work ;;
        w_diff_containers) echo score_rows batch score ;;
        *) echo parse task parse ;;
        esac
}

spinning=()
start_spinning() {
        for _ in 1 2; do
                bash -c 'while :; do :; done' &
                spinning+=($!)
        done
}

stop_spinning() {
        [ ${#spinning[@]} -eq 0 ] || kill "${spinning[@]}"
        [ ${#spinning[@]} -eq 0 ] || wait "${spinning[@]}" 2>/dev/null || true
        spinning=()
}

record_one() { # file, program, rate, load, percent
        local command=("$build/workloads/$2" "$(units_of "$2" "$3")" "$5")
        [ -e "$1.hyp" ] && return
        [ "$4" = busy ] || command=("${alone[@]}" "${command[@]}")
        [ "$4" = quiet ] || start_spinning
        "$build/hyprof" record -F "$3" -o "$1.new" "${command[@]}" >"$1.log" 2>&1 || { cat "$1.log" && exit 1; }
        stop_spinning
        rm "$1.log"
        mv "$1.new" "$1.hyp"
}

record_cell() { # cell
        local program rate load i
        IFS=: read -r program rate load <<<"$1"
        mkdir -p "$folder/$1"
        for ((i = 1; i <= n_runs; i++)); do
                record_one "$folder/$1/a$(printf %02d "$i")" "$program" "$rate" "$load" 0
                record_one "$folder/$1/b$(printf %02d "$i")" "$program" "$rate" "$load" 5
        done
}

measure() {
        local cell
        local -a cells planted
        trap stop_spinning EXIT
        read -r -a cells <<<"${HYPROF_DIFF_CELLS:-$(all_cells | tr '\n' ' ')}"
        for cell in "${cells[@]}"; do
                record_cell "$cell"
                read -r -a planted <<<"$(planted_in "${cell%%:*}")"
                "$build/tools/diff_draws" "$folder/$cell" "${planted[@]}"
        done
}

echo "hyprof diff on $(nproc) CPUs, $(date -u +%F), $n_runs recordings a cell"
status=0
measure | awk -f tests/bench/diff_rates.awk || status=$?
echo "$SECONDS s"
exit "$status"
