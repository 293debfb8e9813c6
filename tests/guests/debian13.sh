#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds this tree and runs its tests in a Debian 13, with the compiler and libraries of that release.
# Usage: debian13.sh [TEST...], as for run_tests.sh; without one all tests.
#
# The tree is copied to /tree in build/debian13/root.  At first use it needs 6 GB; half an hour each time.
set -euo pipefail
cd "$(dirname "$0")/../.."
place=$PWD/build/debian13
. tests/guests/chroot.sh

# Only what changed is written, so that make builds only that; what is gone here is removed there, but for build/.
copy_changes() {
        mkdir -p "$place/root/tree"
        list_tree >"$place/files.now"
        if [ -e "$place/files" ]; then
                LC_ALL=C comm -13 "$place/files.now" "$place/files" | (cd "$place/root/tree" && xargs -r -d '\n' rm -f)
        fi
        while IFS= read -r file; do
                cmp -s "$file" "$place/root/tree/$file" || echo "$file"
        done <"$place/files.now" >"$place/changed"
        tar -c -T "$place/changed" | tar -x -m --no-same-owner -C "$place/root/tree"
        mv "$place/files.now" "$place/files"
}

mkdir -p "$place"
make_root trixie ca-certificates,procps,iproute2,util-linux-extra,openssl,file,xxd,bsdextrautils,busybox,sudo
copy_changes
# shellcheck disable=SC2016 # the shell in there expands it
enter_root "$place/root" '
        tests/install_packages.sh build test
        export HYPROF_NO_PACKAGES=1
        make -j"$(nproc)" all test-programs
        tests/run_tests.sh build/release "$@"' "$@"
