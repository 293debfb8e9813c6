#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The Debian packages of `make deb`: lintian is content, they install, work, are found by builds, and leave nothing when purged
#
# They are installed by dpkg into a folder of this test, with a list of packages of its own: the machine stays as it is.
set -u
. tests/tap.sh
. tests/hello_zones.sh
plan 14
need dpkg dpkg-deb lintian
need_sampling
shopt -s nullglob
packages=(build/deb/*.deb)
[ ${#packages[@]} -gt 0 ] || skip_all "there are no packages in build/deb: make deb makes them"
ROOT=$TMPDIR/root
PREFIX=/usr
LIBDIR=/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)

as_root=()
if [ "$(id -u)" -ne 0 ]; then
        need fakeroot
        as_root=(fakeroot -i "$TMPDIR/owners" -s "$TMPDIR/owners")
        : >"$TMPDIR/owners"
fi

in_root() { # of dpkg
        "${as_root[@]}" dpkg --root="$ROOT" --force-not-root --force-depends --force-bad-path --log=/dev/null "$@"
}

install_them() {
        mkdir -p "$ROOT/var/lib/dpkg"/{info,updates,triggers} && : >"$ROOT/var/lib/dpkg/status" || return 1
        in_root --install "${packages[@]}"
}

# -dbgsym packages beside the three.
names_are() { printf '%s\n' "${packages[@]##*/}" | sed 's/_.*//' | grep -v -e -dbgsym | sort | paste -sd ' '; }

version_is() {
        local package
        for package in "${packages[@]}"; do
                same "$(sed -n 's/^VERSION *:= *//p' Makefile)" "$(dpkg-deb -f "$package" Version)" || return 1
        done
}

library_path() { LD_LIBRARY_PATH=$ROOT$LIBDIR "$@"; }

says_its_version() { library_path "$ROOT$PREFIX/bin/hyprof" --version | grep -F "hyprof $(dpkg-deb -f "${packages[0]}" Version)"; }

hardened() {
        local header
        header=$(readelf -hldW "$ROOT$PREFIX/bin/hyprof")
        grep -q 'Type: *DYN' <<<"$header" && grep -q GNU_RELRO <<<"$header" && grep -q 'BIND_NOW' <<<"$header"
}

manual_is_read() { [ -n "$(man -l "$ROOT/usr/share/man/man1/hyprof-record.1.gz")" ]; }

# Each page of docs leads to files that the package has.
links_lead() {
        local page link broken=""
        while read -r page; do
                while read -r link; do
                        case $link in http*) continue ;; esac
                        [ -e "${page%/*}/$link" ] || broken+="${page##*/}: $link"$'\n'
                done < <(sed 's/\x60[^\x60]*\x60//g' "$page" | grep -oE '\]\([^)# ]+' | sed 's/^](//')
        done < <(find "$ROOT/usr/share/doc/hyprof/docs" -name '*.md')
        same "" "$broken" && [ -s "$ROOT/usr/share/doc/hyprof/docs/use/view-json.md" ]
}

purged() {
        local names
        mapfile -t names < <(printf '%s\n' "${packages[@]##*/}" | sed 's/_.*//')
        in_root --purge "${names[@]}" || return 1
        # The folders that dpkg keeps its own lists in.
        rm -rf "$ROOT/var/lib/dpkg"
        find "$ROOT" -not -type d | grep . && return 1
        same "" "$(find "$ROOT" -mindepth 1 -type d -iname '*hyprof*')"
}

holds "lintian finds no error and no warning" lintian --no-cfg --fail-on error,warning --profile debian build/deb/*.changes
holds "the packages are hyprof, libhyprof1 and libhyprof-dev" same "hyprof libhyprof-dev libhyprof1" "$(names_are)"
holds "their version is the Makefile's" version_is
holds "dpkg installs them" install_them
holds "hyprof --version" says_its_version
holds "hyprof is position-independent, with full RELRO" hardened
holds "hyprof doctor" library_path "$ROOT$PREFIX/bin/hyprof" doctor
holds "a manual" manual_is_read
holds "the links of its pages lead somewhere" links_lead
hello_cases
holds "purge leaves nothing" purged
