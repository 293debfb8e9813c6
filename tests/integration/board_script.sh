#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# examples/board/run.sh: the exit status is the program's, and what cannot work is said in one line before the program runs
set -eu
. tests/tap.sh
plan 26
need_sampling
need gzip

# A board: a folder of this machine, where the words after the host are a command, as ssh has it.
mkdir -p "$TMPDIR/board" "$TMPDIR/here" "$TMPDIR/packed/hyprof-0-any/bin"
cat >"$TMPDIR/ssh" <<EOF
#!/bin/sh
while [ "\$1" != board ]; do shift; done
shift
cd "$TMPDIR/board" && exec sh -c "\$*"
EOF
# The program leaves a file that says that it ran.
cat >"$TMPDIR/board/app" <<EOF
#!/bin/sh
touch "$TMPDIR/ran"
i=0
while [ \$i -lt 20000 ]; do i=\$((i + 1)); done
exit \$1
EOF
printf '#!/bin/sh\nexec "%s" "$@"\n' "$(realpath "$HYPROF")" >"$TMPDIR/packed/hyprof-0-any/bin/hyprof"
chmod +x "$TMPDIR/ssh" "$TMPDIR/board/app" "$TMPDIR/packed/hyprof-0-any/bin/hyprof"
tar -C "$TMPDIR/packed" -czf "$TMPDIR/hyprof.tar.gz" hyprof-0-any
HYPROF=$(realpath "$HYPROF")
script=$PWD/examples/board/run.sh
export HYPROF HYPROF_SSH=$TMPDIR/ssh

ends() { # status, words of standard error, options...: in the folder "here"
        local status=0
        rm -f "$TMPDIR/ran"
        (cd "$TMPDIR/here" && "$script" "${@:3}") >"$TMPDIR/out" 2>"$TMPDIR/err" </dev/null || status=$?
        same "$1" "$status" && { [ -z "$2" ] || grep -q -- "$2" "$TMPDIR/err"; } && return
        cat "$TMPDIR/err"
        return 1
}
runs_not() { # one line was all
        same 1 "$(wc -l <"$TMPDIR/err")" && [ ! -e "$TMPDIR/ran" ]
}
left_on_board() { find "$TMPDIR/board/.cache" -name 'trace*'; }
usual=(-b "$TMPDIR/hyprof.tar.gz")

for status in 0 7; do
        holds "the program's status, $status" ends "$status" '' -o "t$status.hyp" "${usual[@]}" board -F 997 -- ./app "$status"
        holds "status $status: it ran, and its report is here" sh -c "[ -e '$TMPDIR/ran' ] && grep -q 'Functions by self time' '$TMPDIR/out'"
        holds "status $status: the trace is here alone" same "t$status.hyp" "$(ls -A "$TMPDIR/here")$(left_on_board)"
        rm -f "$TMPDIR/here"/*
done
holds "a folder of -d that is not there" ends 125 '-d /nonexist: there is no such folder' -d /nonexist "${usual[@]}" board -- ./app 0
holds "-d: nothing runs" runs_not
holds "a folder of -s that is not there" ends 125 '-s /nonexist: there is no such folder' -s /nonexist "${usual[@]}" board -- ./app 0
holds "-s: nothing runs" runs_not
holds "a trace in a folder that is not there" ends 125 '-o /nonexist/x.hyp: no file can be made there' -o /nonexist/x.hyp "${usual[@]}" board -- ./app 0
holds "-o in no folder: nothing runs" runs_not
holds "a trace that is a folder" ends 125 '-o .: this is a folder' -o . "${usual[@]}" board -- ./app 0
holds "-o of a folder: nothing runs" runs_not
holds "a tar file that is not there" ends 125 '-b nosuch.tar: there is no such file' -b nosuch.tar board -- ./app 0
holds "-b: nothing runs" runs_not
for option in -o -b -d -s; do
        holds "$option without a value" ends 2 'Usage: run.sh' "$option"
done
holds "nothing of all this is left here" same "" "$(ls -A "$TMPDIR/here")"

# shellcheck disable=SC2016 # the inner shell's
holds "no names and no report: the status is the program's" env HYPROF=/bin/false bash -c '"$@"; [ $? -eq 7 ]' - "$script" -o "$TMPDIR/named.hyp" "${usual[@]}" board -- ./app 7
holds "a recorder that fails" ends 125 'there is no trace: the recorder ended with status 127' "${usual[@]}" board -- ./nosuch
holds "it leaves nothing here" same "" "$(ls -A "$TMPDIR/here")"
# The connection breaks while the trace comes.
cat >"$TMPDIR/breaks" <<EOF
#!/bin/sh
case "\$*" in *'; cat '*) exit 255 ;; esac
exec "$TMPDIR/ssh" "\$@"
EOF
chmod +x "$TMPDIR/breaks"
HYPROF_SSH=$TMPDIR/breaks
holds "a trace that does not arrive is named" ends 125 'the trace was not fetched: it is ~/.cache/.*/trace.*.hyp on board' "${usual[@]}" board -- ./app 0
holds "and is still there" same 1 "$(left_on_board | grep -c .)"
