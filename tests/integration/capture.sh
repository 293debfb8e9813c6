#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof record --listen and hyprof capture: the same trace as a local file, through kills, stops, garbage and floods; what is lost is counted
set -eu
. tests/tap.sh
. tests/captured.sh
plan 46
need jq python3
need_sampling
mkdir -m 700 "$TMPDIR/run"
export XDG_RUNTIME_DIR=$TMPDIR/run
mkfifo "$TMPDIR/to" "$TMPDIR/from"
programs=()
cleanup() {
        local pid
        for pid in "${programs[@]}"; do
                kill -KILL "$pid" 2>/dev/null || true
        done
}
trap cleanup EXIT
socket=$TMPDIR/s

# In the background, with w_flight as its command: $recorder.  Descriptor 4 speaks to w_flight, 5 hears it.
fly() { # name of its messages, options...
        "$HYPROF" record "${@:2}" -- "$WORKLOADS/w_flight" <"$TMPDIR/to" >"$TMPDIR/from" 2>"$TMPDIR/$1.err" &
        recorder=$!
        programs+=("$recorder")
        exec 4>"$TMPDIR/to" 5<"$TMPDIR/from"
}

tell() { # command: it has been obeyed
        local line=
        echo "$*" >&4
        read -r -t 60 line <&5 && same ok "$line"
}

land() { # w_flight ends
        exec 4>&- 5<&-
}

ended() { # status, process
        local status=0
        wait "$2" || status=$?
        same "$1" "$status"
}

take() { # name, options...: in the background: $taker
        "$HYPROF" capture "$address" --no-symbolize -o "$TMPDIR/$1.hyp" "${@:2}" >"$TMPDIR/$1.said" 2>&1 4>&- 5<&- 8>&- &
        taker=$!
        programs+=("$taker")
}

grows() { # name: something has come
        local i
        for ((i = 0; i < 600; i++)); do
                [ -s "$TMPDIR/$1.hyp" ] && return 0
                read -r -t 0.02 <> <(:) || true
        done
        return 1
}

# The capture and the process in it that takes the trace.
signal_taker() { # signal
        local processes
        read -r -a processes <"/proc/$taker/task/$taker/children" || true # no newline
        kill "-$1" "$taker" "${processes[@]}"
}

is_stopped() { # process: it has obeyed SIGSTOP
        local i
        for ((i = 0; i < 600; i++)); do
                grep -q '^State:.T' "/proc/$1/status" && return 0
                read -r -t 0.02 <> <(:) || true
        done
        return 1
}

count() { "$HYPROF" report --zones --json --limit 0 "$TMPDIR/$1.hyp" | jq "[.zones.rows[] | select(.name == \"$2\") | .count] | add // 0"; }
lost() { "$HYPROF" dump "$TMPDIR/$1.hyp" | awk -v reason="$2" '/^loss / && $0 ~ "reason=" reason "( |$)" { sub(/.*count=/, ""); n += $1 } END { print n + 0 }'; }

# ---- a port, with a file of the recorder's own
fly tcp --listen 0 -o "$TMPDIR/own.hyp"
holds "listens" until_it_says "$TMPDIR/tcp.err" '^hyprof: listening at 127.0.0.1:[0-9]+$'
address=$(sed -n 's/^hyprof: listening at //p' "$TMPDIR/tcp.err")
holds "and says how it is reached from elsewhere" grep -q "ssh -L ${address#*:}:127.0.0.1:${address#*:} " "$TMPDIR/tcp.err"
# Garbage, and a connection that says nothing: before the first taker.
holds "a connection with garbage" bash -c "head -c 100000 /dev/urandom >/dev/tcp/${address/:/\/} || true"
exec 8<>"/dev/tcp/${address/:/\/}"
printf HYPT >&8
take tcp
holds "begins when it is taken" tell turns 3 1
holds "a second taker is told so" ends_with 1 "$HYPROF" capture "$address" -o "$TMPDIR/second.hyp"
holds "in one line" grep -q 'another capture is connected' "$TMPDIR/err"
holds "and leaves no file" test ! -e "$TMPDIR/second.hyp"
tell flood 300000 >/dev/null
tell turns 2 1 >/dev/null
exec 8>&-
land
holds "the recording ends as its program" ended 0 "$recorder"
holds "the capture is whole" ended 0 "$taker"
holds "what the recorder's file has" same_but_readings "$TMPDIR/own.hyp" "$TMPDIR/tcp.hyp"
holds "with every zone" same "300000 5 1" "$(count tcp flood) $(count tcp turn) $(count tcp run)"
holds "nothing lies beside it" test ! -e "$TMPDIR/tcp.hyp.taking"

holds "-q: the recording ends" ends_with 0 "$HYPROF" record -q --listen 0 --no-wait -o "$TMPDIR/quiet.hyp" -- true
holds "-q: the port that was chosen is said, and nothing else" \
        same "1 1" "$(wc -l <"$TMPDIR/err") $(grep -c '^hyprof: listening at 127.0.0.1:[1-9][0-9]*$' "$TMPDIR/err")"

# ---- a socket in a folder, and takers that are killed at random
address=$socket
take wait --wait
until_it_says /proc/$taker/comm hyprof >/dev/null || true
fly unix --listen "$socket"
holds "capture --wait finds the recorder that comes" tell turns 1 1
holds "the socket is the user's alone" same 600 "$(stat -c %a "$socket")"
grows wait
for ((i = 0; i < 20; i++)); do
        kill -KILL "$taker" 2>/dev/null || true
        wait "$taker" 2>/dev/null || true
        tell flood $((10000 + RANDOM)) >/dev/null
        take wait
        read -r -t "0.0$((RANDOM % 10))$((RANDOM % 10))" <> <(:) || true
done
tell turns 4 1 >/dev/null
land
has_end() { ended 0 "$taker" || { cat "$TMPDIR/wait.said" && return 1; }; }
holds "the last of 21 takers has the end" has_end
holds "it went on with what there was" grep -q 'gone on with' "$TMPDIR/wait.said"
holds "and the recording ends" ended 0 "$recorder"
holds "intact" "$HYPROF" check "$TMPDIR/wait.hyp"
zones=$(sed -nE 's/.* ([0-9,]+) zones, .*/\1/p' "$TMPDIR/unix.err" | tr -d ,)
holds "no zone is missing" same "$zones 0 0" "$("$HYPROF" dump "$TMPDIR/wait.hyp" | grep -c '^zone_begin ') $(lost wait 52) $(lost wait 53)"

# ---- a taker that does not read never stops the program
fly slow --no-sampling --listen "$socket" --buffer 64K
until_it_says "$TMPDIR/slow.err" 'listening'
take slow
tell turns 1 1 >/dev/null
grows slow
signal_taker STOP
read -r -a processes <"/proc/$taker/task/$taker/children" || true # no newline
is_stopped "${processes[0]}"
holds "the program goes on" tell flood 6000000
for ((i = 0; i < 600; i++)); do # the recorder has it, too
        [ "$("$HYPROF" ctl "$recorder" status --json | jq .n_zones)" -ge 6000000 ] && break
        read -r -t 0.05 <> <(:) || true
done
tell turns 2 1 >/dev/null
signal_taker CONT
land
holds "slow: the capture is whole" ended 0 "$taker"
holds "slow: the recording ends" ended 0 "$recorder"
dropped=$(sed -nE 's/.*warning: ([0-9,]+) events were dropped.*/\1/p' "$TMPDIR/slow.err" | tr -d ,)
holds "slow: events were dropped" test "${dropped:-0}" -gt 0
holds "slow: the trace counts them" same "$dropped" "$(lost slow 52)"
holds "slow: the report says so" grep -q 'events that no capture took in time' <("$HYPROF" report "$TMPDIR/slow.hyp")
holds "slow: the trace is intact" "$HYPROF" check "$TMPDIR/slow.hyp"
# Each flood is a begin and an end; what is open across a gap begins anew after it.  All may be lost.
all=$(sed -nE 's/.* ([0-9,]+) zones, .*/\1/p' "$TMPDIR/slow.err" | tr -d ,)
there=$("$HYPROF" dump "$TMPDIR/slow.hyp" | awk '/^zone_begin / { n++ } END { print n + 0 }')
holds "slow: what is there and what is lost is all" awk -v all="$all" -v there="$there" -v dropped="$dropped" '
        BEGIN { missing = 2 * all - 2 * there - dropped; print missing; exit missing > 100 || missing < -100 }'

# ---- no taker until the end; the newest are dropped
fly none --no-sampling --listen "$socket" --no-wait --buffer 64K --drop newest
tell flood 3000000 >/dev/null
land
until_it_says "$TMPDIR/none.err" 'waiting until the trace is taken'
take first
holds "no-wait: taken at the end" ended 0 "$taker"
holds "no-wait: the recording ends" ended 0 "$recorder"
dropped=$(sed -nE 's/.*warning: ([0-9,]+) events were dropped.*/\1/p' "$TMPDIR/none.err" | tr -d ,)
holds "no-wait: what was dropped is counted" same "$dropped" "$(lost first 52)"
first_event() { "$HYPROF" dump "$1" | awk '/^zone_begin / { sub(/.*time_ns=/, ""); print $1; exit }'; }
holds "no-wait: the beginning is there" test -n "$(first_event "$TMPDIR/first.hyp")"

# ---- Ctrl-C ends the wait for a taker
fly quit --listen "$socket" --no-wait
tell turns 3 1 >/dev/null
land
until_it_says "$TMPDIR/quit.err" 'waiting until the trace is taken'
kill -INT "$recorder"
holds "it is not taken, and Ctrl-C: status 125" ended 125 "$recorder"
holds "with the number of what is lost" grep -q 'no capture took the end of the recording: .* events are lost' "$TMPDIR/quit.err"

# ---- wrong addresses and files
holds "no recorder: status 1" ends_with 1 "$HYPROF" capture "$TMPDIR/nosuch" -o "$TMPDIR/x.hyp"
holds "and no file" test ! -e "$TMPDIR/x.hyp"
holds "another machine is refused" ends_with 2 "$HYPROF" capture 192.0.2.1:8086 -o "$TMPDIR/x.hyp"
holds "with the line that helps" grep -q 'ssh -L 8086:127.0.0.1:8086 192.0.2.1' "$TMPDIR/err"
holds "a recorder for other machines is refused" ends_with 2 "$HYPROF" record --listen 0.0.0.0:8086 true
holds "with that line, too" grep -q 'ssh -L 8086:127.0.0.1:8086' "$TMPDIR/err"

# ---- a taker that is slow, and one that takes nothing
cat >"$TMPDIR/slow.py" <<'PYTHON'
import os, socket, sys, threading, time
path, own, rate = sys.argv[1], sys.argv[2], int(sys.argv[3])
listener = socket.socket(socket.AF_UNIX)
listener.bind(own)
listener.listen(1)
print("ready", flush=True)
taker, _ = listener.accept()
recorder = socket.socket(socket.AF_UNIX)
recorder.connect(path)

def confirm():
    try:
        while data := taker.recv(4096):
            recorder.sendall(data)
    except OSError:
        pass
    recorder.shutdown(socket.SHUT_WR)

threading.Thread(target=confirm, daemon=True).start()
while data := recorder.recv(max(1, rate // 4)):
    taker.sendall(data)
    time.sleep(len(data) / rate)
PYTHON
"$HYPROF" record -q --embed=all -o "$TMPDIR/size.hyp" -- "$WORKLOADS/w_flight" </dev/null >/dev/null
rate=$(($(stat -c %s "$TMPDIR/size.hyp") / 14))
linger_ends() { # the program ends when a slow capture is connected
        rm -f "$TMPDIR/slow" "$TMPDIR/l" "$TMPDIR/slow.hyp"
        fly l -q --embed=all --no-wait --listen "$TMPDIR/l" --linger 5s
        tell turns 10 1 >/dev/null
        python3 "$TMPDIR/slow.py" "$TMPDIR/l" "$TMPDIR/slow" "$rate" >"$TMPDIR/slow.said" 4>&- 5<&- &
        slow=$!
        programs+=("$slow")
        wait_until "the slow one has its socket" test -S "$TMPDIR/slow" || return 1
        until_it_says "$TMPDIR/slow.said" ready || return 1
        address=$TMPDIR/slow
        take slow
        wait_until "the slow one has taken something" test -s "$TMPDIR/slow.hyp" || return 1
        land
}
linger_ends
holds "a capture that goes on taking is waited for, longer than --linger" ended 0 "$taker"
holds "the recorder ends well" ended 0 "$recorder"
holds "and the trace is whole" "$HYPROF" check "$TMPDIR/slow.hyp"
linger_ends
kill -STOP "$slow"
holds "one that takes nothing more is not" ended 125 "$recorder"
holds "and what was sent is told apart from what was not" grep -qE \
        '^hyprof: error: no capture took the end of the recording: [0-9,]+ events are lost with it(; [0-9,]+ more were sent, and not confirmed)?$' "$TMPDIR/l.err"
kill -KILL "$slow"
wait "$taker" 2>/dev/null || true
