#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `hyprof why`: its exit statuses, its four formats, and an answer for traces that say little
set -eu
. tests/tap.sh
plan 92
need jq
need_sampling

why() {
        "$HYPROF" why "$@"
}

# No share is above 100%, a cause is named if and only if a row is certain, and there are six facts at most.
is_consistent() { # options of why
        why --json --limit 0 "$@" >"$TMPDIR/why.json" && why "$@" >"$TMPDIR/why.txt" || return 1
        jq -e '[.causes.rows[]?] as $rows | all($rows[].share; . <= 1) and all(.calls.rows[]?.share; . <= 1) and
                (.cause | IN("own-thread", "program", "cpu-quota", "stopped")) or
                ((.cause != "none") == any($rows[].confidence; . == "high" or . == "medium"))' "$TMPDIR/why.json" ||
                { cat "$TMPDIR/why.txt" && return 1; }
        compare "$(sed '/^$/q' "$TMPDIR/why.txt" | grep -c '^  ')" '<=' 6
}

record small "$WORKLOADS/w_why" none 100
record bare true
record few "$WORKLOADS/w_why" none 20
record busy --off-cpu "$WORKLOADS/w_why" none 100

# Each of the commands after `next` and `try` that looks at a trace.
runs_hints() { # file
        local n=0 hint
        while read -r hint; do
                n=$((n + 1))
                PATH=$(dirname "$HYPROF"):$PATH sh -c "$hint" >"$TMPDIR/hint" 2>&1 ||
                        { echo "fails: $hint" && cat "$TMPDIR/hint" && return 1; }
        done < <(sed -n '/COMMAND/d; s/^ *\(try: \)\?\(hyprof .*\)/\2/p' "$1")
        compare $n '>=' 1
}

holds 'an answer' ends_with 0 why --zone request "$TMPDIR/small.hyp"
holds 'its first line is words' grep -q '^[a-z0-9]' "$TMPDIR/out"
holds 'too few slow instances are said to be' ends_with 0 why --zone request --json --limit 0 "$TMPDIR/small.hyp"
holds 'and no cause is named' jq -e '.schema == "hyprof.why/1" and .cause == "none" and
        (.answer | startswith("not enough instances"))' "$TMPDIR/out"
holds 'more slow instances' ends_with 0 why --zone request --slowest 20% --json --limit 0 "$TMPDIR/small.hyp"
holds 'their shares add up' jq -e '(.slow_instances >= 10 and .slow_instances <= 30) and
        ([.causes.rows[].share | select(. > 0)] | add | . > 0.999 and . < 1.001)' "$TMPDIR/out"
holds 'a limit in time' ends_with 0 why --zone request --slower-than 1us --json --limit 0 "$TMPDIR/small.hyp"
holds 'all last longer than a microsecond' jq -e '.slow_instances == 100' "$TMPDIR/out"
holds 'waits were wanted, and none has a wake-up' ends_with 0 why --zone request --from 20ms --json --limit 0 "$TMPDIR/busy.hyp"
holds 'no warning asks for --off-cpu' jq -e '.warnings | all(test("--off-cpu") | not)' "$TMPDIR/out"
holds 'waits were not wanted' ends_with 0 why --zone request --from 20ms --json --limit 0 "$TMPDIR/small.hyp"
holds 'a warning asks for --off-cpu' jq -e '.warnings | any(test("no wake-ups: .*--off-cpu"))' "$TMPDIR/out"
holds 'Markdown' ends_with 0 why --zone request --format md "$TMPDIR/small.hyp"
holds 'CSV of a table' ends_with 0 why --zone request --slowest 20% --csv --section slowest "$TMPDIR/small.hyp"
holds 'with the names of the columns' grep -q '^at_ns,duration_ns,' "$TMPDIR/out"
holds 'standard input' ends_with 0 why --zone request - <"$TMPDIR/small.hyp"
holds 'only what is in a file' ends_with 0 why --zone request --module w_why --json --limit 0 "$TMPDIR/small.hyp"
holds 'which is said' jq -e '.warnings | any(test("other files are left out"))' "$TMPDIR/out"
holds 'no zone is named' ends_with 2 why "$TMPDIR/small.hyp"
holds 'a share that is none' ends_with 2 why --zone request --slowest 200% "$TMPDIR/small.hyp"
holds 'a time that is none' ends_with 2 why --zone request --slower-than soon "$TMPDIR/small.hyp"
for by in wall own on-cpu waiting; do
        holds "ranked by $by" ends_with 0 why --zone request --slowest 20% --by "$by" --json --limit 0 "$TMPDIR/small.hyp"
        holds 'and nothing is over 100%' jq -e '[.causes.rows[].share] | all(. <= 1)' "$TMPDIR/out"
done
holds 'a way of ranking that is none' ends_with 2 why --zone request --by luck "$TMPDIR/small.hyp"
holds 'an empty pattern' ends_with 2 why --zone '' "$TMPDIR/small.hyp"
holds 'no such zone' ends_with 1 why --zone nowhere "$TMPDIR/small.hyp"
holds 'no such zone in a trace without any' ends_with 1 why --zone request "$TMPDIR/bare.hyp"
holds 'no such file' ends_with 1 why --zone request "$TMPDIR/nothing.hyp"
# Commands of an answer can be pasted, whatever the trace is called.
hostile="$TMPDIR/it's a \$(false) trace.hyp"
cp "$TMPDIR/small.hyp" "$hostile"
holds 'the trace has an odd name' ends_with 0 why --zone request "$hostile"
holds 'what comes next can be pasted' runs_hints "$TMPDIR/out"
holds 'among that a share that has enough instances' grep -q 'why --zone request --slowest 10%' "$TMPDIR/out"
holds 'no zone is named of it' ends_with 2 why "$hostile"
holds 'what to try can be pasted' runs_hints "$TMPDIR/err"
holds 'no such zone in it' ends_with 1 why --zone nowhere "$hostile"
holds 'what to try then can be pasted' runs_hints "$TMPDIR/err"
holds 'too few instances for any share' ends_with 0 why --zone request "$TMPDIR/few.hyp"
holds 'and none is proposed' same 0 "$(grep -c -e '--slowest' "$TMPDIR/out")"

# Odd traces, asked in odd ways: instances that are few, all of them slow, without samples or switches, in each other, of fibers.
record unsampled --no-sampling "$WORKLOADS/w_why" path 100
record unswitched --no-switches "$WORKLOADS/w_why" mutex 100
record events "$WORKLOADS/w_every_event"
for trace in small few unsampled unswitched; do
        for by in wall own on-cpu waiting; do
                for choice in '--slowest 20%' '--slower-than 1ns' '--slower-than 1ms'; do
                        read -r -a options <<<"$choice"
                        holds "$trace, by $by, $choice" is_consistent --zone request --by "$by" "${options[@]}" "$TMPDIR/$trace.hyp"
                done
        done
done
holds 'any zone, of fibers and in each other' is_consistent --zone '*' --slowest 20% "$TMPDIR/events.hyp"
