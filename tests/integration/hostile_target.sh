#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A target that exchanges its mappings, its program and what it shares with the recorder does neither stop nor break it
set -eu
. tests/tap.sh
plan 14
need jq
need_sampling

start() { "$WORKLOADS/w_restless" "$1" & target=$!; }

start 3
holds "it is attached to while it changes" ends_with 0 "$HYPROF" record -o "$TMPDIR/attached.hyp" -p "$target"
holds "the recording ends with it" wait "$target"
holds "the trace is whole" is_whole attached
holds "and can be read" ends_with 0 "$HYPROF" report "$TMPDIR/attached.hyp"
holds "with samples" compare "$("$HYPROF" dump "$TMPDIR/attached.hyp" | grep -c '^sample ')" ">" 10

holds "it is started" record started "$WORKLOADS/w_restless" 2
holds "the trace is whole" is_whole started
holds "and can be read" ends_with 0 "$HYPROF" report --json --limit 0 "$TMPDIR/started.hyp"
holds "as JSON" jq -e . "$TMPDIR/out"

start 3
holds "a recording that ends before" ends_with 0 "$HYPROF" record -o "$TMPDIR/part.hyp" -d 1s -p "$target"
holds "is whole" is_whole part
holds "the target lives on, unharmed" wait "$target"

# A program that stops the process which removes its control group.
cat >"$TMPDIR/stops" <<'END'
#!/bin/sh
for pid in $(pgrep -P $PPID); do
        ! grep -qx hyprof-cgroup "/proc/$pid/comm" || kill -STOP "$pid"
done
END
chmod +x "$TMPDIR/stops"
holds "the recording ends beside a helper that is stopped" timeout 200 "$HYPROF" record -q -o "$TMPDIR/stopped.hyp" -- "$TMPDIR/stops"
holds "the trace is whole" is_whole stopped
