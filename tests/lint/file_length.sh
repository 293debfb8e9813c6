#!/bin/sh
# SPDX-License-Identifier: MIT
# No source file has more than 800 lines: a longer one holds two ideas.  No comment has more than 110 columns, which
# clang-format leaves to us; a message may, so that it can be searched for.  Usage: file_length.sh [root]
set -eu
cd "${1:-.}"

git ls-files -co --exclude-standard '*.c' '*.h' '*.hpp' '*.cpp' '*.sh' |
        while read -r file; do [ ! -f "$file" ] || printf '%s\n' "$file"; done |
        LC_ALL=C xargs -r -d '\n' awk '
        FNR == 801 {
                print FILENAME ": more than 800 lines"
                bad = 1
        }
        length > 110 && FILENAME !~ /\.sh$/ && /(^ *\*|\/\*|(^|[^:])\/\/)/ {
                n = gsub(/[^\200-\277]/, "&")
                if (n > 110) {
                        print FILENAME ":" FNR ": a comment of " n " columns, at most 110 are allowed"
                        bad = 1
                }
        }
        END { exit bad }' >&2
