#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The Debian packages are the same bytes when they are built again: elsewhere, with another umask, time zone, language and home
set -u
. tests/tap.sh
plan 3
need dpkg-buildpackage dh sha256sum
shopt -s nullglob
packages=(build/deb/*.deb)
[ ${#packages[@]} -gt 0 ] || skip_all "there are no packages in build/deb: make deb makes them"

# From the files that the first build had, in a folder whose name has another length.
again=$TMPDIR/another/folder/hyprof
mkdir -p "$again"
make -s print-sources | tar -c --null --files-from=- --ignore-failed-read | tar -x -C "$again"
builds_again() {
        (umask 077 && cd "$again" && env -u MAKEFLAGS -u MAKELEVEL -u CFLAGS -u CPPFLAGS -u CXXFLAGS -u LDFLAGS TZ=Asia/Tokyo \
                LC_ALL=C HOME=/nonexistent DEB_BUILD_OPTIONS=parallel=1 dpkg-buildpackage -b -us -uc)
}
sums() { (cd "$1" && sha256sum -- *.deb); }

holds "the packages build elsewhere" builds_again
sums build/deb >"$TMPDIR/first"
sums "$again/.." >"$TMPDIR/second"
holds "there are as many" same "${#packages[@]}" "$(wc -l <"$TMPDIR/second")"
holds "they are the same bytes" same "$(cat "$TMPDIR/first")" "$(cat "$TMPDIR/second")"
