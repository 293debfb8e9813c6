#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Following a recording: how long from an event to the viewer's reply and to the table of `hyprof top`, and what it costs
# the recorder, with HYPROF_BENCH_ZONES (2,000,000) zones a second and 1 kHz.  All of it HYPROF_BENCH_RUNS (3) times.
#
# A second program begins in the middle of the recording and writes down when: its first zones are the event.  The other
# times are of when its zones are first in a reply, in a table.  The recorder's processor time is what it says itself.
set -u
cd "$(dirname "$0")/../.." || exit 2
folder=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 2
trap 'rm -rf "$folder"' EXIT
n_runs=${HYPROF_BENCH_RUNS:-3} rate=${HYPROF_BENCH_ZONES:-2000000}
HYPROF=$(realpath "$HYPROF") WORKLOADS=$(realpath "$WORKLOADS")
export XDG_CACHE_HOME="$folder/cache"
unset DISPLAY WAYLAND_DISPLAY

"$HYPROF" doctor >"$folder/doctor" 2>&1 || { echo "left out: $(grep -m 1 '^ *no ' "$folder/doctor")" && exit 0; }

time_between() { # from, to: files with a time in nanoseconds
        if [ -s "$1" ] && [ -s "$2" ]; then
                echo "$((($(<"$2") - $(<"$1")) / 1000000)) ms"
        else
                echo 'more than 5 s'
        fi
}

# The load for 9 seconds, and the event 4 seconds after its beginning.
cat >"$folder/program" <<END
'$WORKLOADS/w_full_ring' paced 9 $rate >'$folder/load' &
sleep 4
date +%s%N >'$folder/event'
'$WORKLOADS/w_two_zones' 2 1 >/dev/null
wait
END

start_recording() { # seconds of the load alone, or nothing for the program with the event
        rm -f "$folder"/run.hyp* "$folder/event" "$folder/seen"
        if [ $# -gt 0 ]; then
                set -- "$WORKLOADS/w_full_ring" paced "$1" "$rate"
        else
                set -- bash "$folder/program"
        fi
        "$HYPROF" record -F 1000 -o "$folder/run.hyp" -- "$@" >"$folder/load" 2>"$folder/summary" &
        recorder=$!
        until [ -s "$folder/run.hyp" ]; do sleep 0.05; done
}

# The viewer of run.hyp: $viewer, $url
start_viewer() {
        "$HYPROF" view --follow --no-open "$folder/run.hyp" >"$folder/view.out" 2>"$folder/view.err" &
        viewer=$!
        until grep -q '^Ctrl-C' "$folder/view.out"; do
                kill -0 "$viewer" 2>/dev/null || { cat "$folder/view.err" && return 1; }
                sleep 0.05
        done
        url=$(sed -n '/^http/p' "$folder/view.out")
}

# A process has its first zones in the model when a track of it has them.
watch_replies() {
        local model="$folder/model"

        while kill -0 "$recorder" 2>/dev/null; do
                curl -s -m 5 "${url}model" >"$model"
                if grep -q w_two_zones "$model" && jq -e '[.tracks[] | select(.title == "w_two_zones") | .lanes[] |
                                select(.kind == "zones") | .items] | add > 0' "$model" >/dev/null; then
                        date +%s%N >"$folder/seen"
                        return
                fi
                sleep 0.05
        done
}

watch_tables() {
        "$HYPROF" top --table zones "$folder/run.hyp" 2>/dev/null | while read -r line; do
                case $line in
                *w_two_zones*) [ -s "$folder/seen" ] || date +%s%N >"$folder/seen" ;;
                esac
        done
}

# The recorder's own, in thousandths of a core.
recorder_cost() {
        sed -n 's/.*sampler used \([0-9]*\)\.\([0-9]\)% of one core.*/\1\2/p' "$folder/summary"
}

# With: alone, top, view
cost() {
        start_recording 8
        case $1 in
        top) "$HYPROF" top "$folder/run.hyp" >/dev/null 2>&1 ;;
        view) start_viewer >&2 ;;
        esac
        wait "$recorder"
        [ "$1" != view ] || kill "$viewer"
        wait
        recorder_cost
}

median() { # numbers: the median
        printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"
}

echo "$rate zones a second, 1 kHz"
for run in $(seq "$n_runs"); do
        start_recording
        start_viewer || exit 1
        watch_replies
        wait "$recorder"
        kill "$viewer"
        wait
        echo "run $run: the viewer's reply has the event after $(time_between "$folder/event" "$folder/seen"); $(grep -o 'samples.*' "$folder/summary")"
        start_recording
        watch_tables
        wait
        echo "run $run: the table of top has the event after $(time_between "$folder/event" "$folder/seen")"
done
declare -A costs
for run in $(seq "$n_runs"); do
        for by in nobody top view; do
                costs[$by]+=" $(cost "$by")"
        done
done
for by in nobody top view; do
        # shellcheck disable=SC2086 # a list of numbers
        echo "recorder's processor time, thousandths of a core, followed by $by:${costs[$by]} (median $(median ${costs[$by]}))"
done
