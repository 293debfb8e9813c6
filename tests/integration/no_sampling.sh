#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# record --no-sampling: every zone is there, and neither samples nor switches; what contradicts it is refused
set -eu
. tests/tap.sh
plan 15
need jq
need_sampling

holds "it records" record alone --no-symbolize --no-sampling -- "$WORKLOADS/w_full_ring" paced 1 10000
"$HYPROF" report --json --limit 0 "$TMPDIR/alone.hyp" >"$TMPDIR/alone.json"
holds "every zone is in the trace" same "$(awk '$1 == "zones" { print $2 }' "$TMPDIR/alone.out")" \
        "$(reported alone .n_zones)"
holds "there are no samples" same 0 "$("$HYPROF" dump "$TMPDIR/alone.hyp" | grep -c "^sample" || true)"
holds "nor switches" same 0 "$("$HYPROF" dump "$TMPDIR/alone.hyp" | grep -c '^switch' || true)"
holds "the last line names no samples" grep -qE '^hyprof: wrote [^:]*: [0-9.]+ m?s, [0-9,]+ zones, ' "$TMPDIR/alone.err"
holds "the report names no copies of the stack" jq -e '.stack_copy_bytes == null' "$TMPDIR/alone.json"
holds "-e contradicts it" ends_with 2 "$HYPROF" record --no-sampling -e page-faults -- true
holds "--off-cpu contradicts it" ends_with 2 "$HYPROF" record --no-sampling --off-cpu -- true

# The numbers say what a small ring lost
holds "it records with a small ring" record small --no-symbolize --no-sampling --client-ring 4K -- \
        "$WORKLOADS/w_full_ring" flat 0.1
lost='at least: [0-9.]+% of this program.s zones were lost'
said() { "$HYPROF" "$@" "$TMPDIR/small.hyp" 2>&1; }
holds "the report says so at its zones" grep -qE "^  zones .*$lost" <(said report)
holds "so does the list of zones" grep -qE "$lost; time between" <(said report --zones | tr '\n' ' ' | tr -s ' ')
holds "so does one zone" grep -qE "^ *lost  *$lost" <(said report --zone inner)
holds "so does why" grep -qE "$lost" <(said why --zone inner)
holds "so does csv, beside the table" grep -qE "counts and totals are $lost" <("$HYPROF" csv "$TMPDIR/small.hyp" 2>&1 >/dev/null)
holds "JSON has how many" jq -e '.n_zones_lost > 0' <("$HYPROF" report --json --limit 0 "$TMPDIR/small.hyp")
