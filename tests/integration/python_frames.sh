#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Python functions stand in the call stacks of samples, with their lines: of a command, of a process that runs already, of
# all its threads, with C between them; and what only pretends to be Python does no harm
set -eu
. tests/tap.sh
plan 26
need_sampling
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
reported_by() { "$HYPROF" report --json "$TMPDIR/later.hyp" | grep -q "\"$1\""; }
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

# ---- with BPF
holds 'a command is recorded' record_work all
if "$HYPROF" report --json "$TMPDIR/all.hyp" | grep -q '"PYTHON_APPROXIMATE"'; then
        skips_group 'Python functions read at the sample' 'hardware: no BPF here'
        exit 0
fi
stacks all
holds 'Python functions have their callers, and no C between' is_chain count '<module>;Worker.run;Worker.step;squares;count'
holds 'those that C called back as well, of another thread' is_chain compare 'sorter;compare'

lines() { # function, line
        "$HYPROF" annotate --json "$TMPDIR/all.hyp" "$1" 2>/dev/null | grep -q "\"line\": *$2\b"
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
