#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of a call and its return while they are recorded, beside cProfile, and of a zone while nothing is recorded, beside
# a context manager of a few lines of C; 100 million calls: the recorder's memory and the size of the trace.
# HYPROF_BENCH_CALLS=100000000; PYTHON, HYPROF and BUILD come from the Makefile.
set -eu
: "${PYTHON:=python3}" "${HYPROF:?}" "${BUILD:?}"
folder=$(mktemp -d "${TMPDIR:-/tmp}/hyprof-bench.XXXXXX")
trap 'rm -rf "$folder"' EXIT
export HYPROF PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1
here=$(cd "$(dirname "$0")" && pwd)

cat >"$folder/calls.py" <<'END'
import sys, time
def leaf(): pass
def best(turns, n=1000000):
    least = 1e9
    for _ in range(turns):
        began = time.perf_counter()
        for _ in range(n): pass
        between = time.perf_counter()
        for _ in range(n): leaf()
        least = min(least, time.perf_counter() - between - (between - began))
    return least / n * 1e9
print(f"{best(10):7.1f} ns")
END
printf 'a call and its return, %s\n' "$("$PYTHON" --version)"
printf '  bare       %s\n' "$("$PYTHON" "$folder/calls.py")"
printf '  recorded   %s\n' "$("$PYTHON" -m hyprof --no-samples -o "$folder" "$folder/calls.py" 2>/dev/null)"
printf '  left out   %s\n' "$("$PYTHON" -m hyprof --no-samples --exclude __main__ -o "$folder" "$folder/calls.py" 2>/dev/null)"
printf '  cProfile   %s\n' "$("$PYTHON" -m cProfile "$folder/calls.py" | head -n 1)"
for peer in yappi viztracer; do
        "$PYTHON" -c "import $peer" 2>/dev/null || continue
        case $peer in
        yappi) printf '  yappi      %s\n' "$("$PYTHON" -m yappi "$folder/calls.py" | head -n 1)" ;;
        viztracer) printf '  viztracer  %s\n' "$("$PYTHON" -m viztracer -o "$folder/v.json" "$folder/calls.py" | head -n 1)" ;;
        esac
done

read -r include suffix _ < <("$PYTHON" "$here/../../python/facts.py")
cc -O2 -fPIC -shared -isystem "$include" "$here/empty_context.c" -o "$folder/empty_context$suffix"
PYTHONPATH=$PYTHONPATH:$folder "$PYTHON" - <<'END'
import time, hyprof
from empty_context import empty
def best(kind, n=1000000):
    least = 1e9
    for _ in range(10):
        began = time.perf_counter()
        for _ in range(n): pass
        between = time.perf_counter()
        for _ in range(n):
            with kind("name"): pass
        least = min(least, time.perf_counter() - between - (between - began))
    return least / n * 1e9
one, other = best(empty), best(hyprof.zone)
print(f"a with statement while nothing is recorded\n  empty, in C  {one:5.1f} ns\n  hyprof.zone  {other:5.1f} ns, {other / one:.2f} times")
END

n=${HYPROF_BENCH_CALLS:-100000000}
cat >"$folder/many.py" <<END
def leaf(): pass
def work(n):
    for _ in range(n): leaf()
for _ in range($n // 1000): work(999)
END
command -v /usr/bin/time >/dev/null || exit 0
/usr/bin/time -f '%M %e' -o "$folder/time" "$HYPROF" record --no-sampling -o "$folder/many.hyp" -- \
        "$PYTHON" -m hyprof "$folder/many.py" 2>"$folder/err"
read -r kib seconds <"$folder/time"
bytes=$(stat -c %s "$folder/many.hyp")
zones=$(grep -o '[0-9,]* zones' "$folder/err" | tail -n 1 | tr -d ', zones')
printf '%s zones in %s s: at most %s MiB of the recorder, %s lost; a file of %s bytes, %s a zone\n' "$zones" "$seconds" \
        $((kib / 1024)) "$(grep -o '[0-9,]* lost' "$folder/err" | tail -n 1 | tr -d ' lost')" "$bytes" \
        "$(awk "BEGIN { printf \"%.2f\", $bytes / $zones }")"
