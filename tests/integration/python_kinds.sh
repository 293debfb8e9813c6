#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Python functions have their callers wherever Python runs: in a virtual environment, below C that Python called, in a
# program of another language, in several interpreters, in other namespaces; what cannot be read is said
set -eu
. tests/tap.sh
plan 17
need_sampling
need jq gcc strip
python=/usr/bin/python3
[ -x "$python" ] || skip_all "python3 is not installed"
"$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' || skip_all "python3 is none of 3.11 to 3.14"

cat >"$TMPDIR/work.py" <<'END'
import ctypes, sys, threading, time

def leaf(until):
    while time.monotonic() < until: count(3000)
def count(n):
    while n > 0: n -= 1
class Worker:
    def run(self, until): leaf(until)

libc = ctypes.CDLL(None)
kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
def compare(a, b):
    slowly(300)
    return a[0] - b[0]
def slowly(n):
    while n > 0: n -= 1
def sorter(until):
    compared = kind(compare)
    while time.monotonic() < until:
        libc.qsort((ctypes.c_int * 40)(*range(40, 0, -1)), 40, 4, compared)

until = time.monotonic() + float(sys.argv[1])
thread = threading.Thread(target=sorter, args=(until,))
thread.start()
print("begun", flush=True)
Worker().run(until)
thread.join()
END

stacks() { # trace
        rm -f "$TMPDIR/folded"
        "$HYPROF" export folded "$TMPDIR/$1.hyp" -o "$TMPDIR/folded" >"$TMPDIR/export.out" 2>&1
}
# At least 98% of the stacks with the function have the callers before it, as an expression.
has_callers() { # trace, function, expression
        stacks "$1"
        awk -v leaf="$2" -v callers="$3" '
                { n = $NF; sub(/ [0-9]+$/, "") }
                match($0, ";" leaf "(;|$)") { all += n; if ($0 ~ callers) right += n }
                END { printf "%s(): %d of %d samples\n", leaf, right, all; exit all < 20 || right < 0.98 * all }' "$TMPDIR/folded" ||
                { sort "$TMPDIR/folded" | cut -c 1-300 | head -n 20 && return 1; }
}
record_kind() { # name, command...
        rm -f "$TMPDIR/$1.hyp"
        timeout 120 "$HYPROF" record -q -F 1999 -o "$TMPDIR/$1.hyp" "${@:2}" >"$TMPDIR/record.out" 2>&1 || { cat "$TMPDIR/record.out" && return 1; }
}
reports() { # trace, words
        "$HYPROF" report "$TMPDIR/$1.hyp" | tr '\n' ' ' | tr -s ' ' | grep -q "$2"
}

# ---- without a right to BPF: the locks say what is missing, and stacks that do not fit are counted
if [ "$(id -u)" -eq 0 ]; then
        need setpriv unshare
        without_rights=(setpriv --inh-caps=-all --bounding-set=-all)
else
        without_rights=(env)
fi
record_later() {
        rm -f "$TMPDIR/later.hyp"
        "${without_rights[@]}" "$HYPROF" record -q -F 1999 -o "$TMPDIR/later.hyp" "$python" "$TMPDIR/work.py" 1
}
left_out() {
        "$HYPROF" report --json --limit 0 "$TMPDIR/later.hyp" | jq -e '[.missing.rows[] | select(.code | test("PYTHON_(UNFIT|LATE)")) | .count] | add > 0'
}
says_no_gil() { "$HYPROF" report --locks "$TMPDIR/later.hyp" | grep -q 'the lock of Python (GIL) is missing'; }
holds 'a program is recorded without BPF' record_later
holds 'stacks of functions that are over at once are left out, and counted' left_out
holds 'the view of the locks says that the GIL is missing' says_no_gil

# ---- interpreters that cannot be read
cat >"$TMPDIR/burn.c" <<'END'
#include <time.h>
#ifdef OLD
int PyEval_EvalFrameEx(void);
int PyEval_EvalFrameEx(void) { return 0; }
#else
char state[64] __attribute__((section(".PyRuntime"))) = { 1 };
#endif
int main(void)
{
        struct timespec now, end;
        clock_gettime(CLOCK_MONOTONIC, &end);
        end.tv_sec += 2;
        do clock_gettime(CLOCK_MONOTONIC, &now);
        while (now.tv_sec < end.tv_sec);
        return 0;
}
END
build_others() {
        gcc -O1 -s "$TMPDIR/burn.c" -o "$TMPDIR/stripped" && gcc -O1 -DOLD -rdynamic "$TMPDIR/burn.c" -o "$TMPDIR/old"
}
says_stripped() { record_kind stripped "$TMPDIR/stripped" && reports stripped 'Py_Version and _PyEval_EvalFrameDefault are stripped'; }
says_old() { record_kind old "$TMPDIR/old" && reports old 'CPython before 3.11; 3.11 to 3.14 are known'; }
holds 'programs that look like an interpreter are built' build_others
holds 'an interpreter without its symbols is said' says_stripped
holds 'and one before 3.11' says_old

# ---- with BPF
holds 'a program is recorded' record_kind plain "$python" "$TMPDIR/work.py" 1.5
if "$HYPROF" report --json --limit 0 "$TMPDIR/plain.hyp" | grep -q '"PYTHON_APPROXIMATE"'; then
        skips_group 'Python functions read at the sample' 'hardware: no BPF here'
        exit 0
fi
holds 'functions that C called back stand below it' has_callers plain slowly ';sorter;.*qsort.*;compare;slowly'

in_venv() {
        "$python" -m venv --without-pip "$TMPDIR/venv" && record_kind venv "$TMPDIR/venv/bin/python" "$TMPDIR/work.py" 1 &&
                has_callers venv count ';<module>;Worker.run;leaf;count'
}
holds 'a virtual environment' in_venv

attached() {
        local worker status=0
        "$TMPDIR/venv/bin/python" "$TMPDIR/work.py" 60 >"$TMPDIR/begun" &
        worker=$!
        until [ -s "$TMPDIR/begun" ]; do
                kill -0 "$worker" || return 1
                sleep 0.05
        done
        record_kind attached -p "$worker" -d 4s || status=1
        kill "$worker"
        [ "$status" -eq 0 ] && has_callers attached slowly ';sorter;.*qsort.*;compare;slowly' && has_callers attached count ';leaf;count'
}
holds 'one that runs already, with its threads' attached

# ---- a program that contains Python
cat >"$TMPDIR/host.c" <<'END'
#include <Python.h>
__attribute__((noinline)) int host_step(PyObject *step)
{
        PyObject *result = PyObject_CallNoArgs(step);
        int good = result != NULL;
        Py_XDECREF(result);
        return good;
}
int main(void)
{
        Py_Initialize();
        PyRun_SimpleString("def inner():\n  n = 200000\n  while n > 0: n -= 1\ndef step(): inner()\n");
        PyObject *step = PyObject_GetAttrString(PyImport_AddModule("__main__"), "step");
        for (int i = 0; i < 150; i++)
                if (!step || !host_step(step))
                        return 1;
        return Py_FinalizeEx();
}
END
build_host() {
        local flags
        read -ra flags < <(/usr/bin/python3-config --embed --cflags --ldflags | tr '\n' ' ')
        gcc -O1 -fno-optimize-sibling-calls "$TMPDIR/host.c" "${flags[@]}" -o "$TMPDIR/host"
}
holds 'a program that contains Python is built' build_host
in_host() { record_kind host "$TMPDIR/host" && has_callers host inner ';main;host_step;step;inner'; }
holds 'and its functions call those of Python' in_host

# ---- an interpreter that another one calls, on the same thread
cat >"$TMPDIR/two.py" <<'END'
import time
try: import _interpreters as interpreters
except ModuleNotFoundError: import _xxsubinterpreters as interpreters
code = '''
def sub_leaf():
    n = 200000
    while n > 0: n -= 1
def sub_work(): sub_leaf()
'''
def main_leaf():
    n = 200000
    while n > 0: n -= 1
def call(other): interpreters.run_string(other, "sub_work()")
other = interpreters.create()
interpreters.run_string(other, code)
until = time.monotonic() + 1.5
while time.monotonic() < until:
    main_leaf()
    call(other)
END
two_interpreters() {
        record_kind two "$python" "$TMPDIR/two.py" && has_callers two sub_leaf ';<module>;call;.*;sub_work;sub_leaf' &&
                has_callers two main_leaf ';<module>;main_leaf'
}
holds 'interpreters that call each other' two_interpreters

# ---- namespaces: a file that only the program sees, and threads that have other numbers there
apart() {
        mkdir -p "$TMPDIR/inside"
        record_kind apart unshare --mount --pid --fork sh -c "mount -t tmpfs none '$TMPDIR/inside' &&
                cp '$(realpath "$python")' '$TMPDIR/inside/python-inside' && '$TMPDIR/inside/python-inside' '$TMPDIR/work.py' 1.5" &&
                has_callers apart slowly ';sorter;.*qsort.*;compare;slowly' && has_callers apart count ';leaf;count'
}
if unshare --mount --pid --fork true 2>"$TMPDIR/out"; then
        holds 'namespaces of its own' apart
else
        skips 'namespaces of its own' 'hardware: no namespaces here'
fi

# ---- -X perf
newer=
for name in python3.12 python3.13 python3.14; do
        if "$name" -c 'import sys; sys.activate_stack_trampoline("perf")' 2>"$TMPDIR/out"; then newer=$name; fi
done
trampolines() { # trace
        stacks "$1"
        grep 'leaf' "$TMPDIR/folded" | grep -c 'py::leaf' || true
}
once() { record_kind perf "$newer" -X perf "$TMPDIR/work.py" 1 && has_callers perf count '^[^:]*;leaf;count'; }
named() { record_kind named --python=off "$newer" -X perf "$TMPDIR/work.py" 1 && compare "$(trampolines named)" ">" 0; }
if [ -n "$newer" ]; then
        holds 'with -X perf a function is there once' once
        holds 'without Python functions its trampoline names it' named
else
        skips 'with -X perf a function is there once' 'hardware: no CPython 3.12 or later'
        skips 'without Python functions its trampoline names it' 'hardware: no CPython 3.12 or later'
fi

# ---- code objects with long tables of lines, which change all the time: the work is bounded
hostile() {
        record_kind hostile "$WORKLOADS/w_fake_python" lines 2 &&
                "$HYPROF" report --json --limit 0 "$TMPDIR/hostile.hyp" | jq -e '.recorder_cpu_ns < 0.8 * .duration_ns'
}
holds 'functions that change all the time' hostile
