#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Whichever allocation fails, or all from one on: every command ends by itself, says so, and calls no intact trace damaged
set -eu
. tests/tap.sh
case ${VARIANT:-} in asan | tsan) skip_all "a sanitizer has an allocator of its own" ;; esac

# Each that many allocations; HYPROF_ALLOCATIONS=1 tries all.
step=${HYPROF_ALLOCATIONS:-19}
trace=$TMPDIR/t.hyp
"$BUILD/tools/made_trace" many "$trace" 1000 400
cp "$trace" "$TMPDIR/b.hyp"
zone=$("$HYPROF" report --zones --csv "$trace" | sed -n '2s/,.*//p')

ends_by_itself() { "$BUILD/tools/try_allocations" "$BUILD/tools/fail_allocation.so" "$step" 20 "$HYPROF" "$@"; }
holds check ends_by_itself check "$trace"
holds report ends_by_itself report "$trace"
holds "report --json" ends_by_itself report --json "$trace"
holds why ends_by_itself why --zone "$zone" "$trace"
holds diff ends_by_itself diff "$trace" "$TMPDIR/b.hyp"
holds annotate ends_by_itself annotate "$trace" function_40
holds modules ends_by_itself modules "$trace"
holds dump ends_by_itself dump "$trace"
holds csv ends_by_itself csv "$trace"
holds query ends_by_itself query --force --sqlite "$TMPDIR/t.db" "$trace"
holds symbolize ends_by_itself symbolize --no-cache -o "$TMPDIR/s.hyp" "$trace"
for format in firefox perfetto pprof chrome speedscope folded callgrind; do
        holds "export $format" ends_by_itself export --force -o "$TMPDIR/out" "$format" "$trace"
done
