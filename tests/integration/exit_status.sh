#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof record is transparent: status, standard streams and signals are the command's; it says one line, or what -q allows
set -eu
. tests/tap.sh
plan 80
need perl python3
need_sampling

start=("$HYPROF" record -o "$TMPDIR/t.hyp")

# ---- status
for status in 0 1 7 125 126 127 255; do
        holds "status $status" ends_with $status "${start[@]}" -- sh -c "exit $status"
done
for signal in KILL SEGV TERM INT PIPE; do
        number=$(kill -l $signal)
        # The shell says that its child was killed; only the status counts.
        holds "killed by SIG$signal: the shell sees $((128 + number))" ends_with $((128 + number)) \
                bash -c '"$@" 2>/dev/null; exit $?' bash "${start[@]}" -- sh -c "kill -$signal \$\$"
        holds "SIG$signal: the trace is whole" "$HYPROF" check "$TMPDIR/t.hyp"
done
# For a parent that looks closer than a shell: the status says "signal", not "exit 137".
holds "killed: hyprof itself is seen to end by that signal" same 9 \
        "$(env -u LC_ALL perl -e 'system(@ARGV); print $? & 127' "${start[@]}" -q -- sh -c 'kill -KILL $$' 2>&1)"
holds "the status is in the trace" same 7 "$("${start[@]}" -q -- sh -c 'exit 7' || true
        "$HYPROF" report --json --limit 0 "$TMPDIR/t.hyp" | sed -n 's/.*"exit_status": *"\([^"]*\)".*/\1/p')"

holds "--ignore-child-status: it does not count" ends_with 0 "${start[@]}" -q --ignore-child-status -- sh -c 'exit 7'
holds "nor does a signal" ends_with 0 "${start[@]}" -q --ignore-child-status -- sh -c 'kill -SEGV $$'
holds "what is not there does" ends_with 127 "${start[@]}" -q --ignore-child-status -- no_such_command
holds "perf's -g and --call-graph are taken" ends_with 0 "${start[@]}" -q -g --call-graph=dwarf -- true

# ---- streams
head -c 1000000 /dev/urandom >"$TMPDIR/data"
through_cat() { "${start[@]}" -q -- cat <"$TMPDIR/data" >"$TMPDIR/copy" && cmp "$TMPDIR/data" "$TMPDIR/copy"; }
holds "standard input and output are the command's" through_cat
holds "standard error too" ends_with 3 "${start[@]}" -q -- sh -c 'echo "to stderr" >&2; exit 3'
holds "with -q nothing is added to it" same "to stderr" "$(cat "$TMPDIR/err")"
holds "nor to standard output" same "" "$(cat "$TMPDIR/out")"
holds "a file descriptor of the caller is the command's" same seven \
        "$("${start[@]}" -q -- sh -c 'cat <&7' 7<<<seven)"
# shellcheck disable=SC2016 # for the recorded shell
list_descriptors=(sh -c 'cd /proc/self/fd && echo *')
holds "hyprof's own are not" same "$("${list_descriptors[@]}")" "$("${start[@]}" -q -- "${list_descriptors[@]}")"
# shellcheck disable=SC2016
holds "the environment is the caller's" same "$(VAR='a b' sh -c 'echo "$VAR$PWD$HOME"')" \
        "$(VAR='a b' "${start[@]}" -q -- sh -c 'echo "$VAR$PWD$HOME"')"
# shellcheck disable=SC2016
holds "so are the signals that are blocked or ignored" same "$(grep -E '^Sig(Blk|Ign)' /proc/self/status)" \
        "$("${start[@]}" -q -- grep -E '^Sig(Blk|Ign)' /proc/self/status)"
holds "options after the command are the command's" same "-F x" "$("${start[@]}" -q -- echo -F x)"
holds "also without --" same "-F x" "$("${start[@]}" -q echo -F x)"

# ---- the end
"${start[@]}" -q -- true
"$HYPROF" dump "$TMPDIR/t.hyp" >"$TMPDIR/dump"
number_of() { # META's key
        key=$(sed -n "s/^string id=\([0-9]*\) text=\"$1\"\$/\1/p" "$TMPDIR/dump")
        value=$(sed -n "s/^meta id=[0-9]* key=$key value=\([0-9]*\).*/\1/p" "$TMPDIR/dump")
        sed -n "s/^string id=$value text=\"\(.*\)\"\$/\1/p" "$TMPDIR/dump"
}
exit_ns=$(sed -n 's/^ *thread_exit thread=1 time_ns=\([0-9]*\).*/\1/p' "$TMPDIR/dump")
holds "the recording ends with the command, to the nanosecond" same "${exit_ns:-none}" "$(number_of end_raw_ns)"

# ---- the caller's circumstances
for closed in 0 1 2; do
        rm -f "$TMPDIR/t.hyp"
        holds "descriptor $closed is closed" ends_with 0 bash -c "exec $closed<&-; exec \"\$@\"" bash "${start[@]}" -- true
        holds "the trace is whole" "$HYPROF" check "$TMPDIR/t.hyp"
        holds "the command finds it closed too" ends_with 5 bash -c "exec $closed<&-; exec \"\$@\"" bash \
                "${start[@]}" -q -- sh -c "[ ! -e /proc/\$\$/fd/$closed ] && exit 5"
done
holds "the output is closed: that is an error" ends_with 1 bash -c 'exec "$@" >&-' bash "$HYPROF" report "$TMPDIR/t.hyp"
# Descriptors that the caller left open, a make's pipes above all, would count as well; and each further CPU needs some.
limit_files() { # descriptors, command...
        local fd
        (
                for fd in /proc/self/fd/*; do
                        fd=${fd##*/}
                        [ "$fd" -le 2 ] || eval "exec $fd>&-"
                done
                ulimit -n "$1" && shift && exec "$@"
        )
}
n_cpus=$(getconf _NPROCESSORS_ONLN)
few_files() { limit_files $((43 + 6 * n_cpus)) "$@"; }
holds "few descriptors are left" ends_with 0 few_files "${start[@]}" -q -- "$WORKLOADS/w_two_zones" 1
holds "there are names all the same" same "" "$(cat "$TMPDIR/err")"
holds "also of the workload" grep -q w_two_zones <("$HYPROF" report "$TMPDIR/t.hyp")
fewer_files() { limit_files 8 "$@"; }
holds "too few descriptors" ends_with 125 fewer_files "${start[@]}" -q -- true
holds "it says what to do" grep -qE "^  try: (prlimit --nofile|sudo hyprof record)" "$TMPDIR/err"

# ---- what it says; an ordinary user is told besides that there are no kernel frames
n_lines() { grep -cvE '^hyprof: note: kernel frames are off|^  try: sudo sysctl' "$TMPDIR/err"; }
holds "not on a terminal" ends_with 0 "${start[@]}" -- "$WORKLOADS/w_two_zones" 1
holds "one line at the end: samples, zones, lost, file, size" grep -qE \
        '^hyprof: wrote .*t\.hyp \([0-9.]+ [kKM]?B\): .* [0-9,]+ samples .* [0-9,]+ zones, [0-9,]+ lost; sampler used [0-9.]+% of one core$' "$TMPDIR/err"
holds "and nothing else" same 1 "$(n_lines)"
holds "no characters that move the cursor" same 0 "$(tr -cd '\r\033' <"$TMPDIR/err" | wc -c)"

# Reads to the end of what was printed, however late it comes: script(1) waits 10 ms for it when its child has ended.
# shellcheck disable=SC2016 # Python
terminal='import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))'
on_terminal() { # options and command...
        python3 -c "$terminal" "$HYPROF" record -o "$TMPDIR/t.hyp" "$@" </dev/null
}
holds "on a terminal: the status is handed on" ends_with 7 on_terminal sh -c "exit 7"
holds "a second of work" ends_with 0 on_terminal "$WORKLOADS/w_two_zones" 1
progress=$(tr '\r' '\n' <"$TMPDIR/out" | grep '.*recording .*samples .*zones .*lost' || true)
holds "shows a line of progress" compare "$(grep -c . <<<"$progress")" ">" 1
# shellcheck disable=SC2016 # awk's
# Not in each line: on a busy machine two may follow each other so closely that there is nothing new.
holds "whose samples grow" awk '{ sub(/ samples.*/, ""); gsub(/,/, ""); n = $NF + 0 }
        NR == 1 { first = n }
        n < last { print n, "after", last; bad = 1 }
        { last = n }
        END { if (last <= first) { print "from", first, "to", last; bad = 1 }; exit bad }' <<<"$progress"
holds "that is wiped out at the end" same 1 "$(grep -c $'\033\\[Khyprof: wrote\|^hyprof: wrote\|\r\033\\[K.*hyprof: wrote' "$TMPDIR/out")"
holds "and says what comes next" grep -q "hyprof report" "$TMPDIR/out"
holds "-q: nothing of it" ends_with 0 on_terminal -q "$WORKLOADS/w_two_zones" 1
holds "-q: only what the command says" same 1 "$(wc -l <"$TMPDIR/out")"
hostile=$TMPDIR/$'a\n\e[2Jb.hyp'
holds "the output's name has control characters" ends_with 0 on_terminal -o "$hostile" true
holds "they do not reach the terminal" same 0 "$(grep -c $'\e\\[2J' "$TMPDIR/out" || true)"
holds "but the name is there, in all three lines" same 3 "$(grep -cF '[2Jb.hyp' "$TMPDIR/out")"
holds "not a terminal: one line" ends_with 0 "$HYPROF" record -o "$hostile" -- true
holds "one it is" same 1 "$(n_lines)"
long=$TMPDIR/$(printf '%0250d' 0)
mkdir "$long"
holds "a long name" ends_with 0 "$HYPROF" record -o "$long/$(printf '%0250d' 1)" -- true
holds "cuts nothing off" grep -qE ' lost; sampler used [0-9.]+% of one core$' "$TMPDIR/err"

bytes_on_terminal() { # command
        python3 -c "$terminal" "$HYPROF" "$@" </dev/null
}
refuses_terminal() { # command
        ends_with 2 bytes_on_terminal "$@" && grep -q 'error: .*standard output is a terminal' "$TMPDIR/out"
}
holds "-o -: a terminal is refused" refuses_terminal record -o - -- true
holds "by merge" refuses_terminal merge -o - "$TMPDIR/t.hyp" tests/golden/v1.3.hyp
holds "by symbolize" refuses_terminal symbolize -o - "$TMPDIR/t.hyp"
holds "by extract" refuses_terminal extract -o - 1 "$TMPDIR/t.hyp"
piped() { # a recording
        "$HYPROF" record -q -o - -- true | "$HYPROF" report - >"$TMPDIR/out"
}
holds "-o -: a pipe" piped
holds "whose other end reads the trace" grep -q '^  command   true$' "$TMPDIR/out"
to_file() { "$HYPROF" record -q -o - -- echo printed >"$TMPDIR/printed.hyp"; }
holds "-o -: into a file, with a command that prints" ends_with 0 to_file
holds "which goes to standard error" same printed "$(cat "$TMPDIR/err")"
holds "and the trace is whole" is_whole printed
to_named() { "$HYPROF" record -q -o /dev/stdout -- echo printed >"$TMPDIR/named.hyp"; }
holds "-o /dev/stdout is -o -" ends_with 0 to_named
holds "with what the command prints on standard error" same printed "$(cat "$TMPDIR/err")"
holds "and a whole trace" is_whole named
