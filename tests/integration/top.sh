#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `hyprof top`: a trace that grows, a pipe, a program of its own; on terminals of all kinds, which are left as they were
set -eu
. tests/tap.sh
# ncurses keeps memory that it never frees.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
plan 54
need python3 jq

trace=tests/golden/v1.4.hyp
export XDG_CACHE_HOME="$TMPDIR/cache"
mkdir -p "$XDG_CACHE_HOME"

exits() { # status, command...
        local status=0
        "${@:2}" >"$TMPDIR/out" 2>"$TMPDIR/err" || status=$?
        same "$1" "$status" || { cat "$TMPDIR/err" && return 1; }
}

says() { # words
        grep -q -- "$1" "$TMPDIR/out" || { cat "$TMPDIR/out" && return 1; }
}

complains() { # words
        grep -q -- "$1" "$TMPDIR/err" || { cat "$TMPDIR/err" && return 1; }
}

on_terminal() { # TERM, size, steps, options of top...
        python3 tests/tools/on_terminal.py "$1" "$2" "$3" -- "$HYPROF" top "${@:4}"
}

# ---- a whole trace, as text
picture() { # words of the picture of its screen
        on_terminal xterm-256color 24x80 'see zones' --all-time --table zones -n 1 "$trace" |
                python3 examples/terminal_picture.py 24x80 >"$TMPDIR/out" && python3 -c 'import sys, xml.dom.minidom
xml.dom.minidom.parse(sys.argv[1])' "$TMPDIR/out" && says "$1"
}
holds 'its screen as a picture' picture 'RATE/s&#160;.*ZONE&#160;.*PLACE<'
holds 'a whole trace is one table and an end' exits 0 "$HYPROF" top --all-time --table zones "$trace"
holds 'its first line counts what was lost, not what was cut or throttled' says '^hyprof top: ended, 8.59 G lost in all, v1.4.hyp (PID 100 and 1 more), 1.00 CPUs, all 1100 s: 2 samples, 4 zones$'
holds 'its zones are those of the report' same \
        "$("$HYPROF" report --zones --json --limit 0 "$trace" | jq -r '[.zones.rows[].count] | sort | join(" ")')" \
        "$(awk 'NR > 2 && NF { print $2 }' "$TMPDIR/out" | sort -n | tr '\n' ' ' | sed 's/ $//')"
holds 'control characters of names are escaped' says '\\x09'
holds 'a filter leaves what has its text' exits 0 "$HYPROF" top --all-time --table zones --filter FRAME "$trace"
holds 'and nothing else' same 1 "$(awk 'NR > 2 && NF' "$TMPDIR/out" | wc -l)"
holds 'threads' exits 0 "$HYPROF" top --all-time --table threads --sort tid "$trace"
holds 'sorted by their numbers' same '4294967295 100 0' "$(awk 'NR > 2 && NF { print $1 }' "$TMPDIR/out" | tr '\n' ' ' | sed 's/ $//')"
holds 'a column of text as well, whatever is not known last' exits 0 "$HYPROF" top --all-time --table threads --sort thread "$trace"
holds 'from the first on' same 'loader main -' "$(awk 'NR > 2 && NF { print $5 }' "$TMPDIR/out" | tr '\n' ' ' | sed 's/ $//')"
holds 'as JSON' exits 0 "$HYPROF" top --json --all-time --table zones --sort count --limit 1 "$trace"
holds 'the same table, with what is left out' same 'hyprof.top/1 ended z1 1' \
        "$(jq -r '"\(.schema) \(.state) \(.zones.rows[0].handle) \(.zones.left_out)"' "$TMPDIR/out")"
holds 'a document each interval' same 'true' "$("$HYPROF" top --json --all-time "$trace" | jq -s 'all(.[]; .functions.n_rows == 4)')"
holds 'the trace through a pipe' sh -c "'$HYPROF' top --all-time --table zones - <'$trace' | grep -q load"
gone() { # command...: with a standard output that no process reads
        python3 -c 'import os, subprocess, sys
r, w = os.pipe()
os.close(r)
sys.exit(subprocess.run(sys.argv[1:], stdout=w).returncode)' "$@"
}
holds 'a reader that has seen enough is no failure' exits 0 gone "$HYPROF" top "$trace"
holds 'and nothing is printed on standard error' same '' "$(cat "$TMPDIR/err")"
if [ -w /dev/full ]; then
        holds 'a full disk is one' exits 1 sh -c "'$HYPROF' top '$trace' >/dev/full"
        holds 'and is said' complains 'error: writing the tables: No space left on device'
else
        skips 'a full disk is one' 'no /dev/full'
        skips 'and is said' 'no /dev/full'
fi
holds 'no trace' exits 1 "$HYPROF" top README.md
holds 'no file' exits 1 "$HYPROF" top "$TMPDIR/nowhere.hyp"
holds 'a column that is none' exits 2 "$HYPROF" top --sort weight "$trace"
holds 'a trace beside -p' exits 2 "$HYPROF" top -p 1 "$trace"

# ---- a file that grows
size=$(stat -c %s "$trace")
head -c $((size / 2)) "$trace" >"$TMPDIR/grow.hyp"
"$HYPROF" top --all-time --interval 100ms --table zones "$TMPDIR/grow.hyp" >"$TMPDIR/grow.out" 2>"$TMPDIR/grow.err" &
pid=$!
until grep -q ZONE "$TMPDIR/grow.out"; do sleep 0.05; done
holds 'the first half is a pause' kill -0 "$pid"
tail -c +$((size / 2 + 1)) "$trace" >>"$TMPDIR/grow.hyp"
holds 'the second half is the end' wait "$pid"
holds 'all of it was read' grep -q ' ended, .* 4 zones' "$TMPDIR/grow.out"
head -c $((size / 2)) "$trace" >"$TMPDIR/cut.hyp"
"$HYPROF" top --interval 100ms "$TMPDIR/cut.hyp" >"$TMPDIR/cut.out" 2>"$TMPDIR/cut.err" &
pid=$!
until grep -q SELF "$TMPDIR/cut.out"; do sleep 0.05; done
: >"$TMPDIR/cut.hyp"
status=0
wait "$pid" || status=$?
holds 'a file that is truncated ends it' same 1 "$status"
holds 'and is said' grep -q 'the file was truncated' "$TMPDIR/cut.err"
head -c $((size / 2)) "$trace" >"$TMPDIR/old.hyp"
cp "$TMPDIR/old.hyp" "$TMPDIR/new.hyp"
"$HYPROF" top --interval 100ms "$TMPDIR/old.hyp" >"$TMPDIR/old.out" 2>"$TMPDIR/old.err" &
pid=$!
until grep -q SELF "$TMPDIR/old.out"; do sleep 0.05; done
mv "$TMPDIR/new.hyp" "$TMPDIR/old.hyp"
status=0
wait "$pid" || status=$?
holds 'one that is replaced ends it' same 1 "$status"
holds 'and is said, in one line' same 1 "$(grep -c 'another file has its name now' "$TMPDIR/old.err")"
holds 'a pipe that ends early' sh -c "! head -c $((size / 2)) '$trace' | '$HYPROF' top - 2>'$TMPDIR/err' >/dev/null && grep -q 'its writer is gone' '$TMPDIR/err'"

# ---- terminals
holds 'keys: tables, a zone, filter, sort, pause, help, quit' on_terminal xterm 24x80 \
        'see functions|type 2|see RATE|type \r|see DURATIONS|type \x1b|type /load\r|see filter: load|type >|see MEAN|type  |type  |type ?|see choose a row|type q' \
        --all-time "$trace"
holds '80 columns say how to go on and how to end' on_terminal xterm 24x80 'see q quit  ? keys|see space pause|type q' --all-time "$trace"
holds 'another size while it runs' on_terminal xterm 24x80 'see functions|size 10x40|type 3|see TID|size 50x200|type 2|see RATE|type q' --all-time "$trace"
holds 'a terminal of three lines' on_terminal xterm 3x20 'see hyprof|type q' --all-time "$trace"
holds 'a terminal without colours' on_terminal vt100 24x80 'see functions|type 2|see RATE|type q' --all-time "$trace"
# shellcheck disable=SC2016 # the inner shell's
holds 'NO_COLOR: no code of a colour' env NO_COLOR=1 bash -c '! python3 tests/tools/on_terminal.py xterm-256color 24x80 "see functions|type q" -- "$0" top --all-time "$1" | grep -q "$(printf "\033\\[[0-9;]*3[0-9]m")"' "$HYPROF" "$trace"
holds 'a terminal whose cursor cannot move has plain tables' on_terminal dumb 24x80 'see SELF' -n 1 --all-time "$trace"
holds 'SIGTERM leaves the terminal as it was' on_terminal xterm 24x80 'see functions|kill TERM' --all-time "$trace"
holds 'Ctrl-C as well' on_terminal xterm 24x80 'see functions|type \x03' --all-time "$trace"
on_terminal xterm 24x80 'see functions|kill INT' --all-time "$trace" >"$TMPDIR/screen" || true
holds 'the screen of before is shown again' grep -q "$(printf '\033\\[?1049l')" "$TMPDIR/screen"
holds 'a terminal that goes away ends it' on_terminal xterm 24x80 'see functions|close' --all-time "$trace"

# ---- a program of its own
waited=' S  wait_futex  *futexer in wake_futex ' # WHERE, and ENDED BY
if "$HYPROF" doctor >"$TMPDIR/doctor" 2>&1; then
        holds 'a command' exits 0 "$HYPROF" top --all-time --table zones -- "$WORKLOADS/w_two_zones" 1
        holds 'its zones' sh -c "tail -4 '$TMPDIR/out' | grep -q ' a .*w_two_zones.c'"
        holds 'what it prints is not in the tables' sh -c "grep -q '^zones ' '$TMPDIR/err' && ! grep -q '^zones ' '$TMPDIR/out'"
        "$HYPROF" record -q --off-cpu -o "$TMPDIR/waits.hyp" -- "$WORKLOADS/w_waits" 1 >"$TMPDIR/waits.out"
        if "$HYPROF" dump "$TMPDIR/waits.hyp" | grep -q 'where threads wait is unknown'; then
                skips 'its waits have the functions that waited' 'the call stacks of waits cannot be recorded'
                skips 'who ended the waits is in 80 columns' 'the call stacks of waits cannot be recorded'
        else
                holds 'its waits have the functions that waited' \
                        sh -c "'$HYPROF' top --all-time --table waits -- '$WORKLOADS/w_waits' 1 | grep -q '$waited'"
                holds 'who ended the waits is in 80 columns' on_terminal xterm 24x80 \
                        'see functions|type 4|see WHERE|see ENDED BY|see KERNEL|see futexer in|type q' --all-time "$TMPDIR/waits.hyp"
        fi
        holds 'the head has the process and its load, as the report has them' same \
                "$("$HYPROF" report --threads --json "$TMPDIR/waits.hyp" | jq '[.threads.rows[0].pid, 1, true]' -c)" \
                "$("$HYPROF" top --json --all-time "$TMPDIR/waits.hyp" | jq -c '[.pid, .n_processes, .n_cpus_used > 0]')"
        holds 'a wait without a call stack says so' sh -c "'$HYPROF' record -q -o '$TMPDIR/plain.hyp' -- '$WORKLOADS/w_waits' 1 >/dev/null &&
                '$HYPROF' top --json --all-time --table waits '$TMPDIR/plain.hyp' | jq -e '[.waits.rows[].place] | unique == [\"[not recorded]\"]'"
        holds 'a command that is not there' exits 127 "$HYPROF" top -- "$TMPDIR/nowhere"
        holds 'it is one line, and no table' same "0 1 1" \
                "$(wc -l <"$TMPDIR/out") $(wc -l <"$TMPDIR/err") $(grep -c '^hyprof: error: .*nowhere: command not found' "$TMPDIR/err")"
        holds 'nor is a screen left open' exits 127 on_terminal xterm 24x80 'see nowhere: command not found' -- "$TMPDIR/nowhere"
        holds 'a process that is not there' exits 125 "$HYPROF" top -p "$(sh -c 'echo $$')"
        holds 'it is one line with what to try, and no table' same "0 2" "$(wc -l <"$TMPDIR/out") $(wc -l <"$TMPDIR/err")"
else
        skips 'a command' 'no events can be opened'
        skips 'its zones' 'no events can be opened'
        skips 'what it prints is not in the tables' 'no events can be opened'
        skips 'its waits have the functions that waited' 'no events can be opened'
        skips 'the head has the process and its load, as the report has them' 'no events can be opened'
        skips 'who ended the waits is in 80 columns' 'no events can be opened'
        skips 'a wait without a call stack says so' 'no events can be opened'
        skips_group 'a command that is not there' 'no events can be opened'
fi
