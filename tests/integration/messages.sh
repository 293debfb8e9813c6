#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Wrong commands are answered by what, why and what to do: each row of messages.table is a command and its message
set -eu
. tests/tap.sh

# The commands run in a folder that has:
folder=$TMPDIR/asked
mkdir -p "$folder/folder" "$folder/bin"
cp tests/golden/v1.3.hyp "$folder/t.hyp"          # a trace
head -c 2000 "$folder/t.hyp" >"$folder/cut.hyp"   # one that is cut off
head -c 500 "$folder/t.hyp" >"$folder/begun.hyp"  # one that has no thread yet
: >"$folder/empty"                                # nothing
echo 'a text, longer than the 48 bytes that begin a chunk of a trace' >"$folder/text"
ln -s "$(realpath "$HYPROF")" "$folder/bin/hyprof"
PATH=$folder/bin:$PATH

# Words that a field asks for, or with ! in front does not want.
check_field() { # field
        case $1 in
        !*) ! grep -qF -- "${1#!}" "$TMPDIR/said" ;;
        *) grep -qF -- "$1" "$TMPDIR/said" ;;
        esac
}

# At most one line is the complaint, and one says what to try.
answers() { # status, command, fields...
        local status=0 field
        (cd "$folder" && eval "$2") >"$TMPDIR/said" 2>&1 </dev/null || status=$?
        [ "$status" -eq "$1" ] || { echo "exit status $status, wanted $1" && cat "$TMPDIR/said" && return 1; }
        compare "$(grep -c '^hyprof: error: ' "$TMPDIR/said")" "==" "$(($1 == 0 ? 0 : 1))" || { cat "$TMPDIR/said" && return 1; }
        compare "$(grep -c '^  try: ' "$TMPDIR/said")" "<=" 1 || { cat "$TMPDIR/said" && return 1; }
        for field in "${@:3}"; do
                check_field "$field" || { echo "not so: $field" && cat "$TMPDIR/said" && return 1; }
        done
}

# Fields are separated by |, with blanks around that do not count; # begins a remark.
table=tests/integration/messages.table
n_rows=$(grep -cvE '^(#|$)' "$table")
plan $((n_rows + 1))
while IFS= read -r row; do
        fields=()
        while [ -n "$row" ]; do
                field=${row%%|*}
                row=${row#"$field"}
                row=${row#|}
                field=${field#"${field%%[! ]*}"}
                fields+=("${field%"${field##*[! ]}"}")
        done
        holds "${fields[1]}" answers "${fields[@]}"
done < <(grep -vE '^(#|$)' "$table")
holds "the table has rows enough" compare "$n_rows" ">=" 100
