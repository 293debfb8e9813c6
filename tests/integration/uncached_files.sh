#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program on a file system that keeps no pages of it (9p, FUSE with direct I/O) has its build-id, and code that is found by it
set -eu
. tests/tap.sh
plan 5
need cc jq readelf
need_sampling
[ "$(id -u)" -eq 0 ] || skip_all "only root may mount"

mkdir "$TMPDIR/program" "$TMPDIR/folder"
cp "$WORKLOADS/w_split" "$TMPDIR/program/w_split"
wanted=$(readelf -n "$TMPDIR/program/w_split" | awk '/Build ID/ { print $3 }')
[ -n "$wanted" ] || skip_all "the workloads have no build-ids"

"$BUILD/tools/uncached_file" "$TMPDIR/folder" "$TMPDIR/program/w_split" >"$TMPDIR/mounted" &
server=$!
trap 'kill "$server" 2>/dev/null || true; umount -l "$TMPDIR/folder" 2>/dev/null || true' EXIT
while kill -0 "$server" 2>/dev/null && ! grep -q . "$TMPDIR/mounted"; do
        sleep 0.02
done
grep -q '^mounted' "$TMPDIR/mounted" || skip_all "$(cat "$TMPDIR/mounted")"

holds "it is recorded, without its code" record uncached --embed=none --no-symbolize "$TMPDIR/folder/program" 2
umount -l "$TMPDIR/folder"
kill "$server" 2>/dev/null || true # it may have ended with the folder
"$HYPROF" modules --json --limit 0 "$TMPDIR/uncached.hyp" >"$TMPDIR/modules.json"
holds "the module of the program has the build-id of the file" same "$wanted" \
        "$(jq -r '.modules.rows[] | select(.path | endswith("/program")) | .build_id' "$TMPDIR/modules.json")"

# Another file system, another inode: only the build-id tells that it is the file.
cp "$TMPDIR/program/w_split" "$TMPDIR/folder/program"
holds "symbolize finds it" ends_with 0 "$HYPROF" symbolize -o "$TMPDIR/named.hyp" "$TMPDIR/uncached.hyp"
holds "its functions have names" jq -e 'any(.functions.rows[]; .function == "seventy")' \
        <("$HYPROF" report --json --limit 0 "$TMPDIR/named.hyp")
holds "and instructions" ends_with 0 "$HYPROF" annotate "$TMPDIR/named.hyp" seventy
