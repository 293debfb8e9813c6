#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Python functions in call stacks: the cost, and how many samples have the right ones.
#
# bench_python_frames.sh [cost]: without the second half
# Cost: time in the kernel and in the recorder a sample of 20 Python functions; slowdown of one process at 1 kHz, to which
# recorders with and without them attach in turns.  Right: three threads in Python, or in numpy, against the program's own
# log of what it ran when, and against the dumps that faulthandler made of it meanwhile; with BPF and without.
# RUNS=5, PYTHON=/usr/bin/python3 (with numpy), HYPROF.  Needs root.  py-spy is not in Debian 12: it is left out.
set -eu
: "${HYPROF:=build/release/hyprof}" "${PYTHON:=/usr/bin/python3}" "${RUNS:=5}"
HYPROF=$(realpath "$HYPROF")
[ "$(id -u)" -eq 0 ] || { echo "left out: needs root"; exit 0; }
folder=$(mktemp -d "${TMPDIR:-/tmp}/hyprof-bench.XXXXXX")
stats=/proc/sys/kernel/bpf_stats_enabled
before=$(cat $stats 2>/dev/null || echo)
finish() {
        [ -z "$before" ] || echo "$before" >$stats
        rm -rf "$folder"
}
trap finish EXIT

# ---- cost: one thread, 20 Python functions deep, a fixed amount of work
cat >"$folder/deep.py" <<'END'
import sys, time
def work(n):
    while n > 0: n -= 1
def down(depth, n):
    if depth: down(depth - 1, n)
    else: work(n)
began = time.process_time()
down(17, int(sys.argv[1]))
print(time.process_time() - began)
END

median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
json() { # trace, expression
        "$HYPROF" report --json --limit 0 "$1" | jq -r "$2"
}

kernel_time() {
        local recorder
        [ -n "$before" ] || { echo "  in the kernel: left out, this kernel has no bpf_stats_enabled"; return; }
        echo 1 >$stats
        rm -f "$folder/k.hyp"
        "$HYPROF" record -q -F 1000 --no-symbolize -o "$folder/k.hyp" "$PYTHON" "$folder/deep.py" 150000000 >"$folder/out" &
        recorder=$!
        sleep 1.5
        # The program for samples (prog_type 7), as the recorder holds it.
        grep -l '^prog_type:[[:space:]]*7$' /proc/$recorder/fdinfo/* 2>/dev/null | head -n 1 | xargs -r cat >"$folder/program"
        wait $recorder
        echo "$before" >$stats
        awk '/^run_time_ns/ { t = $2 } /^run_cnt/ { n = $2 }
                END { if (n) printf "  in the kernel            %6.2f us a sample (%d samples; at most 5)\n", t / n / 1000, n
                      else print "  in the kernel: the program was not found" }' "$folder/program"
}

recorder_time() { # value of --python; prints us a sample
        rm -f "$folder/r.hyp"
        "$HYPROF" record -q -F 5000 -o "$folder/r.hyp" --python="$1" "$PYTHON" "$folder/deep.py" 60000000 >"$folder/out"
        json "$folder/r.hyp" '.recorder_cpu_ns / .n_samples / 1000'
}

# One process runs units of work; per round nothing, a recorder without them, with them, and the three again in the
# opposite order.  A window stands for the unit than which a quarter are faster: others may run beside it.
cat >"$folder/turns.py" <<'END'
import os, signal, statistics, subprocess, sys, time
hyprof, out, rounds, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
def work(n):
    while n > 0: n -= 1
def down(depth, n):
    if depth: down(depth - 1, n)
    else: work(n)
def run_units(path):
    rows, ended = [], []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
    while not ended:
        began = time.monotonic()
        down(17, 100000)
        rows.append((began, time.monotonic()))
    with open(path, "w") as file:
        for row in rows: print(*row, file=file)
pid = os.fork()
if pid == 0:
    run_units(out + ".units")
    os._exit(0)
windows = []
def window(way):
    recorder = None
    if way != "untouched":
        recorder = subprocess.Popen([hyprof, "record", "-q", "-F", "1000", "--no-symbolize", "--python=" + way,
                                     "-o", out + ".hyp", "-p", str(pid)])
        time.sleep(0.7)
    began = time.monotonic()
    time.sleep(seconds)
    windows.append((way, began, time.monotonic()))
    if recorder:
        recorder.send_signal(signal.SIGINT)
        recorder.wait()
        os.unlink(out + ".hyp")
for i in range(rounds):
    for way in ("untouched", "off", "auto", "auto", "off", "untouched"): window(way)
os.kill(pid, signal.SIGTERM)
os.waitpid(pid, 0)
units = [tuple(map(float, line.split())) for line in open(out + ".units")]
quarters = {}
for way, began, ended in windows:
    quarters.setdefault(way, []).append(statistics.quantiles([e - b for b, e in units if b > began and e < ended])[0])
bare = [sum(quarters["untouched"][i:i + 2]) / 2 for i in range(0, 2 * rounds, 2)]
def over(way):
    return [100 * (sum(quarters[way][i:i + 2]) / 2 / bare[i // 2] - 1) for i in range(0, 2 * rounds, 2)]
with_them, without = over("auto"), over("off")
between = [a - b for a, b in zip(with_them, without)]
print(f"  slowdown at 1 kHz        {statistics.median(with_them):6.2f} % with them, {statistics.median(without):.2f} % without,"
      f" {statistics.median(between):.2f} between ({min(between):.2f} to {max(between):.2f}; at most 1)")
END

printf 'Python functions in call stacks, %s\n' "$("$PYTHON" --version)"
kernel_time
for ((i = 0; i < RUNS; i++)); do
        for way in auto off; do recorder_time $way >>"$folder/recorder.$way"; done
done
awk -v a="$(median <"$folder/recorder.auto")" -v b="$(median <"$folder/recorder.off")" 'BEGIN {
        printf "  in the recorder          %6.2f us a sample of 20 functions, %.2f without them (at most 15 between)\n", a, b }'
"$PYTHON" "$folder/turns.py" "$HYPROF" "$folder/turns" "$RUNS" 2
[ "${1:-}" != cost ] || exit 0

# ---- right chains
"$PYTHON" -c 'import numpy' 2>/dev/null || { echo "left out: $PYTHON has no numpy"; exit 0; }
cat >"$folder/truth.py" <<'END'
import faulthandler, functools, os, random, signal, sys, threading, time
import numpy
def now(): return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
def count(rounds):
    while rounds: rounds -= 1
def square(rounds):
    total = 0
    for i in range(rounds): total += i * i
    return total
def compare(a, b):
    return a - b
def sort(rounds):
    return sorted(range(rounds // 8, 0, -1), key=functools.cmp_to_key(compare))
def multiply(rounds):
    for _ in range(max(1, rounds // 4000)): matrix @ matrix
def along(rounds):
    return numpy.apply_along_axis(lambda row: row.sum(), 1, rows[:rounds // 16])
def middle(leaf, rounds): leaf(rounds)
def outer(leaf, rounds): middle(leaf, rounds)
def recurse(depth, leaf, rounds):
    if depth: recurse(depth - 1, leaf, rounds)
    else: outer(leaf, rounds)
def worker(until, log, leaves):
    numbers = random.Random(threading.get_native_id())
    while time.monotonic() < until:
        leaf, depth = numbers.choice(leaves), numbers.choice((0, 1, 9))
        began = now()
        recurse(depth, leaf, 40000)
        log.append((threading.get_native_id(), began, now(), leaf.__name__, depth))
matrix, rows = numpy.ones((40, 40)), numpy.ones((4000, 4))
leaves = {'python': (count, square, sort), 'numpy': (multiply, along)}[sys.argv[1]]
faulthandler.register(signal.SIGUSR1, open(sys.argv[3], 'w'), all_threads=True)
logs = [[] for _ in range(3)]
threads = [threading.Thread(target=worker, args=(time.monotonic() + 4, log, leaves)) for log in logs]
for thread in threads: thread.start()
while any(thread.is_alive() for thread in threads):
    time.sleep(0.0173)
    os.kill(os.getpid(), signal.SIGUSR1)
for thread in threads: thread.join()
with open(sys.argv[2], 'w') as file:
    for log in logs:
        for row in log: print(*row, file=file)
END
cat >"$folder/judge.py" <<'END'
import bisect, re, sqlite3, sys
database, log, dumps = sys.argv[1:]
db = sqlite3.connect(database)
start = int(dict(db.execute('SELECT key, value FROM meta'))['start_raw_ns'])
parents = {i: (parent, frame) for i, parent, frame in db.execute('SELECT id, parent, frame FROM stacks')}
names = {}
for frame, function, file in db.execute('SELECT frame, function, file FROM symbols WHERE level = 0'):
    names[frame] = function.split('.')[-1] if file and file.endswith('truth.py') else \
        '[eval]' if function == '_PyEval_EvalFrameDefault' else None
def chain(stack):
    found = []
    while stack is not None:
        stack, frame = parents[stack]
        if names.get(frame): found.append(names[frame])
    return tuple(found)
phases = {}
for line in open(log):
    tid, began, ended, leaf, depth = line.split()
    phases.setdefault(int(tid), []).append((int(began) - start, int(ended) - start, leaf, int(depth)))
inner = {'sort': ('compare',), 'along': ('<lambda>',)}
dumped, current = set(), []
for line in open(dumps):
    found = re.match(r'  File "(.*)", line \d+ in (.*)', line)
    if found:
        if found[1].endswith('truth.py'): current.append(found[2].split('.')[-1])
    elif current:
        dumped.add(tuple(current))
        current = []
right = wrong = bare = in_dumps = 0
for time, tid, stack in db.execute('SELECT s.time_ns, t.tid, s.stack FROM samples s JOIN threads t ON t.id = s.thread'):
    rows = phases.get(tid, [])
    at = bisect.bisect(rows, (time,)) - 1
    if at < 0 or not rows[at][0] + 20000 < time < rows[at][1] - 20000: continue
    leaf, depth = rows[at][2:]
    wanted = (leaf, 'middle', 'outer') + ('recurse',) * (depth + 1) + ('worker',)
    found = chain(stack)
    if not any(name != '[eval]' for name in found):
        bare += 1
    elif found == wanted or found in [(name,) + wanted for name in inner.get(leaf, ())]:
        right += 1
        in_dumps += found in dumped
    else:
        wrong += 1
share = 100 * right / max(1, right + wrong)
print(f'{share:6.2f} % right of {right + wrong} samples (at least 99), {bare} without Python functions', end='; ' if dumped else '\n')
if dumped: print(f'{100 * in_dumps / max(1, right):.2f} % of the right chains are among the {len(dumped)} that faulthandler dumped')
END
truth() { # way, kind, command before hyprof...
        rm -f "$folder/t.hyp" "$folder/t.db"
        "${@:3}" "$HYPROF" record -q -F 1000 --no-switches -o "$folder/t.hyp" "$PYTHON" "$folder/truth.py" "$2" "$folder/log" "$folder/dumps"
        "$HYPROF" query -q --sqlite "$folder/t.db" "$folder/t.hyp"
        printf '  %-12s %-7s %s\n' "$1" "$2" "$("$PYTHON" "$folder/judge.py" "$folder/t.db" "$folder/log" "$folder/dumps")"
}
for kind in python numpy; do
        truth 'BPF' $kind env
        truth 'without BPF' $kind setpriv --inh-caps=-all --bounding-set=-all
done
