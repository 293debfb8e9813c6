#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Profiler: a call that is open at disable() is a zone to its end, in other threads, tasks and greenlets, whatever code runs
# meanwhile; it cuts no zone of the program short; many threads enable and disable at once
set -u
. tests/tap.sh
need sqlite3
python=${PYTHON:-/usr/bin/python3}
[ -d "$BUILD/python/hyprof" ] || skip_all "the package of Python was not built"
plan 26
export PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1
cd "$TMPDIR" || exit 2

recorded() { # arguments of python3 -m hyprof -p...
        ends_with 0 "$python" -m hyprof --no-samples -p "$@" && "$HYPROF" query -q --force --sqlite ops.db hyprof.hyp
}
# "name count/ended" of all zones but garbage collections.
zones() {
        sqlite3 -separator ' ' ops.db "SELECT l.name || ' ' || count(*) || '/' || sum(closed) FROM zones
                JOIN locations l ON l.id = location WHERE l.name NOT LIKE 'garbage collection%' GROUP BY l.name
                ORDER BY 1" | paste -sd ' '
}
# The names of the zones around these; "-" = none.
caller() { # name
        sqlite3 ops.db "SELECT DISTINCT coalesce(pl.name, '-') FROM zones z JOIN zone_paths p ON p.id = z.path
                JOIN locations l ON l.id = z.location LEFT JOIN zone_paths pp ON pp.id = p.parent
                LEFT JOIN locations pl ON pl.id = pp.location WHERE l.name = '$1'" | paste -sd ' '
}
# 1: a zone of this name lasted until the last zone "last" ended, else 0.
lasts() { # name
        sqlite3 ops.db "SELECT max(z.begin_ns + z.duration_ns) >= (SELECT max(begin_ns + duration_ns) FROM zones
                JOIN locations k ON k.id = location WHERE k.name = 'last') FROM zones z
                JOIN locations l ON l.id = z.location WHERE l.name = '$1'"
}

# The call in the pool's thread is the outermost zone there; the same function returns in the main thread meanwhile.
cat >thread.py <<'END'
import hyprof, threading
from concurrent.futures import ThreadPoolExecutor
entered, go = threading.Event(), threading.Event()
def waits(is_to_wait):
    if is_to_wait:
        entered.set()
        go.wait()
    return is_to_wait
def later(): pass
pool = ThreadPoolExecutor(1)
profiler = hyprof.Profiler()
profiler.enable()
future = pool.submit(waits, True)
entered.wait()
profiler.disable()
for _ in range(3): waits(False)
go.set()
future.result()
profiler.enable()
pool.submit(later).result()
profiler.disable()
pool.shutdown()
END
holds "a call that is open in a thread, and returns elsewhere" recorded thread.py
holds "ends where it returns" same "later 1/1 waits 1/1" "$(zones)"
holds "and later calls of its thread are not in it" same "-" "$(caller later)"

# threading does not count this one.
cat >bare.py <<'END'
import _thread, hyprof
go, over = _thread.allocate_lock(), _thread.allocate_lock()
about = _thread.allocate_lock()
go.acquire(), over.acquire(), about.acquire()
def waits():
    about.release()
    go.acquire()
def thread():
    waits()
    over.release()
profiler = hyprof.Profiler()
profiler.enable()
_thread.start_new_thread(thread, ())
about.acquire()
profiler.disable()
go.release()
over.acquire()
END
holds "in a thread of _thread" recorded bare.py
ended_bare() { zones | grep -qx 'thread 1/[01] waits 1/1' || { zones && return 1; }; }
holds "it ends as well" ended_bare

cat >task.py <<'END'
import asyncio, hyprof
async def handle(event):
    with hyprof.zone("marked"):
        for _ in range(3): await asyncio.sleep(0)
        await event.wait()
        for _ in range(3): await asyncio.sleep(0)
        with hyprof.zone("last"): pass
async def main():
    event = asyncio.Event()
    tasks = asyncio.gather(handle(event), handle(event))
    for _ in range(2): await asyncio.sleep(0)
    profiler.disable()
    event.set()
    await tasks
def work():
    asyncio.run(main())
profiler = hyprof.Profiler()
profiler.enable()
work()
END
holds "in tasks, and around all of them" recorded task.py
main_steps() { zones | sed 's/main [0-9]*/main n/; s/n\/[0-9]*/n/'; }
holds "each ends" same "handle 2/2 last 2/2 main n marked 2/2 work 1/1" "$(main_steps)"
holds "a task's zone that is marked lasts until it is left" same "1 1 handle" "$(lasts marked) $(lasts handle) $(caller marked)"

cat >marked.py <<'END'
import hyprof
def leaf(): pass
def inside():
    profiler.disable()
def work():
    with hyprof.zone("marked"):
        inside()
        with hyprof.zone("last"): pass
    leaf()
profiler = hyprof.Profiler()
profiler.enable()
work()
END
holds "disable() inside a zone of the program" recorded marked.py
holds "does not end it" same "inside 1/1 last 1/1 marked 1/1 work 1/1 1" "$(zones) $(lasts marked)"
holds "and it stays in its call" same "marked work" "$(caller inside) $(caller marked)"

cat >generator.py <<'END'
import hyprof
def steps():
    with hyprof.zone("marked"):
        yield 1
        yield 2
        with hyprof.zone("last"): pass
def inside(): pass
profiler = hyprof.Profiler()
profiler.enable()
g = steps()
next(g)
profiler.disable()
next(g)
assert list(g) == []
profiler.enable()
inside()
END
holds "a generator that waits inside one" recorded generator.py
holds "lasts until it is over" same "inside 1/1 last 1/1 marked 1/1 steps 1/1 1 1 -" \
        "$(zones) $(lasts marked) $(lasts steps) $(caller inside)"

cat >greenlets.py <<'END'
import greenlet, hyprof
def waits():
    home.switch()
def inside(): pass
profiler = hyprof.Profiler()
profiler.enable()
home = greenlet.getcurrent()
g = greenlet.greenlet(waits)
g.switch()
profiler.disable()
g.switch()
profiler.enable()
inside()
END
if "$python" -c 'import greenlet' 2>/dev/null; then
        holds "in a greenlet" recorded greenlets.py
        holds "it ends" same "inside 1/1 waits 1/1" "$(zones)"
else
        skips "in a greenlet" "greenlet is not installed"
        skips "it ends" "greenlet is not installed"
fi

# The step of the task began before its calls were recorded, and it has had no zone yet.
cat >step.py <<'END'
import asyncio, hyprof, threading, sys
def leaf(): pass
def work():
    with hyprof.zone("marked"): leaf()
def later(): pass
async def enables():
    profiler.enable()
    work()
    await asyncio.sleep(0)
    work()
    profiler.disable()
async def waits():
    entered.set()
    go.wait()
    work()
    await asyncio.sleep(0)
    work()
profiler, entered, go = hyprof.Profiler(), threading.Event(), threading.Event()
if sys.argv[1] == "here":
    asyncio.run(enables())
else:
    thread = threading.Thread(target=asyncio.run, args=(waits(),))
    thread.start()
    entered.wait()
    profiler.enable()
    go.set()
    thread.join()
    profiler.disable()
with hyprof.Profiler(): later()
END
in_order() { same "work marked -" "$(caller marked) $(caller leaf) $(caller later)"; }
holds "enable() inside a task" recorded step.py here
holds "its calls are around its zones, and end" in_order
holds "enable() while a task runs in another thread" recorded step.py elsewhere
holds "the same there" in_order
holds "nothing is left open" same 0 "$(sqlite3 ops.db 'SELECT sum(closed = 0) FROM zones')"

# Another thread enables its Profiler in the middle of the last one's disable(): it waits, or its calls would be lost.
cat >meanwhile.py <<'END'
import hyprof, threading
from hyprof import _garbage
about, is_on, is_off = threading.Event(), threading.Event(), threading.Event()
def inside(): pass
def other():
    about.set()
    with hyprof.Profiler():
        is_on.set()
        is_off.wait()
        inside()
plain_stop = _garbage.stop
def stop():
    plain_stop()
    if not about.is_set():
        thread.start()
        about.wait()
        is_on.wait(0.2)         # it never comes: the other thread waits for us
thread = threading.Thread(target=other)
_garbage.stop = stop
with hyprof.Profiler(): pass
is_off.set()
thread.join()
END
holds "two threads at once" recorded meanwhile.py
holds "none switches the other off" same "inside 1/1" "$(zones | grep -o 'inside [^ ]*')"

cat >speed.py <<'END'
import hyprof, sys, threading, timeit
sys.setswitchinterval(1e-5)
def leaf(n): return n and leaf(n - 1)
def steps():
    yield 1
    yield 2
def sums(): return sum(steps())
def fails(): raise ValueError
def catches():
    try: fails()
    except ValueError: leaf(1)
def runs():
    while not is_over.is_set(): timeit.timeit("leaf(3); sums(); catches()", number=100, globals=globals())
is_over = threading.Event()
threads = [threading.Thread(target=runs) for _ in range(3)]
[t.start() for t in threads]
for _ in range(100):
    with hyprof.Profiler(): pass
    with hyprof.Profiler(): leaf(1)
is_over.set()
[t.join() for t in threads]
END
holds "enabled and disabled at speed beside other threads" recorded speed.py
holds "nothing stays open" same 0 "$(sqlite3 ops.db 'SELECT sum(closed = 0) FROM zones')"

# A function of a library is counted once, however often calls begin to be recorded.
cat >again.py <<'END'
import hyprof, json
for _ in range(20):
    with hyprof.Profiler(): json.dumps([1])
END
holds "enabled again and again" recorded again.py
once() { compare "$(sed -n 's/.*(.*json \([0-9]*\).*/\1/p' err)" "<=" 4; }
holds "what is left out is counted once" once
