#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof without the libraries that can be left out: it records and reports, and says what it lacks (`make check-left-out`)
set -eu
. tests/tap.sh
plan 12
need jq
need_sampling

for feature in bpf libpfm4 ncurses viewer sqlite; do
        holds "--version: without $feature" same false \
                "$("$HYPROF" --version --json | jq ".features.rows[] | select(.name == \"$feature\") | .is_built_in")"
done
holds "records" record short "$WORKLOADS/w_every_event"
has_events() { "$HYPROF" report --json "$TMPDIR/short.hyp" | jq -e '.n_samples > 0 and .n_zones > 0' >/dev/null; }
holds "and reports" has_events
holds "a page as one file" ends_with 0 "$HYPROF" export html -o "$TMPDIR/short.html" "$TMPDIR/short.hyp"
holds "export sqlite: status 1" ends_with 1 "$HYPROF" export sqlite -o "$TMPDIR/short.db" "$TMPDIR/short.hyp"
holds "it says why" grep -q "built without SQLite" "$TMPDIR/err"
holds "view: status 1" ends_with 1 "$HYPROF" view --no-open "$TMPDIR/short.hyp"
holds "it says why, too" grep -q "built without a viewer" "$TMPDIR/err"
