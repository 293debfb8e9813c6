#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Hostile files of every format have the outcome that import_hostile.table expects: what is intact is read, the rest counted
set -u
. tests/tap.sh
need jq python3
plan 284
table=$PWD/tests/integration/import_hostile.table
mkdir "$TMPDIR/files"
holds "hostile files" ends_with 0 python3 tests/tools/hostile_imports.py "$TMPDIR/files"
cd "$TMPDIR/files" || exit 2

# "read 3+1 0 - -": spans and moments, malformed rows, where the first is, where the file is cut; then what was left out,
# "refused WORDS" or "died STATUS".
outcome_of() { # file
        local status=0
        timeout 60 "$HYPROF" import --force "$1" -o x.hyp >/dev/null 2>err.txt || status=$?
        case $status in
        0) ;;
        1) grep -q 'died of' err.txt && echo "died" && return
                sed -n "s/^hyprof: error: $1: /refused /p" err.txt
                return ;;
        *) echo "died $status" && return ;;
        esac
        "$HYPROF" check x.hyp >/dev/null 2>&1 || echo "not intact: "
        "$HYPROF" report --json --limit 0 x.hyp | jq -j '.imports.rows[0] | "\(.n_malformed) \(.first_malformed_at // "-") \(.cut_at // "-")"' >rows.txt
        sed -n "s/^hyprof: imported \([0-9,]*\) [a-z]*, [0-9,]* values* and \([0-9,]*\) instants* .*/read \1+\2/p
                s/^hyprof: imported \([0-9,]*\) samples* .*/read \1/p" err.txt | tr -d ',' | tr '\n' ' '
        cat rows.txt
        sed -n 's/^hyprof: imported .*left out: \(.*\)/ (\1)/p' err.txt
}
while IFS='|' read -r file expected; do
        holds "$file" same "$expected" "$(outcome_of "$file" | tr -d '\n')"
done <"$table"
holds "every file has an expected outcome" same "$(cut -d '|' -f 1 "$table" | LC_ALL=C sort)" "$(find . -name '*.*' -type f ! -name '*.txt' ! -name x.hyp -printf '%f\n' | LC_ALL=C sort)"
