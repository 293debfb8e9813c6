#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A range of time, found by the states in the middle of a trace, is for every command what reading all of it says
set -eu
. tests/tap.sh
plan 42
need_sampling

printed() { # trace, command with options...: 'TRACE' stands for the trace
        local trace=$1
        "$HYPROF" "${@:2}" "$trace" 2>"$TMPDIR/err" | sed "s,$trace,TRACE,g"
}

exported() { # trace, format, options...
        "$HYPROF" export "$2" --force -o "$TMPDIR/exported" "${@:3}" "$1" 2>/dev/null
        sed "s,$1,TRACE,g" "$TMPDIR/exported"
}

# All rows, without their column `path`: paths have numbers by the order in which they are found.
database() { # trace, options...
        local table columns
        "$HYPROF" query --sqlite "$TMPDIR/out.db" --force "${@:2}" "$1" 2>/dev/null
        for table in threads zones samples waits messages plots frame_marks memory locks; do
                columns=$(sqlite3 "$TMPDIR/out.db" "select group_concat(name) from pragma_table_info('$table') where name <> 'path'")
                sqlite3 "$TMPDIR/out.db" "select $columns from $table"
        done
}

# For `holds`: both traces say the same.
same_of_both() { # function, arguments...
        "$1" "$TMPDIR/all.hyp" "${@:2}" | md5sum >"$TMPDIR/whole.sum"
        "$1" "$TMPDIR/ranges.hyp" "${@:2}" | md5sum >"$TMPDIR/part.sum"
        same "$(cat "$TMPDIR/whole.sum")" "$(cat "$TMPDIR/part.sum")"
}

holds "recorded" record ranges -F 500 --off-cpu --client-ring=512M -- "$WORKLOADS/w_ranges" 4000000
n_states=$("$BUILD/tools/without_states" "$TMPDIR/ranges.hyp" "$TMPDIR/all.hyp")
holds "states are in the trace" compare "$n_states" ">=" 2

duration_ns=$("$HYPROF" report --json --limit 0 "$TMPDIR/all.hyp" | jq .duration_ns)
at() { # share of the recording, in percent
        echo "$((duration_ns * $1 / 100))ns"
}

for range in "60 64" "97 100"; do
        read -r from to <<<"$range"
        options=(--from "$(at "$from")" --to "$(at "$to")")
        name="$from % to $to %"
        holds "$name: report" same_of_both printed report "${options[@]}" --json --limit 0
        holds "$name: CPUs and waits" same_of_both printed report "${options[@]}" --cpus --json --limit 0
        holds "$name: csv, statistics" same_of_both printed csv "${options[@]}"
        holds "$name: csv, every zone" same_of_both printed csv -u "${options[@]}"
        holds "$name: csv, messages" same_of_both printed csv -m "${options[@]}"
        for view in messages plots frames memory locks heat; do
                holds "$name: report --$view" same_of_both printed report --$view "${options[@]}" --json --limit 0
        done
        for format in firefox chrome speedscope folded callgrind perfetto pprof; do
                holds "$name: export $format" same_of_both exported $format "${options[@]}"
        done
        holds "$name: dump" same_of_both printed dump "${options[@]}"
        if command -v sqlite3 >/dev/null; then
                holds "$name: database" same_of_both database "${options[@]}"
        else
                skips "$name: database" "sqlite3 is not installed"
        fi
done
