#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# record --no-sampling: every zone is there, and neither samples nor switches; what contradicts it is refused
set -eu
. tests/tap.sh
need jq
need_sampling

holds "it records" record alone --no-symbolize --no-sampling -- "$WORKLOADS/w_full_ring" paced 1 10000
"$HYPROF" report --json "$TMPDIR/alone.hyp" >"$TMPDIR/alone.json"
holds "every zone is in the trace" same "$(awk '$1 == "zones" { print $2 }' "$TMPDIR/alone.out")" \
        "$(reported alone .counts.zones)"
holds "there are no samples" same 0 "$("$HYPROF" dump "$TMPDIR/alone.hyp" | grep -c "^sample" || true)"
holds "nor switches" same 0 "$("$HYPROF" dump "$TMPDIR/alone.hyp" | grep -c '^switch' || true)"
holds "the last line names no samples" grep -qE '^hyprof: wrote [^:]*: [0-9.]+ m?s, [0-9,]+ zones, ' "$TMPDIR/alone.err"
holds "-e contradicts it" ends_with 2 "$HYPROF" record --no-sampling -e page-faults -- true
holds "--off-cpu contradicts it" ends_with 2 "$HYPROF" record --no-sampling --off-cpu -- true
