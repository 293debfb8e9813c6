#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds this tree and runs its tests in a Debian 13, with the compiler and libraries of that release.
# Usage: debian13.sh [TEST...], as for run_tests.sh; without one all tests.
#
# The machine is a chroot in build/debian13/root, made by debootstrap of Debian's packages; the kernel is this machine's.
# Its /proc, /sys and /dev are mounted in a mount namespace of this script's own, so nothing stays mounted after it.
# The tree is copied to /tree there: files of git and those that git does not ignore.  Needs root; at first use also
# 6 GB and the network, and half an hour each time.
set -euo pipefail
cd "$(dirname "$0")/../.."

suite=trixie
place=$PWD/build/debian13
root=$place/root

fail() { # words
        printf 'debian13.sh: %s\n' "$1" >&2
        exit 1
}

make_root() {
        local site
        command -v debootstrap >/dev/null || fail "debootstrap is missing; try: apt-get install debootstrap"
        # shellcheck disable=SC2016 # for apt to expand
        site=$(apt-get indextargets --format '$(REPO_URI)' "Origin: Debian" "Created-By: Packages" | head -n 1)
        [ -n "$site" ] || fail "apt has no address of Debian packages here; try: apt-get update"
        rm -rf "$root"
        mkdir -p "$root"
        debootstrap --variant=minbase --include=ca-certificates,procps,iproute2,util-linux-extra,openssl,file,xxd,bsdextrautils,busybox,sudo \
                --keyring=/usr/share/keyrings/debian-archive-keyring.gpg "$suite" "$root" "$site" >"$place/log" 2>&1 ||
                fail "cannot make Debian 13 in $root: $(tail -n 1 "$place/log")"
        # Nothing that a package brings starts in a chroot.
        printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
        chmod 755 "$root/usr/sbin/policy-rc.d"
        : >"$place/made"
}

# Only what changed is written, so that make builds only that; what is gone here is removed there, but for build/.
copy_tree() {
        mkdir -p "$root/tree"
        git ls-files -co --exclude-standard | LC_ALL=C sort | while IFS= read -r file; do [ ! -e "$file" ] || echo "$file"; done >"$place/files.now"
        if [ -e "$place/files" ]; then
                LC_ALL=C comm -13 "$place/files.now" "$place/files" | (cd "$root/tree" && xargs -r -d '\n' rm -f)
        fi
        while IFS= read -r file; do
                cmp -s "$file" "$root/tree/$file" || echo "$file"
        done <"$place/files.now" >"$place/changed"
        tar -c -T "$place/changed" | tar -x -m --no-same-owner -C "$root/tree"
        mv "$place/files.now" "$place/files"
}

[ "$(id -u)" -eq 0 ] || fail "a chroot needs root; try: sudo make test-debian13"
mkdir -p "$place"
[ -e "$place/made" ] || make_root
copy_tree

# shellcheck disable=SC2016 # the shells in there expand it
exec unshare --mount --propagation private sh -euc '
        root=$1
        shift
        mount --bind "$root" "$root" # a root of its own, in which tests make mount namespaces
        cd /
        for name in proc sys dev; do mount --rbind "/$name" "$root/$name"; done
        mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
        mount -t tmpfs -o mode=755 tmpfs "$root/run"
        cat /etc/resolv.conf >"$root/etc/resolv.conf"
        cat /etc/hosts >"$root/etc/hosts"
        exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM="${TERM:-dumb}" CI="${CI:-}" HYPROF_TRIES="${HYPROF_TRIES:-2}" \
                chroot "$root" sh -euc '\''
                        cd /tree
                        tests/install_packages.sh build test
                        export HYPROF_NO_PACKAGES=1
                        make -j"$(nproc)" all test-programs
                        tests/run_tests.sh build/release "$@"'\'' sh "$@"' sh "$root" "$@"
