#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program that knows Perfetto's SDK alone compiles with the header in its place, and all that it reports is in the trace
set -u
. tests/tap.sh
plan 35
need jq python3 g++
need_sampling

include=(-Iinstrument/client/include/hyprof/compat/perfetto)
strict=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Werror)

compiles() { # compiler, dialect, flags...
        "$1" -std="$2" "${strict[@]}" -O1 "${include[@]}" "${@:3}" -c tests/workloads/w_perfetto.cpp -o "$TMPDIR/object.o"
}
for pair in "g++ c++17" "g++ c++20" "clang++ c++17" "clang++ c++20"; do
        if ! command -v "${pair% *}" >/dev/null; then
                skips "$pair" "${pair% *} is not installed"
                continue
        fi
        holds "$pair" compiles "${pair% *}" "${pair#* }"
done
holds "HYPROF_DISABLE" compiles g++ c++17 -DHYPROF_DISABLE -Wno-unused
has_no_event() { [ "$(nm "$TMPDIR/object.o" | grep -c 'hyprof_emit_\(zone\|message\|plot\|device\)')" -eq 0 ]; }
holds "which leaves no event of it" has_no_event
with_path() { printf '#include <perfetto/perfetto.h>\n#include <perfetto/tracing.h>\n#include <perfetto/tracing/track_event.h>\n' |
        g++ -std=c++17 -Iinstrument/client/include/hyprof/compat -fsyntax-only -x c++ -; }
holds "perfetto/tracing/track_event.h" with_path

holds "alone it prints the same, and evaluates nothing" same "10 slices, 1 starts, 2 bytes, lazy" "$("$WORKLOADS/w_perfetto")"
record perfetto -- "$WORKLOADS/w_perfetto" 10
holds "recorded" same "10 slices, 1 starts, 2 bytes, lazy" "$(cat "$TMPDIR/perfetto.out")"
"$HYPROF" csv -u "$TMPDIR/perfetto.hyp" >"$TMPDIR/zones.csv"
"$HYPROF" csv -u -p "$TMPDIR/perfetto.hyp" >"$TMPDIR/plots.csv"
"$HYPROF" csv -m "$TMPDIR/perfetto.hyp" >"$TMPDIR/messages.csv"
"$HYPROF" csv -g "$TMPDIR/perfetto.hyp" >"$TMPDIR/spans.csv"
read_trace perfetto

n_zones() { grep -c "^$1," "$TMPDIR/zones.csv"; }
for zone in slices=1 scoped=10 "one statement=5" half=10 first=1 second=1 "made 10=1" "dynamic category=1" \
        "named by a lambda=1" "own track=1" "legacy two=1" "legacy half=1" "other set=1" moments=1; do
        holds "zone ${zone%=*}" same "${zone#*=}" "$(n_zones "${zone%=*}")"
done
holds "no other zone of a thread" same 39 "$(tail -n +2 "$TMPDIR/zones.csv" | grep -c .)"

# Cells of a table that fulfil a condition: table, Python's condition on a row, columns.
cells() {
        python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    if eval(sys.argv[2]):
        print(*(row[column] for column in sys.argv[3:]))' "$TMPDIR/$1.csv" "${@:2}"
}
values='{"bool":true,"int":-1,"unsigned":2,"double":0.5,"enum":3,"string":"a \"text\"\u000a","list":[1,2,3],"point":{"x":1,"y":2},"null":0,"owner":{"x":3,"y":4},"pointer":[1,2,3],"address":0,"lambda":["x",{"y":1}]}'
holds "annotations are texts" same '{"number":9}' "$(cells zones 'row["name"] == "scoped"' value | tail -n 1)"
holds "those of an end as well" same '{"result":"second"}' "$(cells zones 'row["name"] == "second"' value)"
holds "those of a lambda" same '{"key":"value"}' "$(cells zones 'row["name"] == "named by a lambda"' value)"
holds "values of all kinds, as JSON" same "$values" "$(cells zones 'row["name"] == "values"' value)"
holds "instants are messages" same $'moment\nmoment: {"why":"asked"}\nlegacy moment: {"a":1}\nlazy: {"value":1}' \
        "$(cells messages True MessageName)"
holds "counters are plots" same $'plain 1\nplain 2\nmemory 42\nsum 3\nsum 7\nmade 0.25\nlegacy counter 6' \
        "$(cells plots 'not row["src_file"]' name value)"
holds "slices of tracks are spans of a device, on the lanes of their tracks" same \
        $'block of a track 3 \ndescribed 2 flow\nobject 3 \nobject 3 \nobject 3 \npart 1 \npast 4 \nrequest 1 ' \
        "$(cells spans True name lane key_kind | LC_ALL=C sort)"
holds "which have the tracks' names" same "described requests" "$("$HYPROF" report --json --limit 0 --devices "$TMPDIR/perfetto.hyp" |
        jq -r '[.lanes.rows[].name | select(. == "described" or . == "requests")] | sort | join(" ")')"
holds "with the times that the program gave" same "2000 1000" "$(cells spans 'row["name"] in ("described", "past")' 'GPU execution time' | sort -rn | paste -sd ' ')"
holds "two calls were not recorded: a second flow, annotations on a track" same "NO_EVENTS 2" "$(lost perfetto)"
holds "the thread has its name" same "perfetto main" "$(cells zones True thread_name | sort -u)"
