#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The memory of a program that outlives its recorder goes to no other process that takes the recorder's name
set -eu
. tests/tap.sh
plan 12
need python3
need_sampling
[ "$(id -u)" -eq 0 ] || skip_all "only root can be two users"

uid=65533 other=65532
folder=$(mktemp -d /tmp/hyprof-name.XXXXXX)
trap 'rm -rf "$folder"' EXIT
cp "$HYPROF" "$WORKLOADS/w_two_zones" "$folder/"
chown "$uid" "$folder"
chmod 755 "$folder"
as() { # uid, command...
        (cd "$folder" && exec setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}")
}

# Prints what arrives at the name of a recorder that has ended when a program that inherited it begins.
handed_to() { # uid that listens, uid of the program
        local name to status=0 from pid
        # shellcheck disable=SC2016 # for the recorded shell
        name=$(as "$2" "$folder/hyprof" record -q -o "$folder/$1-$2.hyp" -- sh -c 'echo "$HYPROF_RECORDER"')
        coproc taker { exec python3 tests/tools/name_taker.py "$name" "$1" 2>&1; }
        pid=$! # of the coprocess
        exec {from}<&"${taker[0]}" # the shell forgets its own when the process ends
        read -r -t 60 to <&"$from"
        [ "$to" = listening ] || { echo "not listening: $to" && return 1; }
        as "$2" env HYPROF_RECORD=all HYPROF_RECORDER="$name" "$folder/w_two_zones" 1 1 >/dev/null || status=$?
        read -r -t 90 to <&"$from"
        exec {from}<&-
        wait "$pid" || true
        echo "status $status, $to"
}

nothing="status 0, 0 bytes, 0 files"
holds "another user gets nothing of a user's program" same "$nothing" "$(handed_to "$other" "$uid")"
holds "nor of root's" same "$nothing" "$(handed_to "$other" 0)"
holds "the same user: another process than the recorder" same "$nothing" "$(handed_to "$uid" "$uid")"
holds "root's: another process than the recorder" same "$nothing" "$(handed_to 0 "$uid")"

# ---- recorders that a program does hand its memory to
n_zones() { # trace
        "$HYPROF" dump "$1" | grep -c '^zone_begin'
}
holds "root records a user's program" ends_with 0 "$HYPROF" record -q -o "$TMPDIR/root.hyp" -- \
        setpriv --reuid "$uid" --regid "$uid" --clear-groups "$folder/w_two_zones" 1 1
holds "its zones are there" compare "$(n_zones "$TMPDIR/root.hyp")" ">" 0
holds "a user records" ends_with 0 as "$uid" "$folder/hyprof" record -q -o "$folder/own.hyp" -- "$folder/w_two_zones" 1 1
holds "its zones are there" compare "$(n_zones "$folder/own.hyp")" ">" 0
if unshare -Ur true 2>/dev/null; then
        holds "a program in a user namespace" ends_with 0 "$HYPROF" record -q -o "$TMPDIR/space.hyp" -- \
                unshare -Ur "$folder/w_two_zones" 1 1
        holds "its zones are there" compare "$(n_zones "$TMPDIR/space.hyp")" ">" 0
        holds "one without a mapping of users" ends_with 0 "$HYPROF" record -q -o "$TMPDIR/none.hyp" -- \
                unshare -U "$folder/w_two_zones" 1 1
        holds "its zones are there" compare "$(n_zones "$TMPDIR/none.hyp")" ">" 0
else
        for case in "a program in a user namespace" "its zones" "one without a mapping of users" "its zones"; do
                skips "$case" "user namespaces are not allowed"
        done
fi
