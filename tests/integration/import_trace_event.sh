#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof import of trace-event JSON: real files are found by content, placed and counted; our own export comes back equal
set -eu
. tests/tap.sh
plan 35
need jq sqlite3

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
. tests/device_round_trip.sh
round_trip chrome
sed 's/"lane":[0-9]*,//; s/"device":9/"device":[9/' "$TMPDIR/chip.chrome" >"$TMPDIR/chip_bad.json"
holds "lanes without a number are malformed" same "8 true" "$("$HYPROF" import -q --force "$TMPDIR/chip_bad.json" -o "$TMPDIR/out.hyp";
        "$HYPROF" report --json "$TMPDIR/out.hyp" | jq -r '.imports.rows[0] | "\(.n_malformed) \(.n_rows > 7)"')"

# ---- what is not read, or not whole
holds "an HTML page is refused" ends_with 1 "$HYPROF" import "$data/hostile/html.json" -o "$TMPDIR/html.hyp"
holds "a cut array is read to the cut" ends_with 0 "$HYPROF" import "$data/hostile/cut_array.json" -o "$TMPDIR/cut.hyp"
holds "and that is said" grep -q "cut off" "$TMPDIR/err"
