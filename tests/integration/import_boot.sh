#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof import --into: clocks that begin with a boot are not taken for those of the recording if anything says that they are not
set -u
. tests/tap.sh
plan 14
need zstd
need_sampling
data=$PWD/tests/data/import
cd "$TMPDIR" || exit 2

cat >now.py <<'END'
import os, time
begin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
print("name,process,thread,begin,duration,clock")
print(f"work,{os.getpid()},{os.getpid()},{begin},1000,monotonic")
END
holds "a recording" "$HYPROF" record -q -o rec.hyp -- sh -c 'exec python3 now.py >now.csv'
into() { "$HYPROF" import --force --into rec.hyp -o into.hyp "$@"; }
n_processes() { "$HYPROF" dump "$1" | grep -c '^process '; }

holds "a file that was just written is placed" ends_with 0 into now.csv
holds "without a doubt" sh -c "! grep boot err"
touch -d '2 days ago' now.csv
holds "one that was written before its event would have been is refused" ends_with 1 into now.csv
holds "it is of another boot" grep -q 'now.csv: its clock is of another boot than the recording' err
holds "what to do is said" grep -q 'try: hyprof import' err
holds "--clock raw takes times as they are" ends_with 0 into --clock raw now.csv
touch -d '2 days' now.csv
holds "one that was written long after is placed" ends_with 0 into now.csv
holds "with a note" grep -Eq 'now.csv was written 17[0-9]* s after its last event there: if it is of another boot' err

# CLOCK_MONOTONIC_RAW with a reading of CLOCK_REALTIME, and Chromium's snapshots of all clocks: of 2026, of another boot.
for file in perf/perf_raw_clock.data.zst perfetto/chrome_headless.pftrace.zst; do
        cp "$data/$file" file.zst
        holds "$file is placed by CLOCK_REALTIME" ends_with 0 into file.zst
        holds "$file is of another boot, and far away" grep -Eq 'placed within [0-9.]+ m?s, by CLOCK_REALTIME: it is of another boot' err
done
holds "a PID of this boot is the recorded process" same "$(n_processes rec.hyp)" "$(into -q now.csv && n_processes into.hyp)"
