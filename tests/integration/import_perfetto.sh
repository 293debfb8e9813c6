#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof import of Perfetto's traces, ftrace's text and rocprofv3's tables: found by content, counted; our own export comes back equal
set -eu
. tests/tap.sh
plan 36
need jq sqlite3

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
. tests/device_round_trip.sh
round_trip perfetto

# ---- the clock that a text does not say; what is cut
"$HYPROF" record -q -o "$TMPDIR/run.hyp" -- true
holds "ftrace's clock must be said" ends_with 1 "$HYPROF" import "$data/text/trace_marker.txt" --into "$TMPDIR/run.hyp" -o "$TMPDIR/x.hyp"
cp "$data/text/trace_marker.txt" "$TMPDIR/marker.txt"
touch -d '1 day' "$TMPDIR/marker.txt" # whatever this machine's uptime is: not before its last event
holds "with it, it is placed" ends_with 0 "$HYPROF" import "$TMPDIR/marker.txt" --clock monotonic --into "$TMPDIR/run.hyp" -o "$TMPDIR/x.hyp"
head -c 5000 "$TMPDIR/made.pftrace" >"$TMPDIR/cut.pftrace"
holds "a cut file is read to the cut" ends_with 0 "$HYPROF" import "$TMPDIR/cut.pftrace" -o "$TMPDIR/cut.hyp"
holds "and that is said" grep -q "cut off" "$TMPDIR/err"
