#!/bin/sh
# SPDX-License-Identifier: MIT
# Each document that is named exists, each link leads to a file, docs/README.md lists every page.  Usage: doc_links.sh [root]
set -eu
cd "${1:-.}"

bad=0
complain() {
        bad=1
        echo "$1" >&2
}

# "docs/use/why.md", wherever it is written: in code, tests, manuals and pages.
for named in $(git ls-files -co --exclude-standard -z | xargs -0 grep -hoIE '(^|[^A-Za-z0-9_/.])docs/[a-z/-]+\.md' | sed 's/^[^d]*//' | sort -u); do
        [ -f "$named" ] || complain "$named: is named, but does not exist"
done

# [words](file.md#part) and [words](../folder/file.h), from the folder of the page; what stands in backquotes is no link.
for page in $(git ls-files -co --exclude-standard '*.md'); do
        [ -f "$page" ] || continue
        links=$(sed 's/\x60[^\x60]*\x60//g' "$page" | grep -oE '\]\([^)# ]+[^) ]*\)' | sed 's/^](//; s/)$//; s/#.*//' | sort -u)
        for link in $links; do
                case $link in
                http*://* | mailto:*) ;;
                *) [ -e "$(dirname "$page")/$link" ] || complain "$page: leads to $link, which does not exist" ;;
                esac
        done
done

for page in $(git ls-files -co --exclude-standard 'docs/*.md'); do
        [ "$page" = docs/README.md ] || [ ! -f "$page" ] || grep -qF "(${page#docs/})" docs/README.md ||
                complain "$page: is missing in docs/README.md"
done
exit $bad
