#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Bad input of every kind: one line that names what is wrong and where, the documented exit status, never a signal
set -eu
. tests/tap.sh
plan 89

# The command ends with this status; it says one line "hyprof: error: ...", with these words, and at most one "  try: ...".
complains() { # status, words, command...
        local words=$2
        ends_with "$1" "${@:3}" || return 1
        cat "$TMPDIR/err"
        [ "$(grep -c '' "$TMPDIR/err")" -eq "$(grep -cE '^(hyprof: error: .|  try: .)' "$TMPDIR/err")" ] &&
                [ "$(grep -c '^hyprof: error: ' "$TMPDIR/err")" -eq 1 ] &&
                [ "$(grep -c '^  try: ' "$TMPDIR/err")" -le 1 ] &&
                grep -qF -- "$words" "$TMPDIR/err"
}

# As complains, and nothing was recorded: no file is left behind.
complains_without_trace() { # status, words, command...
        rm -f "$TMPDIR/t.hyp"
        complains "$@" && { [ ! -e "$TMPDIR/t.hyp" ] || { echo "an empty trace is left" && return 1; }; }
}

folder=$TMPDIR/folder
mkdir "$folder"
printf 'no program\n' >"$TMPDIR/plain"
printf '#!/no/such/interpreter\n' >"$TMPDIR/script"
printf '#!%s\n' "$TMPDIR/plain" >"$TMPDIR/broken"
chmod +x "$TMPDIR/script" "$TMPDIR/broken"

# ---- the command
start=("$HYPROF" record -o "$TMPDIR/t.hyp")
holds "a missing command" complains_without_trace 127 no_such_command "${start[@]}" -- no_such_command arg
holds "a missing path" complains_without_trace 127 "$TMPDIR/none" "${start[@]}" -- "$TMPDIR/none"
holds "an empty name" complains_without_trace 127 "" "${start[@]}" -- ""
holds "a file that may not be executed" complains_without_trace 126 "$TMPDIR/plain" "${start[@]}" -- "$TMPDIR/plain"
holds "a folder" complains_without_trace 126 "$folder" "${start[@]}" -- "$folder"
holds "a path through a file" complains_without_trace 127 "$TMPDIR/plain/x" "${start[@]}" -- "$TMPDIR/plain/x"
# Only the kernel can tell, so by then the recording has begun.
if "$HYPROF" doctor >/dev/null 2>&1; then
        holds "a script whose interpreter may not be executed" complains_without_trace 126 "$TMPDIR/broken" \
                "${start[@]}" -- "$TMPDIR/broken"
        holds "a script without its interpreter" complains_without_trace 127 "$TMPDIR/script" \
                "${start[@]}" -- "$TMPDIR/script"
else
        skips "a script whose interpreter may not be executed" "perf_event_open is not permitted"
        skips "a script without its interpreter" "perf_event_open is not permitted"
fi
holds "no command" complains_without_trace 2 "command" "${start[@]}"
holds "no command after --" complains_without_trace 2 "command" "${start[@]}" --

# ---- the output
holds "an output folder that is not there" complains 125 "$TMPDIR/none/t.hyp" "$HYPROF" record -o "$TMPDIR/none/t.hyp" -- true
holds "a path through a file" complains 125 "$TMPDIR/plain/t.hyp" "$HYPROF" record -o "$TMPDIR/plain/t.hyp" -- true
holds "the output is a folder" complains 125 "$folder" "$HYPROF" record -o "$folder" -- true
holds "an empty name" complains 125 "" "$HYPROF" record -o "" -- true
holds "a folder in which no file can be created" complains 125 /proc/t.hyp "$HYPROF" record -o /proc/t.hyp -- true

# ---- options
for command in record report dump check doctor; do
        holds "$command: an unknown option" complains 2 --no-such-option "$HYPROF" $command --no-such-option
        holds "$command: an unknown letter" complains 2 -Z "$HYPROF" $command -Z
        holds "$command: --help" ends_with 0 "$HYPROF" $command --help
        holds "$command: which is on stdout, in 100 columns" awk 'length > 100 { print; exit 1 }
                END { exit NR < 5 }' "$TMPDIR/out"
done
for value in 0 x -1 1e3 100001 99999999999999999999 ""; do
        holds "record -F '$value'" complains_without_trace 2 "-F $value" "${start[@]}" -F "$value" -- true
done
for value in no-such-event ',' 'cpu-clock,' 'cpu-clock,,' r cpu-clock:q ""; do
        holds "record -e '$value'" complains_without_trace 2 "" "${start[@]}" -e "$value" -- true
done
for option in -F -e -o; do
        holds "record $option without a value" complains 2 "$option" "$HYPROF" record $option
done
holds "an unknown command" complains 2 no_such "$HYPROF" no_such
holds "no command at all" ends_with 2 "$HYPROF"
holds "report: two files" complains 2 "" "$HYPROF" report one two

# ---- traces
: >"$TMPDIR/empty"
printf 'hello\n' >"$TMPDIR/short"
head -c 100000 /dev/zero >"$TMPDIR/zeros"
head -c 100000 /dev/zero | tr '\0' '\377' >"$TMPDIR/ones"
for command in report dump check; do
        holds "$command: a missing file" complains 1 "$TMPDIR/none" "$HYPROF" $command "$TMPDIR/none"
        holds "$command: a path through a file" complains 1 "$TMPDIR/plain/x" "$HYPROF" $command "$TMPDIR/plain/x"
        holds "$command: a folder" complains 1 "$folder" "$HYPROF" $command "$folder"
        for file in empty short zeros ones; do
                holds "$command: no trace: $file" complains 1 "$TMPDIR/$file" "$HYPROF" $command "$TMPDIR/$file"
        done
        holds "$command: no trace: a program" complains 1 "$HYPROF" "$HYPROF" $command "$HYPROF"
        holds "$command: no trace: a source" complains 1 tests/tap.sh "$HYPROF" $command tests/tap.sh
done
holds "report: a name with control characters stays one line" complains 1 none "$HYPROF" report "$TMPDIR/"$'\e[2J\nnone'
holds "check --repair leaves a file alone that is no trace" complains 1 "$TMPDIR/short" "$HYPROF" check --repair "$TMPDIR/short"
holds "that file is as it was" same hello "$(cat "$TMPDIR/short")"

# ---- results that cannot be written
if [ -w /dev/full ]; then
        if "$HYPROF" record -q -o "$TMPDIR/good.hyp" -- true 2>/dev/null; then
                for command in report "report --json" dump check; do
                        holds "$command: the result goes to a full disk" complains 1 "" \
                                sh -c "\"$HYPROF\" $command \"$TMPDIR/good.hyp\" >/dev/full"
                done
        fi
fi
