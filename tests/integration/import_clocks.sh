#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof import --into: what a program noted by other clocks is where it was, within the bound that is printed
set -eu
. tests/tap.sh
plan 10
need python3 jq sqlite3
need_sampling

# Zones from one reading of a clock to the next, and between them one of hyprof's own clock: the truth, as a key.
cat >"$TMPDIR/notes.py" <<'END'
import os, sys, time
clocks = {name: getattr(time, "CLOCK_" + name.upper()) for name in ("monotonic", "realtime", "boottime")}
rows = []
for i in range(200):
    for name, clock in clocks.items():
        begin = time.clock_gettime_ns(clock)
        truth = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        rows.append((name, begin, time.clock_gettime_ns(clock), truth))
    time.sleep(0.005)
with open(sys.argv[1], "w") as out:
    print("name,process,thread,begin,end,clock,key", file=out)
    for name, begin, end, truth in rows:
        print(f"{name},{os.getpid()},{os.getpid()},{begin},{end},{name},{truth}", file=out)
END
record timed -- python3 "$TMPDIR/notes.py" "$TMPDIR/notes.csv"
holds "three clocks onto the recording" ends_with 0 "$HYPROF" import "$TMPDIR/notes.csv" --into "$TMPDIR/timed.hyp" -o "$TMPDIR/into.hyp"
for clock in MONOTONIC REALTIME BOOTTIME; do
        holds "$clock is placed, and how exactly" grep -q "CLOCK_$clock, placed within" "$TMPDIR/err"
done
# How far outside of its zone a truth is, in ns, at most; the limit is far beyond any bound, so that a wrong clock shows.
cat >"$TMPDIR/judge.py" <<'END'
import re, sys
worst = n = 0
for line in sys.stdin:
    number = lambda word: int(re.search(word + r"=(\d+)", line)[1])
    if line.startswith("zone_begin "):
        begin = number("time_ns")
    elif line.startswith("zone_key "):
        key = number("key")
    elif line.startswith("zone_end "):
        worst = max(worst, begin - key, key - int(re.search(r"time_ns=(\d+)", line)[1]))
        n += 1
print(n, worst)
END
read -r n worst <<<"$("$HYPROF" dump "$TMPDIR/into.hyp" | python3 "$TMPDIR/judge.py")"
figure "the truth is at most $worst ns outside of its zone"
holds "every zone is there" same 600 "$n"
holds "and where it was: within 20 us" compare "$worst" "<=" 20000
holds "on the process that was recorded" same "$("$HYPROF" dump "$TMPDIR/timed.hyp" | grep -c '^process ')" \
        "$("$HYPROF" dump "$TMPDIR/into.hyp" | grep -c '^process ')"
# A clock that is hyprof's own is exact, also where it begins at 0: no error has room before that.
"$BUILD/tools/made_trace" many "$TMPDIR/made.hyp" 2000 100
printf 'name,begin,duration,device\na,0,1000,gpu\nb,2000,999,gpu\nc,1000000000,1,gpu\n' >"$TMPDIR/zero.csv"
"$HYPROF" import -q --clock raw "$TMPDIR/zero.csv" --into "$TMPDIR/made.hyp" -o "$TMPDIR/zero.hyp"
"$HYPROF" query -q --sqlite "$TMPDIR/zero.db" "$TMPDIR/zero.hyp"
holds "a clock that is hyprof's own: the period is 1 ns" same 1.0 "$(sqlite3 "$TMPDIR/zero.db" "SELECT period_ns FROM devices")"
holds "and places are exact; the recording begins at 1 ns" same "1999 999999999" "$(sqlite3 "$TMPDIR/zero.db" "SELECT group_concat(begin_ns, ' ')
        FROM device_spans WHERE begin_ns > 0")"
# Without --clock raw the times would be elsewhere: the readings made the difference.
sed 's/,monotonic,/,raw,/' "$TMPDIR/notes.csv" | grep -v ',realtime,\|,boottime,' >"$TMPDIR/raw.csv"
"$HYPROF" import -q "$TMPDIR/raw.csv" --into "$TMPDIR/timed.hyp" -o "$TMPDIR/wrong.hyp"
apart=$(python3 -c 'import time; print(abs(time.clock_gettime_ns(time.CLOCK_MONOTONIC) - time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)))')
read -r n worst <<<"$("$HYPROF" dump "$TMPDIR/wrong.hyp" | python3 "$TMPDIR/judge.py")"
holds "taken as they are, they are as far away as the clocks" compare "$worst" ">=" "$apart / 2"
