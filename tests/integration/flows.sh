#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# w_flows: work that threads and processes hand to each other is followed: report, CSV, SQLite, exports and back, bounds
# shellcheck disable=SC2016 # jq's, awk's
set -eu
. tests/tap.sh
plan 28
need jq python3

holds "a program with flows is recorded" record flows --no-sampling "$WORKLOADS/w_flows"
trace=$TMPDIR/flows.hyp
flows() { # trace, jq's expression, options...
        "$HYPROF" report --flows --json --limit 0 "${@:3}" "$1" | jq -c "$2"
}
# from, to, kind, count, to other threads, to other processes; sorted
rows='[.flows.rows[] | [.from, .to, .kind, .count, .n_to_threads, .n_to_processes]] | sort'
wanted='[["ask","serve","flow",100,100,100],["child begins","child ends","flow",100,0,0],["produce","route","step",200,200,0],'
wanted+='["produce","work","flow",200,200,0],["route","work","step",200,200,0],["serve","collect","flow",100,100,100]]'
holds "each step between zones of threads and processes" same "$wanted" "$(flows "$trace" "$rows")"
holds "begins and ends" same '[504,500]' "$(flows "$trace" '[.begun, .ended]')"
holds "what was never ended, and never begun" same '[4,2,1]' "$(flows "$trace" '[.never_ended, .never_begun, .steps_never_begun]')"
holds "is said" same 3 "$(flows "$trace" '[.warnings[] | select(test("never"))] | length')"
holds "parts are not longer than the whole" same true "$(flows "$trace" '[.flows.rows[] | select(.from == "produce" or .to == "work")] |
        (.[] | select(.kind == "flow").total_ns) as $all | ([.[] | select(.kind == "step").total_ns] | add) == $all')"
holds "no time is negative, and percentiles are in order" same true "$(flows "$trace" '[.flows.rows[] |
        .min_ns >= 0 and .min_ns * 0.99 <= .p50_ns and .p50_ns <= .p99_ns and .p99_ns <= .max_ns * 1.01] | all')"
holds "CSV has the same rows" same 6 "$("$HYPROF" report --flows --csv "$trace" | awk -F, 'NR > 1 && $4 > 0' | wc -l)"
holds "the overview counts the events" same 1207 "$("$HYPROF" report --json --limit 0 "$trace" |
        jq '.also_recorded.rows[] | select(.kind == "flows").count')"

# A range of time has the flows with an end in it, and says nothing of the others.
last=$(flows "$trace" '.flows.rows[] | select(.from == "produce" and .kind == "flow").longest_at_ns')
holds "from the longest on: that one at least, and not all" compare \
        "$(flows "$trace" '.flows.rows[] | select(.from == "produce" and .kind == "flow").count' --from "${last}ns")" ">=" 1
holds "a thread's: what goes to it, and comes from it" same '[["produce","route","step",200],["route","work","step",200]]' \
        "$(flows "$trace" '[.flows.rows[] | [.from, .to, .kind, .count]] | sort' --thread router)"
holds "a zone's" same '[["ask","serve","flow",100],["serve","collect","flow",100]]' \
        "$(flows "$trace" '[.flows.rows[] | [.from, .to, .kind, .count]] | sort' --zone serve)"

holds "a thread that began none has none that never ended" same '[0,4]' \
        "$(for name in router main; do flows "$trace" .never_ended --thread "$name"; done | jq -cs .)"

# ---- SQLite
if python3 -c 'import sqlite3' 2>/dev/null && "$HYPROF" query --sqlite "$TMPDIR/flows.db" "$trace" 2>"$TMPDIR/err"; then
        sql() {
                python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]): print(*row)' "$TMPDIR/flows.db" "$1"
        }
        holds "a row for each step" same "job end 300 job step 200 reply end 100 request end 100" \
                "$(sql 'SELECT space, kind, count(*) FROM flows GROUP BY 1, 2 ORDER BY 1, 2' | xargs)"
        holds "with the zones and the time since the begin" same "200 $(flows "$trace" '.flows.rows[] |
                select(.from == "produce" and .kind == "flow").total_ns')" "$(sql 'SELECT count(*), sum(since_begin_ns) FROM flows
                JOIN locations a ON a.id = from_location JOIN locations b ON b.id = to_location
                WHERE kind = "end" AND a.name = "route" AND b.name = "work"')"
else
        skips_group "SQLite" "$(head -n 1 "$TMPDIR/err")"
fi

# ---- exports
"$HYPROF" export chrome -o "$TMPDIR/flows.json" "$trace" 2>/dev/null
phases='[.traceEvents[] | select(.cat == "flow" and (.ph == "s" or .ph == "t" or .ph == "f"))]'
holds "Chrome: begins, steps and ends" same '[["f",500],["s",500],["t",200]]' \
        "$(jq -c "$phases | group_by(.ph) | map([.[0].ph, length])" "$TMPDIR/flows.json")"
holds "Chrome: one begin and one end of each number" same true \
        "$(jq -c "$phases | group_by(.id) | map((map(select(.ph == \"s\")) | length) == 1 and (map(select(.ph == \"f\")) | length) == 1) | all" "$TMPDIR/flows.json")"
holds "back from there" "$HYPROF" import -q -o "$TMPDIR/back.hyp" "$TMPDIR/flows.json"
holds "the same steps, zones and processes" same "$wanted" "$(flows "$TMPDIR/back.hyp" "$rows")"
"$HYPROF" export perfetto -o "$TMPDIR/flows.pftrace" "$trace" 2>/dev/null
holds "Perfetto: begins and steps, and ends" same "700 500" "$(PYTHONPATH=tests/tools python3 -c 'import sys
from track_slices import fields, first_fields
n = {47: 0, 48: 0}
for _, packet in fields(open(sys.argv[1], "rb").read()):
    packet = first_fields(packet)
    for field, value in fields(packet.get(11, b"")):
        n[field] = n.get(field, 0) + (field in (47, 48) and int.from_bytes(value, "little") >> 62 == 1)
print(n[47], n[48])' "$TMPDIR/flows.pftrace")"
holds "a format without flows says how many it left out" sh -c '"$1" export speedscope -o "$2.s" "$2" 2>&1 | grep -q "1,207 events of flows"' \
        sh "$HYPROF" "$trace"

# ---- more flows than are followed at a time
holds "600,000 flows are begun and hardly ended" record many --no-sampling "$WORKLOADS/w_flows" many 600000
holds "all are counted" same '[600000,1000,599000]' "$(flows "$TMPDIR/many.hyp" '[.begun, .ended, .never_ended]')"
holds "and how many were given up" same '["337,856 flows given up: more than 262,144 were begun and not ended at a time"]' \
        "$(flows "$TMPDIR/many.hyp" '[.warnings[] | select(test("given up"))]')"

# ---- the path, without wake-ups: who made what a thread waited for
if "$HYPROF" doctor >"$TMPDIR/doctor" 2>&1; then
        first_of() { # name, argument of the workload...
                record "$1" -F 997 "$WORKLOADS/w_flow_waits" "${@:2}" &&
                        "$HYPROF" path --zone frame --json "$TMPDIR/$1.hyp" | jq -r '.path.rows[0].thread_name'
        }
        holds "the path goes on at the thread that handed over" same maker "$(first_of waits)"
        holds "and says by what" sh -c '"$1" path --zone frame "$2" | tr "\n" " " | grep -qF "taker waited for it (a flow of the program)"' \
                sh "$HYPROF" "$TMPDIR/waits.hyp"
        holds "without flows it does not know" same taker "$(first_of silent nothing)"
else
        skips_group "the path" "perf_event_open"
fi

# ---- without
holds "none: in words" sh -c '"$1" report --flows "$2" | grep -qE "no flows|not recorded"' sh "$HYPROF" tests/golden/v1.10.hyp
