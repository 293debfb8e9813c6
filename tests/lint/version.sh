#!/bin/sh
# SPDX-License-Identifier: MIT
# CHANGELOG.md and debian/changelog begin with the version of the Makefile, and with its date.  Usage: version.sh [root]
set -eu
cd "${1:-.}"

version=$(sed -n 's/^VERSION *:= *//p' Makefile)
released=$(sed -n 's/^RELEASED *:= *//p' Makefile)
bad=0

expect() { # file, found, wanted
        [ "$2" = "$3" ] && return 0
        bad=1
        echo "$1 begins with '$2', the Makefile says '$3'" >&2
}

# Changes that wait for a release stand under a heading without a number.
expect CHANGELOG.md "$(sed -n 's/^## \([0-9].*\)/\1/p' CHANGELOG.md | head -n 1)" "$version - $released"
expect debian/changelog "$(sed -n '1s/^hyprof (\(.*\)) .*/\1/p' debian/changelog)" "$version"
expect debian/changelog "$(sed -n 's/^ -- .*>  //p' debian/changelog | head -n 1)" "$(LC_ALL=C date -u -d "$released" '+%a, %d %b %Y %H:%M:%S +0000')"
exit $bad
