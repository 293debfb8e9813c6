#!/bin/sh
# SPDX-License-Identifier: MIT
# Every source file names its licence in one of its first two lines.  Usage: spdx.sh [root]
set -eu
cd "${1:-.}"

bad=0
for file in $(git ls-files -co --exclude-standard '*.c' '*.h' '*.hpp' '*.cpp' '*.sh' 'python/*.py' 'python/*.pyi' Makefile .ci/run); do
        [ -f "$file" ] || continue
        if ! head -n 2 "$file" | grep -q 'SPDX-License-Identifier: MIT'; then
                bad=1
                echo "$file: no SPDX-License-Identifier in its first two lines" >&2
        fi
done
exit $bad
