#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Memory of forked processes, which have it at the same addresses: what each allocated and freed is its own
set -eu
. tests/tap.sh
plan 7
need jq sqlite3

holds "recorded" record forks --no-sampling -- "$WORKLOADS/w_memory_forks"
"$HYPROF" report --memory --json --limit 0 "$TMPDIR/forks.hyp" >"$TMPDIR/memory.json"
said() { jq -r "$1" "$TMPDIR/memory.json"; }
holds "bytes and blocks that were never freed" same "304000 340" "$(said '[.pools.rows[].live_bytes, 0] | add') $(said '[.pools.rows[].n_live, 0] | add')"
holds "a row for each process that allocated or freed" same 5 "$(said '[.pools.rows[].pid] | unique | length')"
holds "peaks are of a process" same "5000 100000 100000 100000" "$(said '[.pools.rows[].peak_bytes | select(. > 0)] | sort | map(tostring) | join(" ")')"
holds "a child's frees of what it was forked with are its own" same 50 "$(said '[.pools.rows[].n_freed_inherited] | add')"
holds "no free is of unknown memory, and no allocation over another" same 0 \
        "$(said '[.pools.rows[] | .n_freed_unknown + .n_freed_twice + .n_allocated_over] | add')"
"$HYPROF" query --sqlite "$TMPDIR/out.db" "$TMPDIR/forks.hyp"
sql=$(awk '/^Memory that was allocated and never freed/ { wanted = 1; next } wanted && /^[^ ]/ { exit } wanted' docs/use/sqlite.md)
holds "what docs/use/sqlite.md asks: the same" same "1000|300|300000 100|40|4000" "$(sqlite3 "$TMPDIR/out.db" "$sql" | cut -d '|' -f 2- | paste -sd ' ')"
