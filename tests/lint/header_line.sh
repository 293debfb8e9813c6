#!/bin/sh
# SPDX-License-Identifier: MIT
# Each header says its place in the way of the data, itself in brackets.  Usage: header_line.sh [root]
set -eu
cd "${1:-.}"

bad=0
for file in $(find base format symbolize unwind instrument sampler analyze timeline merge view export web cli python -name '*.h' | sort); do
        if ! sed -n '1,/\*\//p;2,/\*\//p' "$file" | grep -q 'Way of the data:'; then
                bad=1
                echo "$file: its first comment has no line \"Way of the data:\"" >&2
        fi
done
exit $bad
