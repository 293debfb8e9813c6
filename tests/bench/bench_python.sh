#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of a call and its return while they are recorded, beside cProfile, and of a zone while nothing is recorded, beside
# a context manager of a few lines of C; 100 million calls: the recorder's memory and the size of the trace; samples with
# Python functions: what they cost.
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
    least, loop = 1e9, 1e9
    for _ in range(turns):
        began = time.thread_time()
        for _ in range(n): pass
        between = time.thread_time()
        for _ in range(n): leaf()
        loop, least = min(loop, between - began), min(least, time.thread_time() - between)
    return (least - loop) / n * 1e9
print(f"{best(10, int((sys.argv[1:] or [1000000])[0])):.2f}", flush=True)
END
is_new=$("$PYTHON" -c 'import sys; print(int(sys.version_info >= (3, 12)))')
over() { # name, ns, most
        awk -v name="$1" -v ns="$2" -v bare="$bare" -v most="${3:-}" 'BEGIN {
                printf "  %-10s %6.1f ns, %.1f over bare%s\n", name, ns, ns - bare, most == "" ? "" : " (at most " most ")" }'
}
with_hyprof() { # options...
        "$PYTHON" -m hyprof --no-samples -o "$folder" "$@" "$folder/calls.py" 2>/dev/null
}
printf 'a call and its return, %s; the best of ten rounds of a million, processor time\n' "$("$PYTHON" --version)"
bare=$("$PYTHON" "$folder/calls.py")
printf '  %-10s %6.1f ns\n' bare "$bare"
over recorded "$(with_hyprof)" $((is_new ? 130 : 190))
over 'left out' "$(with_hyprof --exclude __main__)" "$([ "$is_new" = 0 ] || echo 5)"
over cProfile "$("$PYTHON" -m cProfile "$folder/calls.py" | head -n 1)"
over 'both' "$("$PYTHON" -m hyprof --no-samples -o "$folder" -m cProfile "$folder/calls.py" 2>/dev/null | head -n 1)"
for peer in yappi viztracer; do
        if ! "$PYTHON" -c "import $peer" 2>/dev/null; then
                printf '  %-10s is not installed\n' "$peer"
        elif [ $peer = yappi ]; then
                over yappi "$("$PYTHON" -m yappi "$folder/calls.py" 100000 2>/dev/null | head -n 1)"
        else
                over viztracer "$("$PYTHON" -m viztracer --quiet -o "$folder/v.json" "$folder/calls.py" | head -n 1)"
        fi
done

read -r include suffix _ < <("$PYTHON" "$here/../../python/facts.py")
cc -O2 -fPIC -shared -isystem "$include" "$here/empty_context.c" -o "$folder/empty_context$suffix"
PYTHONPATH=$PYTHONPATH:$folder "$PYTHON" - <<'END'
import time, hyprof
from empty_context import empty
def best(kind, n=1000000):
    least, loop = 1e9, 1e9
    for _ in range(10):
        began = time.thread_time()
        for _ in range(n): pass
        between = time.thread_time()
        for _ in range(n):
            with kind("name"): pass
        loop, least = min(loop, between - began), min(least, time.thread_time() - between)
    return (least - loop) / n * 1e9
one, other = best(empty), best(hyprof.zone)
print(f"a with statement while nothing is recorded\n  empty, in C  {one:5.1f} ns\n  hyprof.zone  {other:5.1f} ns, {other / one:.2f} times (at most 2)")
END

n=${HYPROF_BENCH_CALLS:-100000000}
cat >"$folder/many.py" <<END
def leaf(): pass
def work(n):
    for _ in range(n): leaf()
for _ in range($n // 1000): work(999)
END
if command -v /usr/bin/time >/dev/null; then
        /usr/bin/time -f '%M %e' -o "$folder/time" "$HYPROF" record --no-sampling -o "$folder/many.hyp" -- \
                "$PYTHON" -m hyprof "$folder/many.py" 2>"$folder/err"
        read -r kib seconds <"$folder/time"
        bytes=$(stat -c %s "$folder/many.hyp")
        zones=$(grep -o '[0-9,]* zones' "$folder/err" | tail -n 1 | tr -d ', zones')
        printf '%s zones in %s s: at most %s MiB of the recorder, %s lost (0); a file of %s bytes, %s a zone (at most 2.5)\n' \
                "$zones" "$seconds" $((kib / 1024)) "$(grep -o '[0-9,]* lost' "$folder/err" | tail -n 1 | tr -d ' lost')" \
                "$bytes" "$(awk "BEGIN { printf \"%.2f\", $bytes / $zones }")"
else
        echo '100 million calls: left out, /usr/bin/time is not installed'
fi
"$here/bench_python_frames.sh" cost
