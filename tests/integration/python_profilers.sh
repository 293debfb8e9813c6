#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# calls of Python as zones beside other users of the interpreter's hooks: cProfile, sys.setprofile, sys.settrace, coverage,
# in one thread and in several, set and cleared while zones are open: both see all of it
set -u
. tests/tap.sh
need sqlite3
python=${PYTHON:-/usr/bin/python3}
[ -d "$BUILD/python/hyprof" ] || skip_all "the package of Python was not built"
plan 28
export PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1
cd "$TMPDIR" || exit 2

with_database() {
        "$HYPROF" query -q --force --sqlite ops.db hyprof.hyp
}
recorded() { # arguments of python3 -m hyprof...
        ends_with 0 "$python" -m hyprof --no-samples "$@" && with_database
}
ask() { # question
        sqlite3 -separator ' ' ops.db "$1" | paste -sd ' '
}
# zone count/that have ended, by name.
counts() { # names, quoted
        ask "SELECT l.name || ' ' || count(*) || '/' || sum(closed) FROM zones JOIN locations l ON l.id = location
                WHERE l.name IN ($1) GROUP BY l.name ORDER BY 1"
}
# Pairs "caller>callee count" among these functions, by the innermost zone around each.
callers() { # names, quoted
        ask "SELECT coalesce(pl.name, '-') || '>' || l.name || ' ' || count(*) FROM zones z
                JOIN zone_paths p ON p.id = z.path JOIN locations l ON l.id = z.location
                LEFT JOIN zone_paths pp ON pp.id = p.parent LEFT JOIN locations pl ON pl.id = pp.location
                WHERE l.name IN ($1) GROUP BY pl.name, l.name ORDER BY 1"
}
# The other tool finds the same alone and beside us: its line "found ...".
found() { # program, expected
        "$python" "$1" >alone 2>&1
        recorded "$1" && same "$2" "$(sed -n 's/^found //p' alone)" && same "$2" "$(sed -n 's/^found //p' out)"
}

cat >within.py <<'END'
import cProfile
def leaf(): pass
def inner():
    for i in range(5): leaf()
def begins(p):
    leaf()
    p.enable(); leaf()
    leaf()
def ends(p):
    leaf()
    p.disable(); leaf()
    leaf()
def fails():
    leaf()
    raise KeyError
def steps():
    for i in range(3): yield leaf()
def work():
    p = cProfile.Profile()
    inner()
    begins(p)
    inner()
    try: fails()
    except KeyError: leaf()
    sum(1 for _ in steps())
    ends(p)
    inner()
    p.create_stats()
    return {at[2]: row[0] for at, row in p.stats.items() if at[0].endswith("within.py")}
print("found", *sorted(work().items()))
END
holds "cProfile, set in one call and cleared in another" found within.py \
        "('<genexpr>', 4) ('ends', 1) ('fails', 1) ('inner', 1) ('leaf', 13) ('steps', 4)"
names="'leaf', 'inner', 'begins', 'ends', 'fails', 'steps', 'work'"
holds "each call is a zone" same "begins 1/1 ends 1/1 fails 1/1 inner 3/3 leaf 26/26 steps 4/4 work 1/1" "$(counts "$names")"
holds "in its caller" same "begins>leaf 3 ends>leaf 3 fails>leaf 1 inner>leaf 15 steps>leaf 3 work>leaf 1" "$(callers "'leaf'")"

cat >collects.py <<'END'
import cProfile, gc
gc.disable()
def work():
    for i in range(3): gc.collect()
p = cProfile.Profile()
p.enable(); work(); p.disable()
p.create_stats()
print("found", *sorted((at[2], row[0]) for at, row in p.stats.items() if at[2] != "<method 'disable' of '_lsprof.Profiler' objects>"))
END
holds "cProfile beside zones of garbage collections" found collects.py "('<built-in method gc.collect>', 3) ('work', 1)"

cat >plain.py <<'END'
def leaf(): pass
def work():
    for i in range(7): leaf()
work()
END
stats() {
        "$python" -c 'import pstats
print(*sorted((at[2], row[0]) for at, row in pstats.Stats("prof").stats.items() if at[0].endswith("plain.py")))'
}
all_calls="('<module>', 1) ('leaf', 7) ('work', 1)"
holds "python3 -m hyprof -m cProfile" recorded -m cProfile -o prof plain.py
holds "what cProfile found" same "$all_calls" "$(stats)"
holds "the zones" same "leaf 7/7 work 1/1" "$(counts "'leaf', 'work'")"
around() {
        rm -f prof
        ends_with 0 "$HYPROF" record -q --no-sampling -o hyprof.hyp -- "$python" -m cProfile -o prof -m hyprof plain.py && with_database
}
holds "python3 -m cProfile -m hyprof" around
holds "what that cProfile found" same "$all_calls" "$(stats)"
holds "the zones of that" same "leaf 7/7 work 1/1" "$(counts "'leaf', 'work'")"

cat >functions.py <<'END'
import sys, threading
seen = []
def mine(frame, event, arg):
    if event in ("call", "return") and frame.f_code is leaf.__code__: seen.append(event)
    if event == "c_call" and arg is len: seen.append("len")
def once(frame, event, arg):
    if event == "call": seen.append("once"); sys.setprofile(None)
def refuses(frame, event, arg):
    if event == "call" and frame.f_code is leaf.__code__: raise ValueError
def leaf(): len("")
def thread():
    assert sys.getprofile() is mine
    leaf()
    sys.setprofile(None)
    leaf()
def work():
    assert sys.getprofile() is None
    sys.setprofile(mine); leaf()
    assert sys.getprofile() is mine
    threading.setprofile(mine)
    threads = [threading.Thread(target=thread) for _ in range(2)]
    [t.start() for t in threads], [t.join() for t in threads]
    threading.setprofile(None)
    sys.setprofile(sys.getprofile()); leaf()
    sys.setprofile(None); leaf()
    sys.setprofile(once); leaf()
    leaf()
    try: sys.setprofile(refuses); leaf()
    except ValueError: pass
    assert sys.getprofile() is None
    leaf()
work()
print("found", *(seen.count(event) for event in ("call", "return", "len", "once")))
END
holds "sys.setprofile and threading.setprofile" found functions.py "4 4 4 1"
holds "the zones; a call that the other refuses is none" same "leaf 10/10 thread 2/2 work 1/1" "$(counts "'leaf', 'thread', 'work'")"

cat >traces.py <<'END'
import sys, threading
lines = []
def mine(frame, event, arg):
    if frame.f_code is not leaf.__code__: return None
    lines.append(event)
    return mine
def clears(frame, event, arg):
    if event == "line": sys.settrace(None)
    return clears
def leaf():
    a = 1
    return a
def thread(): leaf()
def work():
    sys.settrace(mine); leaf()
    assert sys.gettrace() is mine
    sys.setprofile(lambda *_: None); leaf()
    assert sys.gettrace() is mine
    sys.setprofile(None); leaf()
    threading.settrace(mine)
    t = threading.Thread(target=thread); t.start(); t.join()
    threading.settrace(None)
    sys.settrace(None); leaf()
    leaf()
    assert sys.gettrace() is None
    sys.setprofile(lambda *_: None); sys.settrace(mine); leaf()
    sys.setprofile(None); sys.settrace(None); leaf()
    sys.settrace(clears); leaf()
work()
print("found", *(lines.count(event) for event in ("call", "line", "return")))
END
holds "sys.settrace" found traces.py "5 10 5"
holds "the zones beside it" same "leaf 9/9 thread 1/1 work 1/1" "$(counts "'leaf', 'thread', 'work'")"
beside_lines() {
        recorded -l traces.py && same "5 10 5" "$(sed -n 's/^found //p' out)"
}
first=$(grep -n 'a = 1' traces.py | cut -d: -f1) last=$(grep -n 'return a' traces.py | cut -d: -f1)
holds "with zones of lines as well" beside_lines
holds "the lines" same "leaf>leaf:$first 9 leaf>leaf:$last 9" "$(callers "'leaf:$first', 'leaf:$last'")"

cat >later.py <<'END'
import sys, threading, hyprof
seen = []
begun, go_on = threading.Event(), threading.Event()
def mine(frame, event, arg):
    if event == "call" and frame.f_code is leaf.__code__: seen.append(event)
def leaf(): pass
def thread():
    sys.setprofile(mine)
    leaf()
    begun.set(); go_on.wait()
    leaf()
    sys.setprofile(None)
    leaf()
t = threading.Thread(target=thread)
t.start()
begun.wait()
p = hyprof.Profiler()
p.enable()
go_on.set(); t.join()
sys.setprofile(mine); leaf()
p.disable()
leaf()
assert sys.getprofile() is mine
sys.setprofile(None); leaf()
print("found", len(seen))
END
later() {
        recorded -p later.py && same "found 4" "$(grep found out)"
}
holds "a thread that has a profile function already; one that stays after us" later
holds "zones between the two" same "leaf 3/3" "$(counts "'leaf'")"

cat >ends_later.py <<'END'
import sys, threading, hyprof
seen = []
begun, stopped = threading.Event(), threading.Event()
def mine(frame, event, arg):
    if event == "call" and frame.f_code is leaf.__code__: seen.append(event)
def leaf(): pass
def thread():
    begun.set(); stopped.wait()
    sys.setprofile(mine); leaf()
    sys.setprofile(None); leaf()
p = hyprof.Profiler()
p.enable()
t = threading.Thread(target=thread)
t.start()
begun.wait()
p.disable()
stopped.set(); t.join()
print("found", len(seen))
END
ends_later() {
        recorded -p ends_later.py && same "found 1" "$(grep found out)"
}
holds "a thread with a call open sets a profile function after us" ends_later
holds "the call still ends, and no more begin" same "thread 1/1" "$(counts "'leaf', 'thread'")"

cat >six.py <<'END'
import sys, greenlet
seen = []
def mine(frame, event, arg):
    if event == "call" and frame.f_code is leaf.__code__: seen.append(event)
def leaf(): pass
def one():
    leaf(); other.switch()
    leaf(); other.switch()
def two():
    sys.setprofile(mine)
    leaf(); first.switch()
    leaf()
    sys.setprofile(None); leaf()
first, other = greenlet.greenlet(one), greenlet.greenlet(two)
first.switch()
print("found", len(seen))
END
if "$python" -c 'import greenlet' 2>/dev/null; then
        holds "a profile function, and greenlets" found six.py 3
        holds "each call of a greenlet is a zone" same "one>leaf 2 two>leaf 3" "$(callers "'leaf'")"
else
        skips "a profile function, and greenlets" "python3-greenlet is not installed"
        skips "each call of a greenlet is a zone" "python3-greenlet is not installed"
fi

cat >covered.py <<'END'
def leaf(n):
    if n > 100:
        return 1
    return 2
def work():
    return [leaf(n) for n in range(3)]
END
cat >test_covered.py <<'END'
import covered, sys
def test_work():
    sys.setprofile(sys.getprofile())
    assert covered.work() == [2, 2, 2]
END
covers() { # ours...
        rm -f .coverage
        recorded "$@" -m coverage run --branch --include=covered.py -m pytest -q -p no:cacheprovider test_covered.py
}
missing() { "$python" -m coverage report -m covered.py | awk '$1 == "covered.py" { print $2, $3, $4, $5, $6, $7 " " $8 }'; }
if "$python" -c 'import coverage, pytest' 2>/dev/null; then
        "$python" -m coverage run --branch --include=covered.py -m pytest -q -p no:cacheprovider test_covered.py >out 2>&1
        alone=$(missing)
        holds "coverage run -m pytest" covers
        # Versions count the branches of a comprehension or not.
        holds "the lines that ran" same "6 1 3" "$(missing | sed 's/, .*//; s/ *$//' | cut -d ' ' -f 1,2,6)"
        holds "as without us" same "$alone" "$(missing)"
        holds "the zones of it" same "leaf 3/3 test_work 1/1 work 1/1" "$(counts "'leaf', 'work', 'test_work'")"
        with_lines() { covers -l && same "$alone" "$(missing)" && same "leaf:2 3 leaf:4 3" \
                "$(ask "SELECT l.name || ' ' || count(*) FROM zones JOIN locations l ON l.id = location
                        WHERE l.name LIKE 'leaf:%' GROUP BY l.name ORDER BY 1")"; }
        holds "with zones of lines" with_lines
else
        for case in "coverage run -m pytest" "the lines that ran" "as without us" "the zones of it" "with zones of lines"; do
                skips "$case" "python3-coverage or python3-pytest is not installed"
        done
fi

tools() {
        "$python" - <<'END'
from hyprof._calls import _say_tools, _take_tool
class Monitoring:
    PROFILER_ID = 2
    def __init__(self, **taken): self.taken = {int(n[1:]): name for n, name in taken.items()}
    def get_tool(self, tool): return self.taken.get(tool)
    def use_tool_id(self, tool, name):
        assert tool not in self.taken
        self.taken[tool] = name
assert _take_tool(Monitoring()) == 4
assert _take_tool(Monitoring(_4="a")) == 3
assert _take_tool(Monitoring(_4="a", _3="b", _1="coverage", _0="debugger")) == 2
full = Monitoring(_4="a", _3="b", _2="cProfile")
assert _take_tool(full) is None
assert "used by cProfile, b, a" in _say_tools(full), _say_tools(full)
END
}
holds "the numbers of sys.monitoring: those of debuggers, coverage and profilers are theirs" tools
