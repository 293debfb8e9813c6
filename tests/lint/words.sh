#!/bin/sh
# SPDX-License-Identifier: MIT
# No marks of unfinished work and no paths of one person's machine in the tree.  Usage: words.sh [root]
set -eu
cd "${1:-.}"

marks='TO''DO|FIX''ME|XX''X|HA''CK|W''IP'
found=$(git ls-files -co --exclude-standard -z | xargs -0 grep -nIE "(^|[^A-Za-z0-9_])($marks)([^A-Za-z0-9_]|\$)" || true)
paths='/wo''rk/|/ho''me/[a-z]+/src'
found=$found$(git ls-files -co --exclude-standard -z | xargs -0 grep -nIE "(^|[^A-Za-z0-9_.])($paths)" || true)
[ -n "$found" ] || exit 0
printf '%s\n' "$found" >&2
echo "marks of unfinished work, or paths of one machine" >&2
exit 1
