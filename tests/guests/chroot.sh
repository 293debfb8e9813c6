#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2154 # @place
# Sourced: a Debian in a folder, made by debootstrap of Debian's packages; the kernel is this machine's.  Needs root, at
# first use also the network.  The sourcing script sets @place, the folder for all of it, and runs in the tree's root.

fail() { # words
        printf '%s: %s\n' "${0##*/}" "$1" >&2
        exit 1
}

# A minimal Debian in $place/root, made once.
make_root() { # suite, packages beside the minimal ones, with commas
        local site
        [ "$(id -u)" -eq 0 ] || fail "a chroot needs root; try: sudo"
        [ ! -e "$place/made" ] || return 0
        command -v debootstrap >/dev/null || fail "debootstrap is missing; try: apt-get install debootstrap"
        # shellcheck disable=SC2016 # for apt to expand
        site=$(apt-get indextargets --format '$(REPO_URI)' "Origin: Debian" "Created-By: Packages" | head -n 1)
        [ -n "$site" ] || fail "apt has no address of Debian packages here; try: apt-get update"
        rm -rf "$place/root"
        mkdir -p "$place/root"
        # It mounts /proc there: in a namespace that ends with it.
        unshare --mount --propagation private debootstrap --variant=minbase --include="$2" \
                --keyring=/usr/share/keyrings/debian-archive-keyring.gpg "$1" "$place/root" "$site" >"$place/log" 2>&1 || fail "cannot make Debian $1 in $place/root: $(tail -n 1 "$place/log")"
        # Nothing that a package brings starts in a chroot.
        printf '#!/bin/sh\nexit 101\n' >"$place/root/usr/sbin/policy-rc.d"
        chmod 755 "$place/root/usr/sbin/policy-rc.d"
        : >"$place/made"
}

# The files of git and those that git does not ignore, to be unpacked by tar.
list_tree() {
        git ls-files -co --exclude-standard | LC_ALL=C sort | while IFS= read -r file; do [ ! -e "$file" ] || echo "$file"; done
}

# Its /proc, /sys and /dev are mounted in a mount namespace of its own, so nothing stays mounted.
enter_root() { # root, shell command, its arguments
        # shellcheck disable=SC2016 # the shells in there expand it
        unshare --mount --propagation private sh -euc '
                root=$1 command=$2
                shift 2
                mount --bind "$root" "$root" # a root of its own, in which tests make mount namespaces
                cd /
                for name in proc sys dev; do mount --rbind "/$name" "$root/$name"; done
                mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
                mount -t tmpfs -o mode=755 tmpfs "$root/run"
                cat /etc/resolv.conf >"$root/etc/resolv.conf"
                cat /etc/hosts >"$root/etc/hosts"
                exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM="${TERM:-dumb}" CI="${CI:-}" \
                        HYPROF_TRIES="${HYPROF_TRIES:-2}" chroot "$root" sh -euc "cd /tree; $command" sh "$@"' sh "$@"
}
