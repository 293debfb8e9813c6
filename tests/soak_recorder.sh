#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Loads the recorder for long, and lets programs fork, exec, exit, unload libraries and be attached to while it works.
# Usage: soak_recorder.sh build/VARIANT [SECONDS=600 [RACES=1000 [MANY=1000000]]]
#
#   rate       24 threads emit 5 million zones a second, sampled at 10 kHz with waits, for so many SECONDS
#   processes  MANY children, one after the other
#   places     a zone in each of MANY places of the source
#   modules    MANY files that are mapped as code, one after the other
#   races      RACES forks, execs, exits and unloaded libraries each, while a second recorder comes and goes
#   attach     two recorders attach to one program and leave it, RACES times each
#
# Each zone is in the trace, or counted as lost, or its process is named as one that the other recorder has; each process is; programs end as they do alone; traces are whole; no recorder
# has more memory than MEMORY_MB (512) and what its rings pin.  Prints the figures; exit status 1 if one of these is not so.
set -u
cd "$(dirname "$0")/.." || exit 2
build=$(realpath "${1:?Usage: soak_recorder.sh build/VARIANT [SECONDS [RACES [MANY]]]}") || exit 2
seconds=${2:-600} races=${3:-1000} many=${4:-1000000}
memory_mb=${MEMORY_MB:-512}
hyprof=$build/hyprof
work=$(mktemp -d "${TMPDIR:-/tmp}/soak.XXXXXX") || exit 2
export HYPROF_CACHE_DIR=$work/cache
mkdir "$HYPROF_CACHE_DIR"
pids=()
# shellcheck disable=SC2317 # by the trap
clean_up() {
        local pid
        for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
        wait
        rm -rf "$work"
}
trap clean_up EXIT
gcc -O2 -Iinstrument/client/include tests/bench/burst_program.c "$build/libhyprof.a" -pthread -o "$work/burst_program" || exit 2
gcc -O1 -shared -fPIC -DRACED_LIBRARY -Iinstrument/client/include tests/workloads/w_races.c "$build/libhyprof.a" -o "$work/raced.so" || exit 2

failed=0
wrong() {
        echo "WRONG: $*"
        failed=1
}
# Peak memory of the command in KiB goes to NAME.memory.
record() { # name, options and command...
        /usr/bin/time -q -f %M -o "$work/$1.memory" "$hyprof" record -q --no-symbolize -o "$work/$1.hyp" "${@:2}" >"$work/$1.out" 2>"$work/$1.err" ||
                wrong "$1: status $?: $(head -n 2 "$work/$1.err")"
}
ask() { # name, jq's expression
        jq -r "$2" "$work/$1.json"
}
# Zones in the trace and lost, and what the program says that there were.
judge() { # name, zones
        local n_zones lost n_taken peak_mb pinned_mb
        "$hyprof" check "$work/$1.hyp" >"$work/said" 2>&1 || wrong "$1: $(head -n 1 "$work/said")"
        "$hyprof" report --json --limit 0 "$work/$1.hyp" >"$work/$1.json" 2>"$work/said" || wrong "$1: $(head -n 1 "$work/said")"
        n_zones=$(ask "$1" .n_zones)
        lost=$(ask "$1" '.n_zones_lost // 0')
        peak_mb=$(($(tail -n 1 "$work/$1.memory") / 1024))
        pinned_mb=$(ask "$1" '(.pinned_bytes // 0) / 1048576 | ceil')
        echo "$1: $2 zones, $n_zones recorded, $lost lost; $(ask "$1" .n_processes) processes; $peak_mb MB of memory, $pinned_mb MB pinned; $(($(stat -c %s "$work/$1.hyp") >> 20)) MB of trace"
        # A process whose region the second recorder was the first to find: each is a notice, and has twenty zones at most.
        n_taken=$(ask "$1" '[.missing.rows[] | select(.code == "CLIENT_BUSY" or .code == "CLIENT_JOINED") | .count] | add // 0')
        [ "$n_taken" -eq 0 ] || echo "$1: the second recorder had zones of $n_taken processes"
        if [ $((n_zones + lost)) -gt "$2" ] || [ $((n_zones + lost + 20 * n_taken)) -lt "$2" ]; then
                wrong "$1: $2 zones, but $n_zones and $lost"
        fi
        [ "$peak_mb" -le $((memory_mb + pinned_mb)) ] || wrong "$1: $peak_mb MB of memory"
        rm -f "$work/$1.hyp"
}

record rate -F 10000 -- "$work/burst_program" paced $((5000000 / 24)) "$seconds" 24
judge rate "$(sed -n 's/^zones \([0-9]*\).*/\1/p' "$work/rate.out")"

record processes -- "$build/workloads/w_short_lived" "$many" 1
judge processes 0
[ "$(ask processes .n_processes)" -ge "$many" ] || [ "$(ask processes '[.missing.rows[] | select(.source == "loss") | .count] | add // 0')" -gt 0 ] ||
        wrong "processes: $(ask processes .n_processes) of $many, and no loss"

for kind in places modules; do
        record "$kind" -- "$build/workloads/w_races" "$kind" "$many"
        judge "$kind" "$(sed -n 's/^zones //p' "$work/$kind.out")"
done

# A second recorder attaches again and again for as long as the process lives; it gets samples, the first one the zones.
come_and_go() { # name, pid, rounds at most
        local n=0 status
        while [ "$n" -lt "$3" ] && kill -0 "$2" 2>/dev/null; do
                status=0
                "$hyprof" record -q --no-symbolize -p "$2" -d 5ms -o "$work/$1.hyp" >"$work/$1.out" 2>"$work/$1.err" || status=$?
                case $status in
                0) "$hyprof" check "$work/$1.hyp" >/dev/null 2>&1 || echo "check" ;;
                125) [ -s "$work/$1.err" ] || echo "no word" ;; # the program has just ended
                *) echo "status $status: $(head -n 1 "$work/$1.err")" ;;
                esac
                rm -f "$work/$1".hyp*
                n=$((n + 1))
        done >"$work/$1.wrong"
        echo "$n" >"$work/$1.rounds"
}
for kind in fork exec exit dlclose; do
        # shellcheck disable=SC2016 # for that shell
        record "$kind" -- sh -c 'echo $$ >"$3.pid" && exec "$0" "$1" "$2" "$4"' "$build/workloads/w_races" "$kind" "$races" "$work/$kind" "$work/raced.so" &
        recorder=$!
        until [ -s "$work/$kind.pid" ] || ! kill -0 $recorder 2>/dev/null; do sleep 0.05; done
        come_and_go "beside-$kind" "$(cat "$work/$kind.pid")" 1000000
        wait "$recorder"
        [ ! -s "$work/beside-$kind.wrong" ] || wrong "beside $kind: $(sort "$work/beside-$kind.wrong" | uniq -c)"
        echo "$kind: a second recorder came $(cat "$work/beside-$kind.rounds") times"
        judge "$kind" "$(sed -n 's/^zones //p' "$work/$kind.out")"
done

"$build/workloads/w_two_zones" 1000000 2 >"$work/program.out" &
program=$!
pids+=("$program")
until find "/proc/$program/fd" -lname '*hyprof-client*' | grep -q .; do sleep 0.05; done
n_files=$(find "/proc/$program/fd" -mindepth 1 | wc -l)
come_and_go attach-a "$program" "$races" &
come_and_go attach-b "$program" "$races"
wait $!
for name in attach-a attach-b; do
        [ ! -s "$work/$name.wrong" ] || wrong "$name: $(sort "$work/$name.wrong" | uniq -c)"
        [ "$(cat "$work/$name.rounds")" -eq "$races" ] || wrong "$name: the program ended"
done
[ "$(find "/proc/$program/fd" -mindepth 1 | wc -l)" -eq "$n_files" ] || wrong "attach: descriptors are left in the program"
echo "attach: two recorders came $races times each"
exit $failed
