#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Views treat Python functions like any other: lines of a .py file with what they called in C, why, diff, other tools'
# formats; each garbage collection is a zone
set -eu
. tests/tap.sh
plan 26
need_sampling
need jq sqlite3
python=${PYTHON:-/usr/bin/python3}
[ -d "$BUILD/python/hyprof" ] || skip_all "the package of Python was not built"
export PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1

cat >"$TMPDIR/work.py" <<'END'
import hashlib, sys, time, hyprof

data = bytes(range(256)) * 4000

def usual(n):
    total = 0
    while total < n: total += 1

def extra(n):
    total = 0
    while total < n: total += 1

def digest():
    hashlib.sha256(data).digest()

def request(i):
    usual(10000)
    if i % 40 == 0: extra(1200000)

for i in range(600):
    with hyprof.zone("request"): request(i)
def spin(until):
    while time.monotonic() < until: digest()
def caller(until): spin(until)
caller(time.monotonic() + 0.4)
END

holds 'a script is recorded' record work -F 1999 "$python" "$TMPDIR/work.py"
if ! "$HYPROF" report --json --limit 0 "$TMPDIR/work.hyp" | grep -q '"extra"'; then
        skips_group 'Python functions in views' 'hardware: their frames cannot be read here'
        exit 0
fi

# ---- report
self_of() { # module's pattern, options of report; the functions with self time, as shares
        "$HYPROF" report --json --limit 0 --functions "${@:2}" "$TMPDIR/work.hyp" |
                jq "[.functions.rows[] | select(.module // \"\" | test(\"$1\")) | .self_share] | add // 0"
}
holds 'by default most self time is that of Python functions' compare "$(self_of 'work\\.py$')" '>' 0.7
holds 'with --native that of digest() is in C' compare "$(self_of 'work\\.py$')" '>' "$(self_of 'work\\.py$' --native) + 0.05"
is_digest() { "$HYPROF" report --from 100ms --json --limit 0 "$TMPDIR/work.hyp" | jq -e '.functions.rows[] | select(.function == "digest") |
        .native_share > 0.8 * .self_share and .self_share == .total_share'; }
holds 'its time is native code' is_digest

# ---- annotate
annotated() { # function; to out and err
        "$HYPROF" annotate "${@:2}" "$TMPDIR/work.hyp" "$1" >"$TMPDIR/out" 2>"$TMPDIR/err"
}
line_of() { grep -n "$1" "$TMPDIR/work.py" | head -n 1 | cut -d: -f1; }
samples_at() { # line
        jq "[.lines.rows[] | select(.line == $1) | .n_samples] | add // 0" "$TMPDIR/out"
}
loop=$(($(line_of 'def extra') + 2))
holds 'annotate takes a Python function' annotated extra --json --limit 0
holds 'most samples are at the line of its loop' compare "$(samples_at "$loop")" '>' "$(jq .n_samples "$TMPDIR/out") * 0.9"
has_text() { jq -e ".lines.rows[] | select(.line == $loop) | .text | contains(\"while total < n\")" "$TMPDIR/out"; }
holds 'with its text' has_text
holds 'annotate takes one that calls C' annotated digest --json --limit 0
holds 'samples in C are at the line that called it' compare "$(samples_at "$(($(line_of 'def digest') + 1))")" '>' 50
as_lines() { annotated digest && grep -q 'hashlib.sha256(data)' "$TMPDIR/out" && ! grep -q 'Instructions' "$TMPDIR/out" && [ ! -s "$TMPDIR/err" ]; }
holds 'in text there are lines, and no warning that there are no instructions' as_lines
is_caller() {
        ! annotated caller && grep -q "'caller' has no samples of its own" "$TMPDIR/err" &&
                grep -q "try: hyprof report --function caller" "$TMPDIR/err"
}
holds 'of a function that only calls, annotate says that and where to look' is_caller
mv "$TMPDIR/work.py" "$TMPDIR/moved.py"
is_missing() { annotated digest && grep -q 'no source text' "$TMPDIR/out"; }
holds 'a file that is gone is said' is_missing
mv "$TMPDIR/moved.py" "$TMPDIR/work.py"

# ---- the others
names_extra() {
        same extra "$("$HYPROF" why --json --limit 0 "$TMPDIR/work.hyp" --zone request --slowest 2.5% |
                jq -r '[.causes.rows[] | select(.cause == "function")][0].name')"
}
holds 'why names a Python function' names_extra
compares_extra() { "$HYPROF" diff --json --limit 0 "$TMPDIR/work.hyp" "$TMPDIR/work.hyp" | grep -q '"extra"'; }
holds 'diff compares them' compares_extra
of_digest() { # options of diff; the part of the samples in digest() itself
        "$HYPROF" diff --json --min-share 0 --limit 0 "$@" "$TMPDIR/work.hyp" "$TMPDIR/work.hyp" |
                jq '[.functions.rows[] | select(.name == "digest") | .share_before] | add // 0'
}
holds 'with the C functions that they called' compare "$(of_digest)" '>' "$(of_digest --native) + 0.05"
exports() { # format, words that its file has
        "$HYPROF" export "$1" "$TMPDIR/work.hyp" --force -q -o "$TMPDIR/$1" && zcat -f "$TMPDIR/$1" | grep -aq "$2"
}
holds 'folded stacks have their callers' exports folded '<module>;request;extra'
holds 'speedscope has their files' exports speedscope '"name":"extra","file":"[^"]*/work.py"'
has_all() { for format in firefox perfetto pprof callgrind flamegraph; do exports "$format" extra || return 1; done; }
holds 'the Firefox profiler, Perfetto, pprof, callgrind and flame graphs have them' has_all

# ---- the GIL
cat >"$TMPDIR/served.py" <<'END'
import ctypes, hyprof, threading, time
libc = ctypes.PyDLL(None)
waits = threading.Event()
ends = threading.Event()
def hog():
    libc.prctl(15, b"hog", 0, 0, 0)
    while not ends.is_set():
        if waits.wait(0.1):
            waits.clear()
            libc.usleep(80000)
thread = threading.Thread(target=hog)
thread.start()
for i in range(200):
    with hyprof.zone("request"):
        if i % 15 == 10: waits.set()
        time.sleep(0.002)
ends.set()
thread.join()
END
holds 'zones that wait for the GIL are recorded' record served -F 999 "$python" "$TMPDIR/served.py"
names_hog() {
        "$HYPROF" why --json --limit 0 "$TMPDIR/served.hyp" --zone request --slower-than 40ms | jq -r .answer >"$TMPDIR/out"
        grep -qE "wait for the lock 'GIL of [a-z0-9]+ \\([0-9]+\\)' \\([0-9]+% of the extra time\\), held by thread t[0-9]+ 'hog'" "$TMPDIR/out"
}
if grep -q '"PYTHON_APPROXIMATE"' <("$HYPROF" report --json --limit 0 "$TMPDIR/served.hyp"); then
        skips 'why names the GIL and its holder' 'hardware: no BPF here'
else
        holds 'why names the GIL and its holder' names_hog
fi

# ---- waits
cat >"$TMPDIR/waits.py" <<'END'
import hyprof, time
def usual(n):
    total = 0
    while total < n: total += 1
def write_log(): time.sleep(0.004)
def request(i):
    usual(10000)
    if i % 40 == 7: write_log()
for i in range(800):
    with hyprof.zone("request"): request(i)
END
holds 'a script that waits is recorded' record waits -F 1999 --off-cpu "$python" "$TMPDIR/waits.py"
names_wait() {
        same write_log "$("$HYPROF" why --json --limit 0 "$TMPDIR/waits.hyp" --zone request --slower-than 4ms --by waiting |
                jq -r '[.causes.rows[] | select(.cause == "wait")][0].name')"
}
if grep -q '"PYTHON_APPROXIMATE"' <("$HYPROF" report --json --limit 0 "$TMPDIR/waits.hyp"); then
        skips 'why names the Python function that waits' 'hardware: no BPF here'
else
        holds 'why names the Python function that waits' names_wait
fi
view_of() { # options of why
        "$HYPROF" why --json --limit 0 "$@" "$TMPDIR/waits.hyp" --zone request --slower-than 4ms --by waiting | jq -r '.view'
}
holds 'why says that it is about Python functions' same python "$(view_of)"
holds 'with --native it is not' same null "$(view_of --native)"

# ---- garbage
cat >"$TMPDIR/garbage.py" <<'END'
import gc
gc.disable()
class Node:
    def __init__(self): self.me = self
nodes = [Node() for _ in range(100)]
del nodes
gc.collect(1)
for _ in range(3): gc.collect()
END
collects() { "$python" -m hyprof --hyprof "$HYPROF" --no-samples -o "$TMPDIR" "$TMPDIR/garbage.py" >"$TMPDIR/out" 2>"$TMPDIR/err"; }
holds 'python3 -m hyprof records a script that collects garbage' collects
zones_of() {
        "$HYPROF" query -q --force --sqlite "$TMPDIR/db" "$TMPDIR/hyprof.hyp" && sqlite3 "$TMPDIR/db" "SELECT l.name, count(*)
                FROM zones JOIN locations l ON l.id = location WHERE l.name LIKE 'garbage%' GROUP BY 1" | paste -sd ' '
}
holds 'each collection is a zone' same 'garbage collection, generation 1|1 garbage collection, generation 2|3' "$(zones_of)"
