#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make install LIBDIR=...: CMake, Meson and pkg-config find hyprof there, in a folder that has moved; uninstall leaves nothing
# shellcheck disable=SC2034 # for tests/hello_zones.sh
set -u
. tests/tap.sh
plan 9
. tests/hello_zones.sh
need_sampling
ROOT=$TMPDIR/root
PREFIX=/opt/hyprof
LIBDIR=$PREFIX/lib/$(uname -m)-linux-gnu # where Debian has it, and where CMake looks there
case $VARIANT in
asan) sanitize=(-fsanitize=address -fsanitize=undefined) ;;
tsan) sanitize=(-fsanitize=thread) ;;
esac

make_it() { make VARIANT="$VARIANT" PREFIX=$PREFIX LIBDIR="$LIBDIR" DESTDIR="$ROOT" "$1"; }
# Packages of Python lie beside it, and what hyprof alone uses in a folder of its own.
only_in_libdir() {
        [ -e "$ROOT$LIBDIR/libhyprof.so.1" ] && [ -z "$(find "$ROOT$PREFIX/lib" -name 'libhyprof*' -not -path "$ROOT$LIBDIR/*" -not -path "$ROOT$PREFIX/lib/hyprof/*")" ]
}
nothing_left() { [ -z "$(find "$ROOT" -not -type d)" ] && [ ! -e "$ROOT$LIBDIR/cmake/hyprof" ]; }

# /lib is a link to /usr/lib on many machines, and CMake may come by either.
through_a_link() {
        ln -s "$ROOT$PREFIX/lib" "$TMPDIR/lib" &&
                hello_by_cmake hyprof::hyprof_static "-Dhyprof_DIR=$TMPDIR/lib/${LIBDIR##*/}/cmake/hyprof"
}

holds "install" make_it install
holds "libraries lie in LIBDIR alone" only_in_libdir
hello_cases
hello_case cmake "CMake, from behind a link" through_a_link
holds "uninstall" make_it uninstall
holds "uninstall leaves nothing" nothing_left
