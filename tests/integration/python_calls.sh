#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# python3 -m hyprof: each call is a zone, rightly nested; its options; scripts that fail; pytest; reports of ops
set -u
. tests/tap.sh
need sqlite3 jq
python=${PYTHON:-/usr/bin/python3}
[ -d "$BUILD/python/hyprof" ] || skip_all "the package of Python was not built"
plan 52
export PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1
cd "$TMPDIR" || exit 2

# The output of the program is in out, the rest in err; the database in ops.db.
run_python() { # exit status, arguments of python3 -m hyprof...
        ends_with "$1" "$python" -m hyprof --no-samples "${@:2}"
}
with_database() {
        "$HYPROF" query -q --force --sqlite ops.db hyprof.hyp
}
recorded() { # exit status, arguments...
        run_python "$@" && with_database
}
ask() { # question
        sqlite3 -separator ' ' ops.db "$1" | paste -sd ' '
}
counts() { # names, quoted
        ask "SELECT coalesce(l.name, l.function) || ' ' || count(*) || '/' || sum(closed) FROM zones
                JOIN locations l ON l.id = location WHERE coalesce(l.name, l.function) IN ($1)
                GROUP BY coalesce(l.name, l.function) ORDER BY 1"
}
# Pairs "caller>callee count" among these functions, by the innermost zone around each.
callers() { # names, quoted
        ask "SELECT coalesce(pl.name, '-') || '>' || l.name || ' ' || count(*) FROM zones z
                JOIN zone_paths p ON p.id = z.path JOIN locations l ON l.id = z.location
                LEFT JOIN zone_paths pp ON pp.id = p.parent LEFT JOIN locations pl ON pl.id = pp.location
                WHERE l.name IN ($1) GROUP BY pl.name, l.name ORDER BY 1"
}

cat >calls.py <<'END'
import json, sys, threading

def leaf(n):
    return n

def steps(n):
    for i in range(n):
        yield leaf(i)

def fails(n):
    if n == 0:
        raise KeyError("wanted")
    fails(n - 1)

def catches():
    try:
        fails(3)
    except KeyError:
        leaf(0)

class Thing:
    def method(self):
        return [leaf(x) for x in range(2)]

def work():
    catches()
    sum(steps(3))
    g = steps(5)
    next(g)
    g.close()
    Thing().method()
    json.dumps({"a": [1]})

work()
threads = [threading.Thread(target=work) for _ in range(3)]
[t.start() for t in threads], [t.join() for t in threads]
print("args", sys.argv)
assert __name__ == "__main__" and sys.modules["__main__"].__dict__ is globals()
sys.exit(3)
END
holds "a script, with its exit status" recorded 3 calls.py one --two
holds "its arguments" same "args ['calls.py', 'one', '--two']" "$(cat out)"
# Since 3.13 a generator that has nothing to do about it is closed without a step.
n_steps=$((4 * $("$python" -c 'import sys; print(5 if sys.version_info >= (3, 13) else 6)')))
holds "calls of four threads: functions, generators, exceptions" same \
        "Thing.method 4/4 catches 4/4 fails 16/16 leaf 28/28 steps $n_steps/$n_steps work 4/4" \
        "$(counts "'work', 'catches', 'fails', 'leaf', 'steps', 'Thing.method'")"
holds "each in its caller" same "catches>leaf 4 steps>leaf 16" "$(callers "'leaf'" | sed 's/<*Thing.method[^ ]*>leaf [0-9]* *//')"
holds "library code is left out, which is said" grep -q 'calls of [0-9]* functions of libraries are left out (.*); --include' err
holds "none of it is there" same 0 "$(ask "SELECT count(*) FROM zones JOIN locations l ON l.id = location WHERE file LIKE '%/json/%'")"
holds "--include" recorded 3 --include json calls.py
holds "there it is" compare "$(ask "SELECT count(*) FROM zones JOIN locations l ON l.id = location WHERE file LIKE '%/json/%'")" ">=" 4
holds "--exclude" recorded 3 --exclude __main__ calls.py
holds "nothing is left" same 0 \
        "$(ask "SELECT count(*) FROM zones JOIN locations l ON l.id = location WHERE l.name NOT LIKE 'garbage collection%'")"
holds "--no-zones" ends_with 3 "$python" -m hyprof --no-zones calls.py
holds "lines" recorded 3 -l calls.py
line=$(grep -n 'raise KeyError' calls.py | cut -d: -f1)
holds "a line is a zone in its function" same "fails>fails:$line 4" "$(callers "'fails:$line'")"

cat >partial.py <<'END'
import hyprof
def before(): pass
def inside(): pass
def after(): pass
before()
p = hyprof.Profiler()
p.enable()
inside()
p.disable()
after()
with hyprof.Profiler():
    inside()
hyprof.signpost("begin")
inside(), before()
hyprof.signpost("end")
after()
hyprof.Profiler().enable()
inside()
p.disable()
inside()
hyprof.Profiler().disable()
after()
END
names="'before', 'inside', 'after'"
holds "-p: between enable and disable" recorded 0 -p partial.py
holds "nothing else" same "inside 4/4" "$(counts "$names")"
holds "without -p all of it" recorded 0 partial.py
holds "each call" same "after 3/3 before 2/2 inside 5/5" "$(counts "$names")"
holds "between signposts" recorded 0 --start-signpost begin --end-signpost end partial.py
holds "and what Profiler encloses" same "before 1/1 inside 5/5" "$(counts "$names")"

cat >raises.py <<'END'
def deep(): raise RuntimeError("for the traceback")
deep()
END
holds "a script that raises" run_python 1 raises.py
own_frames() { ! grep -q 'hyprof/_' err && grep -q 'RuntimeError: for the traceback' err && grep -q 'raises.py", line 1, in deep' err; }
holds "its traceback has no frame of ours" own_frames
holds "a script that is not there" run_python 2 nowhere.py
holds "why" grep -q 'cannot run nowhere.py: there is no such file' err
no_module() {
        echo kept >hyprof.hyp
        run_python 2 -m no_such_module.part && grep -x 'hyprof: cannot run no_such_module.part: No module named no_such_module' err &&
                same kept "$(cat hyprof.hyp)"
}
holds "a module that is not there leaves the last trace alone" no_module
echo 'import os, signal; os.kill(os.getpid(), signal.SIGKILL)' >killed.py
holds "a script that is killed" run_python 137 killed.py
cat >forks.py <<'END'
import os, sys
def child(): return 4
def parent(): return 5
pid = os.fork()
if pid == 0:
    child()
    os._exit(0)
os.waitpid(pid, 0)
parent()
END
holds "a script that forks" recorded 0 forks.py
holds "calls of both" same "child 1/1 parent 1/1" "$(counts "'child', 'parent'")"
cat >spawns.py <<'END'
import multiprocessing
def child(): return 4
if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=child)
    process.start()
    process.join()
    assert process.exitcode == 0
END
holds "a script that spawns" recorded 0 spawns.py
holds "calls in the new process" same "child 1/1" "$(counts "'child'")"
holds "without a recorder the script runs" ends_with 3 env HYPROF=/no/such/hyprof "$python" -m hyprof calls.py
holds "and it is said how to get one" grep -q 'nothing is recorded: there is no recorder' err

cat >greenlets.py <<'END'
import sys, greenlet, hyprof
def leaf(): pass
def one():
    leaf(); two_.switch(); leaf(); two_.switch()
def two():
    with hyprof.zone("across"):
        leaf(); one_.switch(); leaf()
    one_.switch()
one_, two_ = greenlet.greenlet(one), greenlet.greenlet(two)
one_.switch()
END
if "$python" -c 'import greenlet' 2>/dev/null; then
        holds "greenlets" recorded 0 greenlets.py
        holds "each has its own calls" same "across>leaf 2 one>leaf 2" "$(callers "'leaf'")"
else
        skips "greenlets" "python3-greenlet is not installed"
        skips "each has its own calls" "python3-greenlet is not installed"
fi

cat >test_some.py <<'END'
import pytest, subprocess, sys
@pytest.mark.parametrize("n", [1, 2])
def test_passes(n): pass
def test_fails(): assert False
def test_starts():
    command = [sys.executable, "-I", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "passes", __file__]
    assert subprocess.run(command).returncode == 0
END
if "$python" -c 'import pytest' 2>/dev/null; then
        holds "-m pytest" recorded 1 -m pytest -q -p no:cacheprovider test_some.py
        holds "a zone for each test" same "test_some.py::test_fails 1 test_some.py::test_passes[1] 1 test_some.py::test_passes[2] 1 test_some.py::test_starts 1" \
                "$(ask "SELECT l.name || ' ' || count(*) FROM zones JOIN locations l ON l.id = location
                        WHERE l.name LIKE 'test_some.py::%' GROUP BY l.name ORDER BY 1")"
        holds "the option that records pytest's own code is said" grep -q -- '--include _pytest records them' err
        holds "a test passes that starts a pytest without hyprof" grep -q '^1 failed, 3 passed' out
        holds "the slowest tests are listed" grep -q 'ms  test_some.py::test_fails' out
else
        for case in "-m pytest" "a zone for each test" "the option that records pytest's own code is said" "a test passes that starts a pytest without hyprof" "the slowest tests are listed"; do
                skips "$case" "python3-pytest is not installed"
        done
fi

# Stand-ins for ops, in the forms that tt-metal's runtime sends.
cat >model.py <<'END'
import json, time
from tracy import signpost, Profiler
import hyprof

def op(name, number, hash, details):
    with hyprof.zone("TT_DNN_DEVICE_OP", text=f"id:{number}"):
        with hyprof.zone("CompileProgram"):
            pass
        words = f'`TT_DNN_DEVICE_OP: "{name}", {hash}, 0, {number}'
        words += "`" if details is None else " ->\n" + json.dumps(details) + "`"
        hyprof.message(words)

Profiler().enable()
op("Warm", 1, 7, {"op_code": "Warm", "attributes": {}})
signpost("start", "measured; from, here \"on\"")
big = "x" * 200000
op("Matmul", 2, 8, {"op_code": "Matmul", "op_type": "tt_dnn_device", "attributes": {"big": big},
                    "input_tensors": [{"shape": {"W": "1[1]", "X": "32[30]"}, "layout": "TILE", "dtype": "BFLOAT16"}]})
op("Matmul", 3, 8, None)
hyprof.message('`TT_DNN_DEVICE_OP: "Cut", 9, 0, 4 ->\n{"op_code": "C`')
signpost("stop")
op("Late", 5, 8, None)
END
holds "-r: a report of ops" run_python 0 -r -o folder -n x --start-signpost start --end-signpost stop model.py
summary() { grep -q '3 ops took' out && grep -q '^  Matmul .* 2 .*100.0%' out && grep -q '^  1 message with malformed JSON; the ops have no attributes$' out; }
holds "its summary" summary
rows() {
        "$python" - <<'END'
import csv, glob
csv.field_size_limit(1 << 24)
table, = glob.glob("folder/reports/x/*/ops_perf_results_x_*.csv")
with open(table, newline="") as file:
    rows = list(csv.DictReader(file))
assert list(rows[0])[:3] == ["OP CODE", "OP TYPE", "GLOBAL CALL COUNT"], list(rows[0])
assert [(r["OP CODE"], r["OP TYPE"], r["GLOBAL CALL COUNT"]) for r in rows] == [
    ("start", "signpost", ""), ("Matmul", "tt_dnn_device", "2"), ("Matmul", "tt_dnn_device", "3"),
    ("Cut", "tt_dnn_device", "4"), ("stop", "signpost", "")], rows
assert rows[0]["ATTRIBUTES"] == 'measured; from, here "on"'
for row in rows[1:3]:
    assert len(row["ATTRIBUTES"]) > 200000 and row["INPUT_0_X_PAD[LOGICAL]"] == "32[30]"
    assert int(row["HOST END TS"]) - int(row["HOST START TS"]) == int(row["HOST DURATION [ns]"])
    assert row["CompileProgram_TT_HOST_FUNC [ns]"] != "" and row["DEVICE FW DURATION [ns]"] == ""
END
}
holds "its rows: texts over 64 KiB are whole" rows

cat >waits.py <<'END'
import asyncio, hyprof

async def inner():
    await asyncio.sleep(0.02)

async def one():
    with hyprof.zone("across"):
        await asyncio.sleep(0.03)
        await inner()
        with hyprof.zone("second"):
            await asyncio.sleep(0.03)

async def main():
    await asyncio.gather(one(), one())

asyncio.run(main())
END
holds "tasks that wait inside of zones" recorded 0 waits.py
holds "the zones lie in each other, and in the calls around them" same "across>second 2 one>across 2" "$(callers "'across', 'second'")"
holds "a call that waits inside of a zone is one zone" same "across 2/2 one 2/2 second 2/2" "$(counts "'across', 'second', 'one'")"
longer() { # name, ns
        ask "SELECT count(*) FROM zones JOIN locations l ON l.id = location WHERE l.name = '$1' AND duration_ns >= $2"
}
holds "and the zones last as long as they wait" same "2 2" "$(longer across 80000000) $(longer second 30000000)"

# ---- functions in C
cat >in_c.py <<'END'
import functools, math, threading
import hyprof

class Stack(list):
    pass

class Called:
    def __call__(self): pass

def work():
    stack = Stack()
    for i in range(3):
        stack.append(i)
    [].append(len(stack))
    dict.fromkeys("ab")
    functools.partial(len, stack)()
    Called()()
    try:
        math.sqrt(-1)
    except ValueError:
        math.sqrt(4)
    sorted([2, 1], key=lambda number: number)

def held():
    with hyprof.zone("kept"):
        yield 1
    yield 2

def keeps_open():
    generator = held()
    next(generator)
    math.floor(1.5)
    next(generator)

work()
keeps_open()
thread = threading.Thread(target=work)
thread.start()
thread.join()
END
in_c="'list.append', 'len', 'dict.fromkeys', 'math.sqrt', 'math.floor', 'sorted', 'next', 'work', 'work.<locals>.<lambda>', 'Called.__call__'"
holds "--c-calls" recorded 0 --c-calls in_c.py
holds "each call is a zone, one that raises too, under the class that has the method" same \
        "Called.__call__ 2/2 dict.fromkeys 2/2 len 2/2 list.append 8/8 math.floor 1/1 math.sqrt 4/4 next 2/2 sorted 2/2 work 2/2 work.<locals>.<lambda> 4/4" "$(counts "$in_c")"
holds "in the call that makes it, and around the calls that it makes" same "keeps_open>next 1 kept>next 1 sorted>work.<locals>.<lambda> 4 work>list.append 8 work>sorted 2" \
        "$(callers "'list.append', 'sorted', 'work.<locals>.<lambda>', 'next'")"
holds "a zone of a generator that waits goes on" same "1" \
        "$(ask "SELECT count(*) FROM zones h JOIN locations hl ON hl.id = h.location AND hl.name = 'kept' JOIN zones f JOIN locations fl
        ON fl.id = f.location AND fl.name = 'math.floor' WHERE h.begin_ns < f.begin_ns AND h.begin_ns + h.duration_ns > f.begin_ns")"
holds "--exclude builtins" recorded 0 --c-calls --exclude builtins in_c.py
holds "leaves out Python's own" same "Called.__call__ 2/2 math.floor 1/1 math.sqrt 4/4 work 2/2 work.<locals>.<lambda> 4/4" "$(counts "$in_c")"
names() {
        "$python" - <<'END'
import functools, math
from hyprof._c_functions import namer
from hyprof._filters import Filter

class Traps(functools.partial):
    def __getattr__(self, name): raise SystemError("code of the program ran")

name = namer(Filter(exclude=["secret"]))
operation = functools.partial(len)
operation.python_fully_qualified_name = "ttnn.add"
hidden = functools.partial(len)
hidden.python_fully_qualified_name = "secret.add"
found = [name(each) for each in (operation, hidden, functools.partial(len), Traps(len), math.sqrt, str.join, "".join, [].append, dict.fromkeys)]
assert found == ["ttnn.add", None, False, False, "math.sqrt", "str.join", "str.join", "list.append", "dict.fromkeys"], found
END
}
holds "names, also of objects that are functions, as ttnn's operations; no code of the program runs" names
