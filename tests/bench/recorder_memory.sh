#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The recorder's own memory, minute by minute, while two threads emit HYPROF_BENCH_RATE (5000000) zones a second together,
# of 64 places, three in a hundred with a text, for HYPROF_BENCH_MINUTES (10).
set -eu
cd "$(dirname "$0")/../.." || exit 2
folder=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX")
trap 'rm -rf "$folder"' EXIT
minutes=${HYPROF_BENCH_MINUTES:-10}
rate=${HYPROF_BENCH_RATE:-5000000}
program=$folder/burst_program
gcc -O2 -Iinstrument/client/include tests/bench/burst_program.c "$BUILD/libhyprof.a" -pthread -o "$program"

"$HYPROF" record -q --no-symbolize -o "$folder/trace" -- \
        "$program" paced $((rate / 2)) $((minutes * 60 + 5)) 2 texts >"$folder/out" 2>"$folder/err" &
recorder=$!
printf '%6s %10s %14s %16s\n' minute "RSS KB" "anonymous KB" "trace MB"
begin=$SECONDS
for minute in $(seq 0 "$minutes"); do
        while [ $((SECONDS - begin)) -lt $((minute * 60 + 3)) ] && kill -0 "$recorder" 2>/dev/null; do
                sleep 1
        done
        awk -v minute="$minute" -v mb="$(($(stat -c %s "$folder/trace") / 1000000))" '
                $1 == "Rss:" { rss = $2 }
                $1 == "Anonymous:" { anonymous = $2 }
                END { printf "%6d %10d %14d %16d\n", minute, rss, anonymous, mb }' "/proc/$recorder/smaps_rollup"
done
wait "$recorder"
"$HYPROF" report --json --limit 0 "$folder/trace" | jq -r --arg emitted "$(awk '{ print $2 }' "$folder/out")" '
        "emitted \($emitted), recorded \(.n_zones), lost \([.missing.rows[] | select(.code | test("DROPPED|CLIENT_RING")) | .count] | add // 0)"'
