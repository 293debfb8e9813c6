#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# calls of Python as zones that end otherwise than by a return: exceptions through functions of C, generators, coroutines
# and greenlets that are thrown into, closed, dropped or cancelled, threads that end early: each ends where its call does
set -u
. tests/tap.sh
need sqlite3
python=${PYTHON:-/usr/bin/python3}
[ -d "$BUILD/python/hyprof" ] || skip_all "the package of Python was not built"
plan 21
export PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1
cd "$TMPDIR" || exit 2

recorded() { # arguments of python3 -m hyprof...
        ends_with 0 "$python" -m hyprof --no-samples "$@" && "$HYPROF" query -q --force --sqlite ops.db hyprof.hyp
}
ask() { # question
        sqlite3 -separator ' ' ops.db "$1" | paste -sd ' '
}
# Pairs "caller>callee count" of the calls of this function, by the innermost zone around each.
callers() { # name
        ask "SELECT coalesce(pl.name, '-') || '>' || l.name || ' ' || count(*) FROM zones z
                JOIN zone_paths p ON p.id = z.path JOIN locations l ON l.id = z.location
                LEFT JOIN zone_paths pp ON pp.id = p.parent LEFT JOIN locations pl ON pl.id = pp.location
                WHERE l.name = '$1' GROUP BY pl.name, l.name ORDER BY 1"
}
counts() { # names, quoted
        ask "SELECT l.name || ' ' || count(*) FROM zones JOIN locations l ON l.id = location WHERE l.name IN ($1)
                GROUP BY l.name ORDER BY 1"
}
# Every zone has ended, and mark() has only been called where nothing else was open: a call that was left open would be
# around it.
all_ended() { # caller of mark, calls
        same "0 $1>mark $2" "$(ask "SELECT sum(closed = 0) FROM zones") $(callers mark)"
}

cat >generators.py <<'END'
def mark(): pass
def leaf(): pass
def steps():
    try:
        yield 1
    except KeyError:
        leaf()
    try:
        yield 2
        yield 3
    finally:
        leaf()
def stubborn():
    try: yield 1
    except GeneratorExit: yield 2
def outer():
    yield from steps()
    leaf()
def returns():
    yield 1
    return leaf()
def work():
    g = steps(); next(g); assert g.throw(KeyError()) == 2; mark()
    try: g.throw(ValueError())
    except ValueError: mark()
    g = steps()
    try: g.throw(ValueError())          # before its first step
    except ValueError: mark()
    g = steps(); next(g), next(g); g.close(); mark()
    g = steps(); g.close(); mark()
    g = steps(); next(g), next(g); del g; mark()     # closed by its end
    g = stubborn(); next(g)
    try: g.close()
    except RuntimeError: mark()
    g = outer(); next(g); assert g.throw(KeyError()) == 2; mark()
    try: g.throw(ValueError())          # through two
    except ValueError: mark()
    g = outer(); next(g), next(g); g.close(); mark()
    assert list(outer()) == [1, 2, 3]; mark()
    for _ in steps(): break
    mark()
    assert any(n > 1 for n in steps()); mark()
    try:
        for n in steps(): raise KeyError
    except KeyError: mark()
    g = returns(); next(g)
    try: next(g)
    except StopIteration: mark()
work()
END
holds "generators: throw, close, del, yield from" recorded generators.py
holds "nothing is left open" all_ended work 15
holds "what they call meanwhile is in them" same "outer>leaf 1 returns>leaf 1 steps>leaf 9" "$(callers leaf)"
# throw() and close() resume the inner generator alone: the interpreter does not call the outer one for them.
holds "a step within yield from is in the outer one" same "outer>steps 7" "$(callers steps | grep -o 'outer>steps [0-9]*')"

cat >exceptions.py <<'END'
import functools, re, contextlib, sys, operator
def mark(): pass
def fails(*_):
    raise ValueError
class Bad:
    def __init__(self): fails()
class Drops:
    def __del__(self): fails()
class Compares:
    def __lt__(self, other): fails()
    def __hash__(self): fails()
    def __eq__(self, other): fails()
    def __getattr__(self, name): fails()
    def __iter__(self): fails()
    def __call__(self): fails()
    def __enter__(self): return self
    def __exit__(self, *_): return True
@contextlib.contextmanager
def swallows():
    try: yield
    except ValueError: pass
def rethrows():
    try: fails()
    finally: Inner.method()
class Inner:
    @staticmethod
    def method(): pass
def deep(n): return deep(n + 1)
def leaves_loop():
    for n in range(3):
        try: fails()
        except ValueError: continue
        finally: Inner.method()
def work():
    for call in (lambda: sorted([1, 2], key=fails), lambda: list(map(fails, [1])), lambda: functools.reduce(fails, [1, 2]),
                 lambda: re.sub("a", fails, "aaa"), lambda: [Compares(), Compares()].sort(), lambda: {Compares(): 1},
                 lambda: [1] == Compares(), lambda: Compares().name, lambda: list(Compares()), Compares(), Bad, rethrows,
                 lambda: operator.call(fails) if hasattr(operator, "call") else fails(), lambda: exec("fails()"),
                 lambda: max([1, 2], key=fails), lambda: functools.partial(fails, 1)(), lambda: dict.fromkeys(map(fails, "ab"))):
        try: call()
        except ValueError: mark()
    d = Drops(); del d; mark()
    with Compares(): fails()
    mark()
    with swallows(): fails()
    mark()
    leaves_loop(); mark()
    try: deep(0)
    except RecursionError: mark()
sys.unraisablehook = lambda *_: None
work()
END
holds "exceptions through functions written in C" recorded exceptions.py
holds "nothing of theirs is left open" all_ended work 22
holds "each that fails is a zone" same "fails 23 rethrows 1" "$(counts "'fails', 'rethrows'")"
holds "what a finally calls" same "leaves_loop>Inner.method 3 rethrows>Inner.method 1" "$(callers Inner.method)"
holds "a recursion that is refused" same "deep>deep work>deep" "$(callers deep | sed 's/ [0-9][0-9]*//g')"

cat >coroutines.py <<'END'
import asyncio
def mark(): pass
def leaf(): pass
async def waits():
    try: await asyncio.sleep(10)
    finally: leaf()
async def times_out(): await asyncio.wait_for(waits(), 0.01)
async def items():
    try:
        yield 1
        yield 2
    except KeyError: leaf()
    finally: leaf()
async def fails(): raise ValueError
async def main():
    task = asyncio.create_task(waits())
    await asyncio.sleep(0)
    task.cancel()
    try: await task
    except asyncio.CancelledError: mark()
    try: await times_out()
    except asyncio.TimeoutError: mark()
    g = items(); await g.__anext__(); mark()
    try: await g.athrow(KeyError())
    except StopAsyncIteration: mark()
    g = items(); await g.__anext__(); await g.aclose(); mark()
    async for n in items(): break
    mark()
    await asyncio.gather(fails(), fails(), return_exceptions=True); mark()
    c = waits(); c.close(); mark()
asyncio.run(main())
END
holds "coroutines: cancelled, timed out, thrown into, closed" recorded coroutines.py
holds "none is left open" all_ended main 8
holds "what they call at their end is in them" same "items>leaf 4 waits>leaf 2" "$(callers leaf)"

cat >greenlets.py <<'END'
import greenlet
def mark(): pass
def leaf(): pass
def inner():
    try: home.switch()
    finally: leaf()
def thrown():
    leaf()
    inner()
def fails(): leaf(); raise ValueError
def swaps():
    for _ in range(3):
        leaf(); home.switch()
def work():
    global home
    home = greenlet.getcurrent()
    g = greenlet.greenlet(thrown); g.switch()
    try: g.throw(ValueError)
    except ValueError: mark()
    g = greenlet.greenlet(thrown); g.switch(); g.throw(); mark()
    g = greenlet.greenlet(thrown); g.switch(); del g; mark()
    g = greenlet.greenlet(fails)
    try: g.switch()
    except ValueError: mark()
    g = greenlet.greenlet(thrown)
    try: g.throw(KeyError)
    except KeyError: mark()
    a, b = greenlet.greenlet(swaps), greenlet.greenlet(swaps)
    for _ in range(3): a.switch(); b.switch(); mark()
    a.switch(), b.switch()
    assert a.dead and b.dead; mark()
work()
END
if "$python" -c 'import greenlet' 2>/dev/null; then
        holds "greenlets: thrown into, dropped, failing" recorded greenlets.py
        holds "none of theirs is left open" all_ended work 9
        holds "each has its own calls" same "fails>leaf 1 inner>leaf 3 swaps>leaf 6 thrown>leaf 3 thrown>inner 3" "$(callers leaf) $(callers inner)"
else
        for case in "greenlets: thrown into, dropped, failing" "none of theirs is left open" "each has its own calls"; do
                skips "$case" "python3-greenlet is not installed"
        done
fi

cat >threads.py <<'END'
import _thread, sys, threading
def mark(): pass
def leaf(): pass
def ends(how):
    leaf()
    if how == 1: sys.exit()
    if how == 2: raise ValueError
    _thread.exit()
def again(how):
    mark()
    try: ends(how)
    finally: mark()
threading.excepthook = lambda *_: None
for how in range(300):
    t = threading.Thread(target=again, args=(how % 3,))
    t.start()
    if how % 7 == 0: t.join()
for t in threading.enumerate():
    if t is not threading.current_thread(): t.join()
done = []
def bare(): leaf(); done.append(1); raise SystemExit
for _ in range(100): _thread.start_new_thread(bare, ())
while len(done) < 100: leaf.__name__
END
holds "400 threads that end by exceptions" recorded threads.py
holds "each call of theirs has ended" same "again 300 300 bare 100 100 ends 300 300 leaf 400 400 mark 600 600" \
        "$(ask "SELECT l.name || ' ' || count(*) || ' ' || sum(closed) FROM zones JOIN locations l ON l.id = location
                WHERE l.name IN ('again', 'bare', 'ends', 'leaf', 'mark') GROUP BY l.name ORDER BY 1")"
holds "in its own thread's calls" same "again>mark 600 bare>leaf 100 ends>leaf 300" "$(callers mark) $(callers leaf)"

cat >deep.py <<'END'
import gc, sys, time
def mark(): pass
def deep(n):
    if n: deep(n - 1)
    if n == 1000: time.sleep(0.05)
def work():
    deep(6000)
    mark()
sys.setrecursionlimit(10000), gc.disable()      # a collection is a zone
work()
END
holds "a recursion that is deeper than zones nest" recorded deep.py
holds "its outer calls are zones until they return, and the others are counted as lost" same "6001 0 0" \
        "$(ask "SELECT count(*) + $(grep -o '[0-9,]* lost' err | tail -n 1 | tr -d ', lost'), sum(closed = 0), sum(duration_ns < 50000000)
                FROM zones JOIN locations l ON l.id = location WHERE l.name = 'deep'")"
holds "nothing of it is left open" all_ended work 1
