#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make dist: the same bytes each time, whatever the umask and the time zone; every file of the commit; and it builds
set -u
. tests/tap.sh
plan 5
need git gzip
[ -e .git ] || skip_all "this is no git checkout"
archive=build/hyprof-$(sed -n 's/^VERSION *:= *//p' Makefile).tar.gz
unpacked=$TMPDIR/hyprof-$(sed -n 's/^VERSION *:= *//p' Makefile)

# Beside the archive that the caller may have made.
dist_again() { # umask, time zone
        (umask "$1" && TZ=$2 make dist) && sha256sum <"$archive" >>"$TMPDIR/sums"
}
holds_each_file() {
        tar -C "$TMPDIR" -xzf "$archive" &&
                same "$(git ls-tree -r --name-only HEAD | LC_ALL=C sort)" "$(cd "$unpacked" && find . -not -type d | sed 's|^\./||' | LC_ALL=C sort)"
}
builds() { make -C "$unpacked" VARIANT=debug build/debug/libhyprof.so build/debug/libhyprof.a; }

holds "make dist" dist_again 022 UTC
holds "again, by another user elsewhere" dist_again 077 Asia/Tokyo
holds "the same bytes" same 1 "$(sort -u "$TMPDIR/sums" | wc -l)"
holds "every file of the commit" holds_each_file
holds "the library builds from it" builds
