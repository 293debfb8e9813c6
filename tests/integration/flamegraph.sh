#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `hyprof export flamegraph`: well-formed XML with all samples, the same bytes each time, nothing of elsewhere
set -eu
. tests/tap.sh
plan 7
need python3

trace=tests/golden/v1.4.hyp

export_to() { # file
        "$HYPROF" export flamegraph "$trace" -o "$TMPDIR/$1" >"$TMPDIR/out" 2>&1
}

holds 'a picture is written' export_to a.svg
export_to b.svg
holds 'the same trace gives the same bytes' cmp "$TMPDIR/a.svg" "$TMPDIR/b.svg"
holds 'it is well-formed' python3 -c "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])" "$TMPDIR/a.svg"
"$HYPROF" export folded "$trace" -o "$TMPDIR/a.folded" >"$TMPDIR/out" 2>&1
holds 'the widest box has all samples' same "$(awk '{ n += $NF } END { print n }' "$TMPDIR/a.folded")" \
        "$(grep -m 1 -o 'data-w="[0-9]*"' "$TMPDIR/a.svg" | tr -dc 0-9)"
holds 'the boxes of each depth fit into it' python3 -c '
import re, sys
rows = {}
for x, w, d in re.findall(r"data-x=\"(\d+)\" data-w=\"(\d+)\" data-d=\"(\d+)\"", open(sys.argv[1]).read()):
    rows.setdefault(int(d), []).append((int(x), int(w)))
for d, boxes in rows.items():
    boxes.sort()
    assert all(a[0] + a[1] <= b[0] for a, b in zip(boxes, boxes[1:])), d
assert len(rows) > 2' "$TMPDIR/a.svg"
holds 'it loads nothing' sh -c "! grep -E '(href|src)=' '$TMPDIR/a.svg'"
holds 'a search and a zoom are in it' grep -q 'reset zoom' "$TMPDIR/a.svg"
