#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# list, doctor, check, modules and annotate answer as text, Markdown, JSON and CSV: what each reader takes, with the same rows
set -eu
. tests/tap.sh
need python3 jq

trace=$TMPDIR/many.hyp
"$BUILD/tools/made_trace" many "$trace" 1000 400

# Statuses other than 0 are fine where the machine is what is asked about.
answer() { # file, words...
        "$HYPROF" "${@:2}" >"$1" 2>"$TMPDIR/err" || [ "$2" = doctor ]
}
n_csv_rows() { python3 -c 'import csv, sys; print(len(list(csv.DictReader(open(sys.argv[1], newline=""), strict=True))))' "$1"; }

# CSV has as many rows as the JSON, and Markdown a table.
in_each() { # schema, jq's path of the rows, words...
        answer "$TMPDIR/json" "${@:3}" --json && answer "$TMPDIR/csv" "${@:3}" --csv &&
                answer "$TMPDIR/md" "${@:3}" --format md && answer "$TMPDIR/text" "${@:3}" || return 1
        same "$1" "$(jq -r .schema "$TMPDIR/json")" || return 1
        same "$(jq "$2 | length" "$TMPDIR/json")" "$(n_csv_rows "$TMPDIR/csv")" || return 1
        compare "$(n_csv_rows "$TMPDIR/csv")" ">" 0 && grep -qE '^\| ---:? ' "$TMPDIR/md" && [ -s "$TMPDIR/text" ] || return 1
        same "$(cat "$TMPDIR/csv")" "$("$HYPROF" "${@:3}" --format csv 2>/dev/null)"
}
holds "list" in_each hyprof.events/1 .events list clock
holds "doctor" in_each hyprof.doctor/1 .findings.rows doctor
holds "check" in_each hyprof.check/1 .traces.rows check "$trace"
holds "modules" in_each hyprof.module_list/1 .modules modules "$trace"
holds "annotate, instructions" in_each hyprof.annotation/1 '[.parts[].instructions[]]' annotate "$trace" function_40
holds "annotate, lines" in_each hyprof.annotation/1 .lines annotate --source "$trace" function_40
holds "--section" same "$(cat "$TMPDIR/csv")" "$("$HYPROF" annotate --csv --section lines "$trace" function_40 2>/dev/null)"
holds "annotate: its samples are all there" same "$("$HYPROF" annotate --json "$trace" function_40 2>/dev/null | jq .samples)" \
        "$(python3 -c 'import csv, sys; print(sum(int(row["samples"]) for row in csv.DictReader(open(sys.argv[1], newline=""))))' "$TMPDIR/csv")"
for twice in "annotate --json --csv" "report --zones --csv --json" "report --format md --json" "why --csv --json"; do
        # shellcheck disable=SC2086 # words
        holds "one format: $twice" ends_with 2 "$HYPROF" $twice "$trace"
        holds "it says so: $twice" grep -q '^hyprof: error: two formats are asked for' "$TMPDIR/err"
done
holds "the same format twice" ends_with 0 "$HYPROF" report --zones --json --format json "$trace"

# ---- the overview is one look, and says what comes next
"$HYPROF" report "$trace" >"$TMPDIR/overview"
holds "report: about 60 lines, however many functions, zones and threads" compare "$(wc -l <"$TMPDIR/overview")" "<=" 66
holds "report: what comes next" grep -qxF "  hyprof report --zone $("$HYPROF" report --zones --json "$trace" | jq -r '.zones.rows[0].handle') $trace" "$TMPDIR/overview"

# ---- what is not well
head -c 2000 "$trace" >"$TMPDIR/cut.hyp"
holds "check --json of a trace that is cut off: status 1" ends_with 1 "$HYPROF" check --json "$TMPDIR/cut.hyp"
holds "says so" same "cut off" "$(jq -r '.traces.rows[0].result' "$TMPDIR/out")"
holds "with a complaint beside" grep -q '^hyprof: error: ' "$TMPDIR/err"
holds "check --repair --csv: repaired" ends_with 0 "$HYPROF" check --repair --csv "$TMPDIR/cut.hyp"
holds "says so, too" grep -q ',repaired,' "$TMPDIR/out"
holds "list of nothing: status 1" ends_with 1 "$HYPROF" list --csv no-such-word
holds "doctor: one status in each format" same "$("$HYPROF" doctor >/dev/null 2>&1; echo $?)" "$("$HYPROF" doctor --json >/dev/null 2>&1; echo $?)"
for command in list doctor "check $trace" "modules $trace"; do
        # shellcheck disable=SC2086 # words
        holds "${command%% *} --format xml: status 2" ends_with 2 "$HYPROF" $command --format xml
done
