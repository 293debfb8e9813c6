#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A trace cut at every third byte, or with one changed: report, dump and check say where, end, and never crash
set -eu
. tests/tap.sh
need_sampling

limit_s=10
# Each place is nine starts of hyprof; with the sanitizers those take long.
step=3
case $VARIANT in asan | tsan) step=7 ;; esac

holds "a small trace is recorded" record small --no-symbolize --embed=none -e cpu-clock:u "$WORKLOADS/w_exit"
holds "it is whole" is_whole small
bytes=$(od -An -v -tx1 "$TMPDIR/small.hyp" | tr -d '\n' | sed 's/ /\\x/g') # "\x48\x59...": four characters a byte
n_bytes=$((${#bytes} / 4))
figure "$n_bytes bytes, in steps of $step"
file=$TMPDIR/bad.hyp

# One run on the file as it is now.  Failures are lines in $TMPDIR/failures.
try() { # words for the place, statuses that are right, command...
        local status=0
        timeout "$limit_s" "$HYPROF" "${@:3}" "$file" >"$TMPDIR/out" 2>"$TMPDIR/err" || status=$?
        [[ " $2 " = *" $status "* ]] || echo "$3, $1: exit status $status" >>"$TMPDIR/failures"
        [ "$status" -ne 0 ] || [ -s "$TMPDIR/out" ] || echo "$3, $1: nothing on stdout" >>"$TMPDIR/failures"
}

# Exactly one line names the file and the place, with or without a second one that says what to try.
names_place() { # words for the place, command
        local line rest
        { IFS= read -r line && { IFS= read -r rest || true; }; } <"$TMPDIR/err" || line=
        [[ $line = "hyprof: "*": $file: "*"byte "[0-9]* ]] || echo "$2, $1: said '$line'" >>"$TMPDIR/failures"
        [[ -z $rest || $rest = "  try: "* ]] || echo "$2, $1: said '$rest' too" >>"$TMPDIR/failures"
}

no_failures() {
        [ ! -s "$TMPDIR/failures" ] || { head -n 20 "$TMPDIR/failures" && wc -l <"$TMPDIR/failures" && return 1; }
}

cut_everywhere() { # command, statuses that are right
        local n
        : >"$TMPDIR/failures"
        for ((n = 0; n < n_bytes; n += step)); do
                printf '%b' "${bytes:0:4*n}" >"$file"
                try "cut at $n" "$2" "$1"
                names_place "cut at $n" "$1"
        done
        no_failures
}

change_everywhere() { # command
        local n
        : >"$TMPDIR/failures"
        for ((n = 0; n < n_bytes; n += step)); do
                printf '%b' "${bytes:0:4*n}$(printf '\\x%02x' $((0x${bytes:4*n+2:2} ^ 0xff)))${bytes:4*n+4}" >"$file"
                try "byte $n changed" "0 1" "$1"
        done
        no_failures
}

repair_everywhere() {
        local n status
        : >"$TMPDIR/failures"
        for ((n = 0; n < n_bytes; n += step)); do
                printf '%b' "${bytes:0:4*n}" >"$file"
                status=0
                timeout "$limit_s" "$HYPROF" check --repair "$file" >"$TMPDIR/out" 2>"$TMPDIR/err" || status=$?
                if [ "$status" -eq 0 ]; then
                        try "cut at $n and mended" 0 check
                        try "cut at $n and mended" 0 report
                elif [ "$status" -ne 1 ]; then
                        echo "check --repair, cut at $n: exit status $status" >>"$TMPDIR/failures"
                fi
        done
        no_failures
}

holds "check, cut everywhere: always noticed" cut_everywhere check 1
holds "dump, cut everywhere: always noticed" cut_everywhere dump 1
holds "report, cut everywhere: what stands before is shown" cut_everywhere report "0 1"
holds "check, changed everywhere" change_everywhere check
holds "dump, changed everywhere" change_everywhere dump
holds "report, changed everywhere" change_everywhere report
holds "check --repair, cut everywhere: mended ones are whole" repair_everywhere
