#!/bin/sh
# SPDX-License-Identifier: MIT
# A source file's name is enough to find it in the tree.  Usage: unique_names.sh [root]
set -eu
cd "${1:-.}"

twice=$(git ls-files -co --exclude-standard '*.c' '*.h' '*.hpp' '*.cpp' '*.sh' | sed 's|.*/||' | sort | uniq -d)
[ -n "$twice" ] || exit 0
for name in $twice; do
        echo "more than one file is called $name:" >&2
        git ls-files -co --exclude-standard "$name" "*/$name" >&2
done
exit 1
