#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Callstacks of stopped real programs are, frame by frame, what gdb's backtrace says at the same instant: 99.5%.
#
# gdb lets each program run, stops it at any instant, and writes down registers, stack and its own backtrace;
# unwind/ walks from the same registers and stack.  HYPROF_GDB_STOPS is how many stops are made in all (100); the
# benchmark makes 1,000.  A program that is not installed is skipped.
set -u
. tests/tap.sh
plan 16
. tests/real_programs.sh

need gdb g++
[ "$(uname -m)" = x86_64 ] || [ "$(uname -m)" = aarch64 ] || skip_all "hardware: the registers of $(uname -m) are not known to the test"
gdb -batch -nx -ex 'python print("it has python")' 2>/dev/null | grep -q python || skip_all "gdb was built without python"
gdb -batch -nx -ex 'starti >/dev/null' -ex 'info registers' --args /bin/true >"$TMPDIR/gdb" 2>&1
grep -qE "^(rip|pc) " "$TMPDIR/gdb" || skip_all "gdb cannot trace a process here: $(tail -n 1 "$TMPDIR/gdb")"

n_stops=${HYPROF_GDB_STOPS:-100}
present=()
# shellcheck disable=SC2154 # of real_programs.sh
for name in $real_programs w_unwind:signal w_unwind:altstack w_unwind:plt w_unwind:vdso w_unwind:jit; do
        if program_of "$name" "$TMPDIR/inputs" 3; then
                present+=("$name")
        else
                skips "$name: frames are the same" "$name is not installed"
        fi
done

stop() { # name: $TMPDIR/NAME.stops
        program_of "$1" "$TMPDIR/inputs" 3
        gdb -batch -nx -ex "python stops_file, n_stops = '$TMPDIR/$1.stops', $(((n_stops + ${#present[@]} - 1) / ${#present[@]}))" \
                -x tests/tools/gdb_stops.py --args "${command[@]}" >"$TMPDIR/$1.gdb" 2>&1 </dev/null || tail -n 20 "$TMPDIR/$1.gdb"
}

for name in "${present[@]}"; do
        stop "$name"
        "$BUILD/tools/stops_beside_gdb" -v "$TMPDIR/$name.stops" >"$TMPDIR/compared" 2>&1
        tail -n 1 "$TMPDIR/compared" >>"$TMPDIR/totals"
        read -r _ stops frames same stacks roots beyond < <(tail -n 1 "$TMPDIR/compared")
        figure "$name: $stops stops, $same of $frames frames are the same, $stacks stacks, $roots to the root; $beyond frames beyond gdb's"
        sed '$d; s/^/#   /' "$TMPDIR/compared"
        # A program alone has too few for its share to mean much: that it is not all wrong.  In code made at run
        # time a function's first instructions, before its frame pointer is set, hide its caller: gdb looks at the
        # instructions, unwind/ does not.
        holds "$name: frames are the same" compare "$same" ">=" "$frames * 0.75"
done
read -r stops frames same < <(awk '{ s += $2; f += $3; e += $4 } END { print s, f, e }' "$TMPDIR/totals")
figure "all: $stops stops, $same of $frames frames are the same ($(awk "BEGIN { printf \"%.3f\", 100 * $same / $frames }")%)"
holds "as many stops as were asked for" compare "$stops" ">=" "$n_stops"
holds "99.5% of the frames are the same" compare "$same" ">=" "$frames * 0.995"
