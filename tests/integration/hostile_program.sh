#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program that does what it can with its region neither stalls its recorder, nor takes its memory, nor keeps it from ending
set -eu
. tests/tap.sh
plan 25
need jq
need_sampling

n_s=20 # far more than the two seconds that are promised, on a machine that is busy; a recorder that is stalled needs hours
recorder=0 program=0
kill_both() {
        [ "$recorder" -eq 0 ] || kill -KILL "$recorder" 2>/dev/null || true
        [ "$program" -eq 0 ] || kill -KILL "$program" 2>/dev/null || true
        [ "$program" -eq 0 ] || rm -f "/tmp/perf-$program.map"
        recorder=0 program=0
}
trap kill_both EXIT
mkfifo "$TMPDIR/words"

# $recorder and $program, once the program has begun.  It runs on for a minute if it is not ended.
start() { # mode
        (ulimit -v $((8 << 20)) && exec "$HYPROF" record -q -o "$TMPDIR/$1.hyp" -- "$WORKLOADS/w_hostile" "$1" 60) \
                >"$TMPDIR/words" 2>"$TMPDIR/err" &
        recorder=$!
        exec 5<"$TMPDIR/words"
        read -r -t 60 program <&5
        exec 5<&-
}

# Two of a kind that wait are one: until none waits any more, or the machine is empty.
is_taken() {
        local tries
        for ((tries = 0; tries < 600; tries++)); do
                [ -e "/proc/$recorder/status" ] && grep -qE '^ShdPnd:.*[1-9a-f]' "/proc/$recorder/status" || return 0
                read -r -t 0.05 <> <(:) || true
        done
}

peak_kib() { awk '$1 == "VmHWM:" { print $2 }' "/proc/$recorder/status"; }

ends() { # it does so by itself
        local status=0
        local tries=0
        while grep -q '^State:[[:space:]]*[A-Y]' "/proc/$recorder/status" 2>/dev/null; do
                [ "$((tries++))" -lt $((20 * n_s)) ] || { echo "not after $n_s s" && return 1; }
                read -r -t 0.05 <> <(:) || true
        done
        wait "$recorder" || status=$?
        echo "status $status"
        cat "$TMPDIR/err"
        [ "$status" -eq 143 ] || [ "$status" -eq 130 ]
}

# A second signal may come after the first one has ended it.
try() { # mode, signals...
        local mode=$1 peak began signals_sent=0
        start "$mode"
        peak=$(peak_kib)
        began=$EPOCHREALTIME
        shift
        for signal; do
                kill "-$signal" "$recorder" 2>/dev/null || [ "$signals_sent" -gt 0 ]
                signals_sent=$((signals_sent + 1))
                is_taken
        done
        holds "$mode: $* ends the recorder" ends
        figure "$mode: it ended after $(awk "BEGIN { print int(($EPOCHREALTIME - $began) * 1000) }") ms; peak before $((peak >> 10)) MiB"
        kill_both
        holds "$mode: its memory is bounded" compare "$peak" "<" $((2 << 20))
        holds "$mode: the trace is whole" is_whole "$mode"
}
try blob TERM
try blob INT INT
try garbage TERM
try ignores TERM
try ignores INT INT
try forks TERM
try map TERM

# ---- what it made of the payload: read once, and the others are refused
"$HYPROF" report --json --limit 0 "$TMPDIR/blob.hyp" >"$TMPDIR/blob.json"
holds "blob: what could not be had is said" grep -qE '"code": *"(BLOB|CLIENT)_' "$TMPDIR/blob.json"
holds "forks: regions that did not fit are counted" compare \
        "$("$HYPROF" report --json --limit 0 "$TMPDIR/forks.hyp" | jq '[.missing.rows[] | select(.code == "CLIENT_NO_ROOM") | .count] | add')" ">" 0
n_left_out=$("$HYPROF" report --json --limit 0 "$TMPDIR/map.hyp" | jq '[.missing.rows[] | select(.code == "CODE_OVER_LIMIT") | .count] | add')
holds "map: the rest was not read, line by line to the limit" compare "$n_left_out" "<" 1000000
holds "map: that is said" compare "$n_left_out" ">" 0
