#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof import of Perfetto's traces, ftrace's text and rocprofv3's tables: found by content, counted; our own export comes back equal
set -eu
. tests/tap.sh
plan 30

data=tests/data/import
ops() { "$HYPROF" dump "$1" | grep -c "^$2 " || true; }

# ---- files of other programs: zones, spans of devices
while read -r file format n_zones n_spans; do
        holds "$file" ends_with 0 "$HYPROF" import --force "$data/$file" -o "$TMPDIR/out.hyp"
        holds "$file is $format" grep -q "($format)" "$TMPDIR/err"
        holds "$file: all spans are there" same "$n_zones $n_spans" \
                "$(ops "$TMPDIR/out.hyp" zone_begin) $(ops "$TMPDIR/out.hyp" device_span)"
done <<'END'
perfetto/chrome_headless.pftrace.zst pftrace 18978 0
text/trace_marker.txt ftrace 42 0
text/kernel_trace_2024.csv rocprofv3 0 4
text/kernel_trace_2025.csv rocprofv3 0 3
text/rocpd2csv_kernel_trace.csv rocprofv3 0 2
text/marker_api_trace.csv rocprofv3 3 0
END

# ---- our own: names, places, begins and lengths of all zones
zones() {
        "$HYPROF" csv -u "$1" | tail -n +2 | awk -F, '{ print $1, $2, $3, $5 }' | sort
}
begins() { # the first begins at 0
        "$HYPROF" csv -u "$1" | tail -n +2 | sort -t, -k 4n | awk -F, 'NR == 1 { first = $4 } { print $1, $4 - first, $5 }' | sort
}
"$BUILD/tools/made_trace" many "$TMPDIR/made.hyp" 2000 100
"$HYPROF" export perfetto "$TMPDIR/made.hyp" -o "$TMPDIR/made.pftrace" 2>"$TMPDIR/err"
holds "our own export" ends_with 0 "$HYPROF" import "$TMPDIR/made.pftrace" -o "$TMPDIR/back.hyp"
holds "has zones" compare "$(ops "$TMPDIR/back.hyp" zone_begin)" ">" 100
holds "zones come back with their names, places and lengths" same "$(zones "$TMPDIR/made.hyp")" "$(zones "$TMPDIR/back.hyp")"
holds "and begins" same "$(begins "$TMPDIR/made.hyp")" "$(begins "$TMPDIR/back.hyp")"

# ---- devices in our own: the tree of lanes, all work, the zones that handed it over
cat >"$TMPDIR/chip.csv" <<'END'
name,process,thread,begin_us,duration_us,device,track,lane,key,key_kind,text
prepare,7,7,0,20,,,,,,
launch,7,7,100,20,,,,1,launch,
launch,7,7,200,20,,,,2,launch,
work,,,150,30,chip 0,core 2,0,1,launch,block 8
work,,,160,30,chip 0,core 10,1,2,launch,
work,,,165,30,chip 0,core 10,1,18446744073709551615,launch,
idle,,,165,5,gpu 1,,4,,,
END
devices() { # trace: its lanes, keys, host operations, and the texts of its spans
        "$HYPROF" report --devices --json "$1" | jq -c '[.devices.rows[] | .device, .count, .busy_ns],
                [.lanes.rows[] | [.device, .name, .count, .busy_ns, .first_at_ns]],
                [.host_operations.rows[] | [.name, .spans, .total_ns, .mean_delay_ns, .early]],
                [.keys.rows[] | [.space, .keys, .spans, .without_zone]]'
        "$HYPROF" dump "$1" | grep "block 8" | sed 's/.*text=//'
}
"$HYPROF" import -q "$TMPDIR/chip.csv" -o "$TMPDIR/chip.hyp"
"$HYPROF" export perfetto "$TMPDIR/chip.hyp" -o "$TMPDIR/chip.pftrace" 2>"$TMPDIR/err"
holds "our own export with devices" ends_with 0 "$HYPROF" import "$TMPDIR/chip.pftrace" -o "$TMPDIR/chip_back.hyp"
holds "devices come back equal" same "$(devices "$TMPDIR/chip.hyp")" "$(devices "$TMPDIR/chip_back.hyp")"
"$HYPROF" export chrome "$TMPDIR/chip_back.hyp" -o "$TMPDIR/chip_again.json" 2>"$TMPDIR/err"
holds "cores are above their lanes" same "chip 0 / core 10 / stream 1, chip 0 / core 2 / stream 0, gpu 1 / stream 4" \
        "$(jq -r '[.traceEvents[] | select(.ph == "M" and .name == "thread_name" and (.args.clock // "") != "") |
                .args.name | sub(" \\(2\\)"; "")] | unique | join(", ")' "$TMPDIR/chip_again.json")"
holds "the bounds that are not in the file are counted" grep -q "bound of a device" <("$HYPROF" dump "$TMPDIR/chip_back.hyp")

# ---- the clock that a text does not say; what is cut
"$HYPROF" record -q -o "$TMPDIR/run.hyp" -- true
holds "ftrace's clock must be said" ends_with 1 "$HYPROF" import "$data/text/trace_marker.txt" --into "$TMPDIR/run.hyp" -o "$TMPDIR/x.hyp"
cp "$data/text/trace_marker.txt" "$TMPDIR/marker.txt"
touch -d '1 day' "$TMPDIR/marker.txt" # whatever this machine's uptime is: not before its last event
holds "with it, it is placed" ends_with 0 "$HYPROF" import "$TMPDIR/marker.txt" --clock monotonic --into "$TMPDIR/run.hyp" -o "$TMPDIR/x.hyp"
head -c 5000 "$TMPDIR/made.pftrace" >"$TMPDIR/cut.pftrace"
holds "a cut file is read to the cut" ends_with 0 "$HYPROF" import "$TMPDIR/cut.pftrace" -o "$TMPDIR/cut.hyp"
holds "and that is said" grep -q "cut off" "$TMPDIR/err"
