#!/bin/sh
# SPDX-License-Identifier: MIT
# Each document that is named exists, each link leads to a file and a heading, docs/README.md lists every page, files and
# functions in pages are those of the tree, and lines of prose have at most 120 columns.  Usage: doc_links.sh [root]
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

# The names by which links mean the headings of a page.
headings() { # page
        sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

# [words](file.md#part) and [words](../folder/file.h), from the folder of the page; text in backquotes is not a link.
for page in $(git ls-files -co --exclude-standard '*.md'); do
        [ -f "$page" ] || continue
        links=$(sed 's/\x60[^\x60]*\x60//g' "$page" | grep -oE '\]\([^)# ]+[^) ]*\)' | sed 's/^](//; s/)$//; s/#.*//' | sort -u)
        parts=$(sed 's/\x60[^\x60]*\x60//g' "$page" | grep -oE '\]\([^): ]*#[^) ]+\)' | sed 's/^](//; s/)$//' | sort -u)
        for part in $parts; do
                file=${part%%#*}
                file=${file:+$(dirname "$page")/$file}
                file=${file:-$page}
                [ ! -f "$file" ] || headings "$file" | grep -qxF -- "${part#*#}" ||
                        complain "$page: leads to $part, but no heading has that name"
        done
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
# `file.c` in a page, `function()` in HACKING.md: names of the tree.  Names with * or <...> stand for several, and headers
# may be those of other projects.
git ls-files -co --exclude-standard | sed 's|.*/||' | sort -u >"${TMPDIR:-/tmp}/names.$$"
in_words() { # page, pattern
        [ ! -f "$1" ] || grep -oE "\`$2\`" "$1" | tr -d '\`' | sort -u
}
for page in $(git ls-files -co --exclude-standard HACKING.md 'docs/understand/*.md' 'docs/extend/*.md'); do
        kinds='c|sh|py|awk'
        [ "$page" != HACKING.md ] || kinds='c|h|sh|py|awk|table|json'
        for file in $(in_words "$page" "[A-Za-z0-9_./-]+\\.($kinds)" | grep -v '^\.'); do
                grep -qxF -- "${file##*/}" "${TMPDIR:-/tmp}/names.$$" || complain "$page: names $file, which does not exist"
        done
done
rm -f "${TMPDIR:-/tmp}/names.$$"
for function in $(in_words HACKING.md '[a-z][a-z0-9_]+\(\)' | tr -d '()'); do
        git ls-files -co --exclude-standard -z '*.c' '*.h' | xargs -0 grep -qw -- "$function" ||
                complain "HACKING.md: names $function(), which does not exist"
done

# Rows of tables and lines of code are as long as they must be.
long=$(git ls-files -co --exclude-standard -z 'docs/*.md' 'docs/man/*.txt' HACKING.md README.md |
        LC_ALL=C xargs -0 -r awk '
        FNR == 1 { code = 0 }
        /^```/ { code = !code }
        { n = gsub(/[^\200-\277]/, "&") }
        !code && !/^(\||    )/ && n > 120 { print FILENAME ":" FNR ": " n " columns" }')
[ -z "$long" ] || complain "$long"
exit $bad
