#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of sampling for the program, and the recorder's own, beside perf with like attributes in the same run.
#
# Sides alternate, medians of HYPROF_BENCH_RUNS (5).  The program does fixed work, 40 frames deep and without frame
# pointers, and measures its own time; "floor" is an event that interrupts as often and takes no sample: what no
# profiler can be below on this machine.  HYPROF_BENCH_SECONDS (10; 60 is what is promised) is how long the whole
# machine is sampled at 10 kHz, and HYPROF_BENCH_LONG=1 records every program for longer.
# Usage: bench_sampling.sh [slowdown|slowdown-all-cpus|start|bytes|lost|children]...; without a part all of them.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/real_programs.sh
folder=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 2
trap 'rm -rf "$folder"' EXIT
n_runs=${HYPROF_BENCH_RUNS:-5}
long_s=${HYPROF_BENCH_SECONDS:-10}
n_cpus=$(nproc)
parts=" $* "
deep=$WORKLOADS/w_deep

"$HYPROF" doctor >"$folder/doctor" 2>&1 || { echo "left out: $(grep -m 1 '^ *no ' "$folder/doctor")" && exit 0; }
peers=()
if command -v perf >/dev/null && perf record -q -B -e cpu-clock -o "$folder/try" true >"$folder/err" 2>&1; then
        peers=(floor perf_fp perf_dwarf)
else
        echo "perf is left out: $(head -n 1 "$folder/err" 2>/dev/null)"
fi
event=cpu-clock
[ ! -e /sys/bus/event_source/devices/cpu ] || event=cycles

median() {
        sort -n | awk '{ v[NR] = $1 } END { if (NR) print (NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2) }'
}

wanted() { # part
        [ "$parts" = "  " ] || [[ $parts == *" $1 "* ]]
}

of() { # expression
        awk "BEGIN { printf \"%.3f\", $1 }"
}

# One side of a comparison around a command; its output goes to $folder/printed.  perf with -B: to read the files'
# build-ids at the end takes it long, and Debian's aborts in it now and then; nor does hyprof look up names.
under() { # side, rate, command...
        local side=$1 rate=$2 data=$folder/$1.data
        shift 2
        case $side in
        bare)       "$@" ;;
        floor)      perf record -q -B -F "$rate" -e "$event:h" -o "$data" -- "$@" ;;
        perf_fp)    perf record -q -B -F "$rate" -m 1024 -e "$event" -g -o "$data" -- "$@" ;;
        perf_dwarf) perf record -q -B -F "$rate" -m 2048 -e "$event" --call-graph dwarf,8192 -o "$data" -- "$@" ;;
        hyprof)     "$HYPROF" record -q -F "$rate" --no-symbolize -o "$data" -- "$@" ;;
        hyprof_fp)  "$HYPROF" record -q -F "$rate" --no-symbolize --unwind=fp -o "$data" -- "$@" ;;
        esac >"$folder/printed" 2>"$folder/said" </dev/null || echo "$side failed: $(tail -n 1 "$folder/said")" >&2
}

missing() { # trace: what it says was lost
        "$HYPROF" report --json --limit 0 "$1" 2>/dev/null | jq -r '[.missing.rows[] | select(.source == "loss") |
                select(.code | test("LOST|RING|DROP|THROTTLE")) | "\(.code) \(.count)"] | join(", ") |
                if . == "" then "nothing lost" else . end'
}

n_samples() { # trace
        "$HYPROF" dump "$1" | grep -c '^sample '
}

printf '%d CPUs, %s, %s, event %s, perf_event_max_sample_rate %s, perf %s\n' "$n_cpus" "$(uname -r)" \
        "$(systemd-detect-virt 2>/dev/null || grep -qw hypervisor /proc/cpuinfo && echo "a virtual machine" || echo "no virtual machine known")" \
        "$event" "$(cat /proc/sys/kernel/perf_event_max_sample_rate)" "$(perf --version 2>/dev/null)"

# -------------------------------------------------------------- slowdown, T7 T8

# The recorder's share of a core: what everything took, less what the program took itself.
TIMEFORMAT='%3U %3S'
slowdown() { # words, rate, threads, rounds
        local side run seconds own used
        rm -f "$folder"/*.seconds "$folder"/*.used "$folder"/*.share
        for ((run = 0; run < n_runs; run++)); do
                for side in bare again "${peers[@]}" hyprof hyprof_fp; do
                        used=$({ time under "${side/again/bare}" "$2" "$deep" "$4" 40 "$3"; } 2>&1 | tail -n 1)
                        read -r _ seconds own <"$folder/printed" || continue
                        echo "$seconds" >>"$folder/$side.seconds"
                        echo "$own" >>"$folder/$side.used"
                        of "(${used/ /+} - $own) / $seconds * 100" >>"$folder/$side.share"
                        echo >>"$folder/$side.share"
                done
        done
        bare=$(median <"$folder/bare.seconds")
        floor=$bare
        [ ! -s "$folder/floor.seconds" ] || floor=$(median <"$folder/floor.seconds")
        bare_used=$(median <"$folder/bare.used")
        printf '\n%s: %s s bare\n%-12s %10s %12s %14s %14s\n' "$1" "$bare" "" slower "over floor" "its CPU time" "recorder's CPU"
        for side in again "${peers[@]}" hyprof hyprof_fp; do
                took=$(median <"$folder/$side.seconds")
                printf '%-12s %+9.2f%% %+11.2f%% %+13.2f%% %13.2f%%\n' "$side" "$(of "100 * ($took / $bare - 1)")" \
                        "$(of "100 * ($took - $floor) / $bare")" \
                        "$(of "100 * ($(median <"$folder/$side.used") / $bare_used - 1)")" "$(median <"$folder/$side.share")"
        done
        printf 'hyprof: %s; %s\n' "$(missing "$folder/hyprof.data")" "$5"
}
if wanted slowdown; then
        slowdown "1 kHz, one thread" 997 1 60000 "target slower <= 2.5%"
        slowdown "10 kHz, one busy core" 9973 1 60000 "target slower <= perf_dwarf + 2 points, own CPU <= 2.5% of a core"
fi
! wanted slowdown-all-cpus || slowdown "10 kHz, all cores busy" 9973 "$n_cpus" 60000 \
        "target slower <= 0.75 of perf_dwarf, own CPU <= $(of "2.5 * $n_cpus")% of a core"

# ------------------------------------------------------ start and stop, T12

start_and_stop() {
        gcc -O2 -D_GNU_SOURCE tests/bench/spawn_cost.c -o "$folder/spawn_cost" || exit 1
        local true
        true=$(command -v true)
        printf '\nstart and stop around /bin/true, ms of wall time, medians of 11\n'
        local n=0 names files file
        "$folder/spawn_cost" 11 "$true" -- "$HYPROF" record -q -o "$folder/t.hyp" "$true" >"$folder/a"
        "$folder/spawn_cost" 11 "$true" -- "$HYPROF" record -q --no-symbolize -o "$folder/t.hyp" "$true" >"$folder/b"
        names=(hyprof "hyprof --no-symbolize")
        files=(a b)
        if [ ${#peers[@]} -gt 0 ]; then
                "$folder/spawn_cost" 3 "$true" -- perf record -q -o "$folder/t.data" "$true" >"$folder/c" 2>"$folder/err"
                names+=("perf record")
                files+=(c)
        fi
        for file in "${files[@]}"; do
                awk -v name="${names[n]}" 'NR == 1 { bare = $1 } NR == 2 {
                        printf "%-24s %8.1f  %s\n", name, ($1 - bare) / 1000, name ~ /^hyprof/ ? "<= 50" : "" }' "$folder/$file"
                n=$((n + 1))
        done
}
! wanted start || start_and_stop

# ----------------------------------------------------- bytes of the files, T11

bytes_of_files() {
        printf '\nbytes a sample, 9973 Hz\n%-10s %10s %10s %12s %10s %9s  %s\n' program samples hyprof "perf dwarf" times "own CPU" target
        for name in deep python3 clang; do
                program_of "$name" "$folder/inputs" $((${HYPROF_BENCH_LONG:-0} * 7 + 3)) || continue
                [ "$name" != deep ] || command+=(40)
                began=$EPOCHREALTIME
                under hyprof 9973 "${command[@]}"
                took=$(of "$EPOCHREALTIME - $began")
                n=$(n_samples "$folder/hyprof.data")
                own=$("$HYPROF" dump "$folder/hyprof.data" | awk -F '[ =]' '
                        $1 == "string" { text = $0; sub(/.* text="/, "", text); sub(/"$/, "", text); texts[$3] = text }
                        $1 == "meta" && texts[$5] == "recorder_cpu_ns" { print texts[$7] }')
                perf_bytes=0
                if [ ${#peers[@]} -gt 0 ]; then
                        (perf record -q -B -F 9973 -m 2048 -e "$event" --call-graph dwarf,16384 -o "$folder/p.data" -- "${command[@]}" \
                                >"$folder/printed" 2>"$folder/said" </dev/null) 2>"$folder/err" || tail -n 1 "$folder/err"
                        perf_n=$(perf script -i "$folder/p.data" -F tid -G 2>"$folder/err" | wc -l)
                        [ "$perf_n" -lt 1000 ] || perf_bytes=$(of "$(stat -c %s "$folder/p.data") / $perf_n")
                        rm -f "$folder/p.data"
                fi
                awk -v name=$name -v n="$n" -v bytes="$(stat -c %s "$folder/hyprof.data")" -v perf="$perf_bytes" -v took="$took" \
                        -v own="${own:-0}" 'BEGIN { # without a figure of perf or of the recorder there is a 0
                        if (n == 0) { print name ": no samples"; exit }
                        printf "%-10s %10d %10.1f %12.0f %10.0f %8.2f%%  %s\n", name, n, bytes / n, perf, perf * n / bytes, \
                                own / 1e7 / took, name == "clang" ? "<= 25 B; own <= 5%" : ">= 100 times; own <= 2.5%" }'
                "$HYPROF" dump "$folder/hyprof.data" | awk -f tests/complete_stacks.awk |
                        awk '$1 { printf "  complete %.2f%%, of them joined %d, read later %d, %s\n", 100 * $2 / $1, $3, $4, missing }' \
                                missing="$(missing "$folder/hyprof.data")"
        done
}
! wanted bytes || bytes_of_files

# --------------------------------------------------------- lost samples, T6

lost_at() { # rate, seconds, target
        under hyprof "$1" timeout "$2" "$deep" 100000000 40 "$n_cpus" 2>/dev/null
        printf '%6d Hz, %3d s: %9d samples; %s; target %s\n' "$1" "$2" "$(n_samples "$folder/hyprof.data")" \
                "$(missing "$folder/hyprof.data")" "$3"
        rm -f "$folder/hyprof.data"
}
if wanted lost; then
        printf '\nlost, all cores busy\n'
        lost_at 9973 "$long_s" "none in 60 s"
        lost_at 20011 5 none
        lost_at 50021 5 "<= 0.2%"
fi

# --------------------------------------------------- short-lived children, T10

short_children() {
        printf '\n3,000 children of 0.3 ms: share of their processor time that was sampled\n'
        under hyprof 997 "$WORKLOADS/w_short_lived"
        "$HYPROF" dump "$folder/hyprof.data" | awk -v used="$(cat "$folder/printed")" '
                $1 == "sample" { match($0, / weight=[0-9]+/); ns += substr($0, RSTART + 8, RLENGTH - 8); n++ }
                END { printf "hyprof      %7.1f%%, %d samples, target 95%% to 105%%\n", ns / 1e7 / used, n }'
        if [ ${#peers[@]} -gt 0 ] && [ "$event" = cpu-clock ]; then
                under perf_fp 997 "$WORKLOADS/w_short_lived"
                perf script -i "$folder/perf_fp.data" -F period -G 2>"$folder/err" | awk -v used="$(cat "$folder/printed")" '
                        { ns += $1; n++ } END { printf "perf record %7.1f%%, %d samples\n", ns / 1e7 / used, n }'
        fi
}
! wanted children || short_children
