#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Unpacks Debian packages of another machine into a folder to build against.
# Usage: sysroot.sh ARCHITECTURE SUITE FOLDER PACKAGE...
#
# Packages are fetched by apt with a state of its own in FOLDER.apt, from the addresses that this machine's apt uses, and
# checked with Debian's keys; nothing of this machine's packages changes, and none of their scripts runs.  With what they
# depend on.  Does nothing when FOLDER has been made from the same packages before.  Exit status 69: they cannot be fetched.
set -euo pipefail

architecture=${1:?} suite=${2:?} folder=${3:?}
shift 3
mkdir -p "$folder.apt"
folder=$(realpath "$folder")
state=$folder.apt
stamp="$architecture $suite $*"

fail() { # words, status
        printf 'sysroot.sh: %s\n' "$1" >&2
        exit "${2:-1}"
}

[ "$(cat "$folder/.made-of" 2>/dev/null)" != "$stamp" ] || exit 0
command -v apt-get >/dev/null || fail "there is no apt-get: this needs a Debian machine"
# shellcheck disable=SC2016 # for apt to expand
site=$(apt-get indextargets --format '$(REPO_URI)' "Origin: Debian" "Created-By: Packages" | head -n 1)
[ -n "$site" ] || fail "apt has no address of Debian packages here; try: apt-get update" 69
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r "$keys" ] || fail "Debian's keys are missing; try: apt-get install debian-archive-keyring"

mkdir -p "$state"/{lists,archives}/partial "$state/etc"
: > "$state/status"
printf 'deb [signed-by=%s] %s %s main\n' "$keys" "$site" "$suite" > "$state/etc/sources.list"
limit_s=${HYPROF_FETCH_S:-1200} # of the lists, and of the packages; a mirror may be stuck
own_apt() {
        timeout "$limit_s" apt-get -qq -o Dir::State="$state" -o Dir::State::lists="$state/lists" -o Dir::State::status="$state/status" \
                -o Dir::Cache::archives="$state/archives" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
                -o Dir::Etc::sourcelist="$state/etc/sources.list" -o Dir::Etc::sourceparts=- -o Dir::Etc::preferencesparts=- \
                -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" -o APT::Install-Recommends=false \
                -o APT::Sandbox::User=root -o Acquire::Languages=none -o Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false "$@" && return
        [ $? -ne 124 ] || echo "E: stopped after $limit_s s"
        return 1
}
own_apt -o APT::Update::Error-Mode=any update >"$state/log" 2>&1 ||
        fail "no packages of Debian $suite for $architecture: $(grep '^[EW]:' "$state/log" | head -n 1)" 69
rm -f "$state"/archives/*.deb
own_apt install -y --download-only "$@" >"$state/log" 2>&1 ||
        fail "cannot fetch packages of Debian $suite for $architecture: $(grep '^E:' "$state/log" | tail -n 1)" 69

rm -rf "$folder"
mkdir -p "$folder"/usr/{bin,sbin,lib}
ln -s usr/bin usr/sbin usr/lib "$folder"
for package in "$state"/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$folder" || fail "cannot unpack ${package##*/}"
done
rm -f "$state"/archives/*.deb
printf '%s\n' "$stamp" > "$folder/.made-of"
