#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A machine with 256 CPUs, of which all but the real ones are idle: the trace is whole, and the rings take no more than they may
set -eu
. tests/tap.sh
plan 10
need jq
need_sampling

many() { # command...: hyprof on that machine
        env MANY_CPUS=256 "LD_PRELOAD=$BUILD/tools/many_cpus.so" "$HYPROF" "$@"
}

# In MB; 0 if it is not said.
pinned() { # name
        reported "$1" '(.pinned_bytes // 0) / 1e6'
}

holds "records" many record -q -F 499 -o "$TMPDIR/many.hyp" -- "$WORKLOADS/w_threads"
holds "and on the real CPUs" record real -F 499 -- "$WORKLOADS/w_threads"
holds "the trace is whole" is_whole many
for name in many real; do "$HYPROF" report --json --limit 0 "$TMPDIR/$name.hyp" >"$TMPDIR/$name.json"; done
holds "the head says the CPUs" same 256 "$(reported many .n_cpus)"
holds "threads and zones are the same" same "$(reported real '"\(.n_threads) \(.n_zones)"')" \
        "$(reported many '"\(.n_threads) \(.n_zones)"')"
holds "there are samples" compare "$(reported many .n_samples)" ">" 10
holds "and switches" compare "$(reported many .n_switches)" ">" 10
if [ "$(id -u)" -eq 0 ]; then
        holds "at most 256 MiB for samples, 64 for forks, and those of switches are pinned" compare "$(pinned many)" "<" 740
        many record -q -F 997 -o "$TMPDIR/usual.hyp" -- true
        "$HYPROF" report --json --limit 0 "$TMPDIR/usual.hyp" >"$TMPDIR/usual.json"
        said=$(many doctor --json | grep -o '[0-9]* MiB would be pinned' | cut -d ' ' -f 1)
        holds "doctor says beforehand what it is, but for single pages: $said MiB" compare \
                "($(reported usual '.pinned_bytes / 1048576') / $said - 1) ^ 2" "<" 0.01
        many record -F 9973 -o "$TMPDIR/fast.hyp" -- true 2>"$TMPDIR/said" || true
        holds "copies are shorter where rings are short, and that is said" grep -q "copies of stacks have 4 KiB instead of 16" \
                "$TMPDIR/said"
else
        skips_group "what is pinned" "users that may lock little memory have small rings"
fi
