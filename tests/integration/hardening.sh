#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The binaries are built with what makes errors in them harder to use, and hyprof shows other objects no function of its own
set -u
. tests/tap.sh
plan 21
need readelf

# Each fact is read from the file, not from the flags of the build.
is_dynamic() { readelf -hW "$1" | grep -q 'Type: *DYN'; }
has_no_executable_stack() { same RW "$(readelf -lW "$1" | awk '$1 == "GNU_STACK" { print $7 $8 }' | sed 's/0x10//')"; }
is_read_only_after_start() { readelf -lW "$1" | grep -q GNU_RELRO && readelf -dW "$1" | grep -q 'Flags:.* NOW'; }
has_no_foreign_path() { same "" "$(readelf -dW "$1" | grep -E 'TEXTREL|RPATH|RUNPATH' | grep -vF "[\$ORIGIN]")"; }
checks_stacks() { readelf --dyn-syms -W "$1" | grep -q '__stack_chk_fail'; }

for file in hyprof libhyprof.so libhyprof_tracy.so; do
        binary=$BUILD/$file
        holds "$file: lies where the loader chooses" is_dynamic "$binary"
        holds "$file: no code on stacks" has_no_executable_stack "$binary"
        holds "$file: its tables are read-only once it runs" is_read_only_after_start "$binary"
        holds "$file: no relocations of code, no libraries from elsewhere" has_no_foreign_path "$binary"
        holds "$file: stacks are checked" checks_stacks "$binary"
done
holds "hyprof: a position-independent program" grep -q PIE <(readelf -dW "$BUILD/hyprof")
fortified=$(readelf --dyn-syms -W "$BUILD/hyprof" | grep -oE '__[a-z]+_chk' | sort -u | wc -l)
figure "hyprof: $fortified functions of libc check the sizes of buffers"
holds "hyprof: libc checks the sizes of buffers" compare "$fortified" ">" 5
exported() { readelf --dyn-syms -W "$1" | awk '$4 == "FUNC" && $7 != "UND" && $5 != "LOCAL" { sub(/@.*/, "", $8); print $8 }'; }
holds "hyprof: exports no function" same "" "$(exported "$BUILD/hyprof")"
holds "libhyprof.so: exports hyprof_* alone" same "" "$(exported "$BUILD/libhyprof.so" | grep -v '^hyprof_')"
holds "libhyprof.so: some of them" compare "$(exported "$BUILD/libhyprof.so" | wc -l)" ">" 20
holds "libhyprof_tracy.so: exports ___tracy_* alone" same "" "$(exported "$BUILD/libhyprof_tracy.so" | grep -v '^___tracy_')"
