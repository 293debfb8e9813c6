#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof ctl: status, mark, pause and resume to the event, dump, stop; of several recordings the one that is meant
set -eu
# The folders in which other recordings of this user have their sockets are empty here.
if [ "$(id -u)" -eq 0 ] && [ -z "${CTL_ALONE:-}" ] && unshare -m true 2>/dev/null; then
        [ -d /tmp/hyprof-0 ] || mkdir -m 700 /tmp/hyprof-0
        # shellcheck disable=SC2016 # the shell within expands it
        CTL_ALONE=1 exec unshare -m bash -c 'for folder in /run/user /tmp/hyprof-0; do
                [ ! -d "$folder" ] || mount -t tmpfs -o mode=0700 none "$folder"
        done
        [ ! -d /run/user ] || mkdir -m 700 /run/user/0
        exec bash "$0"' "$0"
fi
. tests/tap.sh
plan 76
need jq
need_sampling
mkdir -m 700 "$TMPDIR/run"
export XDG_RUNTIME_DIR=$TMPDIR/run
mkfifo "$TMPDIR/to" "$TMPDIR/from" "$TMPDIR/to2" "$TMPDIR/from2"
programs=()
folder=
cleanup() {
        local pid
        [ -z "$folder" ] || rm -rf "$folder" "/tmp/hyprof-$victim"
        for pid in "${programs[@]}"; do
                kill -KILL "$pid" 2>/dev/null || true
        done
}
trap cleanup EXIT

. tests/flight.sh

ctl() { "$HYPROF" ctl "$@"; }
count() { "$HYPROF" report --zones --json "$TMPDIR/$1.hyp" | jq "[.zones.rows[] | select(.name == \"$2\") | .count] | add // 0"; }
messages() { "$HYPROF" report --messages --json "$TMPDIR/$1.hyp" | jq -r '.messages.rows[].text'; }

holds "without a recording: status 1" ends_with 1 ctl status
holds "and the words" grep -q 'you have no recording that is running' "$TMPDIR/err"

# ---- a hundred commands at once, as tests in parallel give them
fly crowd
tell turns 1 1 >/dev/null
wait_until "the recording is found" ctl status
crowd=()
for i in {1..100}; do
        ctl mark "mark $i" >"$TMPDIR/crowd.$i" 2>&1 4>&- 5<&- &
        crowd+=("$!")
done
n_failed=0
for one in "${crowd[@]}"; do
        wait "$one" || n_failed=$((n_failed + 1))
done
cat "$TMPDIR"/crowd.* | sort | uniq -c >"$TMPDIR/crowd.said"
holds "a hundred commands at once all find the recording and succeed" same 0 "$n_failed" || cat "$TMPDIR/crowd.said"
land >/dev/null
holds "and each has its mark" same 100 "$(messages crowd | grep -c '^mark ')"
rm -rf "$TMPDIR/run/hyprof" # as before

# ---- the runtime folder of every login: it is found in two ways, and its recorder is one
if [ -n "${CTL_ALONE:-}" ] && [ -d /run/user/0 ]; then
        export XDG_RUNTIME_DIR=/run/user/0
        fly usual
        tell turns 1 1 >/dev/null
        holds "in /run/user/UID one recording is one" ends_with 0 ctl status
        land >/dev/null
        holds "its socket was there" test -d /run/user/0/hyprof
        export XDG_RUNTIME_DIR=$TMPDIR/run
else
        skips_group "in /run/user/UID one recording is one" "this test may not make a /run/user of its own"
fi

# ---- no recorder's: another user's folder in /tmp, and files that are no sockets
listener='
import os, socket, sys
listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listening.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
listening.listen()
print("listens", flush=True)
while True:
    peer = listening.accept()[0]
    asked = peer.recv(4096)
    if not asked:
        continue
    print("asked", flush=True)
    peer.send(b"recorder_pid 1\nstate recording\n" if asked == b"status" else b"ok paused")'
victim=$((60000 + RANDOM % 5000))
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && mkdir -m 777 "/tmp/hyprof-$victim"; then
        folder=$(mktemp -d /tmp/hyprof-ctl.XXXXXX)
        chmod 755 "$folder"
        cp "$HYPROF" "$folder/"
        as_words() { words=(setpriv --reuid="$1" --regid="$1" --clear-groups --inh-caps=-all --bounding-set=-all env -u XDG_RUNTIME_DIR "${@:2}"); }
        as() { as_words "$@" && "${words[@]}"; }
        chmod 777 "/tmp/hyprof-$victim"
        chown 65534 "/tmp/hyprof-$victim"
        : >"$TMPDIR/listener"
        as_words 65534 python3 -c "$listener" "/tmp/hyprof-$victim/1.ctl"
        "${words[@]}" >"$TMPDIR/listener" & # and no shell between, so that it is the one that is ended
        programs+=($!)
        wait_until "another user's process listens" grep -q listens "$TMPDIR/listener"
        holds "another user's folder is not believed" ends_with 1 as "$victim" "$folder/hyprof" ctl pause
        chown "$victim" "/tmp/hyprof-$victim"
        holds "nor one in which others may write" ends_with 1 as "$victim" "$folder/hyprof" ctl pause
        chmod 700 "/tmp/hyprof-$victim"
        holds "nor a peer of another user" ends_with 1 as "$victim" "$folder/hyprof" ctl pause
        holds "he is asked nothing" same 0 "$(grep -c asked "$TMPDIR/listener")"
        rm -r "/tmp/hyprof-$victim"
        mkdir -m 700 "$folder/elsewhere"
        touch "$folder/elsewhere/notes.ctl"
        chown -R "$victim" "$folder/elsewhere"
        ln -s "$folder/elsewhere" "/tmp/hyprof-$victim"
        as "$victim" "$folder/hyprof" ctl status 2>"$TMPDIR/err" || true
        holds "a file behind a link stays" test -e "$folder/elsewhere/notes.ctl"
        rm "/tmp/hyprof-$victim"

        # Root reaches another user's recorder.
        as "$victim" "$folder/hyprof" record -o "$folder/elsewhere/t.hyp" -- sleep 60 2>"$TMPDIR/foreign" &
        waiting=$!
        foreign=
        while [ -z "$foreign" ] && kill -0 "$waiting" 2>/dev/null; do
                foreign=$(basename "$(find "/tmp/hyprof-$victim" -name '*.ctl' 2>/dev/null)" .ctl)
                read -r -t 0.05 <> <(:) || true
        done
        if [ -n "$foreign" ]; then
                programs+=("$foreign")
                holds "root reaches another user's recorder, by its number" ends_with 0 ctl "$foreign" status --json
                foreign_command=$(jq .program_pid "$TMPDIR/out")
                holds "and by its command's" ends_with 0 ctl "$foreign_command" mark root
                holds "without a number only its own" ends_with 1 ctl status
                kill -INT "$foreign"
                [ -z "$foreign_command" ] || kill "$foreign_command" 2>/dev/null || true # its recorder may have ended it
        else
                skips_group "root reaches another user's recorder" "users may not record: $(tail -n 1 "$TMPDIR/foreign")"
        fi
        wait "$waiting" || true
else
        skips_group "another user's folder is not believed" "this test does not run as root, or /tmp/hyprof-$victim exists"
fi
mkdir -m 700 "$XDG_RUNTIME_DIR/hyprof"
touch "$XDG_RUNTIME_DIR/hyprof/notes.ctl"
ctl status 2>"$TMPDIR/err" || true
holds "a file that is no socket stays" test -e "$XDG_RUNTIME_DIR/hyprof/notes.ctl"

# ---- one recording
fly one
holds "the program runs" tell turns 3 1
holds "status" ends_with 0 ctl status --json
cp "$TMPDIR/out" "$TMPDIR/status"
holds "it is the recorder's" same "$recorder" "$(jq .recorder_pid "$TMPDIR/status")"
program=$(jq .program_pid "$TMPDIR/status")
holds "with the program's number" test -d "/proc/$program"
holds "it records" same '"recording"' "$(jq .state "$TMPDIR/status")"
holds "as its schema says" python3 -c '
import json, sys
try:
    import jsonschema
except ImportError:
    sys.exit(0)
jsonschema.validate(json.load(open(sys.argv[1])), json.load(open("docs/schemas/hyprof.ctl.1.json")))' "$TMPDIR/status"
holds "the socket is the user's alone" same "600 700" "$(stat -c %a "$XDG_RUNTIME_DIR/hyprof/$recorder.ctl" "$XDG_RUNTIME_DIR/hyprof" | tr '\n' ' ' | sed 's/ $//')"
holds "mark" ctl mark 'the "first" mark'
holds "pause" ctl pause
tell turns 5 20 >/dev/null
holds "paused, as the status says" same '"paused"' "$(ctl status --json | jq .state)"
holds "pause again" ctl pause
holds "resume, by the program's number" ctl "$program" resume
holds "the program goes on" tell turns 2 20
holds "no dump without --ring: status 1" ends_with 1 ctl dump
holds "a mark of the greatest length" ctl mark "$(printf 'x%.0s' {1..4000})"
holds "a longer one: status 2" ends_with 2 ctl mark "$(printf 'x%.0s' {1..5000})"
holds "the recording ends" land
holds "zones of the pause are not there, and no others are missing" same "5 1" "$(count one turn) $(count one run)"
holds "its messages neither" same "$(printf 'turn %s\n' 1 2 3; echo 'the "first" mark'; echo 'recording paused'; echo 'recording resumed'; printf 'turn %s\n' 9 10)" \
        "$(messages one | grep -v xxxx)"
# A sample that was taken before may be written after: by its time.
no_samples_between() { # trace
        "$HYPROF" dump "$1" | awk '
                /^message_text .*"recording paused"/ { sub(/.*time_ns=/, ""); from = $1 }
                /^message_text .*"recording resumed"/ { sub(/.*time_ns=/, ""); to = $1 }
                /^sample / { sub(/.*time_ns=/, ""); times[n++] = $1 }
                END { for (i = 0; i < n; i++) if (times[i] > from + 0 && times[i] < to + 0) { print times[i]; bad = 1 }; exit bad || !from || !to || n == 0 }'
}
holds "no sample is of the pause" no_samples_between "$TMPDIR/one.hyp"
holds "the report says that there was a pause" grep -q 'the recording was paused.*(1 time, ' <("$HYPROF" report "$TMPDIR/one.hyp")
holds "the socket is gone" test ! -e "$XDG_RUNTIME_DIR/hyprof/$recorder.ctl"

# ---- a program pauses its own events, below a pause of the recorder's
fly own
tell turns 2 1 >/dev/null
tell pause >/dev/null
tell turns 3 1 >/dev/null
ctl pause >/dev/null
tell resume >/dev/null
holds "the recorder's pause stays when the program resumes" tell turns 4 1
ctl resume >/dev/null
tell turns 1 1 >/dev/null
holds "the recording ends" land
holds "neither's zones are there, and no others are missing" same "3 1" "$(count own turn) $(count own run)"
holds "the trace says so" same "$(printf '%s\n' 'turn 1' 'turn 2' 'events paused by the program' 'recording paused' \
        'recording resumed' 'turn 10')" "$(messages own)"

# ---- processes that are running before the recording
"$WORKLOADS/w_flight" <"$TMPDIR/to" >"$TMPDIR/from" &
program=$!
programs+=("$program")
exec 4>"$TMPDIR/to" 5<"$TMPDIR/from"
tell turns 1 1 >/dev/null
"$HYPROF" record -p "$program" -o "$TMPDIR/joined.hyp" 2>"$TMPDIR/joined.err" &
recorder=$!
wait_until "the recording has its socket" test -S "$XDG_RUNTIME_DIR/hyprof/$recorder.ctl"
holds "a process that is recorded by its number" ends_with 0 ctl "$program" status --json
holds "the status has it" same "\"$program\" 0" "$(jq -r '"\"\(.attached_pids)\" \(.program_pid)"' "$TMPDIR/out")"
holds "people see it, too" grep -q "attached .*$program" <(ctl "$program" status)
holds "another one is not" ends_with 1 ctl "$$" status
holds "stop ends the recording, not the program" ctl "$program" stop
holds "which ends" wait "$recorder"
holds "the program goes on" tell turns 1 1
exec 4>&- 5<&-
wait "$program"

# ---- in the delay
fly delayed --delay 1h
tell turns 1 1 >/dev/null
patient() { ends_with "$1" timeout 60 "$HYPROF" ctl "${@:2}"; }
holds "in the delay: status" patient 0 status --json
holds "it says that nothing is recorded yet" same '"delayed"' "$(jq .state "$TMPDIR/out")"
holds "a mark is refused" patient 1 mark early
holds "with the reason" grep -q 'nothing is recorded before the delay' "$TMPDIR/err"
holds "stop ends the delay" patient 0 stop
tell turns 1 1 >/dev/null
wait_until "the recording has ended" grep -q 'the recording has ended' "$TMPDIR/delayed.err"
holds "and the recording" land
holds "the trace is whole" is_whole delayed

# ---- dumps of a recording that is paused, or was
fly held --ring 60s
tell turns 1 1 >/dev/null
dump_held() { # number: the dump becomes held_NUMBER.hyp
        local before
        before=$(find "$TMPDIR" -name 'held.*-*.hyp')
        ctl dump && cp "$(find "$TMPDIR" -name 'held.*-*.hyp' | grep -vxF "${before:-none}")" "$TMPDIR/held_$1.hyp"
}
pauses() { # name: how many, as its report says; each notice is a line
        "$HYPROF" report --json "$TMPDIR/$1.hyp" | jq -r '.missing.rows[] | select(.code == "PAUSED") | .detail' | sed 's/,.* in all$/ in all/'
}
ctl pause >/dev/null 2>&1
holds "a dump in a pause" dump_held 1
ctl resume >/dev/null 2>&1
tell turns 1 1 >/dev/null
holds "and one after it" dump_held 2
ctl pause >/dev/null 2>&1
land >/dev/null
holds "the first one says that there was a pause" same "1 time in all" "$(pauses held_1)"
holds "the second one, too" same "1 time in all" "$(pauses held_2)"
holds "the end has both pauses, once" same "2 times in all" "$(pauses held)"

# ---- dumps, and two recordings
fly ring --ring 10s
tell turns 1 1 >/dev/null
first=$recorder
"$HYPROF" record -o "$TMPDIR/two.hyp" -- "$WORKLOADS/w_flight" <"$TMPDIR/to2" >"$TMPDIR/from2" 2>"$TMPDIR/two.err" &
second=$!
programs+=("$second")
exec 6>"$TMPDIR/to2" 7<"$TMPDIR/from2"
echo turns 1 1 >&6
read -r -t 60 line <&7
holds "two recordings: which one?" ends_with 1 ctl status
holds "both are named" same 2 "$(grep -cE "process ($first|$second) writes" "$TMPDIR/err")"
holds "dump is done when it is answered" ctl "$first" dump
holds "the file is a whole trace" "$HYPROF" check "$(find "$TMPDIR" -name 'ring.*-*.hyp')"

# ---- one of them is stopped
command=$(ctl "$second" status --json | jq .program_pid)
kill -STOP "$first"
holds "a silent recorder delays no other: by its own number" patient 0 "$second" mark one
holds "by its command's number" patient 0 "$command" mark two
# A machine that does other work may take as long now and then, but not each time.
at_once() {
        local begun
        for _ in 1 2 3 4 5 6 7 8; do
                begun=$EPOCHREALTIME
                patient 0 "$second" status && patient 0 "$command" status || return 1
                ! compare "$EPOCHREALTIME - $begun" "<" 2 || return 0
        done
        return 1
}
holds "both are answered at once" at_once
holds "a silent recorder is not waited for without end" patient 1 "$first" pause
holds "it is named, with what may help" grep -q "process $first, has not answered for 2 s" "$TMPDIR/err"
holds "without a number, both are listed" patient 1 status
holds "the silent one as such" grep -q "process $first does not answer" "$TMPDIR/err"
kill -CONT "$first"

holds "stop" ctl "$second" stop
for ((i = 0; i < 600; i++)); do
        grep -q 'waiting for the command' "$TMPDIR/two.err" && break
        read -r -t 0.1 <> <(:) || true
done
holds "the command goes on" grep -q 'the recording has ended; waiting for the command' "$TMPDIR/two.err"
exec 6>&- 7<&-
status=0
wait "$second" || status=$?
holds "until it ends" same 0 "$status"
kill -KILL "$first"
wait "$first" 2>/dev/null || true
holds "after a recorder that was killed" ends_with 1 ctl status
holds "its socket is removed" test ! -e "$XDG_RUNTIME_DIR/hyprof/$first.ctl"
