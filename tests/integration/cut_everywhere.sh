#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A trace cut at every 23rd byte, nightly at every third, or with one changed: report, dump and check say where, end,
# and never crash
set -eu
. tests/tap.sh
plan 9
need_sampling

limit_s=10
# Each place is nine starts of hyprof; with the sanitizers those take long.
step=23
[ -z "${HYPROF_THOROUGH:-}" ] || step=3
case $VARIANT in asan | tsan) step=$((5 * step)) ;; esac

holds "a small trace is recorded" record small --no-symbolize --embed=none -e cpu-clock:u "$WORKLOADS/w_exit"
holds "it is whole" is_whole small
bytes=$(od -An -v -tx1 "$TMPDIR/small.hyp" | tr -d '\n' | sed 's/ /\\x/g') # "\x48\x59...": four characters a byte
n_bytes=$((${#bytes} / 4))
figure "$n_bytes bytes, in steps of $step"

# One run on the file as it is now.  Failures are lines in $folder/failures.
try() { # words for the place, statuses that are right, command...
        local status=0
        timeout "$limit_s" "$HYPROF" "${@:3}" "$file" >"$folder/out" 2>"$folder/err" || status=$?
        [[ " $2 " = *" $status "* ]] || echo "$3, $1: exit status $status" >>"$folder/failures"
        [ "$status" -ne 0 ] || [ -s "$folder/out" ] || echo "$3, $1: nothing on stdout" >>"$folder/failures"
}

# Exactly one line names the file and the place, with or without a second one that says what to try.
names_place() { # words for the place, command
        local line rest
        { IFS= read -r line && { IFS= read -r rest || true; }; } <"$folder/err" || line=
        [[ $line = "hyprof: "*": $file: "*"byte "[0-9]* || $line = *": the file is empty" && ! -s $file ]] || echo "$2, $1: said '$line'" >>"$folder/failures"
        [[ -z $rest || $rest = "  try: "* ]] || echo "$2, $1: said '$rest' too" >>"$folder/failures"
}

no_failures() {
        [ ! -s "$folder/failures" ] || { head -n 20 "$folder/failures" && wc -l <"$folder/failures" && return 1; }
}

cut_everywhere() { # command, statuses that are right
        local n
        : >"$folder/failures"
        for ((n = 0; n < n_bytes; n += step)); do
                printf '%b' "${bytes:0:4*n}" >"$file"
                try "cut at $n" "$2" "$1"
                names_place "cut at $n" "$1"
        done
        no_failures
}

change_everywhere() { # command
        local n
        : >"$folder/failures"
        for ((n = 0; n < n_bytes; n += step)); do
                printf '%b' "${bytes:0:4*n}$(printf '\\x%02x' $((0x${bytes:4*n+2:2} ^ 0xff)))${bytes:4*n+4}" >"$file"
                try "byte $n changed" "0 1" "$1"
        done
        no_failures
}

repair_everywhere() {
        local n status
        : >"$folder/failures"
        for ((n = 0; n < n_bytes; n += step)); do
                printf '%b' "${bytes:0:4*n}" >"$file"
                status=0
                rm -f "$file.unrepaired"
                timeout "$limit_s" "$HYPROF" check --repair "$file" >"$folder/out" 2>"$folder/err" || status=$?
                if [ "$status" -eq 0 ]; then
                        try "cut at $n and mended" 0 check
                        try "cut at $n and mended" 0 report
                elif [ "$status" -ne 1 ]; then
                        echo "check --repair, cut at $n: exit status $status" >>"$folder/failures"
                fi
        done
        no_failures
}

# Beside the others: nothing is measured, and most of it is starting processes.
begin() { # name, command...
        local folder=$TMPDIR/$1 file=$TMPDIR/$1/bad.hyp status=0
        mkdir "$folder"
        { "${@:2}" >"$folder/said" 2>&1 || status=$? && echo "$status" >"$folder/status"; } &
}

was_right() { # name
        cat "$TMPDIR/$1/said"
        same 0 "$(cat "$TMPDIR/$1/status")"
}

begin check_cut cut_everywhere check 1
begin dump_cut cut_everywhere dump 1
begin report_cut cut_everywhere report "0 1"
begin check_changed change_everywhere check
begin dump_changed change_everywhere dump
begin report_changed change_everywhere report
begin repaired repair_everywhere
wait
holds "check, cut everywhere: always noticed" was_right check_cut
holds "dump, cut everywhere: always noticed" was_right dump_cut
holds "report, cut everywhere: everything up to the cut is shown" was_right report_cut
holds "check, changed everywhere" was_right check_changed
holds "dump, changed everywhere" was_right dump_changed
holds "report, changed everywhere" was_right report_changed
holds "check --repair, cut everywhere: mended ones are whole" was_right repaired
