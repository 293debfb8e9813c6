#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# SIGINT, SIGTERM and SIGHUP end the recording and keep the trace; a command that ignores them goes on and is waited for
set -eu
. tests/tap.sh
plan 62
need jq
need_sampling
# Jobs get process groups of their own, and SIGINT is not ignored in them.
set -m

to_command=$TMPDIR/to_command
from_command=$TMPDIR/from_command
mkfifo "$to_command" "$from_command"

# In the background; $pid is hyprof's.  Descriptor 4 speaks to the command, 5 hears it.
start() { # name of the trace, command...
        "$HYPROF" record -o "$TMPDIR/$1.hyp" -- "${@:2}" <"$to_command" >"$from_command" 2>"$TMPDIR/$1.err" &
        pid=$!
        exec 4>"$to_command" 5<"$from_command"
}

hear() { # word: the command has said it
        local line
        read -r -t 60 line <&5 && same "$1" "$line"
}

says() { # name of the trace, words: hyprof has said them; it writes to a file, so look again and again
        local tries
        for ((tries = 0; tries < 600; tries++)); do
                ! grep -q "$2" "$TMPDIR/$1.err" || return 0
                read -r -t 0.1 <> <(:) || true
        done
        cat "$TMPDIR/$1.err"
        return 1
}

ended_with() { # status
        local status=0
        wait "$pid" || status=$?
        exec 4>&- 5<&-
        same "$1" "$status"
}

has_zones() { # name of the trace
        read_trace "$1"
        compare "$(n_events "$1" 'kind == "zone_begin"')" ">=" 1000
}

for signal in INT TERM HUP; do
        number=$(kill -l $signal)
        start $signal "$WORKLOADS/w_kill" "$TMPDIR/counter"
        holds "SIG$signal: the program works" hear ready
        holds "SIG$signal: to hyprof alone" kill -$signal "$pid"
        holds "SIG$signal: it is handed on; the status is that of the program" ended_with $((128 + number))
        holds "SIG$signal: the trace is whole" is_whole $signal
        holds "SIG$signal: with the zones until then" has_zones $signal
        holds "SIG$signal: and the status" same "signal $number" "$(reported $signal .exit_status)"
done

start group "$WORKLOADS/w_kill" "$TMPDIR/counter"
holds "process group: the program works" hear ready
holds "process group: SIGINT as from a terminal" kill -INT -- "-$pid"
holds "process group: the status is that of the program" ended_with 130
holds "process group: the trace is whole" is_whole group
holds "process group: with the zones until then" has_zones group

# A program with a handler that ends in order: its status, its last words, all of its zones.
start handler sh -c 'trap "echo bye; exit 9" INT; echo ready; while :; do read line; done'
holds "handler: the program works" hear ready
holds "handler: SIGINT to the group" kill -INT -- "-$pid"
holds "handler: its last words arrive" hear bye
holds "handler: its status" ended_with 9
holds "handler: the trace is whole" is_whole handler

# The recording lasts until its end, however long that takes.
start tidies sh -c 'trap "sleep 0.6; echo tidy; exit 9" INT; echo ready; while :; do read line; done'
holds "tidies up: the program works" hear ready
holds "tidies up: SIGINT to the group" kill -INT -- "-$pid"
holds "tidies up: its last words arrive" hear tidy
holds "tidies up: its status" ended_with 9
holds "tidies up: the trace is whole" is_whole tidies
read_trace tidies
holds "tidies up: until its end" same 9 "$(reported tidies '.exit_status')"
holds "tidies up: the report says nothing else" same "" "$(reported tidies '.missing.rows[] | select(.code == "STOPPED_EARLY") | .code')"

# shellcheck disable=SC2016 # for the recorded shell
start ignores sh -c 'trap "" INT; echo ready; read line; echo "got $line"; exit 5'
holds "ignored: the program works" hear ready
holds "ignored: SIGINT to hyprof" kill -INT "$pid"
holds "ignored: the recording ends" says ignores "waiting for the command"
holds "ignored: the trace is whole already" is_whole ignores
holds "ignored: hyprof waits" kill -0 "$pid"
echo more >&4
holds "ignored: the program goes on" hear "got more"
holds "ignored: its status" ended_with 5
read_trace ignores
holds "ignored: the report says that the recording was stopped" same STOPPED_EARLY \
        "$(reported ignores '.missing.rows[] | select(.code == "STOPPED_EARLY") | .code')"

# While hyprof waits, a signal is handed on as well.
start twice sh -c 'trap "" INT; trap "exit 6" TERM; echo ready; while :; do read line; done'
holds "two signals: the program works" hear ready
holds "two signals: SIGINT, which it ignores" kill -INT "$pid"
holds "two signals: the recording ends" says twice "waiting for the command"
holds "two signals: SIGTERM" kill -TERM "$pid"
holds "two signals: it reaches the program" ended_with 6
holds "two signals: the trace is whole" is_whole twice

# At the start: as soon as the new file has the name of an earlier trace.
earlier=$(sha256sum <"$TMPDIR/INT.hyp")
keeps_earlier() { # name of the trace, signal: it is whole, and the earlier one has its name, or that with .old
        local inode tries pid
        cp "$TMPDIR/INT.hyp" "$TMPDIR/$1.hyp"
        rm -f "$TMPDIR/$1.hyp.old"
        inode=$(stat -c %i "$TMPDIR/$1.hyp")
        "$HYPROF" record -q -o "$TMPDIR/$1.hyp" -- sleep 5 2>"$TMPDIR/$1.err" &
        pid=$!
        for ((tries = 0; tries < 10000; tries++)); do
                [ "$(stat -c %i "$TMPDIR/$1.hyp" 2>/dev/null)" = "$inode" ] || break
        done
        kill -"$2" "$pid"
        wait "$pid" || { [ $? -ne 125 ] || n_taken_back=$((n_taken_back + 1)); }
        is_whole "$1" &&
                { same "$earlier" "$(sha256sum <"$TMPDIR/$1.hyp")" >/dev/null || same "$earlier" "$(sha256sum <"$TMPDIR/$1.hyp.old")"; }
}
n_taken_back=0
for signal in INT TERM HUP; do
        for try in 1 2 3; do
                holds "SIG$signal at the start, $try: no trace is lost" keeps_earlier "start-$signal" $signal
        done
done
holds "recordings that end before their command begins are taken back" compare "$n_taken_back" ">" 0

# Who asked for it by nohup(1) does not end with the terminal.
(trap '' HUP; exec "$HYPROF" record -o "$TMPDIR/hup.hyp" -- sh -c "echo ready; read -r line; exit 7" <"$to_command" >"$from_command" 2>"$TMPDIR/hup.err") &
pid=$!
exec 4>"$to_command" 5<"$from_command"
holds "nohup: the program works" hear ready
kill -HUP "$pid"
read -r -t 2 <> <(:) || true # a recording that is stopped ends within a second
echo on >&4
holds "nohup: the command goes on after a hang-up" ended_with 7
read_trace hup
holds "nohup: so does the recording" same "" "$(reported hup '.missing.rows[] | select(.code == "STOPPED_EARLY") | .code')"
