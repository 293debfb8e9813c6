#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof import of trace-event JSON: real files are found by content, placed and counted; our own export comes back equal
set -eu
. tests/tap.sh
plan 29
need jq

data=tests/data/import/trace_event
ops() { "$HYPROF" dump "$1" | grep -c "^$2 " || true; }
imported() { "$HYPROF" import -q --force "$1" -o "$TMPDIR/out.hyp"; }

# ---- files of other programs: zones, spans of devices
while read -r file format n_zones n_spans; do
        holds "$file" ends_with 0 "$HYPROF" import --force "$data/$file" -o "$TMPDIR/out.hyp"
        holds "$file is $format" grep -q "($format)" "$TMPDIR/err"
        holds "$file: all spans are there" same "$n_zones $n_spans" \
                "$(ops "$TMPDIR/out.hyp" zone_begin) $(ops "$TMPDIR/out.hyp" device_span)"
done <<'END'
kineto_cuda_event_sync.json.zst trace-event 24 9
clang_time_trace.json.zst trace-event 4733 0
chromium_part.json.zst trace-event 3159 0
node_trace.json.zst trace-event 48 0
ninja_trace.json.gz trace-event 4 0
ninja_log.txt ninja-log 4 0
END

# ---- our own: names, lengths and distances of all zones
zones() { # the first begins at 0
        "$HYPROF" csv -u "$1" | tail -n +2 | sort -t, -k 4n | awk -F, 'NR == 1 { first = $4 } { print $1, $4 - first, $5 }'
}
"$BUILD/tools/made_trace" many "$TMPDIR/made.hyp" 2000 100
"$HYPROF" export chrome "$TMPDIR/made.hyp" -o "$TMPDIR/made.json" 2>"$TMPDIR/err"
holds "our own export" ends_with 0 "$HYPROF" import "$TMPDIR/made.json" -o "$TMPDIR/back.hyp"
holds "has zones" compare "$(ops "$TMPDIR/back.hyp" zone_begin)" ">" 100
holds "comes back equal" same "$(zones "$TMPDIR/made.hyp" | sort)" "$(zones "$TMPDIR/back.hyp" | sort)"

# ---- devices in our own: the tree of lanes, all work, the zones that handed it over
cat >"$TMPDIR/chip.csv" <<'END'
name,process,thread,begin_us,duration_us,device,track,lane,key,key_kind,text
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
        "$HYPROF" dump "$1" | grep -c "block 8"
}
imported "$TMPDIR/chip.csv" && mv "$TMPDIR/out.hyp" "$TMPDIR/chip.hyp"
"$HYPROF" export chrome "$TMPDIR/chip.hyp" -o "$TMPDIR/chip.json" 2>"$TMPDIR/err"
holds "our own export with devices" ends_with 0 "$HYPROF" import "$TMPDIR/chip.json" -o "$TMPDIR/chip_back.hyp"
holds "devices come back equal" same "$(devices "$TMPDIR/chip.hyp")" "$(devices "$TMPDIR/chip_back.hyp")"
"$HYPROF" export chrome "$TMPDIR/chip_back.hyp" -o "$TMPDIR/chip_again.json" 2>"$TMPDIR/err"
holds "cores are above their lanes" same "chip 0 / core 10 / stream 1, chip 0 / core 2 / stream 0, gpu 1 / stream 4" \
        "$(jq -r '[.traceEvents[] | select(.ph == "M" and .name == "thread_name" and (.args.clock // "") != "") | .args.name | sub(" \\(2\\)"; "")] | unique | join(", ")' \
                "$TMPDIR/chip_again.json")"
holds "the bounds that are not in the file are counted" grep -q "bound of a device" <("$HYPROF" dump "$TMPDIR/chip_back.hyp")
sed 's/"lane":[0-9]*,//; s/"device":9/"device":[9/' "$TMPDIR/chip.json" >"$TMPDIR/chip_bad.json"
holds "lanes without a number are malformed" same "8 true" "$("$HYPROF" import -q --force "$TMPDIR/chip_bad.json" -o "$TMPDIR/out.hyp";
        "$HYPROF" report --json "$TMPDIR/out.hyp" | jq -r '.imports.rows[0] | "\(.n_malformed) \(.n_rows > 7)"')"

# ---- what is not read, or not whole
holds "an HTML page is refused" ends_with 1 "$HYPROF" import "$data/hostile/html.json" -o "$TMPDIR/html.hyp"
holds "a cut array is read to the cut" ends_with 0 "$HYPROF" import "$data/hostile/cut_array.json" -o "$TMPDIR/cut.hyp"
holds "and that is said" grep -q "cut off" "$TMPDIR/err"
