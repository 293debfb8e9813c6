#!/bin/sh
# SPDX-License-Identifier: MIT
# A server of Redis that writes each change into a file, and one client.  Usage: append_only.sh always|everysec
for program in redis-server redis-cli redis-benchmark; do
        command -v $program >/dev/null || { echo "append_only.sh: no $program: install Redis" >&2 && exit 127; }
done
folder=$(mktemp -d)
redis-server --port 6399 --bind 127.0.0.1 --save '' --appendonly yes --appendfsync "$1" --dir "$folder" >"$folder/log" &
server=$!
until redis-cli -p 6399 ping >/dev/null 2>&1; do
        kill -0 "$server" 2>/dev/null || { cat "$folder/log" >&2 && exit 1; }
        sleep 0.1
done
redis-benchmark -q -p 6399 -c 1 -n 20000 -t set
kill "$server"
wait "$server"
rm -r "$folder"
