#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# list, doctor, check, modules, annotate, why, path, diff and report answer as text, Markdown, JSON and CSV: the same rows, the same numbers
set -eu
. tests/tap.sh
plan 91
need python3 jq

trace=$TMPDIR/many.hyp
"$BUILD/tools/made_trace" many "$trace" 1000 400

# The same facts, rows and numbers as text, Markdown, JSON and CSV.
in_each() { # schema, words...
        "$HYPROF" "${@:2}" --json --limit 0 2>/dev/null | jq -e --arg schema "$1" '.schema == $schema and (.answer | type == "string")' || return 1
        python3 tests/tools/compare_formats.py "$HYPROF" "${@:2}" >"$TMPDIR/said" 2>"$TMPDIR/err" || true
        grep ' tables compared$' "$TMPDIR/said" || { cat "$TMPDIR/said" "$TMPDIR/err" && return 1; }
        same "" "$(grep -vE '^$| tables compared$' "$TMPDIR/said")"
}
# A reader that has seen enough, such as `head`, is no failure.
without_reader() { # words...
        local status=0
        mkfifo "$TMPDIR/pipe"
        exec 7<>"$TMPDIR/pipe"
        exec 8>"$TMPDIR/pipe"
        exec 7<&-
        "$HYPROF" "$@" >&8 2>"$TMPDIR/err" || status=$?
        exec 8>&-
        rm "$TMPDIR/pipe"
        same "" "$(cat "$TMPDIR/err")" && same 0 "$status"
}
# Each instruction with samples stands in the listing, with as many.
in_listing() { # words...
        "$HYPROF" "$@" --json --limit 0 2>/dev/null | jq -r '.instructions.rows[] | select(.n_samples > 0) | "\(.address) \(.n_samples)"' |
                sort >"$TMPDIR/wanted"
        "$HYPROF" "$@" 2>/dev/null | tr -d ',*' | sed -nE 's/^ *[0-9.]+% +([0-9]+) .* (0x[0-9a-f]+): .*/\2 \1/p; s/^ *[0-9.]+% +([0-9]+) +(0x[0-9a-f]+):.*/\2 \1/p' |
                sort >"$TMPDIR/found"
        [ -s "$TMPDIR/wanted" ] && diff "$TMPDIR/wanted" "$TMPDIR/found"
}
holds "list" in_each hyprof.events/2 list clock
holds "list, all" in_each hyprof.events/2 list
holds "version" in_each hyprof.version/2 --version
# Each view of a report has an answer; trees have all their rows.
in_four() { # words...
        "$HYPROF" report "$@" --json --limit 1 | jq -e '.answer | type == "string" and length > 0' >/dev/null || { echo "no answer" && return 1; }
        python3 tests/tools/compare_formats.py "$HYPROF" report "$@" >"$TMPDIR/said" && tail -n 1 "$TMPDIR/said" && return 0
        head -n 20 "$TMPDIR/said" && return 1
}
holds "report" in_each hyprof.report/3 report "$trace"
whole=(--min-share 0 --depth 64)
for view in --functions --lines --threads --modules "--zones --histogram" "--zone zone_3" "--zone zone_3 --group-by thread"; do
        # shellcheck disable=SC2086 # words
        holds "report $view" in_four $view "$trace"
done
for view in --top-down --bottom-up "--function function_4"; do
        # shellcheck disable=SC2086 # words
        holds "report $view" in_four $view "${whole[@]}" "$trace"
done
if "$HYPROF" doctor >/dev/null 2>&1; then
        holds "doctor" in_each hyprof.doctor/2 doctor
fi
holds "check" in_each hyprof.check/2 check "$trace"
holds "modules" in_each hyprof.module_list/2 modules "$trace"
holds "annotate" in_each hyprof.annotation/2 annotate "$trace" function_40
holds "annotate, the hottest" in_each hyprof.annotation/2 annotate "$trace"
for format in text md json csv; do
        holds "report in $format without a reader" without_reader report --functions --limit 0 --format "$format" "$trace"
done
holds "why" in_each hyprof.why/1 why --zone zone_3 "$trace"
holds "path" in_each hyprof.path/1 path tests/golden/v1.8.hyp
holds "path of a zone" in_each hyprof.path/1 path --zone frame tests/golden/v1.8.hyp
holds "path --limit is of each table" same "1 1" "$("$HYPROF" path --json --limit 1 tests/golden/v1.8.hyp | jq -r '"\(.path.rows | length) \(.slowest.rows | length)"')"
for view in path "report --wall" "report --idle"; do
        # shellcheck disable=SC2086 # words
        holds "$view says what the recorder lost" same true "$("$HYPROF" $view --json tests/golden/v1.8.hyp |
                jq '.warnings | map(contains("call stacks truncated")) | any')"
done
holds "path without switches: status 1" ends_with 1 "$HYPROF" path "$trace"
holds "diff" in_each hyprof.diff/1 diff --anyway "$trace" "$trace"
if "$HYPROF" doctor >/dev/null 2>&1; then
        holds "recorded" record hot -F 2000 --off-cpu "$WORKLOADS/w_why" lock 200
        holds "report, recorded" in_each hyprof.report/3 report "$TMPDIR/hot.hyp"
        holds "report --off-cpu, recorded" in_four --off-cpu "$TMPDIR/hot.hyp"
        holds "report --wall, recorded" in_four --wall "$TMPDIR/hot.hyp"
        holds "report --idle, recorded" in_four --idle "$TMPDIR/hot.hyp"
        holds "recorded: counters" record counted -e '{cpu-clock,page-faults}:S' "$WORKLOADS/w_why" lock 50
        holds "report, with counters" in_each hyprof.report/3 report "$TMPDIR/counted.hyp"
        holds "report, with counters: each function" same true "$("$HYPROF" report --json --limit 0 "$TMPDIR/counted.hyp" |
                jq '(.function_counters.rows | length) > 1 and (.zone_counters.rows | length) > 0 and .function_counters.rows[0]["self_page-faults"] > 0')"
        holds "recorded: every event" record every --embed=none "$WORKLOADS/w_every_event"
        for view in --locks --memory --frames --plots --messages --devices; do
                holds "report $view" in_four "$view" "$TMPDIR/every.hyp"
        done
        for view in --top-down --bottom-up "--function flush" "--zone request"; do
                # shellcheck disable=SC2086 # words
                holds "report $view, recorded" in_four $view "${whole[@]}" "$TMPDIR/hot.hyp"
        done
        holds "report --off-cpu --cpus, recorded" in_four --off-cpu --cpus "$TMPDIR/hot.hyp"
        holds "annotate, with code and sources" in_each hyprof.annotation/2 annotate "$TMPDIR/hot.hyp" flush
        holds "annotate, its listing" in_listing annotate "$TMPDIR/hot.hyp" flush
        holds "annotate, recorded, the hottest" in_each hyprof.annotation/2 annotate "$TMPDIR/hot.hyp"
        holds "modules, recorded" in_each hyprof.module_list/2 modules "$TMPDIR/hot.hyp"
        holds "why, recorded" in_each hyprof.why/1 why --zone request "$TMPDIR/hot.hyp"
        holds "path, recorded" in_each hyprof.path/1 path "$TMPDIR/hot.hyp"
        holds "path of a zone, recorded" in_each hyprof.path/1 path --zone request "$TMPDIR/hot.hyp"
else
        skips "of a recorded trace" "nothing can be recorded here"
fi
holds "annotate --section lines" ends_with 0 "$HYPROF" annotate --csv --section lines "$trace" function_40
holds "annotate: its samples are all there" same "$("$HYPROF" annotate --json --limit 0 "$trace" function_40 2>/dev/null | jq .n_samples)" \
        "$(python3 -c 'import csv, sys; print(sum(int(row["n_samples"]) for row in csv.DictReader(open(sys.argv[1], newline=""))))' "$TMPDIR/out")"
for twice in "annotate --json --csv" "report --zones --csv --json" "report --format md --json" "why --csv --json"; do
        # shellcheck disable=SC2086 # words
        holds "one format: $twice" ends_with 2 "$HYPROF" $twice "$trace"
        holds "it says so: $twice" grep -q '^hyprof: error: two formats are asked for' "$TMPDIR/err"
done
holds "the same format twice" ends_with 0 "$HYPROF" report --zones --json --limit 0 --format json "$trace"

# ---- JSON is of a size that can be read, and leads on to all of it
holds "report --json: 24 KB" compare "$("$HYPROF" report --json "$trace" | wc -c)" "<=" 24576
holds "--limit 0: all of it" compare "$("$HYPROF" report --json --limit 0 "$trace" | wc -c)" ">" 49152
goes_on() { # table, words...
        local next=0
        : >"$TMPDIR/rows"
        while [ "$next" != null ]; do
                "$HYPROF" "${@:2}" --json --section "$1" --skip "$next" "$trace" >"$TMPDIR/page" || return 1
                compare "$(wc -c <"$TMPDIR/page")" "<=" 24576 || return 1
                jq -c ".$1.rows[]" "$TMPDIR/page" >>"$TMPDIR/rows"
                [ "$next" = 0 ] || jq -e ".$1.rows | length > 0" "$TMPDIR/page" >/dev/null || return 1
                next=$(jq ".$1.next" "$TMPDIR/page")
        done
        cmp "$TMPDIR/rows" <("$HYPROF" "${@:2}" --json --limit 0 "$trace" | jq -c ".$1.rows[]")
}
holds "next leads to all functions" goes_on functions report
holds "next leads to all instructions" goes_on instructions annotate --context all --percent-limit 0 function_40
holds "--skip of text: status 2" ends_with 2 "$HYPROF" report --skip 3 "$trace"
holds "it says for what it is" grep -q '^hyprof: error: --skip 3: leaves out rows of CSV or JSON' "$TMPDIR/err"
holds "--skip of CSV" same "$("$HYPROF" report --functions --csv "$trace" | sed 2,4d)" "$("$HYPROF" report --functions --csv --skip 3 "$trace")"
holds "--section of JSON that there is not: status 2" ends_with 2 "$HYPROF" report --json --section nothing "$trace"

# ---- the overview is one look, and says what comes next
"$HYPROF" report "$trace" >"$TMPDIR/overview"
holds "report: about 60 lines, however many functions, zones and threads" compare "$(wc -l <"$TMPDIR/overview")" "<=" 66
holds "report: what comes next" grep -qxF "  hyprof report --zone $("$HYPROF" report --zones --json --limit 0 "$trace" | jq -r '.zones.rows[0].handle') $trace" "$TMPDIR/overview"

# ---- what is not well
head -c 2000 "$trace" >"$TMPDIR/cut.hyp"
holds "check --json --limit 0 of a trace that is cut off: status 1" ends_with 1 "$HYPROF" check --json --limit 0 "$TMPDIR/cut.hyp"
holds "says so" same "cut off" "$(jq -r '.traces.rows[0].result' "$TMPDIR/out")"
holds "with a complaint beside" grep -q '^hyprof: error: ' "$TMPDIR/err"
holds "check --repair --csv: repaired" ends_with 0 "$HYPROF" check --repair --csv "$TMPDIR/cut.hyp"
holds "says so, too" grep -q ',repaired,' "$TMPDIR/out"
holds "list of nothing: status 1" ends_with 1 "$HYPROF" list --csv no-such-word
holds "doctor: one status in each format" same "$("$HYPROF" doctor >/dev/null 2>&1; echo $?)" "$("$HYPROF" doctor --json --limit 0 >/dev/null 2>&1; echo $?)"
for command in list doctor "check $trace" "modules $trace"; do
        # shellcheck disable=SC2086 # words
        holds "${command%% *} --format xml: status 2" ends_with 2 "$HYPROF" $command --format xml
done
