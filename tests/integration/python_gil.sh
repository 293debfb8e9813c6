#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Who waits for the GIL of a stripped python3, for how long, and who holds it meanwhile, as the script's own clock says;
# threads that wait for anything else do not wait for it
set -eu
. tests/tap.sh
plan 9
need_sampling
need jq
python=/usr/bin/python3
[ -x "$python" ] || skip_all "python3 is not installed"
"$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' || skip_all "python3 is none of 3.11 to 3.14"

# A thread sleeps in C without letting the GIL go; another wakes in the meantime, and measures by how much too late.
cat >"$TMPDIR/held.py" <<'END'
import ctypes, threading, time
libc = ctypes.PyDLL(None)
def name(words): libc.prctl(15, words, 0, 0, 0)
woken = threading.Event()
late = 0.0
def wait():
    global late
    name(b"waiter")
    for _ in range(6):
        woken.set()
        began = time.monotonic()
        time.sleep(0.01)
        late += time.monotonic() - began - 0.01
waiter = threading.Thread(target=wait)
name(b"holder")
waiter.start()
while waiter.is_alive():
    if woken.wait(0.01):
        woken.clear()
        libc.usleep(100000)
waiter.join()
print(round(late * 1e9))
END
cat >"$TMPDIR/others.py" <<'END'
import queue, sys, threading, time
def alone():
    end = time.monotonic() + 0.3
    while time.monotonic() < end: sum(range(1000))
def lock():
    one = threading.Lock()
    one.acquire()
    one.acquire(timeout=1.0)
def sleep(): time.sleep(1.0)
def wait():
    try: queue.Queue().get(timeout=1.0)
    except queue.Empty: pass
if sys.argv[1] == "alone": alone()
else:
    threads = [threading.Thread(target=one) for one in (lock, sleep, wait)]
    for one in threads: one.start()
    for one in threads: one.join()
END

locks() { # name, jq's expression
        "$HYPROF" report --locks --json --limit 0 "$TMPDIR/$1.hyp" | jq -r "$2"
}

holds 'a script whose threads need the GIL is recorded' record held -F 999 "$python" "$TMPDIR/held.py"
if "$HYPROF" report --json --limit 0 "$TMPDIR/held.hyp" | grep -q '"PYTHON_APPROXIMATE"\|"NO_PYTHON"'; then
        skips_group 'who waits for the GIL' 'hardware: no BPF here'
        exit 0
fi
late_ns=$(cat "$TMPDIR/held.out")
waited_ns=$(locks held '[.waits.rows[] | select(.thread_name == "waiter") | .wait_ns] | add // 0')
blocked_ns=$(locks held '[.holders.rows[] | select(.thread_name == "holder") | .blocked_ns] | add // 0')
figure "the script was $((late_ns / 1000000)) ms late; it waited $((waited_ns / 1000000)) ms for the GIL, of which its holder held it for $((blocked_ns / 1000000)) ms"
named() { locks held '.locks.rows[].lock' | grep -qE '^GIL of (python3|holder) \([0-9]+\)$'; }
holds 'the lock has a name' named
holds 'its thread waits no longer than it says itself' compare "$waited_ns" '<=' "$late_ns + 6e6"
# The rest is the time until a woken thread gets a CPU.
holds 'and most of that time' compare "$waited_ns" '>' "$late_ns / 2"
holds 'the thread that sleeps with the lock held it meanwhile' compare "$blocked_ns" '>' "$waited_ns * 0.9"

holds 'a script with one thread is recorded' record alone -F 999 "$python" "$TMPDIR/others.py" alone
no_waits() { same 0 "$(locks alone '[.waits.rows[]] | length')"; }
holds 'and nobody waits' no_waits
holds 'threads that wait for anything but the GIL are recorded' record others -F 999 "$python" "$TMPDIR/others.py" others
others_ns=$(locks others '[.locks.rows[].wait_ns] | add // 0')
holds 'and do not wait for it' compare "$others_ns" '<' 3e8
