#!/bin/sh
# SPDX-License-Identifier: MIT
# No source file has more than 800 lines: a longer one holds two ideas.  Usage: file_length.sh [root]
set -eu
cd "${1:-.}"

bad=0
for file in $(git ls-files -co --exclude-standard '*.c' '*.h' '*.cpp' '*.sh'); do
        [ -f "$file" ] || continue
        n_lines=$(wc -l <"$file")
        if [ "$n_lines" -gt 800 ]; then
                bad=1
                echo "$file: $n_lines lines, at most 800 are allowed" >&2
        fi
done
exit $bad
