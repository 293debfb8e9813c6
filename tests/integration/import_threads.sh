#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof import --into: imported threads, of which no context switches are known, change nothing that is said of the recorded ones
set -u
. tests/tap.sh
plan 8
need jq sqlite3
need_sampling
cd "$TMPDIR" || exit 2

cat >now.py <<'END'
import os, time
begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
while time.clock_gettime_ns(time.CLOCK_MONOTONIC) < begin + 300_000_000:
    pass
print("name,process,thread,begin,duration,clock")
for thread in (os.getpid(), 900001, 900002):
    print(f"work,{os.getpid()},{thread},{begin},300000000,monotonic")
END
holds "a recording with context switches" "$HYPROF" record -q -o rec.hyp -- sh -c 'exec python3 now.py >now.csv'
holds "spans of three threads are put into it" "$HYPROF" import -q now.csv --into rec.hyp -o into.hyp
on_cpu() { "$HYPROF" report --threads --json --limit 0 "$1" | jq -c "[.threads.rows[] | select(.on_cpu_ns != null) | .on_cpu_ns] | $2"; }
holds "recorded threads have their time on a CPU" compare "$(on_cpu rec.hyp add)" ">" 0
holds "it is the same with the others" same "$(on_cpu rec.hyp 'sort')" "$(on_cpu into.hyp 'sort')"
unsampled() { "$HYPROF" report --json "$1" | jq -c '[.missing.rows[] | [.code, .count, .share]]'; }
holds "as is what has no samples" same "$(unsampled rec.hyp)" "$(unsampled into.hyp)"
holds "zones: nothing is said of their time on a CPU" same "[3,null,null]" \
        "$("$HYPROF" report --zones --json into.hyp | jq -c '.zones.rows[] | select(.name == "work") | [.count, .on_cpu_ns, .waiting_ns]')"
holds "nor in the answer" sh -c "! \"$HYPROF\" report --zones into.hyp | head -n 2 | grep 'on a CPU'"
"$HYPROF" query -q --sqlite t.db into.hyp
holds "nor in SQLite" same 3 "$(sqlite3 t.db "SELECT count(*) FROM zones WHERE on_cpu_ns IS NULL")"
