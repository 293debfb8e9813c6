# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by scripts of importers: devices come back from an export of our own.  $TMPDIR/chip.FORMAT is that export.

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
# Values beyond 63 bits, which Perfetto has as doubles, are compared as that.
marks() { # trace: values and moments of its devices, since the first; keys by kind; how exact places are
        "$HYPROF" export sqlite -q --force "$1" -o "$TMPDIR/marks.db"
        sqlite3 "$TMPDIR/marks.db" "WITH f AS (SELECT min(t) AS t FROM (SELECT time_ns AS t FROM device_values
                UNION SELECT time_ns FROM device_instants))
                SELECT time_ns - f.t, name, CASE WHEN value < -9e18 THEN 'u64' WHEN value > 9e18 THEN 'u64' ELSE value END
                FROM device_values, f UNION ALL
                SELECT time_ns - f.t, l.name, key || ' ' || key_kind FROM device_instants JOIN locations l ON l.id = location, f"
        "$HYPROF" report --devices --json "$1" | jq -r '(.keys.rows[] | "\(.space // "key") \(.keys) \(.without_span)"),
                (.devices.rows[] | "\(.quality) \(.placed | sub("within [0-9]+ ns"; "within ns"))")' | sort
}
there_and_back() { # format, trace: $TMPDIR/there.FORMAT, $TMPDIR/back.hyp
        "$HYPROF" export -q --force "$1" "$2" -o "$TMPDIR/there.$1" &&
                "$HYPROF" import -q --force "$TMPDIR/there.$1" -o "$TMPDIR/back.hyp" 2>"$TMPDIR/err"
}
apart() { # trace: how many nanoseconds lie between the begins of its devices
        "$HYPROF" report --devices --json "$1" | jq '[.devices.rows[].first_at_ns] | max - min'
}
round_trip() { # format: ten cases
        "$HYPROF" import -q "$TMPDIR/chip.csv" -o "$TMPDIR/chip.hyp"
        "$HYPROF" export "$1" "$TMPDIR/chip.hyp" -o "$TMPDIR/chip.$1" 2>"$TMPDIR/err"
        holds "our own export with devices" ends_with 0 "$HYPROF" import "$TMPDIR/chip.$1" -o "$TMPDIR/chip_back.hyp"
        holds "devices come back equal" same "$(devices "$TMPDIR/chip.hyp")" "$(devices "$TMPDIR/chip_back.hyp")"
        "$HYPROF" export chrome "$TMPDIR/chip_back.hyp" -o "$TMPDIR/chip_again.json" 2>"$TMPDIR/err"
        holds "cores are above their lanes" same "chip 0 / core 10 / stream 1, chip 0 / core 2 / stream 0, gpu 1 / stream 4" \
                "$(jq -r '[.traceEvents[] | select(.ph == "M" and .name == "thread_name" and (.args.clock // "") != "") |
                        .args.name | sub(" \\(2\\)"; "")] | unique | join(", ")' "$TMPDIR/chip_again.json")"
        "$HYPROF" import -q --force tests/data/import/iree/gpu.ireeprof.zst -o "$TMPDIR/gpu.hyp"
        holds "a file with proven bounds" there_and_back "$1" "$TMPDIR/gpu.hyp"
        holds "bounds and values come back" same "$(marks "$TMPDIR/gpu.hyp")" "$(marks "$TMPDIR/back.hyp")"
        "$HYPROF" record -q --zones --devices -o "$TMPDIR/run_$1.hyp" -- "$WORKLOADS/w_keys"
        holds "a recording whose zones have several keys" there_and_back "$1" "$TMPDIR/run_$1.hyp"
        holds "all of them come back" same "$(marks "$TMPDIR/run_$1.hyp")" "$(marks "$TMPDIR/back.hyp")"
        "$HYPROF" record -q --zones --devices -o "$TMPDIR/every_$1.hyp" -- "$WORKLOADS/w_every_event" 2>"$TMPDIR/err"
        there_and_back "$1" "$TMPDIR/every_$1.hyp"
        holds "so do values and moments of devices" same "$(marks "$TMPDIR/every_$1.hyp")" "$(marks "$TMPDIR/back.hyp")"
        "$HYPROF" import -q --force "$TMPDIR/there.$1" --into "$TMPDIR/every_$1.hyp" -o "$TMPDIR/back.hyp" 2>"$TMPDIR/err"
        holds "into its own recording: the device is where it was" compare "$(apart "$TMPDIR/back.hyp")" "<=" 8
        holds "twice" same 2 "$("$HYPROF" report --devices --json "$TMPDIR/back.hyp" | jq '.devices.rows | length')"
}
