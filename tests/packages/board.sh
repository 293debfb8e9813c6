#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The tar files of `make board`: small, static, for their machine, and what is in them works under qemu's user mode
#
# qemu's user mode has no perf_event_open(2): recording is proven in whole emulated machines (docs/use/boards.md).
set -u
. tests/tap.sh
plan 15
need make tar
boards=(aarch64 riscv64)
for board in "${boards[@]}"; do
        need "$board-linux-gnu-gcc" "qemu-$board-static"
        [ -n "$(compgen -G "build/$board-board/hyprof-*-$board.tar.gz")" ] ||
                skip_all "there is no tar file for $board: make board TARGET=$board makes it"
done

unpack() { # board
        mkdir "$TMPDIR/$1" && tar -xf "build/$1-board/"hyprof-*-"$1.tar.gz" -C "$TMPDIR/$1" --strip-components 1
}
emulate() { # board, program, arguments: with the libc that came with the compiler
        QEMU_LD_PREFIX=/usr/$1-linux-gnu "qemu-$1-static" "${@:2}"
}
is_small() { [ "$(stat -c %s "build/$1-board/"hyprof-*-"$1.tar.gz")" -le 8388608 ]; }
is_static() { ! "$1-linux-gnu-readelf" -l "$TMPDIR/$1/bin/hyprof" | grep -q INTERP; }
says_machine() { emulate "$1" "$TMPDIR/$1/bin/hyprof" --version | grep -Eqx " *machine +$1"; }
# No machine's own sizes, signs or byte order show.
reads_alike() {
        local trace n=0
        for trace in tests/golden/*.hyp; do
                emulate "$1" "$TMPDIR/$1/bin/hyprof" report --json --limit 0 "$trace" >"$TMPDIR/there.json" &&
                        "$HYPROF" report --json --limit 0 "$trace" | cmp - "$TMPDIR/there.json" && n=$((n + 1)) || return 1
        done
        [ "$n" -ge 5 ]
}
# Zones work without a recorder as well, at no cost; the archive and the shared library alike.
client_links() {
        local at=$TMPDIR/$1
        "$1-linux-gnu-gcc" -I"$at/include" examples/hello_zones/*.c "$at/lib/libhyprof.a" -o "$at/archived" -lm -pthread &&
                "$1-linux-gnu-gcc" -I"$at/include" examples/hello_zones/*.c -L"$at/lib" -lhyprof -Wl,-rpath,"$at/lib" \
                        -o "$at/shared" -lm -pthread &&
                emulate "$1" "$at/archived" >"$at/out1" && emulate "$1" "$at/shared" >"$at/out2"
}
# A C library of ten years ago has what the shared libraries need, but for what the machine's first one had not.
needs_old_libc() {
        local newest
        newest=$("$1-linux-gnu-readelf" -V "$TMPDIR/$1"/lib/*.so | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -n 1)
        echo "# newest symbol that the shared libraries for $1 need: $newest"
        [ "${newest#GLIBC_2.}" -le 34 ]
}

for board in "${boards[@]}"; do
        unpack "$board"
        holds "$board: the file has at most 8 MB" is_small "$board"
        holds "$board: hyprof is static" is_static "$board"
        holds "$board: hyprof runs and says its machine" says_machine "$board"
        holds "$board: stored traces of each format version are read as on this machine" reads_alike "$board"
        holds "$board: programs link with the client, as archive and as library, and run" client_links "$board"
        holds "$board: the shared libraries do with glibc 2.34" needs_old_libc "$board"
done

refuses_32_bits() {
        ! make -s CC='gcc -m32' B="$TMPDIR/made" "$TMPDIR/made/headers" 2>"$TMPDIR/errors" &&
                grep -q 'compiles for a machine of 32 bits; hyprof and its client library need one of 64' "$TMPDIR/errors"
}
holds "a build for 32 bits is refused in words" refuses_32_bits

names_compiler() {
        ! make -s CROSS_COMPILE=nonesuch-linux-gnu- B="$TMPDIR/made" "$TMPDIR/made/headers" 2>"$TMPDIR/errors" &&
                grep -q 'there is no compiler nonesuch-linux-gnu-gcc' "$TMPDIR/errors"
}
holds "a compiler that is missing is named" names_compiler

refuses_target() { ! make -s board TARGET=armhf 2>"$TMPDIR/errors" && grep -q 'TARGET=riscv64 or TARGET=aarch64' "$TMPDIR/errors"; }
holds "a board of another kind is refused in words" refuses_target
