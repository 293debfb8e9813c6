#!/bin/sh
# SPDX-License-Identifier: MIT
# Every source file names its licence in one of its first two lines.  Usage: spdx.sh [root]
set -eu
cd "${1:-.}"

# One awk reads the first two lines of all files; an empty file has none.
git ls-files -co --exclude-standard '*.c' '*.h' '*.hpp' '*.cpp' '*.sh' 'python/*.py' 'python/*.pyi' Makefile '*.mk' .ci/run |
        while read -r file; do [ ! -f "$file" ] || printf '%s\n' "$file"; done |
        xargs -r -d '\n' awk 'BEGIN {
                for (i = 1; i < ARGC; i++) {
                        found = 0
                        for (n = 0; n < 2 && (getline line < ARGV[i]) > 0; n++)
                                if (line ~ /SPDX-License-Identifier: MIT/) found = 1
                        close(ARGV[i])
                        if (found) continue
                        print ARGV[i] ": no SPDX-License-Identifier in its first two lines"
                        bad = 1
                }
                exit bad
        }' >&2
