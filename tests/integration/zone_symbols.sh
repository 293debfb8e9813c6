#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# sudo record --zone-function: the symbols of another user's file come from no file that the invoking user could have made
set -eu
. tests/tap.sh
plan 4
need objcopy
need_sampling
[ "$(id -u)" -eq 0 ] || skip_all "only root can be whom sudo makes of a user"
[ "$(uname -m)" = x86_64 ] || skip_all "hardware: functions are probed on x86-64"
uid=65534
# TMPDIR is for root alone, and the symbols lie where the user may look.
folder=$(mktemp -d /tmp/hyprof-symbols.XXXXXX)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/.debug"
objcopy --only-keep-debug "$WORKLOADS/w_probed" "$folder/.debug/w_probed.debug"
objcopy --strip-all --add-gnu-debuglink="$folder/.debug/w_probed.debug" "$WORKLOADS/w_probed" "$folder/w_probed"
chown -R "$uid:$uid" "$folder"
ln -s "$folder/w_probed" "$folder/.debug/linked"
chmod -R go+rX "$folder"

# Where the kernel sets no probes, hyprof says so after it has found the functions.
finds() { # name of the file: whether its functions have names
        SUDO_UID=$uid SUDO_GID=$uid "$HYPROF" record -q -o - --zone-function="$1!leaf" -- true >"$TMPDIR/out" 2>"$TMPDIR/err" || true
        ! grep -qE "the file has no names|no function has such a name" "$TMPDIR/err"
}
lacks() { ! finds "$1"; }
holds "a file of the user's: its debug file is beside it" finds "$folder/w_probed"
holds "also by a link" finds "$folder/.debug/linked"
chown root:root "$folder/w_probed"
holds "a file of root's: a debug file that the user has put beside it does not count" lacks "$folder/w_probed"
holds "nor by a link of the user's" lacks "$folder/.debug/linked"
