#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof record -p: threads, children, zones and names of what runs already; it comes and goes, and the program stays as it was
set -eu
. tests/tap.sh
plan 111
need jq
need_sampling
# Jobs get process groups of their own, and SIGINT is not ignored in them.
set -m

scope=${ATTACH_SCOPE:-auto} # attach_threads.sh is the same without rights to whole CPUs
programs=()
cleanup() {
        local pid
        for pid in "${programs[@]}"; do
                kill -KILL "$pid" 2>/dev/null || true
        done
}
trap cleanup EXIT
mkfifo "$TMPDIR/to" "$TMPDIR/from"

# Starts w_life and hears its number: $program.  Descriptor 4 speaks to it, 5 hears it.
serve() {
        "$WORKLOADS/w_life" serve <"$TMPDIR/to" >"$TMPDIR/from" &
        job=$!
        programs+=("$job")
        exec 4>"$TMPDIR/to" 5<"$TMPDIR/from"
        echo pid >&4
        read -r -t 60 program <&5
}

tell() { # command: it has been obeyed
        local line=
        echo "$*" >&4
        read -r -t 60 line <&5 && same ok "$line"
}

dismiss() { # serve's program ends in order
        exec 4>&- 5<&-
        wait "$job"
}

# In the background; $recorder is hyprof's number.
attach() { # name of the trace, options...
        "$HYPROF" record --scope="$scope" -o "$TMPDIR/$1.hyp" -p "$program" "${@:2}" >"$TMPDIR/$1.out" 2>"$TMPDIR/$1.err" &
        recorder=$!
        programs+=("$recorder")
}

detach() { # signal: hyprof ends in order
        kill "-$1" "$recorder" && ended_with 0
}

ended_with() { # status
        local status=0
        wait "$recorder" || status=$?
        same "$1" "$status"
}

zones() { # trace, name: how many were begun and ended
        echo "$(n_events "$1" "kind == \"zone_begin\" && zone == \"$2\"")" \
                "$(n_events "$1" "kind == \"zone_end\" && zone == \"$2\"")"
}

has_notice() { # trace, code: its detail
        reported "$1" ".missing.rows[] | select(.code == \"$2\") | .detail // \"\""
}

# ---- zones from attach to detach, twice
serve
holds "before: zones without a recorder" tell emit
holds "before: one of them is open" tell open
attach first
holds "first: it records" tell on "$recorder"
holds "first: zones" tell emit
holds "first: the zone from before ends" tell close
holds "first: a child" tell fork "$recorder"
holds "first: a zone is open at the end" tell open
holds "first: Ctrl-C" detach INT
holds "first: the program notices" tell off
holds "first: and goes on" tell close
holds "first: zones without a recorder" tell emit
attach second
holds "second: it records" tell on "$recorder"
holds "second: zones" tell emit
holds "second: SIGTERM" detach TERM
holds "second: the program notices" tell off
holds "the program ends in order" dismiss
for trace in first second; do
        read_trace $trace
        holds "$trace: the trace is whole" is_whole $trace
        holds "$trace: each zone is there" same "100 100" "$(zones $trace emitted)"
        holds "$trace: nothing is lost" same "" "$(lost $trace)"
        holds "$trace: it says that it attached, and to what" same "process $program (w_life)" "$(has_notice $trace ATTACHED)"
        holds "$trace: and that the program ran on" same STOPPED_EARLY \
                "$(reported $trace '.missing.rows[] | select(.code == "STOPPED_EARLY") | .code')"
        holds "$trace: it names the program" same "$WORKLOADS/w_life serve" "$(reported $trace .command)"
        holds "$trace: there is no exit status" same null "$(reported $trace .exit_status)"
        holds "$trace: the thread has its name" same "w_life" \
                "$(awk -F '\t' "$columns"'zone == "emitted" { print thread }' "$TMPDIR/$trace.events" | sort -u)"
done
holds "first: the child that began meanwhile" same "100 100" "$(zones first child)"
holds "first: the zone from before is not there, the one at the end was not ended" same "1 0" "$(zones first open)"
holds "first: nothing is in a zone from before" same 0 "$(n_events first 'kind == "zone_end" && zone == ""')"

# ---- a recorder that is killed: the program writes until its rings are full, and the next one begins anew
serve
attach killed
holds "killed: it records" tell on "$recorder"
holds "killed: zones" tell emit
kill -KILL "$recorder"
holds "killed: SIGKILL" ended_with 137
holds "killed: without a reader no thread waits" tell flood
attach next
holds "next: it records" tell on "$recorder"
holds "next: zones" tell emit
next=$recorder
attach refused -q -d 300ms
holds "at the same time: another one ends as it should" ended_with 0
recorder=$next
holds "at the same time: it says who is there, also with -q" grep -q \
        "^hyprof: note: process $program is being recorded by .*process $recorder" "$TMPDIR/refused.err"
holds "next: more zones" tell emit
holds "next: SIGTERM" detach TERM
holds "next: the program notices" tell off
holds "killed: the program ends in order" dismiss
read_trace next
holds "next: each zone is there, and no zone of the time between" same "200 200" "$(zones next emitted)"
holds "next: no zone of the flood" same "0 0" "$(zones next flood)"
holds "next: nothing is lost" same "" "$(lost next)"
read_trace refused
holds "at the same time: no zones" same 0 "$(reported refused .n_zones)"
holds "at the same time: the trace says why" same "CLIENT_BUSY 1" "$(lost refused)"
holds "at the same time: of a zone it says who has it" grep -q "no zone 'emitted' in this trace; another hyprof was" \
        <("$HYPROF" why --zone emitted "$TMPDIR/refused.hyp" 2>&1)
holds "at the same time: the report does not say that there were none" \
        grep -q '^  zones  *none here: events are missing' <("$HYPROF" report "$TMPDIR/refused.hyp")

# ---- samples: many threads, and what they are in
"$WORKLOADS/w_two_zones" 600 3 >"$TMPDIR/two.out" &
program=$!
programs+=("$program")
attach two -d 2s
holds "threads: it ends when the time is over" ended_with 0
kill "$program"
read_trace two
busy='kind == "sample" && (self == "busy_a" || self == "busy_b")'
figure "threads: $(n_events two "$busy") samples in three threads"
holds "threads: all three are sampled" same 3 "$(n_different two "$busy" tid)"
holds "threads: nearly all samples are theirs, with names" compare \
        "$(n_events two "$busy")" ">=" "0.9 * $(n_events two 'kind == "sample"')"
holds "threads: no more samples than processors had time for" compare "$(n_events two 'kind == "sample"')" "<=" \
        "1.05 * 997 * $(nproc) * $(reported two .duration_ns) / 1e9"
holds "threads: in the right zones" same 0 \
        "$(n_events two 'kind == "sample" && (self == "busy_a" && path == "/b" || self == "busy_b" && path == "/a")')"
holds "threads: nearly all in a zone" compare "$(n_events two "$busy && path != \"\"")" ">=" "0.9 * $(n_events two "$busy")"
holds "threads: callers from the maps" compare "$(n_events two "$busy && stack ~ /;alternate;/")" ">=" \
        "0.99 * $(n_events two "$busy")"
holds "threads: the one that waits for them has no time" same 0 \
        "$(reported two "[.threads.rows[] | select(.tid == $program and .on_cpu_ns > 100000000)] | length")"
holds "threads: nothing is lost" same "" "$(lost two)"

# ---- children that are there already, and several programs; it ends with the last that was named
# shellcheck disable=SC2016 # for the shell
sh -c '"$0/w_two_zones" 600 1 & echo $! && wait' "$WORKLOADS" >"$TMPDIR/from" &
program=$!
programs+=("$program")
read -r -t 60 worker <"$TMPDIR/from"
programs+=("$worker")
"$WORKLOADS/w_two_zones" 600 1 >/dev/null &
other=$!
programs+=("$other")
"$HYPROF" record --scope="$scope" -o "$TMPDIR/family.hyp" -p "$program,$other" -- sleep 1 2>"$TMPDIR/family.err" &
recorder=$!
holds "children: recorded while a command runs; status 0" ended_with 0
read_trace family
holds "children: samples of the child and of the other program" same 2 "$(n_different family "$busy" pid)"
holds "children: zones of both" same "$(printf '%s\n' "$worker" "$other" | sort)" \
        "$(awk -F '\t' "$columns"'kind == "zone_begin" { print pid }' "$TMPDIR/family.events" | sort -u)"
holds "children: the child has its parent" same "$program" "$("$HYPROF" dump "$TMPDIR/family.hyp" |
        sed -n 's/^process id=\([0-9]*\) pid=\([0-9]*\) parent=\([0-9]*\) .*/\1 \2 \3/p' |
        awk -v worker="$worker" '{ pid[$1] = $2; parent[$2] = $3 } END { print pid[parent[worker]] }')"
holds "children: the command itself is not recorded" same 0 "$(n_events family 'thread == "sleep"')"
attach until_end
sleep_until_samples() {
        local tries
        for ((tries = 0; tries < 600; tries++)); do
                [ "$(stat -c %s "$TMPDIR/until_end.hyp" 2>/dev/null || echo 0)" -le 2000 ] || return 0
                read -r -t 0.1 <> <(:) || true
        done
        return 1
}
holds "end: something is recorded" sleep_until_samples
kill "$worker" "$program"
holds "end: the recording ends with the program" ended_with 0
read_trace until_end
holds "end: the report does not say that it was stopped" same "" "$(has_notice until_end STOPPED_EARLY)"
kill "$other"

# ---- threads that begin while it attaches
"$WORKLOADS/w_threads" 1000000 &
program=$!
programs+=("$program")
attach storm -d 1s
holds "storm: attached to a program that starts threads all the time" ended_with 0
kill "$program" || true
read_trace storm
figure "storm: $(reported storm .n_zones) zones of $(reported storm '.threads.rows | length') threads"
holds "storm: the trace is whole" is_whole storm
holds "storm: zones of many threads" compare "$(n_different storm 'zone == "short"' tid)" ">" 100
holds "storm: no more samples than processors had time for" compare "$(n_events storm 'kind == "sample"')" "<=" \
        "1.05 * 997 * $(nproc) * $(reported storm .duration_ns) / 1e9 + 5"

# ---- options
serve
attach plots --plots --client-ring 4M
holds "options: it records" tell on "$recorder"
holds "options: zones that are not wanted" tell emit
holds "options: detach" detach INT
holds "options: the program ends in order" dismiss
read_trace plots
holds "options: only what was asked for" same 0 "$(reported plots .n_zones)"
holds "options: a note on rings that are there already" grep -q '^hyprof: note: --client-ring: programs that are already running ' "$TMPDIR/plots.err"
holds "options: the report says so too" same CLIENT_RING_FIXED \
        "$(reported plots '.missing.rows[] | select(.code == "CLIENT_RING_FIXED") | .code')"
# shellcheck disable=SC2016 # for the recorded shell
environment() { "$HYPROF" record -q -o "$TMPDIR/env.hyp" "$@" -- sh -c 'echo "$HYPROF_RECORD $HYPROF_RING"'; }
holds "environment: all families" same "255 " "$(environment)"
holds "environment: some of them" same "131 " "$(environment --zones --frames)"
holds "environment: with callstacks, and rings of another size" same "$((0x80 + 0x11 + 0x1000)) 4194304" \
        "$(environment --zones --memory=callstacks --client-ring=4M)"
holds "environment: a command beside -p is left alone" same " " "$(environment -p $$)"

# ---- -d with a command: the recording ends, the command goes on and its status counts
holds "duration: with a command" ends_with 7 "$HYPROF" record -o "$TMPDIR/t.hyp" -d 100ms -- sh -c 'sleep 1; exit 7'
holds "duration: it waits for the command" grep -q 'waiting for the command' "$TMPDIR/err"
holds "duration: the trace is whole" "$HYPROF" check "$TMPDIR/t.hyp"
holds "duration: a command that is shorter" ends_with 3 "$HYPROF" record -q -o "$TMPDIR/t.hyp" -d 1h -- sh -c 'exit 3'

# ---- what cannot be
fails() { # words of the error, options...
        rm -f "$TMPDIR/none.hyp"
        ends_with 125 "$HYPROF" record -o "$TMPDIR/none.hyp" "${@:2}" || return 1
        grep -qE "^hyprof: error: $1" "$TMPDIR/err" || { cat "$TMPDIR/err" && return 1; }
        [ ! -e "$TMPDIR/none.hyp" ] || { echo "there is a trace" && return 1; }
}
gone=$(sh -c 'echo $$')
holds "no such process" fails "no process $gone\$" -p "$gone"
holds "one of two does not exist" fails "no process $gone\$" -p "$$,$gone"
# shellcheck disable=SC2016 # for the shell
holds "hyprof itself" ends_with 125 sh -c 'exec "$0" record -o "$1" -p $$' "$HYPROF" "$TMPDIR/none.hyp"
holds "it says so" grep -q 'error: process [0-9]* is hyprof itself$' "$TMPDIR/err"
if [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ]; then
        holds "a thread of the kernel" fails 'process 2 \(kthreadd\) is a kernel thread, not a program' -p 2
fi
for wrong in 0 -1 x "1," "" 99999999999; do
        holds "no number of a process: \"$wrong\"" ends_with 2 "$HYPROF" record -p "$wrong"
done
# CAP_SYS_RESOURCE goes beyond any limit.
limited=()
[ "$(id -u)" -ne 0 ] || ! setpriv --bounding-set=-sys_resource true 2>/dev/null || limited=(setpriv --bounding-set=-sys_resource)
few_files() { (ulimit -n 40 && exec ${limited[@]+"${limited[@]}"} "$@"); }
"$WORKLOADS/w_two_zones" 600 40 >/dev/null &
many=$!
programs+=("$many")
has_threads() {
        local tries
        for ((tries = 0; tries < 600; tries++)); do
                [ "$(find "/proc/$many/task" -mindepth 1 -maxdepth 1 | wc -l)" -lt 41 ] || return 0
                read -r -t 0.1 <> <(:) || true
        done
        return 1
}
holds "many threads" has_threads
thread=$(for task in "/proc/$many/task/"*; do echo "${task##*/}"; done | grep -vx "$many" | head -n 1)
holds "a thread instead of its process" fails "$thread is a thread of process $many, .*-p $many .*-t $thread " -p "$thread"
holds "too few descriptors" ends_with 125 few_files "$HYPROF" record --scope=threads -o "$TMPDIR/none.hyp" -p "$many"
holds "it says how many would do, and how" grep -qE 'error: .*descriptors for each thread.* 40 are allowed' "$TMPDIR/err"
holds "and what helps" grep -qE '^  try: (prlimit --nofile|sudo hyprof record)' "$TMPDIR/err"

# Events that it cannot fetch in time are lost, so a recorder must not wait for its turn behind a thousand threads that run.
can_be_nice() { nice -n -10 true 2>"$TMPDIR/nice" && [ ! -s "$TMPDIR/nice" ]; }
is_preferred() { # while it waits to join: the events are open, and nothing is read yet
        local stat i
        for ((i = 0; i < 100; i++)); do
                stat=$(cat "/proc/$recorder/stat") || return 1
                stat=${stat##*) }
                [ "$(cut -d ' ' -f 17 <<<"$stat")" != -10 ] || return 0
                read -r -t 0.1 <> <(:) || true
        done
        echo "$stat"
        return 1
}
if can_be_nice; then
        program=$many
        attach preferred --delay 1h
        holds "the collector goes before others from when its events are open" is_preferred
        holds "and a signal ends the delay" detach INT
else
        skips_group "the collector goes before others" "this test may not"
fi

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
        folder=$(mktemp -d /tmp/hyprof-attach.XXXXXX)
        trap 'rm -rf "$folder"; cleanup' EXIT
        chmod 755 "$folder"
        cp "$HYPROF" "$folder/"
        as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"; }
        holds "another user's program" ends_with 125 as_user "$folder/hyprof" record -o "$folder/t.hyp" -p "$many"
        holds "it says whose it is" grep -q "error: not permitted to record process $many (w_two_zones): it is owned by root" "$TMPDIR/err"
        holds "and what to do" grep -q "^  try: sudo hyprof record -p $many" "$TMPDIR/err"
else
        skips_group "another user's program" "this test does not run as root"
fi
kill "$many"
