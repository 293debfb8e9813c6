#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof report --functions, --zones, --zone, --threads, --modules: of recordings with known truth, in every format, filtered
set -u
. tests/tap.sh
plan 124
need jq python3 sqlite3
need_sampling

record split "$WORKLOADS/w_split" 1
record waits --off-cpu "$WORKLOADS/w_waits" 5
record plain -- sqlite3 :memory: \
        'with recursive n(i) as (select 1 union all select i + 1 from n where i < 400000) select count(distinct i * 7 % 1000) from n;'

views="--functions --top-down --bottom-up --function=* --zones --threads --modules --lines"

view() { # name, options...
        "$HYPROF" report "${@:2}" "$TMPDIR/$1.hyp"
}

json() { # name, jq's expression, options...
        view "$1" --json --limit 0 "${@:3}" | jq -e "$2"
}

refused() { # exit status, words on standard error, arguments...
        local status=0
        "$HYPROF" "${@:3}" >"$TMPDIR/refused.out" 2>"$TMPDIR/refused" || status=$?
        cat "$TMPDIR/refused"
        [ "$status" = "$1" ] && [ ! -s "$TMPDIR/refused.out" ] && grep -qF -- "$2" "$TMPDIR/refused"
}

fits() { # name, columns, options...
        COLUMNS=$2 view "$1" "${@:3}" >"$TMPDIR/text" || return 1
        python3 -c 'import sys; sys.exit(any(len(l.rstrip("\n")) > int(sys.argv[1]) for l in sys.stdin))' "$2" <"$TMPDIR/text"
}

# CSV that Python reads has the columns and as many rows as the JSON.
csv_is_json() { # name, section, options...
        view "$1" --csv --limit 0 --section "$2" "${@:3}" >"$TMPDIR/csv" || return 1
        view "$1" --json --limit 0 "${@:3}" >"$TMPDIR/csv.json" || return 1
        python3 - "$TMPDIR/csv" "$TMPDIR/csv.json" "$2" <<'END'
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
wanted = json.load(open(sys.argv[2]))[sys.argv[3]]["rows"]
assert len(rows) == len(wanted), (len(rows), len(wanted))
for row, object in zip(rows, wanted):
    for key, text in row.items():
        value = " < ".join(object[key]) if isinstance(object[key], list) else object[key]
        assert text == "" if value is None else text == value if isinstance(value, str) \
            else abs(float(text) - value) <= 1e-9 * abs(value), (key, text, value)
END
}

for view in $views; do
        for trace in split waits plain; do
                holds "$trace $view: text of 120 columns" fits "$trace" 120 "$view"
                holds "$trace $view: JSON" json "$trace" '.schema | startswith("hyprof.")' "$view"
                holds "$trace $view: Markdown" grep -q '^### ' <(view "$trace" --format md "$view" || true)
        done
done
holds "one zone: text of 120 columns" fits split 120 --zone seventy

holds "CSV of functions is what JSON says" csv_is_json plain functions --functions
holds "CSV of a tree is what JSON says" csv_is_json split top_down --top-down
holds "CSV of zones is what JSON says" csv_is_json split zones --zones
holds "CSV of one zone's slowest is what JSON says" csv_is_json split slowest --zone seventy
holds "CSV of threads is what JSON says" csv_is_json waits threads --threads

holds "70 % and 30 % by function, within 5 points" json split '[.functions.rows[] | { (.function): .total_share }] | add |
        .seventy > 0.65 and .seventy < 0.75 and .thirty > 0.25 and .thirty < 0.35' --functions
# shellcheck disable=SC2016 # variables of jq
holds "the tree from the top has both below main" json split '
        [.top_down.rows[] | select(.function == "main") | .depth] as [$main] |
        [.top_down.rows[] | select(.function == "seventy" or .function == "thirty") | .depth] |
        length == 2 and all(. == $main + 1)' --top-down
holds "the tree from the bottom has main below the hottest" json split '
        .bottom_up.rows | .[0].function == "seventy" and .[1].function == "main" and .[1].depth == 1' --bottom-up
# shellcheck disable=SC2016 # variables of jq
holds "a child never weighs more than its parent" json plain '
        [foreach .top_down.rows[] as $row ([]; .[:$row.depth] + [$row.total_share];
                if $row.depth > 0 then .[$row.depth] <= .[$row.depth - 1] + 1e-9 else . != null end)] | all' --top-down --min-share 0
handle=$(view split --json --limit 0 --functions | jq -r '.functions.rows[] | select(.function == "seventy") | .handle')
holds "a handle is as good as the name" same "$(view split --json --limit 0 --function seventy | jq -c .functions)" \
        "$(view split --json --limit 0 --function "$handle" | jq -c .functions)"
holds "no such function: 1" ends_with 1 "$HYPROF" report --function nonsense "$TMPDIR/split.hyp"

zone=$(view split --json --limit 0 --zones | jq -r '.zones.rows[] | select(.name == "seventy") | .handle')
holds "zones: quantiles do not decrease" json split '.zones.rows |
        all([.min_ns, .p50_ns, .p90_ns, .p99_ns, .p99_9_ns, .max_ns] | . == sort)' --zones
holds "zones: on-CPU and waiting are the total" json split '.zones.rows |
        all(.on_cpu_ns == null or .on_cpu_ns + .waiting_ns == .total_ns)' --zones
holds "one zone is what the list of zones says" same \
        "$(view split --json --limit 0 --zones | jq -c '.zones.rows[] | select(.name == "seventy") |
                [.count, .total_ns, .self_ns, .on_cpu_ns, .min_ns, .mean_ns, .p50_ns, .p99_ns, .max_ns, .n_samples]')" \
        "$(view split --json --limit 0 --zone "$zone" |
                jq -c '[.count, .total_ns, .self_ns, .on_cpu_ns, .min_ns, .mean_ns, .p50_ns, .p99_ns, .max_ns, .n_samples]')"
holds "one zone: the histogram has every instance" json split '([.histogram.rows[].count] | add) == .count' --zone seventy
holds "one zone: threads add up" json split '([.threads.rows[].total_ns] | add) == .total_ns' --zone seventy
holds "one zone: the slowest first, and the very slowest" json split '
        .slowest.rows | length == 10 and map(.duration_ns) == (map(.duration_ns) | sort | reverse)' --zone seventy --limit 10
holds "one zone: the slowest is the longest" json split '.slowest.rows[0].duration_ns == .max_ns' --zone seventy
holds "one zone: what is called inside is its function" json split '
        [.calls.rows[] | select(.self_share > 0.5)] | length == 1 and .[0].function == "seventy"' --zone seventy
at=$(view split --json --limit 0 --zone seventy | jq -r '.slowest.rows[0] | "\(.at_ns)ns \(.at_ns + .duration_ns)ns"')
holds "the slowest is found by its time" json split '.zones.rows | any(.name == "seventy")' \
        --zones --from "${at% *}" --to "${at#* }"
holds "one zone: the distribution has every instance" json split '([.distribution.rows[].count] | add) == .count' --zone seventy
holds "zones as frames: every sample is below one zone or outside of all" json split \
        '([.top_down.rows[] | select(.depth == 0) | .total_samples] | add) == .n_samples and
        any(.top_down.rows[]; .function == "seventy" and (.handle | startswith("z"))) and
        any(.top_down.rows[]; .function == "seventy" and (.handle | startswith("f")) and .depth > 1)' --zones-as-frames --min-share 0
holds "zones as frames: --limit" json split '(.top_down.rows | length) == 3 and .top_down.left_out > 0' --zones-as-frames --limit 3
count_of() { view split --json --limit 0 --zone seventy "$@" | jq .count; }
median=$(view split --json --limit 0 --zone seventy | jq .p50_ns)ns
holds "instances by duration: each is on one side" \
        same "$(count_of)" "$(($(count_of --longer-than "$median") + $(count_of --shorter-than "$median")))"
holds "instances by duration: the chosen ones last so long" json split ".min_ns >= ${median%ns} and .count > 0 and
        (has(\"calls\") | not) and all(.slowest.rows[]; .duration_ns >= ${median%ns})" --zone seventy --longer-than "$median"
holds "no such zone: 1" ends_with 1 "$HYPROF" report --zone nonsense "$TMPDIR/split.hyp"
holds "a trace without zones has an answer" json plain '.zones.rows == []' --zones

holds "threads: the waiter has waited" json waits '.threads.rows[] | select(.name == "waiter") |
        .waiting_ns > 4e8 and .n_waits >= 20' --threads
holds "a thread by its name is alone" json waits '[.threads.rows[].name] == ["waiter"]' --threads --thread waiter

holds "modules: shares add up to 1" json plain '([.modules.rows[].share] | add) > 0.999' --modules
module=$(view plain --json --limit 0 --modules | jq -r '.modules.rows[0].path')
holds "modules: the filter keeps the one that is named" json plain '.modules.rows | length == 1' \
        --modules --module "$module"

holds "two views: 2" ends_with 2 "$HYPROF" report --zones --threads "$TMPDIR/split.hyp"
holds "no such section: 2" ends_with 2 "$HYPROF" report --zones --csv --section nonsense "$TMPDIR/split.hyp"
for command in report csv query; do
        options=()
        [ "$command" != query ] || options=(--sqlite "$TMPDIR/never.db")
        holds "$command: no such thread: 1, and where they are listed" refused 1 "report --threads $TMPDIR/split.hyp" \
                "$command" "${options[@]}" --thread nosuch "$TMPDIR/split.hyp"
        holds "$command: no list of CPUs: 2" refused 2 "--cpu x: not a list of CPUs" \
                "$command" "${options[@]}" --cpu x "$TMPDIR/split.hyp"
done
holds "no such event: the names of those that there are" refused 1 "there are: c" report -e nosuch "$TMPDIR/split.hyp"
holds "a database is no folder" refused 1 "is a directory" query --sqlite "$TMPDIR" "$TMPDIR/split.hyp"
holds "a database in no folder" refused 1 "its folder does not exist" query --sqlite "$TMPDIR/no/x.db" "$TMPDIR/split.hyp"
holds "the overview says what it is of" grep -q '^  only  *to 3600.000000000 s, thread waiter$' \
        <("$HYPROF" report --thread waiter --to 1h "$TMPDIR/waits.hyp")
holds "no zone in the range: not that the program has none" grep -q '^  zones  *no zone passes the filters$' \
        <("$HYPROF" report --thread waiter "$TMPDIR/waits.hyp")
holds "nothing in the range: 1" refused 1 "nothing in this trace happened in that range" report --to 0 "$TMPDIR/split.hyp"
for also in "" --off-cpu --cpus; do
        holds "80 columns: report $also" fits waits 80 $also
done
holds "CPUs: what the text leaves out is said" grep -q 'more row.*--limit 0 shows all' \
        <("$HYPROF" report --cpus --limit 1 "$TMPDIR/waits.hyp")
halves=$(for range in --to=300ms --from=300ms; do view waits --json --limit 0 --threads "$range"; done |
        jq -s '[.[].threads.rows[] | .on_cpu_ns + .waiting_ns] | add')
holds "two halves have the time on CPUs and the waiting of the whole" same "$halves" \
        "$(view waits --json --limit 0 --threads | jq '[.threads.rows[] | .on_cpu_ns + .waiting_ns] | add')"
holds "filters hold for the overview" same 1 \
        "$("$HYPROF" report --json --limit 0 --thread waiter "$TMPDIR/waits.hyp" | jq '.threads.rows | length')"
