#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# the package of Python: zones, messages and plots of threads, tasks, generators, forks and spawned processes
set -u
. tests/tap.sh
need sqlite3
python=${PYTHON:-/usr/bin/python3}
[ -d "$BUILD/python/hyprof" ] || skip_all "the package of Python was not built"
plan 29
export PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1

# Recorded without samples; the database is in $TMPDIR/NAME.db.
record_python() { # name, file, arguments...
        record "$1" --no-sampling -- "$python" "${@:2}" &&
                "$HYPROF" query -q --force --sqlite "$TMPDIR/$1.db" "$TMPDIR/$1.hyp"
}

ask() { # name, question
        sqlite3 -separator ' ' "$TMPDIR/$1.db" "$2" | paste -sd ' '
}

# zone count/that have ended, by name.
counts() { # name, zones as quoted names
        ask "$1" "SELECT coalesce(l.name, l.function) || ' ' || count(*) || '/' || sum(closed) FROM zones
                JOIN locations l ON l.id = location WHERE coalesce(l.name, l.function) IN ($2) GROUP BY coalesce(l.name, l.function) ORDER BY 1"
}

cat >"$TMPDIR/kinds.py" <<'END'
import asyncio, concurrent.futures, threading, hyprof

assert hyprof.is_recording()

@hyprof.zone("plain")
def plain(n):
    return n if n == 0 else plain(n - 1)

class Thing:
    @hyprof.zone("method")
    def method(self): return 1
    @classmethod
    @hyprof.zone("class method")
    def build(cls): return cls()
    @hyprof.zone("static")
    @staticmethod
    def static(): return 2

@hyprof.zone("steps")
def steps():
    try:
        got = yield 1
        assert got == "sent"
        yield 2
    except KeyError:
        yield 3
    return "end"

@hyprof.zone("raises")
def raises():
    raise ValueError("wanted")

plain(3)
Thing().method(), Thing.build(), Thing.static()
g = steps()
assert next(g) == 1 and g.send("sent") == 2 and g.throw(KeyError()) == 3
try:
    next(g)
except StopIteration as stop:
    assert stop.value == "end"
try:
    raises()
except ValueError:
    pass
assert plain.__name__ == "plain" and asyncio.iscoroutinefunction(plain) is False

shared = hyprof.zone("shared")
gate = threading.Barrier(4)
def in_thread():
    for _ in range(10):
        with shared:
            gate.wait()
            with shared:
                gate.wait()
threads = [threading.Thread(target=in_thread) for _ in range(4)]
[t.start() for t in threads], [t.join() for t in threads]

with concurrent.futures.ThreadPoolExecutor(2) as pool:
    assert list(pool.map(plain, [1, 1])) == [0, 0]

with hyprof.zone("told", text="first", color=0xFF8800) as z:
    z.add_text("second \udc80")
    z.add_value(42)
    z.set_name("renamed")
hyprof.message("a" * 100000, severity="error")
hyprof.message("short", color=0x123456)
hyprof.plot("load", 3), hyprof.plot("load", 2.5), hyprof.plot("load", 1 << 70)
hyprof.frame(), hyprof.frame("other")
hyprof.thread_name("the main one")
hyprof.app_info("model", "tiny"), hyprof.app_info("a line")
hyprof.signpost("warm", "up")
for number in (7, -1, (1 << 64) + 5):
    hyprof.flow_begin(number), hyprof.flow_step(number, None), hyprof.flow_end(number)
    hyprof.flow_end(number, "other space")
for wrong in (lambda: hyprof.zone(3), lambda: hyprof.zone("x", wrong=1), lambda: hyprof.zone(),
              lambda: hyprof.message("x", severity="loud"), lambda: hyprof.plot(1, 2),
              lambda: hyprof.flow_begin(1.5), lambda: hyprof.flow_end(1, 2), lambda: hyprof.flow_step("x"),
              lambda: hyprof.zone("x", color=1 << 24), lambda: hyprof.zone("x")(3)):
    try:
        wrong()
    except (TypeError, ValueError):
        continue
    raise SystemExit("was accepted")
for color in (-1, 1 << 24, 1 << 70, 1.5, "red"):
    try:
        hyprof.zone("x", color=color)
    except (TypeError, ValueError) as error:
        assert f"the color is {color!r}" in str(error), error
    else:
        raise SystemExit(f"{color} was accepted")
END
holds "a program with every kind of event" record_python kinds "$TMPDIR/kinds.py"
holds "functions, methods, generators, exceptions" same \
        "class method 1/1 method 1/1 plain 8/8 raises 1/1 static 1/1 steps 4/4" \
        "$(counts kinds "'plain', 'method', 'class method', 'static', 'steps', 'raises'")"
holds "one zone object, used by four threads at once, inside of itself" same "80 80 40" \
        "$(ask kinds "SELECT count(*), sum(closed), sum(depth = (SELECT min(depth) FROM zones)) FROM zones JOIN locations l ON l.id = location
                WHERE l.name = 'shared'")"
holds "what a zone was told" same "renamed|first 42" \
        "$(ask kinds "SELECT z.name || '|' || substr(z.text, 1, 5), value FROM zones z JOIN locations l ON l.id = location
                WHERE l.name = 'told'")"
holds "a message of 100,000 letters is whole" same "100000 4" \
        "$(ask kinds "SELECT length(text), severity FROM messages WHERE text LIKE 'aaa%'")"
holds "plots, frames, the thread's name" same "3.0 2.5 1.18059162071741e+21 1 1 the main one" \
        "$(ask kinds "SELECT value FROM plots ORDER BY time_ns") $(ask kinds "SELECT count(*) FROM frame_marks
                WHERE name IS NULL OR name = 'main' OR name = ''") $(ask kinds "SELECT count(*) FROM frame_marks
                WHERE name = 'other'") $(ask kinds "SELECT name FROM threads WHERE name LIKE 'the main%'")"
holds "flows: each with a step, by the lowest 64 bits of its number" same "-1 end -1 step 5 end 5 step 7 end 7 step" \
        "$(ask kinds "SELECT id, kind FROM flows WHERE space IS NULL ORDER BY 1, 2" | xargs)"
holds "a zone's place is the line of its with" same "kinds.py $(grep -n 'zone("told"' "$TMPDIR/kinds.py" | cut -d: -f1)" \
        "$(ask kinds "SELECT replace(file, '$TMPDIR/', ''), line FROM locations WHERE name = 'told'")"

cat >"$TMPDIR/tasks.py" <<'END'
import asyncio, hyprof

@hyprof.zone("request")
async def request(i, turn):
    with hyprof.zone("read", text=f"request {i}"):
        for _ in range(5):
            await turn()
            with hyprof.zone("step", text=f"request {i}"):
                await turn()

async def items(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i
marked = hyprof.zone("items")(items)

async def main():
    async def turn():
        await asyncio.sleep(0)
    await asyncio.gather(*(request(i, turn) for i in range(20)))
    with hyprof.zone("after"):
        assert [i async for i in marked(3)] == [0, 1, 2]
    # Names are used again: no more of them than tasks at once.
    for _ in range(200):
        await asyncio.create_task(request(99, turn))

asyncio.run(main())
with hyprof.zone("outside"):
    pass
END
holds "tasks of asyncio" record_python tasks "$TMPDIR/tasks.py"
holds "their zones end" same "after 1/1 items 4/4 outside 1/1 read 220/220 request 220/220 step 1100/1100" \
        "$(counts tasks "'request', 'read', 'step', 'items', 'after', 'outside'")"
holds "each step lies in the zone of its own task" same "1100 0" \
        "$(ask tasks "SELECT count(*), sum(s.text <> r.text OR NOT (r.begin_ns <= s.begin_ns AND
                s.begin_ns + s.duration_ns <= r.begin_ns + r.duration_ns)) FROM zones s
                JOIN locations sl ON sl.id = s.location AND sl.name = 'step'
                JOIN zones r ON r.thread = s.thread AND r.begin_ns <= s.begin_ns
                        AND r.begin_ns + r.duration_ns >= s.begin_ns + s.duration_ns
                JOIN locations rl ON rl.id = r.location AND rl.name = 'read'")"
holds "as many fibers as tasks at once" compare "$(ask tasks "SELECT count(*) FROM threads WHERE is_fiber")" "<=" 22
holds "the zone outside is the thread's own" same 0 \
        "$(ask tasks "SELECT is_fiber FROM zones JOIN threads t ON t.id = thread JOIN locations l ON l.id = location
                WHERE l.name = 'outside'")"

cat >"$TMPDIR/pauses.py" <<'END'
import os, threading, hyprof
def zone(name):
    with hyprof.zone(name):
        hyprof.message("in " + name), hyprof.plot("p " + name, 1)
zone("before")
hyprof.mark("half way")
hyprof.mark(7)
with hyprof.zone("open"):
    hyprof.pause()
    hyprof.pause()
    zone("left out")
threading.Thread(target=zone, args=("left out",)).start()
hyprof.resume()
zone("between")
with hyprof.paused():
    zone("left out")
    with hyprof.paused():
        zone("left out")
    zone("left out")
try:
    with hyprof.paused():
        raise KeyError
except KeyError:
    zone("after")
hyprof.resume()
with hyprof.paused():
    if os.fork() == 0:
        zone("in child")
        with hyprof.paused():
            zone("left out")
        os._exit(0)
    os.wait()
END
holds "a program that pauses its events" record_python pauses "$TMPDIR/pauses.py"
holds "no zone begins in a pause, and one that is open ends" same "after 1/1 before 1/1 between 1/1 in child 1/1 open 1/1" \
        "$(counts pauses "'before', 'in child', 'left out', 'open', 'between', 'after'")"
holds "no message and no plot, either" same "in after|in before|in between|in in child 4" \
        "$(ask pauses "SELECT group_concat(text, '|') FROM (SELECT text FROM messages WHERE text LIKE 'in %' ORDER BY text)") $(
                ask pauses "SELECT count(*) FROM plots")"
holds "marks, pauses and their ends are messages" same \
        "half way|7|events paused by the program|events resumed by the program|events paused by the program|events resumed by the program|events paused by the program|events resumed by the program" \
        "$(ask pauses "SELECT group_concat(text, '|') FROM (SELECT text FROM messages WHERE text NOT LIKE 'in %' ORDER BY time_ns LIMIT 8)")"

cat >"$TMPDIR/children.py" <<'END'
import multiprocessing, os, hyprof

def child(n):
    with hyprof.zone("child", text=str(n)):
        pass

if __name__ == "__main__":
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        with hyprof.zone("parent"):
            process = context.Process(target=child, args=(1,))
            process.start()
            process.join()
            assert process.exitcode == 0
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(child, range(4), chunksize=1)
        pool.close()
        pool.join()
END
holds "children of multiprocessing, by fork and spawn" record_python children "$TMPDIR/children.py"
holds "their zones are there" same "child 6/6 parent 2/2" "$(counts children "'child', 'parent'")"

holds "without a recorder all of it does nothing" "$python" -c '
import hyprof
assert not hyprof.is_recording()
with hyprof.zone("x", text=object()) as z:
    z.add_text("y"), z.add_value(1), z.set_color(3)
hyprof.message("x"), hyprof.plot("x", 1), hyprof.frame(), hyprof.signpost("x"), hyprof.app_info("k", "v")
hyprof.thread_name("x"), hyprof.mark("x"), hyprof.pause(), hyprof.resume()
with hyprof.paused(): pass'

cat >"$TMPDIR/odd.py" <<'END'
import fractions, sys, hyprof
class Index:
    def __index__(self): return 7
class Refuses:
    def __str__(self): raise ValueError("refused")
class Leaves:
    def __str__(self): sys.exit(3)
reports = []
sys.unraisablehook = lambda report: reports.append(report.exc_type.__name__)
for number in (0.5, -1.9, 1 << 64, -1 << 64, 1e300, -1e300, float("inf"), float("nan"), True, Index(),
               fractions.Fraction(7, 2), None, "3", 1j):
    with hyprof.zone("number") as z:
        z.add_value(number)
for number in (None, "3", 1j, 10 ** 400, -10 ** 400, Index()):
    hyprof.plot("quantity", number)
for odd in (Refuses(), Leaves()):
    with hyprof.zone("odd", text=odd) as z:
        z.add_text(odd), z.set_name(odd)
    hyprof.message(odd), hyprof.mark(odd), hyprof.signpost("header", odd)
    hyprof.app_info(odd), hyprof.app_info("key", odd), hyprof.app_info(odd, "value")
hyprof.message("color", color=1.5)
print(hyprof.is_recording(), *sorted({name + " " + str(reports.count(name)) for name in reports}), file=sys.stderr)
print("ends")
END
holds "odd values, without a recorder" same "ends False" "$("$python" "$TMPDIR/odd.py" 2>&1 | sort -r | paste -sd ' ')"
odd() {
        record_python odd "$TMPDIR/odd.py" && same ends "$(cat "$TMPDIR/odd.out")" &&
                same "True SystemExit 9 TypeError 7 ValueError 10" "$(grep '^True' "$TMPDIR/odd.err")"
}
holds "with one the program ends the same way, and what is left out is reported" odd
holds "numbers without fractions, of 64 bits" same \
        "0 -1 9223372036854775807 -9223372036854775808 9223372036854775807 -9223372036854775808 9223372036854775807 1 7 3 1.79769313486232e+308 -1.79769313486232e+308 7.0" \
        "$(ask odd "SELECT value FROM zones JOIN locations l ON l.id = location WHERE l.name = 'number' AND value IS NOT NULL
                ORDER BY begin_ns") $(ask odd "SELECT value FROM plots ORDER BY time_ns")"

cat >"$TMPDIR/yields.py" <<'END'
import asyncio, contextlib, gc, hyprof

gc.disable()  # a collection is a zone too, wherever it comes

@contextlib.contextmanager
def timed(name):
    with hyprof.zone(name):
        yield

@contextlib.asynccontextmanager
async def timed_async(name):
    with hyprof.zone(name):
        await asyncio.sleep(0)
        yield

def body(): pass

def nested():
    with timed("outer"):
        body()
        with timed("inner"):
            body()
        body()
    try:
        with timed("fails"):
            raise KeyError
    except KeyError:
        body()

def steps(n):
    with hyprof.zone(f"steps {n}"):
        for i in range(2):
            body()
            yield i
        if n:
            yield from steps(n - 1)

def loops():
    assert list(steps(1)) == [0, 1, 0, 1]
    body()

def leaves_open():
    next(steps(7))
    kept = steps(8)
    next(kept)
    return kept

async def request():
    async with timed_async("async outer"):
        async with timed_async("async inner"):
            await asyncio.sleep(0)
            body()
    body()

async def requests():
    await asyncio.gather(request(), request())

def work():
    nested()
    loops()
    kept = leaves_open()
    body()
    kept.close()
    asyncio.run(requests())
work()
END
holds "zones around a yield, where each call is a zone" record_python yields -m hyprof "$TMPDIR/yields.py"
# Pairs "zone around>zone count".
inside() { # zones around, quoted
        ask yields "SELECT pl.name || '>' || l.name || ' ' || count(*) FROM zones z
                JOIN zone_paths p ON p.id = z.path JOIN locations l ON l.id = z.location
                JOIN zone_paths pp ON pp.id = p.parent JOIN locations pl ON pl.id = pp.location
                WHERE pl.name IN ($1) AND closed GROUP BY pl.name, l.name ORDER BY 1"
}
holds "they have the calls inside, and end where they are left" same \
        "async inner>body 2 async outer>timed_async 2 inner>body 1 leaves_open>steps 2 loops>body 1 loops>steps 1 nested>body 1 nested>timed 2 outer>body 2 outer>timed 1 request>body 2 request>timed_async 2 steps 0>body 2 steps 1>body 2 steps 1>steps 1 timed>fails 1 timed>inner 1 timed>outer 1 work>body 1 work>leaves_open 1 work>loops 1 work>nested 1 work>steps 1" \
        "$(inside "'work', 'nested', 'loops', 'leaves_open', 'request', 'timed', 'outer', 'inner', 'async outer', 'async inner', 'steps 0', 'steps 1'")"

# A package for other versions: its extension is not found.
mkdir -p "$TMPDIR/bare/hyprof" && cp "$BUILD"/python/hyprof/*.py "$TMPDIR/bare/hyprof/"
not_built() {
        ! PYTHONPATH=$TMPDIR/bare "$python" -c 'import hyprof' 2>"$TMPDIR/err" && grep -q 'hyprof was not built for this CPython' "$TMPDIR/err"
}
holds "an extension that is missing is explained" not_built
other_version() { # version
        ! PYTHONPATH=$TMPDIR/bare "$python" -c "import sys; sys.version_info = ($1, 0, 'final', 0); import hyprof" 2>"$TMPDIR/err" &&
                grep -q "hyprof is for CPython 3.11 to 3.14; this is cpython ${1/, /.}" "$TMPDIR/err"
}
holds "a version that it is not for is named" other_version "3, 15"

cat >"$TMPDIR/interpreters.py" <<'END'
import sys, hyprof
try:
    import _interpreters as interpreters  # 3.13
except ImportError:
    import _xxsubinterpreters as interpreters

def words_of(code, kind):
    """What running the code in a new interpreter ends with."""
    if sys.version_info >= (3, 13):
        error = interpreters.run_string(interpreters.create(kind), code)
        return error and error.formatted
    try:
        interpreters.run_string(interpreters.create(isolated=kind == "isolated"), code)
    except interpreters.RunFailedError as error:
        return str(error)

for kind in ("legacy", "isolated"):
    for name in ("hyprof", "hyprof._native"):
        words = words_of(f"import {name}", kind)
        assert "sub-interpreters are not supported; import it in the main one" in words, words
    # Calls there go on, and are not ours.
    assert words_of("def there(n): return n and there(n - 1)\nthere(9)", kind) is None
def here(): pass
here()
with hyprof.zone("marked"):
    print("still here")
END
in_interpreters() {
        record interpreters --no-sampling -- "$python" -m hyprof "$TMPDIR/interpreters.py" && same "still here" "$(cat "$TMPDIR/interpreters.out")" &&
                "$HYPROF" query -q --force --sqlite "$TMPDIR/interpreters.db" "$TMPDIR/interpreters.hyp" &&
                same "here 1/1 marked 1/1 words_of 6/6" "$(counts interpreters "'here', 'there', 'marked', 'words_of'")"
}
holds "sub-interpreters are refused with words, and do not disturb" in_interpreters
again() { "$python" -c '
import sys, hyprof
first = hyprof.zone
for name in [n for n in sys.modules if n.startswith("hyprof")]:
    del sys.modules[name]
import hyprof
with hyprof.zone("second"), first("first"):
    hyprof.message("x")'; }
holds "it may be imported anew" again
