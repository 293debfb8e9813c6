#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every command, in every format, on traces with little, too much or hostile things in them: a sensible answer, in time
set -eu
. tests/tap.sh
need python3 sqlite3

# One run of hyprof; about what the machine can do, and nothing is measured.
limit_s=60

# A fifth of the runs on each trace, another one on the next; each run on one of the two worst traces.  Nightly all.
part_of() { # name
        case ${HYPROF_THOROUGH:-}$1 in
        hostile) echo 0/2 ;;
        extreme) echo 1/2 ;;
        1*) echo 0/1 ;;
        *) echo $((n_tried % 5))/5 ;;
        esac
}

# Beside each other: most of it is starting processes.
try_all() { # name
        local folder=$TMPDIR/$1 status=0
        mkdir -p "$folder"
        python3 tests/tools/odd_commands.py "$HYPROF" "$folder.hyp" "$folder" $limit_s "$(part_of "$1")" >"$folder/said" 2>&1 || status=$?
        echo "$status" >"$folder/status"
}

was_right() { # name
        head -n 40 "$TMPDIR/$1/said"
        same 0 "$(cat "$TMPDIR/$1/status")"
}

ways="empty samples zones unclosed one oneend hostile extreme threads"
# Each is more than a hundred starts of hyprof; with the sanitizers those take long.
case $VARIANT in
asan | tsan)
        ways="unclosed hostile extreme"
        plan 3
        ;;
*) plan 10 ;;
esac
for way in $ways; do
        "$BUILD/tools/odd_trace" "$TMPDIR/$way.hyp" "$way"
done
# Within the events; those of the first chunks come before.
if [ -f "$TMPDIR/threads.hyp" ]; then
        head -c $(($(stat -c %s "$TMPDIR/threads.hyp") / 2)) "$TMPDIR/threads.hyp" >"$TMPDIR/cut.hyp"
        ways="$ways cut"
fi
n_tried=0
for way in $ways; do
        try_all "$way" &
        n_tried=$((n_tried + 1))
        [ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] || wait -n
done
wait
for way in $ways; do
        figure "$way: $(tail -n 1 "$TMPDIR/$way/said")"
        holds "$way: every command" was_right "$way"
done
