#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The terminal is the command's: keys, stops, sizes and hang-ups reach it, and hyprof stops when it stops, not otherwise
set -eu
. tests/tap.sh
plan 46
need script perl stty jq
need_sampling

# Jobs get process groups of their own, and SIGINT is not ignored in them.
set -m

keys=$TMPDIR/keys screen=$TMPDIR/screen
mkfifo "$keys"

# A shell with job control on a terminal of its own.  Descriptor 4 is its keyboard.
open_terminal() {
        : >"$screen"
        SHELL=$BASH TERM=dumb HISTFILE='' script -qfec "$BASH --norc --noprofile -i" /dev/null <"$keys" >>"$screen" 2>&1 &
        terminal=$!
        exec 4>"$keys"
        type_in "PS1='' PS2='' PROMPT_COMMAND='echo status \$?'; stty -echo; set -b"
}
type_in() { printf '%s\n' "$1" >&4; }
press() { printf '%b' "$1" >&4; }

# The screen is a file, so it is looked at again and again.
shows() { # pattern
        local tries
        for ((tries = 0; tries < 600; tries++)); do
                ! tr -d '\r' <"$screen" | grep -qE -- "$1" || return 0
                read -r -t 0.05 <> <(:) || true
        done
        echo "not on the screen: $1"
        cat -v "$screen"
        return 1
}
begin() { # name, command as a line of shell
        : >"$screen"
        type_in "'$HYPROF' record -q -o '$TMPDIR/$1.hyp' -- $2"
}
state() { awk '$1 == "State:" { print $2 }' "/proc/$1/status"; }
becomes() { # pid, state
        local tries
        for ((tries = 0; tries < 600; tries++)); do
                [ "$(state "$1")" != "$2" ] || return 0
                read -r -t 0.05 <> <(:) || true
        done
        echo "process $1 is in state $(state "$1"), not $2"
        return 1
}
# shellcheck disable=SC2016 # for the shell on the terminal
command='sh -c "echo pids \$PPID \$\$ ready; read word; echo got \$word; exit 5"'
find_pids() {
        read -r recorder child < <(tr -d '\r' <"$screen" | sed -n 's/^pids \([0-9]*\) \([0-9]*\) .*/\1 \2/p')
}

open_terminal
holds "the shell is there" shows '^status 0'
type_in tty
holds "there is a terminal" shows '^/dev/'
tty=$(tr -d '\r' <"$screen" | sed -n 's|^\(/dev/.*\)|\1|p')

begin stop "$command"
holds "the command runs on the terminal" shows '^pids .* ready'
find_pids
press '\032'
holds "Ctrl-Z: the shell has the terminal again" shows 'Stopped'
holds "Ctrl-Z: the command is stopped" becomes "$child" T
holds "Ctrl-Z: so is hyprof" becomes "$recorder" T
type_in fg
holds "fg: hyprof goes on" becomes "$recorder" S
type_in hello
holds "fg: the keys are the command's again" shows '^got hello'
holds "its status comes through" shows '^status 5'
holds "the trace is whole" is_whole stop

# shellcheck disable=SC2016
begin ignore 'sh -c "trap \"\" TSTP; echo pids \$PPID \$\$ ready; read word; echo got \$word"'
holds "a command that ignores Ctrl-Z" shows '^pids .* ready'
find_pids
press '\032'
type_in hello
holds "goes on" shows '^got hello'
holds "and hyprof with it" shows '^status 0'

# shellcheck disable=SC2016
begin itself 'perl -e "\$| = 1; print qq(pids @{[getppid]} \$\$ ready\\n); kill STOP => \$\$; print qq(goes on\\n)"'
holds "a command that stops itself" shows '^pids .* ready'
find_pids
holds "is stopped" becomes "$child" T
holds "hyprof is not: it was not asked to" becomes "$recorder" S
kill -CONT "$child"
holds "and another process resumes the command" shows '^goes on'
holds "to its end" shows '^status 0'

# An editor: takes the key, tidies up, stops itself.
# shellcheck disable=SC2016
begin editor 'perl -e "\$| = 1; \$SIG{TSTP} = sub { print qq(tidy\\n); kill STOP => \$\$ }; print qq(pids @{[getppid]} \$\$ ready\\n); \$_ = <STDIN> until defined; print qq(got \$_)"'
holds "a command that takes Ctrl-Z itself" shows '^pids .* ready'
find_pids
press '\032'
holds "has the time to tidy up" shows '^tidy'
holds "then both are stopped" becomes "$recorder" T
holds "and the shell has the terminal" shows 'Stopped'
type_in fg
holds "both go on" becomes "$recorder" S
type_in hello
holds "with the keys" shows '^got hello'

begin interrupt "$command"
holds "one more" shows '^pids .* ready'
press '\003'
holds "Ctrl-C ends it" shows '^status 130'
holds "Ctrl-C: the trace is whole" is_whole interrupt
begin quit "$command"
holds "another" shows '^pids .* ready'
press '\034'
holds "Ctrl-\\ ends it" shows '^status 131'
holds "Ctrl-\\: the trace is whole all the same" is_whole quit
holds "Ctrl-\\: and reports the signal" same "signal 3" \
        "$("$HYPROF" report --json --limit 0 "$TMPDIR/quit.hyp" | jq -r .exit_status)"

# shellcheck disable=SC2016
begin size 'perl -e "\$| = 1; \$SIG{WINCH} = sub { print qq(resized\\n); exit 0 }; print qq(pids @{[getppid]} \$\$ ready\\n); sleep 60"'
holds "a command that looks at its size" shows '^pids .* ready'
stty -F "$tty" rows 41 cols 91
holds "hears of another" shows '^resized'

# shellcheck disable=SC2016
begin signals 'perl -e "\$| = 1; \$SIG{USR1} = sub { print qq(heard\\n); exit 3 }; print qq(pids @{[getppid]} \$\$ ready\\n); sleep 60"'
holds "a command with a signal of its own" shows '^pids .* ready'
find_pids
kill -USR1 "$recorder"
holds "gets what is sent to hyprof" shows '^heard'
holds "and hyprof is not killed by it" shows '^status 3'

# shellcheck disable=SC2016
begin session 'setsid -w sh -c "echo pids 0 \$\$ ready; (: </dev/tty) 2>/dev/null && echo still || echo none"'
holds "a command that leaves the terminal" shows '^none'
holds "ends as well" shows '^status 0'
# shellcheck disable=SC2016
begin shell "$BASH --norc --noprofile -i"
type_in 'true | cat; sleep 1000 & kill %1; echo inner done; exit 4'
holds "a shell takes the foreground for its jobs" shows '^inner done'
holds "and gives it back" shows '^status 4'

# The line of progress stays off a screen that another program fills.
: >"$screen"
type_in "'$HYPROF' record -o '$TMPDIR/raw.hyp' -- sh -c \"stty raw; echo begun; '$WORKLOADS/w_two_zones' 1; echo ended; stty -raw\""
holds "a command that fills the screen" shows 'ended'
holds "works to its end" shows '^status 0'
type_in 'stty -echo'
# One may have been there before.
holds "no line of progress is drawn into it" compare "$(tr '\r' '\n' <"$screen" | grep -c 'recording .*samples' || true)" "<=" 1

begin hangup "$command"
holds "the last one" shows '^pids .* ready'
find_pids
kill -KILL "$terminal"
exec 4>&-
holds "the terminal goes: hyprof ends" tail --pid="$recorder" -f /dev/null
holds "the trace is whole" is_whole hangup
wait "$terminal" 2>/dev/null || true
