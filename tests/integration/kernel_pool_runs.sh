#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# examples/kernel_pool: right results from every kernel, however it is made and loaded, no file left behind, its exit statuses
set -u
pool=$EXAMPLES/kernel_pool
n=0
echo "1..15"

status_is() { # name, status, command...
        local status
        n=$((n + 1))
        "${@:3}" >"$TMPDIR/out" 2>&1
        status=$?
        if [ "$status" -eq "$2" ]; then
                echo "ok $n - $1"
        else
                echo "not ok $n - $1: exit status $status"
                sed 's/^/    /' "$TMPDIR/out"
        fi
}

# A compiler that builds kernels which compute something else.
cat >"$TMPDIR/wrong_cc" <<'EOS'
#!/bin/sh
for word in "$@"; do
        case $word in
        *.c) sed -i 's/return sum/return sum + 1/' "$word" ;;
        esac
done
exec cc "$@"
EOS
chmod +x "$TMPDIR/wrong_cc"
mkdir "$TMPDIR/folder"

status_is "all kernels are right" 0 env TMPDIR="$TMPDIR/folder" "$pool" --seconds 0.1 --kernels 32
status_is "no file is left" 0 test -z "$(ls -A "$TMPDIR/folder")"
for how in --mlir --memory --reload "--memory --reload --mlir"; do
        # shellcheck disable=SC2086 # words
        status_is "$how: all kernels are right" 0 env TMPDIR="$TMPDIR/folder" "$pool" --seconds 0.1 $how
        # shellcheck disable=SC2086
        status_is "$how, bare kernels: the same" 0 env TMPDIR="$TMPDIR/folder" "$pool" --seconds 0.1 $how \
                --cflags "-g0 -s -Wl,--build-id=none"
done
status_is "still no file is left" 0 test -z "$(ls -A "$TMPDIR/folder")"
status_is "wrong kernels are found out" 1 env CC="$TMPDIR/wrong_cc" "$pool" --seconds 0.1 --kernels 4
status_is "no compiler" 1 env CC="$TMPDIR/none" "$pool" --seconds 0.1
status_is "no folder to write to" 1 env TMPDIR="$TMPDIR/none" "$pool" --seconds 0.1
status_is "a bad option" 2 "$pool" --workers 0
