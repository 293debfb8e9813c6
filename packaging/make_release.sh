#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes a release of what is committed.  Usage: make_release.sh X.Y.Z [YYYY-MM-DD]; without a date it is today's, in UTC.
#
# Writes the version and the date into the Makefile, CHANGELOG.md and debian/changelog, which must agree
# (tests/lint/version.sh), commits that, and tags it vX.Y.Z; the tag's text is what CHANGELOG.md says of the release.
# Nothing is pushed.  Exit status: 0 = done, 1 = it cannot be made; nothing was changed then.
set -euo pipefail
cd "$(dirname "$0")/.."

refuse() {
        echo "make_release.sh: $*" >&2
        exit 1
}

version=${1:-} date=${2:-$(date -u +%Y-%m-%d)}
old=$(sed -n 's/^VERSION *:= *//p' Makefile)
[[ "$version" =~ ^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$ ]] || refuse "a version is three numbers, like 0.2.0: '$version'"
[[ "$date" =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] || refuse "a date is YYYY-MM-DD: '$date'"
stamp=$(LC_ALL=C date -u -d "$date" '+%a, %d %b %Y %H:%M:%S +0000' 2>/dev/null) || refuse "a date is YYYY-MM-DD: '$date'"
latest=$(printf '%s\n' "$old" "$version" | sort -V | tail -n 1)
if [ "$version" = "$old" ] || [ "$latest" != "$version" ]; then refuse "$version is not later than $old, the Makefile's"; fi
[ -z "$(git status --porcelain)" ] || refuse "there are changes that are not committed: git status"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || refuse "there is a tag v$version"
notes=$(awk '/^## / { inside = $0 == "## Unreleased"; next } inside' CHANGELOG.md)
[ -n "${notes//[[:space:]]/}" ] || refuse "CHANGELOG.md has nothing under '## Unreleased'"
maintainer=$(sed -n 's/^Maintainer: *//p' debian/control | head -n 1)

sed -i -e "s/^VERSION *:= .*/VERSION  := $version/" -e "s/^RELEASED *:= .*/RELEASED := $date/" Makefile
sed -i "s/^## Unreleased\$/## $version - $date/" CHANGELOG.md
{
        printf 'hyprof (%s) unstable; urgency=medium\n\n  * CHANGELOG.md says what is new.\n\n -- %s  %s\n\n' "$version" "$maintainer" "$stamp"
        cat debian/changelog
} >debian/changelog.new
mv debian/changelog.new debian/changelog
sh tests/lint/version.sh
git commit -qam "Release $version"
printf 'hyprof %s\n\n%s\n' "$version" "$notes" | git tag -a --cleanup=whitespace -F - "v$version"
echo "tagged v$version; to publish it: git push origin HEAD v$version"
