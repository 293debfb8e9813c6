#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Waits of more than a millisecond have their call stack at every sampling rate, whatever short waits lie between them
set -eu
. tests/tap.sh
plan 12
need jq sqlite3
need_sampling
python=${PYTHON:-/usr/bin/python3}

[ "$(id -u)" -eq 0 ] || skip_all "only root may use BPF"
tr '\0' '\n' </sys/kernel/btf/vmlinux 2>/dev/null | grep -qx btf_trace_sched_exit_tp ||
        skip_all "this kernel has no hook at the end of a switch (Linux 6.16)"
record probe --off-cpu "$WORKLOADS/w_long_waits" 1
reason=$("$HYPROF" report --json --limit 0 "$TMPDIR/probe.hyp" | jq -r '.missing.rows[] | select(.code == "WAITING_BY_PERF") | .detail')
case $reason in
*'built without BPF'* | *'own PID namespace'* | *'BPF: not permitted'* | *'BPF compiler is off'*) skip_all "$reason" ;;
esac
holds "waits are recorded through BPF" same "" "$reason"

record_waits() { # name, options and command...
        record "$1" --off-cpu "${@:2}" && "$HYPROF" query -q --sqlite "$TMPDIR/$1.db" "$TMPDIR/$1.hyp"
}

# Waits of the program's process that lasted for so long.
count_waits() { # name, condition
        sqlite3 "$TMPDIR/$1.db" "select count(*) from waits join threads on threads.id = waits.thread
                where state != 'preempted' and ended and threads.name != 'hyprof' and $2"
}

# For `holds`: there are as many waits over 1 ms as the program says, and hardly one of them has no call stack: a tenth is
# for a recorder that a busy machine keeps from its rings until these are full.  Without the hook a third is missing.
are_placed() { # name
        local all missing wanted
        wanted=$(awk '$1 == "long" { print $2 }' "$TMPDIR/$1.out")
        all=$(count_waits "$1" "duration_ns > 1000000")
        missing=$(count_waits "$1" "duration_ns > 1000000 and coalesce(stack, 0) = 0")
        figure "$1: $all waits over 1 ms, $missing of them without a call stack" >&3
        compare "$all" ">=" "$wanted * 0.95" && compare "$missing * 100" "<=" "10 * $all"
}

# For `holds`: so many waits of the time that a slow answer takes have the function in their call stacks, at least.
are_in() { # name, function, number
        compare "$(count_waits "$1" "duration_ns > 2400000 and stack in (
                select stack from stack_frames join frame_functions using (frame) where function = '$2')")" ">=" "$3"
}

exec 3>&1
for rate in 997 2000 9999; do
        holds "$rate Hz: record" record_waits "at$rate" -F $rate "$WORKLOADS/w_long_waits"
        holds "$rate Hz: waits over 1 ms have a place" are_placed "at$rate"
        holds "$rate Hz: and it is the right one" are_in "at$rate" ask_slow 170
done

cat >"$TMPDIR/asks.py" <<'END'
import os, threading, time

questions, answers = os.pipe(), os.pipe()

def answer():
    while kind := os.read(questions[0], 1):
        if kind == b"s":
            time.sleep(0.0025)
        os.write(answers[1], kind)

def ask(kind, depth):
    if depth > 0:
        ask(kind, depth - 1)
    else:
        os.write(questions[1], kind)
        os.read(answers[0], 1)

def ask_slow(i):
    ask(b"s", i % 5)

def ask_quick(i):
    ask(b"q", i % 7)

thread = threading.Thread(target=answer)
thread.start()
for i in range(4000):
    if i % 40 == 39:
        ask_slow(i)
    else:
        ask_quick(i)
os.close(questions[1])
thread.join()
END
if [ -x "$python" ] && "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        holds "Python: record" record_waits python "$python" "$TMPDIR/asks.py"
        holds "Python: long waits have its functions" are_in python ask_slow 80
else
        skips_group "Python" "Python 3.11 or later is not installed"
fi
