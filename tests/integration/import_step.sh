#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof import --into: CLOCK_REALTIME was set while the program noted its times by it: all are within the bound that is printed
set -eu
. tests/tap.sh
plan 7
need python3 jq
need_sampling

# Zones of CLOCK_REALTIME for two seconds before it is set, and two after; a reading of hyprof's clock is each one's key.
cat >"$TMPDIR/notes.py" <<'END'
import os, sys, time
rows = []
for turn in range(400):
    if turn == 200:
        with open(sys.argv[2], "r+b") as file:
            file.write(b"1")
    begin = time.clock_gettime_ns(time.CLOCK_REALTIME)
    truth = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    end = time.clock_gettime_ns(time.CLOCK_REALTIME)
    if end - begin < 10**9:  # the clock was not set just there
        rows.append((begin, max(begin, end), truth))
    time.sleep(0.01)
with open(sys.argv[1], "w") as out:
    print("name,process,thread,begin,end,clock,key", file=out)
    for begin, end, truth in rows:
        print(f"realtime,{os.getpid()},{os.getpid()},{begin},{end},realtime,{truth}", file=out)
END
cat >"$TMPDIR/judge.py" <<'END'
import re, sys
worst = n = 0
for line in sys.stdin:
    number = lambda word: int(re.search(r"\b" + word + r"=(\d+)", line)[1])
    if line.startswith("zone_begin "):
        begin = number("time_ns")
    elif line.startswith("zone_key "):
        key = number("key")
    elif line.startswith("zone_end "):
        worst = max(worst, begin - key, key - number("time_ns"))
        n += 1
print(n, worst)
END
import_stepped() { # name, ns
        printf 0 >"$TMPDIR/$1.set"
        LD_PRELOAD="$BUILD/tools/step_clock.so" STEP_CLOCK="$2 $TMPDIR/$1.set" \
                "$HYPROF" record -q -o "$TMPDIR/$1.hyp" -- python3 "$TMPDIR/notes.py" "$TMPDIR/$1.csv" "$TMPDIR/$1.set"
        "$HYPROF" import "$TMPDIR/$1.csv" --into "$TMPDIR/$1.hyp" -o "$TMPDIR/$1-into.hyp" 2>"$TMPDIR/$1.err"
        read -r n worst <<<"$("$HYPROF" dump "$TMPDIR/$1-into.hyp" | python3 "$TMPDIR/judge.py")"
        bound=$("$HYPROF" dump "$TMPDIR/$1-into.hyp" | sed -n 's/^import .* error_ns=\([0-9]*\).*/\1/p')
        figure "$1: at most $worst ns away, $bound ns were said"
}
for name in forward back; do
        [ $name = forward ] && by=100000000000 || by=-100000000000
        import_stepped $name "$by"
        holds "$name: every zone is there" same "$(($(wc -l <"$TMPDIR/$name.csv") - 1))" "$n"
        holds "$name: each is within the bound" compare "$worst" "<=" "$bound"
        holds "$name: and the reason is said" grep -Eq "note: CLOCK_REALTIME went $name by 100 s, [0-9.]+ m?s into the recording" "$TMPDIR/$name.err"
done
bound=$("$HYPROF" dump "$TMPDIR/forward-into.hyp" | sed -n 's/^import .* error_ns=\([0-9]*\).*/\1/p')
holds "forward: half of the time between two readings, and not as much as the step" compare "$bound" "<" 50000000000
