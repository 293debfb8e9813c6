#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Kernels that were generated while a program ran have names, lines and hot instructions, from the trace alone
#
# Each is recorded without names; then the trace is put into a folder of its own, all that it was made of is removed,
# and it is completed there.  Every sample of a kernel must have the name of its function where a symbol exists, and
# its line where there is debug information, whatever else had the address before.
# shellcheck disable=SC2154 # of tests/kernels.sh
set -eu
. tests/tap.sh
plan 96
. tests/kernels.sh
need cc jq
need_sampling

# ---- kernel_pool, in all its variants
# "most": each lives for a few milliseconds in memory that is used again.  On a machine with more to do than processors some
# are gone when they are looked at; those are counted, and no sample has the name of another one.  An image whose rest is
# not found in time has its functions' bounds ("[image 0]+0x1100") or exported names alone, and no lines.
pool() { # name, lines ("c", "mlir" or "none"), names ("all", "most" or "exported"), options...
        local n late=0 allowed=0 seen=$in_kernel lined=$in_kernel
        mkdir -p "$TMPDIR/home/tmp"
        cp "$EXAMPLES/kernel_pool" "$TMPDIR/home/"
        holds "$1: is recorded" env TMPDIR="$TMPDIR/home/tmp" "$HYPROF" record -q --no-symbolize -o "$TMPDIR/$1.hyp" -- \
                "$TMPDIR/home/kernel_pool" --kernels 5 --cpu-seconds 0.4 "${@:4}"
        carry_away "$1"
        holds "$1: is completed where neither program nor kernels are" complete "$1"
        [ -e "$TMPDIR/$1.hyp" ] || cp "$TMPDIR/elsewhere-$1/$1.hyp" "$TMPDIR/"
        read_trace "$1"
        n=$(n_events "$1" "$in_kernel")
        holds "$1: kernels were sampled" compare "$n" ">" 20
        if [ "$3" = most ]; then
                late=$(lost "$1" | sed -n 's/^CODE_TOO_LATE //p')
                seen="$in_kernel && self != \"?\" && self !~ /[+]0x/"
                lined="$in_kernel && source_line ~ /:[1-9]/"
                allowed="0.01 * $n + 4 * ${late:-0} * $n / $(n_events "$1" 'kind == "zone_begin" && zone == "batch"')"
                # On a busy machine the search for the rest of an image in memory comes too late more often.
                [[ $1 != memory-* ]] || allowed+=" + 0.12 * $n"
        fi
        if [ "$3" = most ]; then
                holds "$1: what has a name has the right one" none "$1" "$seen && !($named)"
                holds "$1: as good as all have their own" compare "$n - $(n_events "$1" "$seen")" "<=" "$allowed"
                [ "$2" = none ] || holds "$1: and lines" compare "$n - $(n_events "$1" "$lined")" "<=" "$allowed"
        elif [ "$3" = all ]; then
                holds "$1: every sample of a kernel has the name of its function" none "$1" "$in_kernel && !($named)"
        else
                holds "$1: what has a name has the right one" none "$1" "$in_kernel && self != \"?\" && self !~ /[+]0x/ && !($named)"
                holds "$1: exported functions have theirs" compare "$(n_events "$1" "$in_kernel && $named")" ">" 0
        fi
        if [ "$2" = none ]; then
                holds "$1: there are no lines" none "$1" "$in_kernel && source_line ~ /:[1-9]/"
        else
                holds "$1: and its line" none "$1" \
                        "$lined && source_line !~ (\"/\" substr(path, 7) \"_[0-9]+[.]$2:[1-9][0-9]*\$\")"
        fi
        holds "$1: nothing was left out" same "" "$(lost "$1" | grep -E '^(CODE|JIT)_' | sed "${late:+/^CODE_TOO_LATE $late\$/d}" || true)"
        [ "$3" = exported ] || holds "$1: its hot loop is shown by the instruction" annotates "$1" matmul_64_row "$hot_float"
        figure "$1: $n samples in kernels, $(n_events "$1" "$in_kernel && $named") with names, $(
                n_events "$1" "$in_kernel && source_line ~ /:[1-9]/") with lines, $(stat -c %s "$TMPDIR/$1.hyp") bytes"
}

# The memory of a program that is built with a sanitizer has terabytes, in which no image is found in time.
bare='-g0 -Wl,--build-id=none'
pool deleted c all
pool deleted-mlir mlir all --mlir
pool deleted-no-build-id mlir all --mlir --cflags '-Wl,--build-id=none'
pool deleted-dwarf4 mlir all --mlir --cflags '-gdwarf-4 -gz -Wl,--build-id=none'
pool deleted-symbols none all --cflags "$bare"
pool deleted-stripped none exported --cflags "$bare -s"
pool reloaded mlir all --mlir --reload
[ "$VARIANT" != release ] || pool reloaded-symbols none most --cpu-seconds 1 --reload --cflags "$bare"
[ "$VARIANT" != release ] || pool memory c all --memory
[ "$VARIANT" != release ] || pool memory-no-build-id mlir all --mlir --memory --cflags '-Wl,--build-id=none'
[ "$VARIANT" != release ] || pool memory-one-segment c all --memory --cflags -Wl,-z,noseparate-code
[ "$VARIANT" != release ] || pool memory-stripped none exported --memory --cflags "$bare -s"
[ "$VARIANT" != release ] || pool memory-reloaded mlir most --cpu-seconds 1 --mlir --memory --reload --cflags '-Wl,--build-id=none'
holds "the MLIR that was handed over is beside its instructions" \
        "$HYPROF" annotate --source --asm "$TMPDIR/deleted-mlir.hyp" matmul_64_row
holds "deleted-mlir: line 7 of it" grep -q 'arith.mulf %x, %y' <("$HYPROF" annotate --source --asm "$TMPDIR/deleted-mlir.hyp" matmul_64_row 2>&1)
