#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Records a program on a board and opens the report here.  Usage: run.sh [OPTIONS] HOST [RECORD-OPTIONS] -- ./app args
#
#   -o FILE       the trace; default: hyprof.hyp
#   -b TAR        what `make board` made; default: build/MACHINE-*/hyprof-*-MACHINE.tar.gz, for the machine that HOST is
#   -d DIR        files of the program and its debug information are here; may be given again
#   -s SYSROOT    the root folder of the board's system, as it is here
#   --view        open the viewer instead of the report
#
# HOST is what ssh calls it; the board needs ssh, tar and gzip, and keeps hyprof in ~/.cache/hyprof.  $HYPROF_SSH is the
# command to reach it (ssh), $HYPROF the hyprof of this machine.  The exit status is the program's, 125 if it did not
# run or its trace did not arrive.
set -euo pipefail

tree=$(realpath "$(dirname "$0")/../..")
read -r -a ssh <<<"${HYPROF_SSH:-ssh}"
hyprof=${HYPROF:-$(command -v hyprof || echo "$tree/build/release/hyprof")}
trace=hyprof.hyp tar_file='' opens=report symbolize=()

fail() { # words
        printf 'run.sh: %s\n' "$1" >&2
        exit 125
}
usage() {
        sed -n '3,13s/^# \{0,1\}//p' "$0" >&2
        exit 2
}
folder() { # option, its value: looked at before the program runs
        [ -d "$2" ] || fail "$1 $2: there is no such folder"
}
while [ $# -gt 0 ]; do
        case $1 in
        -[obds]) [ -n "${2-}" ] || usage ;;&
        -o) trace=$2 && shift 2 ;;
        -b) tar_file=$2 && shift 2 ;;
        -d) folder -d "$2" && symbolize+=(--debug-dir "$2") && shift 2 ;;
        -s) folder -s "$2" && symbolize+=(--sysroot "$2") && shift 2 ;;
        --view) opens=view && shift ;;
        -*) usage ;;
        *) break ;;
        esac
done
[[ $# -ge 3 && " ${*:2} " == *" -- "* ]] || usage
host=$1
shift
[ -x "$hyprof" ] || fail "there is no hyprof here: make builds one, or \$HYPROF names it"
[ -z "$tar_file" ] || [ -f "$tar_file" ] || fail "-b $tar_file: there is no such file: make board TARGET=MACHINE makes one"
[ ! -d "$trace" ] || fail "-o $trace: this is a folder: name a file in it"
trap 'rm -f "$trace.new"' EXIT
{ : >"$trace.new"; } 2>/dev/null || fail "-o $trace: no file can be made there: name one in a folder of yours"

machine=$("${ssh[@]}" "$host" uname -m) || fail "$host does not answer: ${ssh[*]} $host"
if [ -z "$tar_file" ]; then
        # The newest one.
        tar_file=$(find "$tree/build" -maxdepth 2 -name "hyprof-*-$machine.tar.gz" -printf '%T@ %p\n' 2>/dev/null | sort -n | tail -n 1 | cut -d ' ' -f 2-)
        [ -n "$tar_file" ] || fail "there is no hyprof for $machine: make board TARGET=$machine makes it"
fi

# Copied once: the folder is named by the file's content.
sum=$(sha256sum "$tar_file" | cut -c 1-16)
there=.cache/hyprof/$sum
# shellcheck disable=SC2029 # expanded here: it has no other characters than these
"${ssh[@]}" "$host" "[ -e $there/whole ]" ||
        "${ssh[@]}" "$host" "mkdir -p $there && tar -xzf - -C $there && mv $there/hyprof-*/* $there/ && touch $there/whole" <"$tar_file" ||
        fail "cannot copy hyprof to $host"

# The program's output is as it were at home; Ctrl-C goes to it where this is a terminal.
terminal=()
[ ! -t 0 ] || terminal=(-t)
status=0
remote=$there/trace.$$.hyp
"${ssh[@]}" "${terminal[@]}" "$host" "$(printf '%q ' "$there/bin/hyprof" record -q -o "$remote" "$@")" || status=$?
fetched=0
# shellcheck disable=SC2029
"${ssh[@]}" "$host" "[ -s $remote ] || exit 66; cat $remote" >"$trace.new" || fetched=$?
[ $fetched -ne 66 ] || fail "there is no trace: the recorder ended with status $status"
[ $fetched -eq 0 ] || fail "the trace was not fetched: it is ~/$remote on $host"
mv "$trace.new" "$trace"
# shellcheck disable=SC2029
"${ssh[@]}" "$host" "rm -f $remote" || true
# Each says itself why it fails; the status is the program's.
"$hyprof" symbolize -q "${symbolize[@]}" "$trace" || true
"$hyprof" "$opens" "$trace" || true
exit "$status"
