#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof merge: all events of all traces are in the result, threads apart by recording in every view; what is refused
set -eu
. tests/tap.sh
plan 45
need jq sqlite3
need_sampling

# The search for leaks is a process of its own.
record a -- env ASAN_OPTIONS=detect_leaks=0 "$WORKLOADS/w_truth" || true
record b -- env ASAN_OPTIONS=detect_leaks=0 "$WORKLOADS/w_two_zones" || true
a=$TMPDIR/a.hyp b=$TMPDIR/b.hyp c=$TMPDIR/c.hyp
number() { "$HYPROF" report --json --limit 0 "$1" | jq "$2"; }
events() { "$HYPROF" check --json --limit 0 "$1" 2>/dev/null | jq '.traces.rows[0].n_events'; }
ops() { "$HYPROF" dump "$1" | awk '/^(zone_begin|zone_end|sample|switch_in|switch_out|thread_name|thread_exit|message_text|plot_f64) / { print $1 }' | sort | uniq -c; }
both() { { ops "$a"; ops "$b"; } | awk '{ n[$2] += $1 } END { for (op in n) print n[op], op }' | sort -k 2; }

# ---- two recordings of this machine
holds "two traces" ends_with 0 "$HYPROF" merge "$a" "$b" -o "$c"
holds "placed exactly" grep -q 'placed exactly' "$TMPDIR/err"
cp "$TMPDIR/err" "$TMPDIR/first.err"
holds "intact" "$HYPROF" check "$c"
holds "every event of both" same "$(($(events "$a") + $(events "$b")))" "$(events "$c")"
holds "each op as often as in both" same "$(both)" "$(ops "$c" | awk '{ print $1, $2 }' | sort -k 2)"
holds "zones add up" same "$(($(number "$a" .n_zones) + $(number "$b" .n_zones)))" "$(number "$c" .n_zones)"
holds "samples add up" same "$(($(number "$a" .n_samples) + $(number "$b" .n_samples)))" "$(number "$c" .n_samples)"
holds "on-CPU times add up" same \
        "$(for t in "$a" "$b"; do number "$t" '[.threads.rows[].on_cpu_ns] | add'; done | jq -s add)" \
        "$(number "$c" '[.threads.rows[].on_cpu_ns] | add')"
holds "two processes" same 2 "$(number "$c" .n_processes)"
holds "the head names both" same '2 ["REFERENCE","SAME_BOOT"]' "$(number "$c" '.recordings.rows | "\(length) \(map(.clock))"' | jq -r .)"
holds "it covers both, one after the other" compare "$(number "$c" .duration_ns)" ">=" "$(number "$a" .duration_ns) + $(number "$b" .duration_ns)"

# ---- the time on CPUs is that of the threads, to 1% and 10 us for each of these: a thread that has ended is on none
cpu_time() { # view, trace, jq expression
        "$HYPROF" report "--$1" --limit 0 --json "$2" | jq "$3 | add"
}
agrees() { # trace
        local by_cpus by_threads n
        by_cpus=$(cpu_time cpus "$1" '[.cpus.rows[].busy_ns]')
        by_threads=$(cpu_time threads "$1" '[.threads.rows[] | select(.kind != "fiber").on_cpu_ns]')
        n=$(cpu_time threads "$1" '[.threads.rows | length]')
        compare "$by_cpus" ">=" "$by_threads * 0.99 - $n * 10000" && compare "$by_cpus" "<=" "$by_threads * 1.01 + $n * 10000"
}
# shellcheck disable=SC2016 # for the recorded shell
record short -- sh -c 'for i in 1 2 3 4 5 6; do ls / | wc -l; sleep 0.1; done'
record children -- "$WORKLOADS/w_short_lived" 200
"$HYPROF" merge -q "$TMPDIR/short.hyp" "$TMPDIR/children.hyp" -o "$TMPDIR/ended.hyp"
holds "short programs: on CPUs for as long as their threads ran" agrees "$TMPDIR/short.hyp"
holds "short processes: the same" agrees "$TMPDIR/children.hyp"
holds "merged: the same" agrees "$TMPDIR/ended.hyp"
holds "merged with others: the same" agrees "$c"

# ---- threads are called after their recording in every view
label() { "$HYPROF" report --json --limit 0 "$c" | jq -r ".recordings.rows[$1].label"; }
"$HYPROF" report "$c" >"$TMPDIR/report"
holds "report" grep -qF "w_truth@$(label 0)" "$TMPDIR/report"
"$HYPROF" report --threads "$c" >"$TMPDIR/threads"
holds "report --threads" grep -qF "w_two_zones@$(label 1)" "$TMPDIR/threads"
"$HYPROF" export chrome -o "$TMPDIR/c.json" "$c" 2>/dev/null
holds "an export" grep -qF "w_two_zones@$(label 1)" "$TMPDIR/c.json"
"$HYPROF" query --sqlite "$TMPDIR/c.db" "$c" 2>/dev/null
holds "the database: names" compare "$(sqlite3 "$TMPDIR/c.db" "SELECT count(*) FROM threads WHERE name LIKE '%@%:b'")" ">=" 1
holds "the database: a process of each recording" same "1 1" "$(sqlite3 "$TMPDIR/c.db" \
        "SELECT (SELECT count(*) FROM processes WHERE recording = 1), (SELECT count(*) FROM processes WHERE recording = 2)" | tr '|' ' ')"

# ---- a part of it: names with their label, or without
zones_of() { # trace, options
        "$HYPROF" report --json --limit 0 "${@:2}" "$1" 2>/dev/null | jq -r '"\(.n_zones) \(.n_processes)"'
}
"$HYPROF" merge -q "$a" "$b" -o "$TMPDIR/ab.hyp"
record b2 -- env ASAN_OPTIONS=detect_leaks=0 "$WORKLOADS/w_two_zones" 0.2 || true
"$HYPROF" merge -q "$TMPDIR/ab.hyp" "$TMPDIR/b2.hyp" -o "$TMPDIR/abb.hyp"
abb=$TMPDIR/abb.hyp
label_of() { "$HYPROF" report --json --limit 0 "$abb" | jq -r ".recordings.rows[$1].label"; }
holds "--process NAME: of all recordings" same "$(($(number "$b" .n_zones) + $(number "$TMPDIR/b2.hyp" .n_zones))) 2" \
        "$(zones_of "$abb" --process w_two_zones)"
holds "--process NAME@LABEL: of one" same "$(number "$TMPDIR/b2.hyp" .n_zones) 1" "$(zones_of "$abb" --process "w_two_zones@$(label_of 2)")"
holds "--process '*@LABEL': all of one" same "$(number "$a" .n_zones) 1" "$(zones_of "$abb" --process "*@$(label_of 0)")"
in_threads() { zones_of "$1" --thread w_two_zones | cut -d ' ' -f 1; }
holds "--thread NAME: of all recordings" same "$(($(in_threads "$b") + $(in_threads "$TMPDIR/b2.hyp")))" "$(in_threads "$abb")"
holds "a label alone is no name" ends_with 1 "$HYPROF" report --process "$(label_of 0)" "$abb"

# ---- a trace without events, a merged one, a pipe
record empty --no-sampling -- true 2>/dev/null || record empty -- true
holds "with one that has next to nothing" ends_with 0 "$HYPROF" merge "$c" "$TMPDIR/empty.hyp" -o "$TMPDIR/d.hyp"
holds "intact, too" "$HYPROF" check "$TMPDIR/d.hyp"
holds "three recordings" same 3 "$(number "$TMPDIR/d.hyp" '.recordings.rows | length')"
holds "from a pipe into a pipe" sh -c "\"$HYPROF\" merge -q \"$a\" - -o - <\"$b\" | \"$HYPROF\" check -"
holds "an old trace lies elsewhere: refused" ends_with 1 "$HYPROF" merge "$a" tests/golden/v1.0.hyp -o "$TMPDIR/e.hyp"
holds "in one line" same 1 "$(grep -c 'error:' "$TMPDIR/err")"

# ---- clocks
holds "recordings one after the other are said not to overlap" grep -q '^hyprof: note: .*a.hyp does not overlap with another one: the nearest is ' "$TMPDIR/first.err"
if unshare --time --fork --monotonic=1000 true 2>/dev/null; then
        # Two recordings at once, of a program with zones; the kernel's records have the machine's clock in both.
        unshare --time --fork --monotonic=100000 --boottime=100000 "$HYPROF" record -q -o "$TMPDIR/namespace.hyp" -- "$WORKLOADS/w_split" 0.5 &
        inside=$!
        "$HYPROF" record -q -o "$TMPDIR/outside.hyp" -- "$WORKLOADS/w_split" 0.5
        wait $inside
        "$HYPROF" merge "$TMPDIR/namespace.hyp" "$TMPDIR/outside.hyp" -o "$TMPDIR/clocks.hyp" 2>"$TMPDIR/err"
        holds "recordings at one time, one in a time namespace, are at one time" \
                test "$(number "$TMPDIR/clocks.hyp" '.duration_ns > 0 and .duration_ns < 600e9')" = true
        holds "it is placed exactly" same 2 "$(grep -c 'placed exactly' "$TMPDIR/err")"
        holds "without a warning" same 0 "$(grep -cE 'monotonic clock differs|does not overlap' "$TMPDIR/err")"
        read_trace namespace
        holds "samples lie in the zones that were open" compare \
                "$(n_events namespace 'kind == "sample" && path != ""')" ">=" "0.9 * $(n_events namespace 'kind == "sample" && self ~ /^(seventy|thirty)/')"
        holds "and there are some" compare "$(n_events namespace 'kind == "sample" && self ~ /^(seventy|thirty)/')" ">" 20
else
        skips_group "time namespaces" "hardware: no right or kernel to make one"
fi

# ---- what is wrong
head -c "$(($(stat -c %s "$b") * 2 / 3))" "$b" >"$TMPDIR/cut.hyp"
holds "one that is cut off" ends_with 0 "$HYPROF" merge "$a" "$TMPDIR/cut.hyp" -o "$TMPDIR/f.hyp"
holds "says so" grep -q 'cut.hyp: cut off' "$TMPDIR/err"
holds "the result does, too" test "$(number "$TMPDIR/f.hyp" '[.missing.rows[].code] | index("MERGED_PART") != null')" = true
holds "the result is intact" "$HYPROF" check "$TMPDIR/f.hyp"
cp "$a" "$TMPDIR/copy.hyp"
holds "a copy of the same recording is refused" ends_with 1 "$HYPROF" merge "$a" "$TMPDIR/copy.hyp" -o "$TMPDIR/g.hyp"
holds "and leaves nothing" test ! -e "$TMPDIR/g.hyp"
holds "a file that exists stays" ends_with 1 "$HYPROF" merge "$a" "$b" -o "$c"
holds "unless it is said" ends_with 0 "$HYPROF" merge --force "$a" "$b" -o "$c"
