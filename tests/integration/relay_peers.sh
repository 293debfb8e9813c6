#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof capture and hyprof record --listen with a wrong other side: garbage, silence, half a word, floods, two at once; one line each, and nothing is lost by it
set -eu
. tests/tap.sh
plan 86
need jq prlimit python3 strip
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
. tests/flight.sh
. tests/captured.sh
# A path of fewer than 108 bytes, wherever TMPDIR is.
ln -s "$TMPDIR" "/tmp/hyprof.peers.$$"
trap 'cleanup; rm -f "/tmp/hyprof.peers.$$"' EXIT
socket=/tmp/hyprof.peers.$$/s
trace=tests/golden/v1.5.hyp
taken=$TMPDIR/taken.hyp

ended() { # status, process
        local status=0
        wait "$2" || status=$?
        same "$1" "$status"
}

listen_as() { # how: $peer
        rm -f "$socket" "$TMPDIR/peer"
        python3 tests/tools/relay_peer.py recorder "$socket" "$1" "$trace" >"$TMPDIR/peer" 2>&1 4>&- 5<&- &
        peer=$!
        programs+=("$peer")
        until_it_says "$TMPDIR/peer" listening
}

capture() { "$HYPROF" capture "$socket" --no-symbolize -o "$taken" "$@"; }

says_once() { # words: of its errors
        same 1 "$(grep -c 'error:' "$TMPDIR/err")" && grep -qE "error: .*$1" "$TMPDIR/err" && return 0
        cat "$TMPDIR/err"
        return 1
}

has_earlier_trace() {
        cmp "$trace" "$taken" && same "$taken" "$(echo "$taken"*)"
}

# ---- a recorder that sends no trace: an earlier trace of the name stays, nothing lies beside it
refused_as() { # words
        ends_with 1 capture && says_once "$1" && has_earlier_trace
}
cp "$trace" "$taken"
while IFS='|' read -r how words; do
        listen_as "$how"
        holds "recorder: $how" refused_as "$words"
        wait "$peer" || true
done <<'END'
nothing|no recorder listens: .* closed the connection without an answer
garbage|what answers there is no recorder
http|what answers there is no recorder
half-answer|the connection ended before the recording did
busy|another capture is connected to this recording
foreign|the recorder hears only its own user and root
crowded|too many connections to the recorder do not say what they want
unknown-status|the recorder's answer makes no sense
resumes-nothing|the recorder's answer makes no sense
garbage-after-answer|the other side sends no trace: not a chunk
huge-chunk|the other side sends no trace: .* over the limit
no-beginning|the other side sends no trace
END

# ---- one that stands still, and whose queue of connections is full
listen_as full-queue
holds "recorder: full-queue" refused_as 'no recorder listens: .*timed out'
kill -KILL "$peer"
wait "$peer" 2>/dev/null || true

# ---- one that says nothing
silent() { # how, words before
        listen_as "$1"
        "$HYPROF" capture "$socket" --no-symbolize -o "$taken" >"$TMPDIR/out" 2>"$TMPDIR/err" &
        silent=$! # <(:) changes $!
        programs+=("$silent")
        until_it_says "$TMPDIR/$2" "$3"
        kill -TERM "$silent" # the shell ignores SIGINT for those in the background
        ended 1 "$silent" && same 1 "$(grep -c 'error:' "$TMPDIR/err")" && has_earlier_trace
}
holds "recorder: silence, which is said, until it is ended" silent silence err 'connected, and no answer yet; Ctrl-C ends the wait'

# ---- one that begins well: what came is kept, and gone on with
rm "$taken"
begins_as() { # how, words
        listen_as "$1"
        ends_with 1 capture && says_once "$2" && grep -q 'try: the same command again' "$TMPDIR/err" && test -s "$taken.taking" &&
                cmp -n "$(stat -c %s "$taken")" "$trace" "$taken"
}
goes_on() { # the same command gets the rest
        listen_as rest
        ends_with 0 capture && cmp "$trace" "$taken" && test ! -e "$taken.taking"
}
while IFS='|' read -r how words; do
        holds "recorder: $how" begins_as "$how" "$words"
        wait "$peer" || true
        holds "$how: the same command goes on" goes_on
        wait "$peer" || true
        rm -f "$taken" "$taken.taking"
done <<'END'
half|the connection ended before the recording did
flipped|the received data is damaged: .*checksum differs
twice|(the received data is damaged|the other side sends no trace)
END
begins_anew() { ends_with 1 capture && ! grep -q 'gone on with' "$TMPDIR/err"; }
# The recorder is killed with positions that it has not read: all whole chunks that it had sent are there.
listen_as half
ends_with 1 capture || true
half=$(($(stat -c %s "$trace") / 2))
holds "half: every whole chunk that was sent" compare "$(stat -c %s "$taken") + 4096" ">=" "$half"
wait "$peer" || true

# ---- the process that takes dies
rm -f "$taken" "$taken.taking"
cp "$trace" "$taken"
listen_as silence-after-answer
"$HYPROF" capture "$socket" --no-symbolize -o "$taken" >"$TMPDIR/out" 2>"$TMPDIR/err" &
capture=$!
programs+=("$capture")
taker_of() { # capture: its child, when it is there
        local i children
        for ((i = 0; i < 600; i++)); do
                read -r -a children <"/proc/$1/task/$1/children" || true # no newline
                [ ${#children[@]} -eq 0 ] || { echo "${children[0]}" && return 0; }
                read -r -t 0.05 <> <(:) || true
        done
        return 1
}
child=$(taker_of "$capture")
is_confined() { # process: no rights beside those of its user, and a filter of system calls
        local i
        for ((i = 0; i < 600; i++)); do
                grep -q '^Seccomp:	2' "/proc/$1/status" && break
                read -r -t 0.05 <> <(:) || true
        done
        same "CapEff:0000000000000000 CapPrm:0000000000000000 NoNewPrivs:1 Seccomp:2" \
                "$(awk '/^(CapEff|CapPrm|NoNewPrivs|Seccomp):/ { print $1 $2 }' "/proc/$1/status" | sort | tr '\n' ' ' | sed 's/ $//')"
}
holds "the capture's process that takes has no rights" is_confined "$child"
kill -KILL "$child"
holds "it dies: status 1" ended 1 "$capture"
holds "in one line" says_once 'the process that takes the trace has died'
holds "an earlier trace has its name again" has_earlier_trace
kill -KILL "$peer" 2>/dev/null || true
wait "$peer" 2>/dev/null || true

# ---- all of the capture dies, before anything came
listen_as silence-after-answer
"$HYPROF" capture "$socket" --no-symbolize -o "$taken" >"$TMPDIR/out" 2>"$TMPDIR/err" &
capture=$!
programs+=("$capture")
taker_of "$capture" >"$TMPDIR/child"
kill -KILL "$capture" # and its child with it
wait "$capture" 2>/dev/null || true
kill -KILL "$peer" 2>/dev/null || true
wait "$peer" 2>/dev/null || true
listen_as half
ends_with 1 capture || true
holds "killed at once: the earlier trace is not lost" cmp "$trace" "$taken.old"
wait "$peer" || true
rm -f "$taken"*

# ---- the same, with a part of the first chunk; and then another trace has the name
cp "$trace" "$taken"
listen_as silence-after-answer
"$HYPROF" capture "$socket" --no-symbolize -o "$taken" >"$TMPDIR/out" 2>"$TMPDIR/err" &
capture=$!
programs+=("$capture")
child=$(taker_of "$capture")
is_confined "$child" >/dev/null # the files are there
kill -KILL "$capture"
wait "$capture" 2>/dev/null || true
kill -KILL "$peer" 2>/dev/null || true
wait "$peer" 2>/dev/null || true
head -c 40 "$trace" >>"$taken"
listen_as half
holds "killed within the first chunk: the next one begins anew" begins_anew
holds "killed within the first chunk: the earlier trace is not lost" cmp "$trace" "$taken.old"
wait "$peer" || true
cp "$taken" "$TMPDIR/other"
head -c 3000 /dev/urandom >>"$TMPDIR/other"
cp "$TMPDIR/other" "$TMPDIR/its.copy"
mv "$TMPDIR/other" "$taken"
listen_as rest
ends_with 1 capture || true
holds "another file has the name: it is not written into" cmp "$TMPDIR/its.copy" "$taken"
wait "$peer" || true
rm -f "$taken"*

# ---- too few descriptors: it fails anywhere, and an earlier trace keeps its name
cp "$trace" "$taken"
fails_without_traces() {
        local n
        for n in {4..12}; do
                listen_as busy
                ends_with 1 prlimit "--nofile=$n" "$HYPROF" capture "$socket" --no-symbolize -o "$taken" || return 1
                grep -q 'error' "$TMPDIR/err" || { echo "$n descriptors:"; cat "$TMPDIR/err"; return 1; }
                kill -KILL "$peer" 2>/dev/null || true
                wait "$peer" 2>/dev/null || true
                has_earlier_trace || { echo "$n descriptors:"; cat "$TMPDIR/err"; return 1; }
        done
}
holds "few descriptors: an earlier trace has its name" fails_without_traces
rm -f "$taken"*

# ---- an interrupted capture of a recording that is gone: another recording is not put after it
listen_as half
ends_with 1 capture || true
wait "$peer" || true
listen_as stale
holds "another recording: refused" ends_with 1 capture
holds "in one line that names the file beside it" sh -c "grep -q 'try: .*or remove $taken.taking to begin anew' '$TMPDIR/err'"
wait "$peer" || true
rm -f "$taken" "$taken.taking"

# ---- ssh -L, before a recorder listens behind it
need_sampling
far=/tmp/hyprof.peers.$$/far
rm -f "$socket" "$TMPDIR/peer"
python3 tests/tools/relay_peer.py forward "$socket" "$far" >"$TMPDIR/peer" 2>&1 &
forwarder=$!
programs+=("$forwarder")
until_it_says "$TMPDIR/peer" listening
holds "a forwarder to no recorder: status 1" ends_with 1 capture
holds "with the words that help" grep -q 'try: hyprof capture --wait' "$TMPDIR/err"
"$HYPROF" capture --wait "$socket" --no-symbolize -o "$taken" >"$TMPDIR/wait.said" 2>&1 &
capture=$!
programs+=("$capture")
holds "--wait waits, and says so" until_it_says "$TMPDIR/wait.said" 'closed the connection without an answer; waiting for a recorder'
"$HYPROF" record -q --listen "$far" -o "$TMPDIR/own.hyp" -- "$WORKLOADS/w_two_zones" 0.2 >"$TMPDIR/out" 2>"$TMPDIR/err" &
recorder=$!
programs+=("$recorder")
holds "--wait: the recorder that comes is taken" ended 0 "$capture"
holds "--wait: nothing is said twice" same "" "$(sort "$TMPDIR/wait.said" | uniq -d)"
holds "--wait: that it waits is said once" same 1 "$(grep -c 'waiting for a recorder' "$TMPDIR/wait.said")"
holds "--wait: the recording ends" ended 0 "$recorder"
holds "--wait: what the recorder's file has" same_but_readings "$TMPDIR/own.hyp" "$taken"
kill "$forwarder"
wait "$forwarder" 2>/dev/null || true

# ---- another user of this machine, at a port
rm -f "$taken"*
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
        users=$(mktemp -d /tmp/hyprof-peers.XXXXXX)
        trap 'cleanup; rm -rf "/tmp/hyprof.peers.$$" "$users"' EXIT
        cp "$HYPROF" tests/tools/relay_peer.py "$users/"
        chown -R 65534:65534 "$users"
        as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all env HOME="$users" "$@"; }
        "$HYPROF" record --listen 0 -o "$TMPDIR/own.hyp" -- "$WORKLOADS/w_two_zones" 0.02 >"$TMPDIR/out" 2>"$TMPDIR/other.err" &
        recorder=$!
        programs+=("$recorder")
        until_it_says "$TMPDIR/other.err" 'listening at'
        port=$(sed -n 's/.*listening at 127.0.0.1://p' "$TMPDIR/other.err")
        holds "another user: refused, --wait or not" ends_with 1 as_user timeout 60 "$users/hyprof" capture --wait "$port" -o "$users/t.hyp"
        holds "another user: in one line" says_once 'the recorder hears only its own user and root'
        holds "another user: and what to do" grep -q 'try: sudo hyprof capture' "$TMPDIR/err"
        holds "another user: no file" same "" "$(find "$users" -name 't.hyp*')"
        holds "another user: one that is gone at once" same gone "$(as_user python3 "$users/relay_peer.py" taker "$port" hello-and-go)"
        holds "four that say nothing: a fifth is told so" same 5 "$(python3 tests/tools/relay_peer.py taker "$port" crowd)"
        holds "nobody was heard before the first one of the own user" same 1 "$(python3 tests/tools/relay_peer.py taker "$port" generation)"
        holds "another user: the recording ends" ended 0 "$recorder"
        # Another user's process at a port gives a whole trace, and may be gone before anybody asks whose it is.
        fakes() { # how: sets `port` and `peer`
                rm -f "$TMPDIR/peer"
                as_user python3 "$users/relay_peer.py" recorder 0 "$1" "$users/fake.hyp" >"$TMPDIR/peer" 2>&1 &
                peer=$!
                programs+=("$peer")
                until_it_says "$TMPDIR/peer" 'listening at'
                port=$(sed -n 's/listening at //p' "$TMPDIR/peer")
        }
        cp "$trace" "$users/fake.hyp"
        mkdir -m 777 "$users/third"
        as_third() { (cd "$users/third" && exec setpriv --reuid=65533 --regid=65533 --clear-groups "$@"); }
        capture_port() { "$HYPROF" capture --no-symbolize "$port" -o "$users/root.hyp"; }
        for how in silence-after-all all; do
                fakes "$how"
                holds "another user's trace at a port, $how: refused" ends_with 1 as_third "$users/hyprof" capture --no-symbolize "$port" -o f.hyp
                holds "in one line" says_once "user 65534 listens there|which user listens there is not known"
                holds "and there is no file" same "" "$(ls "$users/third")"
                kill "$peer" 2>/dev/null || true
                wait "$peer" 2>/dev/null || true
        done
        fakes silence-after-all
        holds "root takes the traces of all users" ends_with 0 capture_port
        kill "$peer" && ! wait "$peer" 2>/dev/null
else
        skips_group "another user" "this test does not run as root"
fi

# ---- names from a server that does not answer: the trace is here, and a signal ends the search
strip -o "$TMPDIR/nameless" "$WORKLOADS/w_two_zones"
python3 tests/tools/relay_peer.py names "$TMPDIR/port" silent >"$TMPDIR/peer" 2>&1 &
peer=$!
programs+=("$peer")
until_it_says "$TMPDIR/peer" listening
rm -f "$socket" "$taken"*
"$HYPROF" record -q --no-symbolize --listen "$socket" -- "$TMPDIR/nameless" 0.2 >"$TMPDIR/out" 2>"$TMPDIR/err" &
recorder=$!
programs+=("$recorder")
env -u DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH="$TMPDIR/cache" "$HYPROF" capture --wait "$socket" \
        --debuginfod="http://127.0.0.1:$(<"$TMPDIR/port")" -o "$taken" >"$TMPDIR/names.said" 2>&1 &
capture=$!
programs+=("$capture")
holds "names: the server is asked" until_it_says "$TMPDIR/peer" asked
kill -TERM "$capture"
holds "names: a signal ends the search" ended 143 "$capture"
holds "names: the trace is intact" "$HYPROF" check "$taken"
holds "names: the recording ends" ended 0 "$recorder"
kill "$peer"
wait "$peer" 2>/dev/null || true

# ---- two captures into one file
rm -f "$socket" "$taken"*
fly_to() { # name, options...: a recording that is taken
        "$HYPROF" record "${@:2}" -- "$WORKLOADS/w_flight" <"$TMPDIR/to" >"$TMPDIR/from" 2>"$TMPDIR/$1.err" &
        recorder=$!
        programs+=("$recorder")
        exec 4>"$TMPDIR/to" 5<"$TMPDIR/from"
        until_it_says "$TMPDIR/$1.err" listening
}
fly_to one --listen "$socket" -o "$TMPDIR/one.hyp"
"$HYPROF" capture "$socket" --no-symbolize -o "$taken" >"$TMPDIR/one.said" 2>&1 4>&- 5<&- &
capture=$!
programs+=("$capture")
tell turns 3 1 >/dev/null
holds "a second capture into the same file: refused" ends_with 1 capture
holds "in one line" says_once "$taken: another capture is writing it"
holds "the file stays with the first" same "$taken $taken.taking" "$(echo "$taken"*)"
holds "the recorder's process that gives has no rights" is_confined "$(pgrep -P "$recorder" -x hyprof-relay)"
holds "it holds no files but the trace's and sockets" same 0 "$(find "/proc/$(pgrep -P "$recorder" -x hyprof-relay)/fd" -printf '%l\n' |
        grep -vcE "^$|^/dev/null$|^(socket|pipe):|/one.hyp$")"
tell flood 1000 >/dev/null
holds "the recording ends" land
holds "the first capture has all of it" ended 0 "$capture"
holds "what the recorder's file has" same_but_readings "$TMPDIR/one.hyp" "$taken"

# ---- takers
taker() { python3 tests/tools/relay_peer.py taker "$socket" "$1"; }
rm -f "$socket" "$taken"
fly_to many --listen "$socket" --no-wait -o "$TMPDIR/many.hyp"
tell turns 2 1 >/dev/null
for how in half-hello http other-recording position-of-the-future; do
        holds "taker: $how" same closed "$(taker $how)"
done
holds "taker: 500 connections with garbage are closed" same 0 "$(taker flood-connections)"
holds "the program goes on" tell flood 100000
"$HYPROF" capture "$socket" --no-symbolize -o "$taken" >"$TMPDIR/many.said" 2>&1 4>&- 5<&- &
capture=$!
programs+=("$capture")
holds "the recorder still hears of ctl" ends_with 0 "$HYPROF" ctl "$recorder" status
for ((i = 0; i < 600; i++)); do
        [ ! -s "$taken" ] || break
        read -r -t 0.05 <> <(:) || true
done
holds "garbage beside a capture: closed as well" same "closed closed" "$(taker http) $(taker other-recording)"
tell turns 2 1 >/dev/null
holds "the recording ends as its program" land
holds "the capture after them has all of it" ended 0 "$capture"
holds "what the recorder's file has" same_but_readings "$TMPDIR/many.hyp" "$taken"
holds "with every zone" same 100006 "$("$HYPROF" report --json --limit 0 "$taken" | jq .n_zones)"

# A taker that floods, and takes nothing: the recorder has its file and does not wait for ever.
rm -f "$socket" "$taken"
fly_to flood --listen "$socket" -o "$TMPDIR/flood.hyp"
taker flood-positions >"$TMPDIR/flooded" 4>&- 5<&- &
peer=$!
programs+=("$peer")
holds "flood: begins when it is connected" tell flood 1000000
holds "flood: the recording ends by itself" land
holds "flood: the taker's connection is closed" ended 0 "$peer"
holds "flood: soon" compare "$(tail -n 1 "$TMPDIR/flooded")" "<" 60
holds "flood: with every zone in the file" same 1000002 "$("$HYPROF" report --json --limit 0 "$TMPDIR/flood.hyp" | jq .n_zones)"
# In memory it waits for the rest to be taken; Ctrl-C ends that, flood or not.
rm -f "$socket"
fly_to memory --listen "$socket"
taker flood-positions >"$TMPDIR/flooded" 4>&- 5<&- &
peer=$!
programs+=("$peer")
tell flood 100000 >/dev/null
exec 4>&- 5<&-
until_it_says "$TMPDIR/memory.err" 'waiting until the trace is taken'
kill -INT "$recorder"
holds "flood: Ctrl-C ends the wait, status 125" ended 125 "$recorder"
holds "flood: with the number of what is lost" grep -q 'no capture took the end of the recording: .* events are lost' "$TMPDIR/memory.err"
wait "$peer"
