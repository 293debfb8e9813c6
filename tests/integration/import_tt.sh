#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof import of tt-metal's device log: ops have the device columns that tt-metal's own scripts make of it
set -u
. tests/tap.sh
need sqlite3
plan 8
data=$PWD/tests/data/import/tt
cd "$TMPDIR" || exit 2

mkdir -p profiler/.logs "profiler/reports/2026_01_01"
cp "$data/profile_log_device.csv.zst" profiler/.logs/profile_log_device.csv
cp "$data/sync_device_info.csv.zst" profiler/.logs/sync_device_info.csv
cp "$data/report_2026_8_chips.csv.zst" profiler/reports/2026_01_01/ops_perf_results_2026_01_01.csv

holds "a folder as tt-metal leaves it" ends_with 0 "$HYPROF" import profiler -o log.hyp
holds "is an intact trace" ends_with 0 "$HYPROF" check log.hyp
"$HYPROF" import profiler -o again.hyp >log.txt 2>&1
holds "which it says" grep -q '1,040 spans, 80 values and 80 instants on 50 tracks' log.txt
holds "a database of it" ends_with 0 "$HYPROF" query -q --sqlite log.db log.hyp
equal_truth() {
        local columns
        columns=$(head -n 1 "$data/truth_ops_perf_results.csv" | tr -d '\r' | sed 's/GLOBAL CALL COUNT/run_host_id/; s/,/","/g')
        sqlite3 -csv log.db "SELECT \"$columns\" FROM device_ops ORDER BY rowid" | tr -d '\r' >ours
        tail -n +2 "$data/truth_ops_perf_results.csv" | tr -d '\r' >theirs
        [ "$(wc -l <theirs)" -eq 20 ] && diff theirs ours
}
holds "18 columns of 20 operations equal those of tt-metal's scripts" equal_truth
replays() { same "3|1|4 3|2|4" "$(sqlite3 log.db 'SELECT trace, replay, count(*) FROM device_ops WHERE trace NOT NULL GROUP BY 1, 2' | paste -sd ' ')"; }
holds "replays of a trace are told apart" replays
holds "a report alone" ends_with 0 "$HYPROF" import profiler/reports/2026_01_01 -o report.hyp
holds "a log without readings of clocks" ends_with 0 "$HYPROF" import "$data/header_v3.csv" -o v3.hyp
