#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A trace cut at every 23rd byte, nightly at every third, and around every chunk, or zeros from there on, as after a power
# cut, or with one byte changed: report, dump and check say where, end, and never crash
set -eu
. tests/tap.sh
plan 13
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

# Where chunks begin: a header of 48 bytes, with its magic, and the bytes of the body that follow.
chunks=()
for ((at = 0; at + 48 < n_bytes; at += 48 + body)); do
        chunks+=("$at")
        body=$(od -An -tu4 -j $((at + 8)) -N 4 "$TMPDIR/small.hyp")
done
around_chunks() {
        local at
        for at in "${chunks[@]}"; do
                printf '%s\n' $((at > 0 ? at - 1 : 0)) "$at" $((at + 1)) $((at + 48))
        done
}
mapfile -t zeroed_places < <(around_chunks | sort -nu)
mapfile -t cut_places < <({ around_chunks && seq 0 "$step" $((n_bytes - 1)); } | sort -nu)
# shellcheck disable=SC2034 # used by its name
[ -z "${HYPROF_THOROUGH:-}" ] || zeroed_places=("${cut_places[@]}")
figure "$n_bytes bytes, ${#chunks[@]} chunks, ${#cut_places[@]} places"

# A file that ends at byte n, and one whose later blocks a file system has lost.
cut() { printf '%b' "${bytes:0:4*$1}" >"$file"; }
zeroed() {
        cut "$1"
        truncate -s "$n_bytes" "$file"
}

# One run on the file as it is now.  Failures are lines in $folder/failures.
try() { # words for the place, statuses that are right, command...
        local status=0
        timeout "$limit_s" "$HYPROF" "${@:3}" "$file" >"$folder/out" 2>"$folder/err" || status=$?
        [[ " $2 " = *" $status "* ]] || echo "$3, $1: exit status $status" >>"$folder/failures"
        [ "$status" -ne 0 ] || [ -s "$folder/out" ] || echo "$3, $1: nothing on stdout" >>"$folder/failures"
}

# Exactly one line names the file and the place, with or without a second one that says what to try.  Where the first chunk,
# of 52 bytes, is not all there, nothing may show that the file was a trace.
names_place() { # words for the place, command, the place
        local line rest
        { IFS= read -r line && { IFS= read -r rest || true; }; } <"$folder/err" || line=
        [[ $line = "hyprof: "*": $file: "*"byte "[0-9]* || $line = *": the file is empty" && ! -s $file || $line = *": not a hyprof trace" && $3 -lt 52 ]] || echo "$2, $1: said '$line'" >>"$folder/failures"
        [[ -z $rest || $rest = "  try: "* ]] || echo "$2, $1: said '$rest' too" >>"$folder/failures"
}

no_failures() {
        [ ! -s "$folder/failures" ] || { head -n 20 "$folder/failures" && wc -l <"$folder/failures" && return 1; }
}

cut_everywhere() { # command, statuses that are right, what is left
        local n
        local -n places=$3_places
        : >"$folder/failures"
        for n in "${places[@]}"; do
                "$3" "$n"
                try "cut at $n" "$2" "$1"
                names_place "cut at $n" "$1" "$n"
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

repair_everywhere() { # what is left
        local n status
        local -n places=$1_places
        : >"$folder/failures"
        for n in "${places[@]}"; do
                "$1" "$n"
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

for tail in cut zeroed; do
        begin "check_$tail" cut_everywhere check 1 $tail
        begin "dump_$tail" cut_everywhere dump 1 $tail
        begin "report_$tail" cut_everywhere report "0 1" $tail
        begin "repaired_$tail" repair_everywhere $tail
done
begin check_changed change_everywhere check
begin dump_changed change_everywhere dump
begin report_changed change_everywhere report
wait
for tail in cut zeroed; do
        holds "check, $tail everywhere: always noticed" was_right "check_$tail"
        holds "dump, $tail everywhere: always noticed" was_right "dump_$tail"
        holds "report, $tail everywhere: everything before it is shown" was_right "report_$tail"
        holds "check --repair, $tail everywhere: mended ones are whole" was_right "repaired_$tail"
done
holds "check, changed everywhere" was_right check_changed
holds "dump, changed everywhere" was_right dump_changed
holds "report, changed everywhere" was_right report_changed
