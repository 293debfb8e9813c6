#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make dist: the same bytes each time, whatever the umask and the time zone; every file of the commit; the library that it builds is the same elsewhere
set -u
. tests/tap.sh
plan 6
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
# With what dpkg-buildflags gives for it, as in the packages; all of them are compared at night (tests/packages/reproducible.sh).
builds() { # folder
        make -C "$1" CFLAGS="-g -ffile-prefix-map=$1=." build/release/libhyprof.so build/release/libhyprof.a &&
                (cd "$1/build/release" && sha256sum libhyprof.so libhyprof.a) >"$TMPDIR/library.${1##*/}"
}
builds_elsewhere() {
        mkdir -p "$TMPDIR/longer/way"
        tar -C "$TMPDIR/longer/way" -xzf "$archive" --strip-components 1
        (umask 077 && TZ=Asia/Tokyo && export TZ && builds "$TMPDIR/longer/way") && cmp "$TMPDIR/library.${unpacked##*/}" "$TMPDIR/library.way"
}

holds "make dist" dist_again 022 UTC
holds "again, by another user elsewhere" dist_again 077 Asia/Tokyo
holds "the same bytes" same 1 "$(sort -u "$TMPDIR/sums" | wc -l)"
holds "every file of the commit" holds_each_file
holds "the library builds from it" builds "$unpacked"
holds "in another folder it is the same bytes" builds_elsewhere
