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
round_trip() { # format: four cases
        "$HYPROF" import -q "$TMPDIR/chip.csv" -o "$TMPDIR/chip.hyp"
        "$HYPROF" export "$1" "$TMPDIR/chip.hyp" -o "$TMPDIR/chip.$1" 2>"$TMPDIR/err"
        holds "our own export with devices" ends_with 0 "$HYPROF" import "$TMPDIR/chip.$1" -o "$TMPDIR/chip_back.hyp"
        holds "devices come back equal" same "$(devices "$TMPDIR/chip.hyp")" "$(devices "$TMPDIR/chip_back.hyp")"
        "$HYPROF" export chrome "$TMPDIR/chip_back.hyp" -o "$TMPDIR/chip_again.json" 2>"$TMPDIR/err"
        holds "cores are above their lanes" same "chip 0 / core 10 / stream 1, chip 0 / core 2 / stream 0, gpu 1 / stream 4" \
                "$(jq -r '[.traceEvents[] | select(.ph == "M" and .name == "thread_name" and (.args.clock // "") != "") |
                        .args.name | sub(" \\(2\\)"; "")] | unique | join(", ")' "$TMPDIR/chip_again.json")"
        holds "the bounds that are not in the file are counted" grep -q "bound of a device" <("$HYPROF" dump "$TMPDIR/chip_back.hyp")
}
