#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof csv and hyprof query: switches, filters, exit statuses; their numbers are the report's; what docs/use/sqlite.md asks runs
set -eu
. tests/tap.sh
plan 83
need jq sqlite3
need_sampling

holds "recorded" record split "$WORKLOADS/w_split" 0.3
holds "recorded, with everything that a program can say" record every "$WORKLOADS/w_every_event"
trace=$TMPDIR/split.hyp
"$HYPROF" report --zones --json --limit 0 "$trace" >"$TMPDIR/zones.json"
"$HYPROF" report --json --limit 0 "$trace" >"$TMPDIR/split.json"

from_csv() { # column, name, options...
        "$HYPROF" csv "${@:3}" "$trace" | awk -F, -v column="$1" -v name="$2" \
                'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $1 == name { print $at[column] }'
}

from_zones() { # member, name
        jq ".zones.rows[] | select(.name == \"$2\") | .$1" "$TMPDIR/zones.json"
}

header() { # options...
        "$HYPROF" csv "$@" "$trace" | head -n 1
}

query() { # SQL
        sqlite3 "$TMPDIR/out.db" "$1"
}

# csv

holds "csv: columns" same "name,src_file,src_line,total_ns,total_perc,counts,mean_ns,min_ns,max_ns,std_ns" "$(header)"
holds "csv -u: columns" same \
        "name,src_file,src_line,ns_since_start,exec_time_ns,thread,value,tid,thread_name,zone_name" "$(header -u)"
holds "csv -m: columns" same "MessageName,total_ns,tid,thread_name,severity" "$(header -m)"
holds "csv --sep" same "name	src_file" "$(header -s '\t' | cut -f 1-2)"
for pair in "counts count" "total_ns total_ns" "min_ns min_ns" "max_ns max_ns" "mean_ns mean_ns"; do
        read -r column member <<<"$pair"
        holds "csv: $column is the report's" same "$(from_zones "$member" seventy)" "$(from_csv "$column" seventy)"
done
holds "csv -e: the report's self time" same "$(from_zones self_ns thirty)" "$(from_csv total_ns thirty -e)"
holds "csv -u: a row for each zone" same "$(from_zones count seventy)" "$(from_csv name seventy -u | wc -l)"
holds "csv -f: no other zones" same "" "$(from_csv name thirty -f sevent)"
holds "csv -f: capitals do not matter" same seventy "$(from_csv name seventy -f SEVENT)"
holds "csv -f -c: they do" same "" "$(from_csv name seventy -f SEVENT -c)"
holds "csv --zone" same "" "$(from_csv name thirty --zone seventy)"
holds "csv --to: fewer zones" compare "$(from_csv counts seventy --to 100ms)" "<" "$(from_zones count seventy)"
holds "csv -m: messages" compare "$("$HYPROF" csv -m "$TMPDIR/every.hyp" | wc -l)" ">" 1
holds "export folded: each callstack is one line" same "" \
        "$("$HYPROF" export folded -o - "$trace" | sed 's/ [0-9]*$//' | sort | uniq -d)"
"$HYPROF" export firefox -o "$TMPDIR/firefox.json" "$trace" 2>/dev/null
holds "export firefox: a category for others' time, which is no activity" same transparent \
        "$(jq -r '.meta.categories[] | select(.name == "Idle") | .color' "$TMPDIR/firefox.json")"
# shellcheck disable=SC2016 # for jq
holds "export firefox: preempted frames are of it" same '' "$(jq -r '.meta.categories as $c | .shared as $s |
        $s.frameTable | [.func, .category] | transpose[] | select($s.stringArray[$s.funcTable.name[.[0]]] == "[preempted]") |
        $c[.[1]].name | select(. != "Idle")' "$TMPDIR/firefox.json")"
holds "csv -u: values of zones" grep -q '^-42 \[0xffffffffffffffd6\]",\|,-42 \[0xffffffffffffffd6\],' \
        <("$HYPROF" csv -u "$TMPDIR/every.hyp")
holds "csv -u -p: plots" compare "$("$HYPROF" csv -u -p -f nothing_is_called_so "$TMPDIR/every.hyp" | wc -l)" ">" 1
holds "csv: standard input" same "$(from_csv counts seventy)" "$("$HYPROF" csv - <"$trace" |
        awk -F, '$1 == "seventy" { print $6 }')"
holds "csv: -p without -u" ends_with 2 "$HYPROF" csv -p "$trace"
holds "csv: a separator of two characters" ends_with 2 "$HYPROF" csv -s ab "$trace"
holds "csv: no such file" ends_with 1 "$HYPROF" csv "$TMPDIR/nowhere.hyp"
holds "csv: no such zone" ends_with 1 "$HYPROF" csv --zone nowhere "$trace"

# Names that a spreadsheet takes for formulas: left alone by themselves, no cell is one with --csv-safe.
printf 'name,process,thread,begin,duration\n%s\n' "=cmd|' /C calc'!A0,1,1,0,10" '+step,1,1,20,10' '@at,1,1,40,10' '-minus,1,1,60,10' '＝wide,1,1,80,10' >"$TMPDIR/formulas.csv"
"$HYPROF" import -q "$TMPDIR/formulas.csv" -o "$TMPDIR/formulas.hyp"
formulas() { "$HYPROF" "$@" "$TMPDIR/formulas.hyp" | grep -cE '(^|,)"?([=+@]|-[^0-9]|＝)' || true; }
for words in csv "csv -u" "report --zones --csv"; do
        read -r -a command <<<"$words"
        holds "$words: names as they are" same 5 "$(formulas "${command[@]}")"
        holds "$words --csv-safe: no formula" same 0 "$(formulas "${command[@]}" --csv-safe)"
done

to_full_disk() {
        ends_with 1 bash -c "'$HYPROF' csv -u '$trace' >/dev/full"
}
holds "csv: a full disk" to_full_disk

"$HYPROF" csv -u "$trace" >"$TMPDIR/alone.csv" 2>/dev/null
holds "export csv: the same, byte for byte" cmp "$TMPDIR/alone.csv" <("$HYPROF" export csv -u "$trace" 2>/dev/null)
holds "export csv: into a file" ends_with 0 "$HYPROF" export csv -u -o "$TMPDIR/file.csv" "$trace"
holds "export csv: says so" grep -qE '^hyprof: wrote .*/file\.csv \([0-9.]+ K?B\)$' "$TMPDIR/err"
holds "export csv: the same there" cmp "$TMPDIR/alone.csv" "$TMPDIR/file.csv"
holds "export csv: replaces no file" ends_with 1 "$HYPROF" export csv -o "$TMPDIR/file.csv" "$trace"
holds "export csv: says how" grep -q 'try: hyprof export csv --force -o ' "$TMPDIR/err"
holds "export csv: with --force, packed" ends_with 0 "$HYPROF" export csv --force -u -o "$TMPDIR/file.csv.gz" "$trace"
holds "export csv: quietly" ends_with 0 "$HYPROF" export csv --force --quiet -o "$TMPDIR/quiet.csv" "$trace"
holds "export csv: says nothing then" test ! -s "$TMPDIR/err"
holds "export csv: the same in it" cmp "$TMPDIR/alone.csv" <(zcat "$TMPDIR/file.csv.gz")

# query

holds "query" ends_with 0 "$HYPROF" query --sqlite "$TMPDIR/out.db" "$trace"
holds "export sqlite: named after the trace" ends_with 0 "$HYPROF" export sqlite "$trace"
holds "export sqlite: the same, byte for byte" cmp "$TMPDIR/out.db" "${trace%.hyp}.db"
holds "query: the database is whole" same ok "$(query 'PRAGMA integrity_check')"
holds "query: nothing else was left" same "$TMPDIR/out.db" "$(ls "$TMPDIR"/out.db*)"
holds "query: it replaces nothing" ends_with 1 "$HYPROF" query --sqlite "$TMPDIR/out.db" "$trace"
holds "query --force" ends_with 0 "$HYPROF" query -q --force --sqlite "$TMPDIR/out.db" "$trace"
holds "query -q: no words" same "" "$(cat "$TMPDIR/err")"
holds "query: where to" ends_with 2 "$HYPROF" query "$trace"
holds "query: a folder that is not there" ends_with 1 "$HYPROF" query --sqlite "$TMPDIR/no/out.db" "$trace"
holds "query: no such trace" ends_with 1 "$HYPROF" query --sqlite "$TMPDIR/none.db" "$TMPDIR/nowhere.hyp"
holds "query: which leaves no file" same "" "$(find "$TMPDIR" -name 'none.db*')"

for column in count total_ns self_ns min_ns max_ns; do
        holds "zone_stats: $column is the report's" same "$(from_zones $column thirty)" \
                "$(query "SELECT $column FROM zone_stats WHERE name = 'thirty'")"
done
holds "zone_stats: the handle is the report's" same "$(from_zones handle thirty | tr -d '"')" \
        "$(query "SELECT handle FROM zone_stats WHERE name = 'thirty'")"
holds "samples are the report's" same "$(reported split '[.threads.rows[].n_samples] | add')" \
        "$(query 'SELECT count(*) FROM samples JOIN events ON events.id = event WHERE mode < 3')"
for member in self total; do
        holds "function_$member is the report's" same \
                "$(reported split "[.functions.rows[] | select(.function == \"seventy\")][0].${member}_samples")" \
                "$(query "SELECT sum(samples) FROM function_$member WHERE function = 'seventy'")"
done
holds "zone_samples are the report's" same \
        "$(reported split '.zones.rows[] | select(.name == "seventy") | .n_samples')" \
        "$(query "SELECT samples FROM zone_samples WHERE zone = 'seventy'")"
holds "zone_functions" same "$(reported split '.zone_functions.rows[] |
        select(.zone_name == "seventy" and .function == "seventy") | .self_samples')" \
        "$(query "SELECT samples FROM zone_functions WHERE zone = 'seventy' AND function = 'seventy'")"
holds "query --zone: only that one" ends_with 0 "$HYPROF" query -q --force --zone thirty --sqlite "$TMPDIR/out.db" "$trace"
holds "query --zone: no other" same thirty "$(query 'SELECT group_concat(name) FROM zone_stats')"

holds "query: everything that a program can say" ends_with 0 \
        "$HYPROF" query -q --force --sqlite "$TMPDIR/out.db" "$TMPDIR/every.hyp"
for table in messages plots frame_marks memory locks; do
        holds "query: $table" compare "$(query "SELECT count(*) FROM $table")" ">" 0
done

holds "query: no paths, if none are asked for" same 0 "$(query 'SELECT count(*) FROM path_segments')"
holds "query --path" ends_with 0 "$HYPROF" query -q --force --path seventy --sqlite "$TMPDIR/out.db" "$trace"
holds "query --path: each instance is the sum of its parts" same "1 0" "$(query "SELECT (SELECT count(*) > 0 FROM path_segments) ||
        ' ' || (SELECT count(*) FROM (SELECT z.duration_ns AS whole, sum(p.ns) AS sum FROM zones z LEFT JOIN path_segments p
        ON p.zone_thread = z.thread AND p.zone_begin_ns = z.begin_ns JOIN locations l ON l.id = z.location
        WHERE l.name = 'seventy' AND z.closed GROUP BY z.thread, z.begin_ns) WHERE whole IS NOT sum)")"
holds "query --path: a zone that is not there" ends_with 1 "$HYPROF" query -q --force --path no_such --sqlite "$TMPDIR/out.db" "$trace"

# Each table and view of the document is there with its columns, and its questions have answers.
documented() {
        local name columns
        while IFS='|' read -r name columns; do
                query "SELECT $columns FROM $name LIMIT 1" >/dev/null || { echo "$name: $columns" && return 1; }
        done < <(awk -F ' *[|] *' '/^[|] `/ && $3 ~ /^`/ { gsub(/`/, ""); print $2 "|" $3 }' docs/use/sqlite.md)
}
questions() {
        sed -n '/^## Questions/,$p' docs/use/sqlite.md | grep '^    ' | query "$(cat)" >/dev/null
}
holds "docs/use/sqlite.md: tables, views and columns" documented
holds "docs/use/sqlite.md: questions" questions
