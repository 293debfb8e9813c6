#!/bin/sh
# SPDX-License-Identifier: MIT
# No source file has more than 800 lines: a longer one holds two ideas.  No comment has more than 110 columns, which
# clang-format leaves to us; a message may, so that it can be searched for.  Usage: file_length.sh [root]
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

long=$(git ls-files -co --exclude-standard -z '*.c' '*.h' '*.hpp' '*.cpp' | LC_ALL=C xargs -0 -r awk '
        length > 110 && /(^ *\*|\/\*|(^|[^:])\/\/)/ {
                n = gsub(/[^\200-\277]/, "&")
                if (n > 110) print FILENAME ":" FNR ": a comment of " n " columns, at most 110 are allowed"
        }')
[ -z "$long" ] || { bad=1; printf '%s\n' "$long" >&2; }
exit $bad
