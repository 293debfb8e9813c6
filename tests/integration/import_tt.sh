#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof import of tt-metal's device log: ops have the device columns that tt-metal's own scripts make of it
set -u
. tests/tap.sh
need jq sqlite3 python3
plan 26
root=$PWD
data=$root/tests/data/import/tt
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

# ---- the tree of cores and processors, how exact it is, and what belongs together, in each view
report=$("$HYPROF" report --devices --json --limit 0 log.hyp)
holds "report --devices: lanes by their way down, places within a bound" same "core 1,1 / BRISC
2 chip 0 1 true" "$(jq -r '.lanes.rows[0].name, "\(.devices.rows | map(select(.quality == "proven" and .placed[0:14] == "placed within ")) | length) \(
        .devices.rows[0].clock_name) \(.devices.rows[0].epochs) \(.devices.rows[0].bound_ns < 5000)"' <<<"$report")"
holds "and no warning" same '[]' "$(jq -c .warnings <<<"$report")"
sqlite() { sqlite3 log.db "$1"; }
holds "SQLite: a tree" same "core 1,1 / BRISC|core 1,1|core|processor" "$(sqlite "SELECT t.path, p.name, p.kind, t.kind FROM device_tracks t
        JOIN device_tracks p ON p.id = t.parent ORDER BY t.id LIMIT 1")"
holds "SQLite: lanes have a track each, spans the kind of their key" same "1040|40|tt run" "$(sqlite "SELECT count(*), count(DISTINCT t.id), min(key_kind)
        FROM device_spans s JOIN device_tracks t ON t.device = s.device AND t.lane = s.lane WHERE key NOT NULL")"
holds "SQLite: the bound of clocks" same "proven|1" "$(sqlite "SELECT min(clock_quality), min(bound_ns BETWEEN 1 AND 5000) FROM devices")"
holds "SQLite: each chip has one epoch, of all readings, with its rate" same "1|1|249|1 2|1|249|1" "$(sqlite "SELECT device, epoch, n_readings,
        abs(tick_ns - 1) < 1e-4 AND bound_ns < 5000 AND last_ns - first_ns BETWEEN 2500000000 AND 2700000000 FROM device_epochs" | paste -sd ' ')"
holds "SQLite: values and moments, of lanes that have spans then" same "80 80 tt run" "$(sqlite "SELECT count(*) || ' ' ||
        (SELECT count(*) || ' ' || min(key_kind) FROM device_instants i WHERE EXISTS (SELECT 1 FROM device_spans s WHERE s.device = i.device
        AND s.lane = i.lane AND i.time_ns BETWEEN begin_ns AND end_ns)) FROM device_values WHERE name LIKE 'CB-COMPUTE-%' AND value > 0")"
holds "SQLite: what was imported" same "profiler|tt-device|2240|0" "$(sqlite 'SELECT file, format, n_rows, n_malformed FROM imports')"
"$HYPROF" export perfetto -q log.hyp -o log.perfetto
holds "Perfetto: processors are below their core" same 4 "$(python3 "$root/tests/tools/track_slices.py" log.perfetto | grep -c '^core [12],[12]/BRISC BRISC-FW')"
"$HYPROF" export chrome -q log.hyp -o log.json
holds "Chrome: the way down is the name, with how exact it is" same 'chip 0, wormhole_b0 / core 1,1 / BRISC placed within' \
        "$(jq -r '[.traceEvents[] | select(.ph == "M" and .name != "hyprof_clock" and (.args.clock // "") != "")][0].args | "\(.name) \(.clock[0:13])"' log.json)"
"$HYPROF" export firefox -q log.hyp -o log.firefox
holds "Firefox: the same, and the kind of the key" same '"core 1,1 / BRISC" "tt run"' "$(zcat -f log.firefox | jq -r '(.shared.stringArray // .threads[0].stringArray) as $s |
        [.threads[].markers.data[] | select(.type? == "Device")][0] | "\"\($s[.track])\" \"\($s[.key_kind])\""')"

# ---- a chip whose counter was set back while its clock was read: both stretches are told apart in each form
mkdir reset
zstd -qdc "$data/sync_device_info.csv.zst" | awk -F, -v OFS=, '$1 + 0 == 0 && NR > 150 && NF > 4 && $4 != "" { $4 = sprintf("%.0f", $4 - 2000000000000) } { print }' >reset/sync_device_info.csv
zstd -qdc "$data/profile_log_device.csv.zst" >reset/profile_log_device.csv
"$HYPROF" import -q reset -o reset.hyp
"$HYPROF" query -q --sqlite reset.db reset.hyp
epochs() { sqlite3 reset.db "SELECT $1"; }
holds "a counter that was set back: SQLite has both stretches" same "2 149|100" "$(epochs "epochs FROM devices WHERE clock_name = 'chip 0'") $(epochs \
        "a.n_readings, b.n_readings FROM device_epochs a JOIN device_epochs b ON a.device = b.device AND a.epoch = 1 AND b.epoch = 2
        WHERE a.last_ns < b.first_ns AND b.last_ticks < a.first_ticks")"
words="placed within [0-9.]* us, 2 epochs"
"$HYPROF" export perfetto -q reset.hyp -o reset.perfetto
"$HYPROF" export chrome -q reset.hyp -o reset.json
"$HYPROF" export firefox -q reset.hyp -o reset.firefox
said() { "$HYPROF" report --devices reset.hyp | grep -q "$words" && grep -aq "hyprof device; $words" reset.perfetto && grep -q "\"clock\":\"$words\"" reset.json; }
holds "report, Perfetto and Chrome say so" said
holds "Firefox: at each zone, how exact it is" same "2 true" "$(zcat -f reset.firefox | jq -r '(.shared.stringArray // .threads[0].stringArray) as $s |
        [.threads[].markers.data[] | select(.type? == "Device") | $s[.placed]] | unique | "\(length) \(any(test("^placed within [0-9.]* us, 2 epochs$")))"')"
back() { "$HYPROF" import -q reset.perfetto -o back.hyp && "$HYPROF" report --devices --json back.hyp | jq -e '.devices.rows | length == 2'; }
holds "and the words are read back" back

# ---- zones that touch in ticks, with lengths that are no whole nanoseconds: nothing crosses
mkdir touch
zstd -qdc "$data/sync_device_info.csv.zst" >touch/sync_device_info.csv
{
        head -n 2 reset/profile_log_device.csv
        for i in {0..39}; do
                begin=$((2170900000000 + i * 1777777))
                printf '0,1,1,BRISC,1,%d,0,1024,,,TOUCHING,%s,49,b.cc,\n' $begin ZONE_START $((begin + 1777777)) ZONE_END
        done
} >touch/profile_log_device.csv
"$HYPROF" import -q touch -o touch.hyp
"$HYPROF" query -q --sqlite touch.db touch.hyp
rounded() { sqlite3 touch.db "SELECT count(*), sum(next < end_ns) > 3 FROM (SELECT end_ns, lead(begin_ns) OVER (ORDER BY begin_ns) next FROM device_spans)"; }
holds "rounded ends of zones that touch are beyond the next begin now and then" same "40|1" "$(rounded)"
"$HYPROF" export chrome -q touch.hyp -o touch.json
holds "none begins before the trace" same 0 "$(sqlite3 touch.db "SELECT sum(end_ns - begin_ns != duration_ns) FROM device_spans")"
holds "all the same they are on one track, and none overlaps" same "1 40 0" "$(jq -r '[.traceEvents[] | select(.ph == "X" and .cat == "device")] | sort_by(.ts) as $x |
        [range(1; length) | select($x[.].ts * 1000 - ($x[. - 1].ts + $x[. - 1].dur) * 1000 < -0.5)] as $over |
        "\(map(.tid) | unique | length) \(length) \($over | length)"' touch.json)"
