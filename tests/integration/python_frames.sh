#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Python functions stand in the call stacks of samples, with their lines: of a command, of a process that runs already, of
# all its threads, with C between them; and what only pretends to be Python does no harm
set -eu
. tests/tap.sh
plan 38
need_sampling
need jq
python=/usr/bin/python3
[ -x "$python" ] || skip_all "python3 is not installed"
"$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' || skip_all "python3 is none of 3.11 to 3.14"

# Each of the leaves spends its time in one line, and has one chain of callers.
cat >"$TMPDIR/work.py" <<'END'
import functools, sys, threading, time

def squares(n):
    return sum([i * i for i in range(n)]) if n < 0 else count(n)
def count(n):
    total = 0
    while total < n: total += 1
    return total
class Worker:
    def run(self, until):
        while time.monotonic() < until:
            self.step()
    def step(self):
        squares(20000)
def compare(a, b):
    n = 0
    while n < 200: n += 1
    return a - b
def sorter(until):
    while time.monotonic() < until:
        sorted(range(50, 0, -1), key=functools.cmp_to_key(compare))

until = time.monotonic() + float(sys.argv[1])
thread = threading.Thread(target=sorter, args=(until,))
thread.start()
Worker().run(until)
thread.join()
END

# How many percent of the stacks whose innermost Python function is $1 have the callers $2 in this order, and nothing of
# the interpreter between them.
share_with() { # function, callers
        awk -v leaf="$1" -v callers="$2" '
                { n = $NF; sub(/ [0-9]+$/, ""); stack = $0 }
                match(stack, ";" leaf "(;|$)") { all += n; if (index(stack, callers)) right += n }
                END { if (all == 0) exit 1; printf "%d %d\n", 100 * right / all, all }' "$TMPDIR/folded"
}
stacks() { # trace
        rm -f "$TMPDIR/folded"
        "$HYPROF" export folded "$TMPDIR/$1.hyp" -o "$TMPDIR/folded" >"$TMPDIR/export.out" 2>&1
}
is_chain() { # function, callers
        local percent samples
        read -r percent samples < <(share_with "$1" "$2") || { cat "$TMPDIR/folded" && return 1; }
        figure "$1(): $samples samples, $percent% with the right callers" >&3
        compare "$percent" ">" 98
}
exec 3>&1

record_work() { # name, options
        rm -f "$TMPDIR/$1.hyp"
        record "$1" -F 4999 "${@:2}" "$python" "$TMPDIR/work.py" 1.5
}

# ---- without BPF: read a moment later
if [ "$(id -u)" -eq 0 ]; then
        need setpriv
        without_rights() { setpriv --inh-caps=-all --bounding-set=-all "$@"; }
else
        without_rights() { "$@"; }
fi
reported_by() { "$HYPROF" report --json --limit 0 "$TMPDIR/later.hyp" | grep -q "\"$1\""; }
record_later() {
        rm -f "$TMPDIR/later.hyp"
        without_rights "$HYPROF" record -q -F 1999 -o "$TMPDIR/later.hyp" "$python" "$TMPDIR/work.py" 1.5
}
# On a machine that is too busy all samples are too old, which is counted.
is_later_chain() { # function, callers
        is_chain "$@" || { reported_by PYTHON_LATE && ! grep -q "$1" "$TMPDIR/folded"; }
}
holds 'a command is recorded without BPF' record_later
stacks later
holds 'which is said' reported_by PYTHON_APPROXIMATE
holds 'and its functions have their callers' is_later_chain count '<module>;Worker.run;Worker.step;squares;count'
holds 'those that C called back as well' is_later_chain compare 'sorter;compare'

# Functions that last for a microsecond have ended when memory is read; their frames are still there.
cat >"$TMPDIR/short.py" <<'END'
import time
def s1(x): return x + 1
def s2(x): return s1(x) * 2
def loop_a(n):
    for i in range(n): s2(i)
def s3(x): return [x] * 3
def loop_b(n):
    for i in range(n): s3(i)
until = time.thread_time() + 1
while time.thread_time() < until:
    loop_a(1000000)
    loop_b(1000000)
END
# shellcheck disable=SC2317 # called by holds
record_short() {
        rm -f "$TMPDIR/short.hyp"
        without_rights "$HYPROF" record -q -F 1999 -o "$TMPDIR/short.hyp" "$python" "$TMPDIR/short.py"
        "$HYPROF" report --json --limit 0 "$TMPDIR/short.hyp" >"$TMPDIR/short.json"
        stacks short
}
lost_of_short() { jq "[.missing.rows[] | select(.code == \"$1\") | .count] | add // 0" "$TMPDIR/short.json"; }
# Half of the samples do not fit where only the frames of now are taken; old ones do not count.
short_functions_fit() {
        local unfit late all
        unfit=$(lost_of_short PYTHON_UNFIT) late=$(lost_of_short PYTHON_LATE) all=$(jq .n_samples "$TMPDIR/short.json")
        figure "$all samples, $late too old, $unfit do not fit" >&3
        awk -v n="$all" -v late="$late" -v unfit="$unfit" 'BEGIN { exit !(unfit < 0.35 * (n - late)) }'
}
# The first line has the share that is left out, from 5 % on.
short_is_said() {
        "$HYPROF" dump "$TMPDIR/short.hyp" | grep -q '^string .*text="python_samples_bare"' || return 1
        jq -e '([.missing.rows[] | select(.code == "PYTHON_FUNCTIONS_MISSING")] | length > 0) ==
                (.answer | test("of the samples in Python code have no Python functions"))' "$TMPDIR/short.json"
}
is_right_or_late() { is_chain "$@" || { [ "$(lost_of_short PYTHON_LATE)" -gt 1000 ] && ! grep -q "$1" "$TMPDIR/folded"; }; }
holds 'short functions are recorded without BPF' record_short
if [ "$(jq .n_samples "$TMPDIR/short.json")" -ge $(($(lost_of_short PYTHON_LATE) + 100)) ]; then
        holds 'most of their samples have Python functions' short_functions_fit
else
        skips 'most of their samples have Python functions' 'hardware: nearly all were read too late'
fi
holds 'the first line has the share without' short_is_said
holds 'and their callers are right' is_right_or_late s1 '<module>;loop_a;s2;s1'
holds 'also those of the other loop' is_right_or_late s3 '<module>;loop_b;s3'

# ---- with BPF
holds 'a command is recorded' record_work all
if "$HYPROF" report --json --limit 0 "$TMPDIR/all.hyp" | grep -q '"PYTHON_APPROXIMATE"'; then
        skips_group 'Python functions read at the sample' 'hardware: no BPF here'
        exit 0
fi
stacks all
holds 'no Python functions are reported as missing' same 0 \
        "$("$HYPROF" report --json --limit 0 "$TMPDIR/all.hyp" | jq '[.missing.rows[] | select(.code == "PYTHON_FUNCTIONS_MISSING")] | length')"
holds 'Python functions have their callers, and no C between' is_chain count '<module>;Worker.run;Worker.step;squares;count'
holds 'those that C called back as well, of another thread' is_chain compare 'sorter;compare'

lines() { # function, line
        "$HYPROF" annotate --json --limit 0 "$TMPDIR/all.hyp" "$1" 2>/dev/null | grep -q "\"line\": *$2\b"
}
holds 'a function has its lines' lines count 7

has_interpreter() { grep -q '_PyEval_EvalFrameDefault' "$TMPDIR/folded"; }
has_python() { grep -q 'Worker.step' "$TMPDIR/folded"; }
holds 'with --python=frames' record_work both --python=frames
stacks both
holds 'the functions of the interpreter are there as well' has_interpreter
holds 'beside those of Python' has_python
holds 'with --python=off' record_work none --python=off
stacks none
holds 'there is none of Python' eval '! has_python'

# ---- code that runs once, such as that of modules, and is gone when names are read
cat >"$TMPDIR/once.py" <<'END'
import time
def spin():
    n = 0
    while n < 20000: n += 1
until = time.monotonic() + 1.5
i = 0
while time.monotonic() < until:
    exec(compile("spin()", f"once{i}.py", "exec"))
    i += 1
print(i)
END
# Each module lies where one before lay: the numbers of those that samples are in may only rise.
cat >"$TMPDIR/in_order.py" <<'END'
import re, sqlite3, sys
db, n_run = sqlite3.connect(sys.argv[1]), int(open(sys.argv[2]).read())
parents = {i: (parent, frame) for i, parent, frame in db.execute('SELECT id, parent, frame FROM stacks')}
files = dict(db.execute('SELECT frame, file FROM symbols WHERE level = 0'))
def number_of(stack):
    while stack is not None:
        stack, frame = parents[stack]
        found = re.fullmatch(r'once(\d+)\.py', files.get(frame) or '')
        if found: return int(found[1])
stacks = db.execute('SELECT stack FROM samples ORDER BY time_ns')
numbers = [n for n in (number_of(stack) for stack, in stacks) if n is not None]
n_wrong = sum(later < earlier for earlier, later in zip(numbers, numbers[1:]))
print(f'{len(numbers)} samples in {len(set(numbers))} of {n_run} modules, {n_wrong} in one that had ended')
sys.exit(n_wrong > 0 or not n_run / 2 < numbers[-1] < n_run)
END
record_once() {
        rm -f "$TMPDIR/once.hyp"
        record once -F 4999 "$python" "$TMPDIR/once.py"
}
is_in_order() {
        rm -f "$TMPDIR/once.db"
        "$HYPROF" query -q --sqlite "$TMPDIR/once.db" "$TMPDIR/once.hyp" &&
                "$python" "$TMPDIR/in_order.py" "$TMPDIR/once.db" "$TMPDIR/once.out"
}
holds 'code that runs once is recorded' record_once
stacks once
holds 'and has its names' is_chain spin '<module>;<module>;spin'
holds 'each module its own' is_in_order

# ---- recursion: the outermost functions are there, wherever the middle is too deep
cat >"$TMPDIR/deep.py" <<'END'
import functools, sys, threading, time
sys.setrecursionlimit(100000)
def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: pass
def plain(n):
    if n > 0: plain(n - 1)
    else: burn(0.2)
# Through a function in C, and so through another evaluation, at each level.
def through_c(n):
    if n > 0: functools.reduce(lambda a, b: through_c(n - 1), (1, 2))
    else: burn(0.2)
def shallow(): plain(100)
def deep(): plain(700)
def deepest(): plain(5000)
def deep_in_c(): through_c(200)
def run():
    for f in shallow, deep, deepest, deep_in_c: f()
threading.stack_size(64 << 20)
thread = threading.Thread(target=run)
thread.start()
thread.join()
END
record_deep() {
        rm -f "$TMPDIR/deep.hyp"
        record deep -F 999 "$python" "$TMPDIR/deep.py"
}
holds 'a deep recursion is recorded' record_deep
stacks deep
# The stacks whose innermost Python function is burn, by who is known to have called them.
is_shared() { # caller, its callee, what stands between
        awk -v caller=";run;$1;$2;" -v gap="$3" '
                { n = $NF } / [0-9]+$/ && /;burn(;| )/ { if (index($0, caller) && (gap == "" || index($0, gap))) right += n }
                END { printf "%s: %d samples\n", caller, right; exit right < 50 }' "$TMPDIR/folded"
}
holds 'a stack of 100 is whole' is_shared shallow plain ''
holds 'one of 700 has its outermost functions, and a gap' is_shared deep plain ';plain;[calls left out];plain;'
holds 'so has one that goes through C at each level' is_shared deep_in_c through_c '[calls left out]'
is_said_of() { # reason
        "$HYPROF" report --json --limit 0 "$TMPDIR/deep.hyp" | grep -q "\"$1\""
}
holds 'both are said, and what is deeper still is' eval 'is_said_of PYTHON_MIDDLE && is_said_of PYTHON_CUT'

# ---- a short program after others: unwind tables are put off then, and made when it has ended
cat >"$TMPDIR/short.py" <<'END'
import time
def brief(n):
    total = 0
    while total < n: total += 1
while time.process_time() < 0.2: brief(20000)
END
record_short() {
        rm -f "$TMPDIR/short.hyp"
        record short -F 999 sh -c '/bin/true; /bin/true; /bin/true; exec "$@"' sh "$python" "$TMPDIR/short.py"
}
holds 'a short program of a shell script is recorded' record_short
stacks short
holds 'and its functions are there' grep -q ';<module>;brief' "$TMPDIR/folded"

# ---- where threads wait
cat >"$TMPDIR/wait.py" <<'END'
import threading, time
class Worker:
    def run(self, rounds):
        for _ in range(rounds): self.hold()
    def hold(self):
        with lock: time.sleep(0.005)
lock = threading.Lock()
threads = [threading.Thread(target=Worker().run, args=(80,)) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
END
record_waits() {
        rm -f "$TMPDIR/waits.hyp"
        record waits --off-cpu "$python" "$TMPDIR/wait.py"
}
# Each of the two threads sleeps eighty times; the first ones may come before the interpreter is known.
waits_in() { # functions
        "$HYPROF" report --off-cpu --limit 0 --json "$TMPDIR/waits.hyp" >"$TMPDIR/waits.json" &&
                jq -e --arg wanted "$1" '[.places.rows[] | select(.callstack // [] | join("<") | contains($wanted)) | .count] |
                        add >= 40' "$TMPDIR/waits.json" >"$TMPDIR/out"
}
need jq
holds 'waits are recorded' record_waits
holds 'threads wait in Python functions, which have their callers' waits_in 'Worker.hold<Worker.run'

# ---- a process that runs already
"$python" "$TMPDIR/work.py" 60 &
worker=$!
trap 'kill "$worker" 2>/dev/null || true' EXIT
holds 'a running process is recorded' record attached -p "$worker" -d 2s
stacks attached
holds 'and its functions have their callers' is_chain count '<module>;Worker.run;Worker.step;squares;count'
kill "$worker" 2>/dev/null || true

# ---- what pretends to be Python
pretends() { # kind, seconds
        rm -f "$TMPDIR/fake.hyp"
        timeout 60 "$HYPROF" record -q -F 1999 -o "$TMPDIR/fake.hyp" "$WORKLOADS/w_fake_python" "$1" "${2:-0.5}" &&
                "$HYPROF" report "$TMPDIR/fake.hyp" --functions | grep -q '_PyEval_EvalFrameDefault'
}
for kind in loop wild threads; do
        holds "lists of frames that make no sense: $kind" pretends "$kind"
done
# On a busy machine a brief program has ended before its interpreter was looked at.
is_unknown() {
        local seconds
        for seconds in 0.5 2 8; do
                pretends newer "$seconds" && "$HYPROF" report "$TMPDIR/fake.hyp" | grep -q 'CPython 3.99' && return 0
        done
        return 1
}
holds 'an unknown version is said' is_unknown

# ---- data that is there after the code, as while ld.so maps a file
is_found_later() {
        pretends late 2 && stacks fake && grep -q ';A;' "$TMPDIR/folded"
}
holds 'an interpreter whose data is mapped after its code is found then' is_found_later
