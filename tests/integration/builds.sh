#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds: each compiler says what it works on, by its command line, in reports and in the picture; other programs say nothing
set -eu
. tests/tap.sh
. tests/page_part.sh
plan 6
need jq make
need_sampling

# A compiler that takes its time: on a busy machine a real one may end before anybody looks at it.
printf '#!/bin/sh\nsleep 1\n' >"$TMPDIR/cc1"
cp "$TMPDIR/cc1" "$TMPDIR/as"
cp "$TMPDIR/cc1" "$TMPDIR/other"
chmod +x "$TMPDIR/cc1" "$TMPDIR/as" "$TMPDIR/other"
cat >"$TMPDIR/Makefile" <<'EOS'
all: one two three
one two: ; @./cc1 -quiet -D X=y.c -include all.h src/$@.c -o $@.s; ./as -o $@.o $@.s
three: ; @./other -o three.o three.c
EOS
record build -- make -s -C "$TMPDIR" -j3
"$HYPROF" report --threads --json --limit 0 "$TMPDIR/build.hyp" >"$TMPDIR/threads.json"
works() { jq -r --arg name "$1" '[.threads.rows[] | select(.name == $name) | .works_on] | sort | join(" ")' "$TMPDIR/threads.json"; }
holds "a compiler works on its source" same "src/one.c src/two.c" "$(works cc1)"
holds "an assembler works on its result" same "one.o two.o" "$(works as)"
holds "another program has nothing" jq -e '[.threads.rows[] | select(.name == "other" or .name == "make") | .works_on] |
        length >= 2 and all(. == null)' "$TMPDIR/threads.json"
in_text() { "$HYPROF" report --threads "$TMPDIR/build.hyp" | grep -E "cc1 +src/one\.c "; }
holds "people see it beside the name" in_text

# ---- null case
record plain -- sleep 0.1
no_column() { "$HYPROF" report --threads "$TMPDIR/plain.hyp" >"$TMPDIR/out" && grep -q sleep "$TMPDIR/out" && ! grep "works on" "$TMPDIR/out"; }
holds "where nothing is built, no column is in the way" no_column
from_page() { # the model of a page in one file
        "$HYPROF" html -q -o "$TMPDIR/build.html" "$TMPDIR/build.hyp" &&
                part "$TMPDIR/build.html" model | jq -e '[.processes[].works_on] | index("src/one.c") and index(null)'
}
holds "the picture has it" from_page
