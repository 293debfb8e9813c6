#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The samples of README.md are what hyprof prints: examples/readme_samples.sh finds them in a new trace, with the same columns
set -u
. tests/tap.sh
plan 5
need_sampling

new_samples() { HYPROF_DEMO_TRACE=$TMPDIR/pool.hyp examples/readme_samples.sh "$BUILD" "$TMPDIR/README.md"; }

# Commands and columns; figures, names and the columns that the width hides differ.
form() { # file
        sed -n '/^<!-- sample/,/^<!-- end/p' "$1" |
                grep -oE '^<!-- .*|^    \$ .*|^ +zone +count +total +self|^ +zone +self +total +function' | tr -s ' '
}
around() { sed '/^<!-- sample/,/^<!-- end/d' "$1"; } # file

cp README.md "$TMPDIR/README.md"
holds "a trace as make demo makes it" record pool "$EXAMPLES/kernel_pool" --seconds 1
holds "both samples are found in it" new_samples
holds "README.md has their columns" same "$(form "$TMPDIR/README.md")" "$(form README.md)"
holds "two samples, two tables" compare "$(form README.md | wc -l)" == 8
holds "the rest of README.md is left alone" same "$(around README.md)" "$(around "$TMPDIR/README.md")"
