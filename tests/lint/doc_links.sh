#!/bin/sh
# SPDX-License-Identifier: MIT
# Each document that is named exists, each link leads to a file and a heading, docs/README.md lists every page, files and
# functions in pages are those of the tree, and lines of prose have at most 120 columns.  Usage: doc_links.sh [root]
set -eu
cd "${1:-.}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0
complain() {
        bad=1
        echo "$1" >&2
}

# "docs/use/why.md", wherever it is written: in code, tests, manuals and pages.
for named in $(git ls-files -co --exclude-standard -z | xargs -0 grep -hoIE '(^|[^A-Za-z0-9_/.])docs/[a-z/-]+\.md' | sed 's/^[^d]*//' | sort -u); do
        [ -f "$named" ] || complain "$named: is named, but does not exist"
done

pages() { # patterns of git: those that exist
        git ls-files -co --exclude-standard "$@" | while read -r page; do [ ! -f "$page" ] || printf '%s\n' "$page"; done
}

# [words](file.md#part) and [words](../folder/file.h), from the folder of the page; text in backquotes is not a link.  Parts
# are judged here; links to files come out as lines "PAGE, a tab, LINK, a tab, PATH".
# shellcheck disable=SC2016 # the fields are awk's
pages '*.md' | LC_ALL=C xargs -r -d '\n' awk '
        # The names by which links mean the headings of a page.  No file, no judgement: its link is judged as a link.
        function has_heading(path, name, line, n) {
                if (!(path in is_read)) {
                        for (n = 0; (getline line < path) > 0; n++)
                                if (sub(/^##* /, "", line)) {
                                        line = tolower(line)
                                        gsub(/[^a-z0-9 _-]/, "", line)
                                        gsub(/ /, "-", line)
                                        heading[path, line] = 1
                                }
                        close(path)
                        is_read[path] = n
                }
                return is_read[path] == 0 || (path, name) in heading
        }
        FNR == 1 {
                folder = FILENAME
                if (!sub(/[^\/]*$/, "", folder)) folder = ""
        }
        {
                gsub(/`[^`]*`/, "")
                for (text = $0; match(text, /\]\([^)# ]+[^) ]*\)/); text = substr(text, RSTART + RLENGTH)) {
                        link = substr(text, RSTART + 2, RLENGTH - 3)
                        sub(/#.*/, "", link)
                        if (link !~ /^http.*:\/\// && link !~ /^mailto:/) print FILENAME "\t" link "\t" folder link
                }
                for (text = $0; match(text, /\]\([^): ]*#[^) ]+\)/); text = substr(text, RSTART + RLENGTH)) {
                        part = substr(text, RSTART + 2, RLENGTH - 3)
                        file = name = part
                        sub(/#.*/, "", file)
                        sub(/^[^#]*#/, "", name)
                        file = file == "" ? FILENAME : folder file
                        if (!has_heading(file, name)) print FILENAME "\t" part "\t#"
                }
        }' | sort -u >"$scratch/links"
while read -r page link path; do
        if [ "$path" = '#' ]; then
                complain "$page: leads to $link, but no heading has that name"
        elif [ ! -e "$path" ]; then
                complain "$page: leads to $link, which does not exist"
        fi
done <"$scratch/links"

index=$(cat docs/README.md)
pages 'docs/*.md' >"$scratch/pages"
while read -r page; do
        case $page$index in
        docs/README.md* | *"(${page#docs/})"*) ;;
        *) complain "$page: is missing in docs/README.md" ;;
        esac
done <"$scratch/pages"

# `file.c` in a page, tests in SECURITY.md, `function()` in HACKING.md: names of the tree.  Names with * or <...> stand for several, and headers
# may be those of other projects.
# shellcheck disable=SC2016 # the fields are awk's
names_in_pages() { # awk's pattern between backquotes; in HACKING.md it is the second one
        pages HACKING.md SECURITY.md 'docs/understand/*.md' 'docs/extend/*.md' | LC_ALL=C xargs -r -d '\n' awk -v elsewhere="$1" -v here="$2" '
                {
                        pattern = "`" (FILENAME == "HACKING.md" ? here : elsewhere) "`"
                        for (text = $0; match(text, pattern); text = substr(text, RSTART + RLENGTH))
                                print FILENAME "\t" substr(text, RSTART + 1, RLENGTH - 2)
                }' | sort -u
}
git ls-files -co --exclude-standard | sed 's|.*/||' | sort -u >"$scratch/names"
names_in_pages '[A-Za-z0-9_.\/-]+[.](c|sh|py|awk)' '[A-Za-z0-9_.\/-]+[.](c|h|sh|py|awk|table|json)' |
        awk -F '\t' 'FNR == NR { exists[$0] = 1; next }
                { name = $2; sub(/.*\//, "", name) }
                $2 !~ /^[.]/ && !(name in exists) { print $1 ": names " $2 ", which does not exist" }' "$scratch/names" - >"$scratch/lost"
names_in_pages 'no name' '[a-z][a-z0-9_]+[(][)]' | cut -f 2 | tr -d '()' >"$scratch/functions"
git ls-files -co --exclude-standard -z '*.c' '*.h' | xargs -0 -r grep -ohwFf "$scratch/functions" | sort -u |
        comm -13 - "$scratch/functions" | sed 's/.*/HACKING.md: names &(), which does not exist/' >>"$scratch/lost"
[ ! -s "$scratch/lost" ] || complain "$(cat "$scratch/lost")"

# Rows of tables and lines of code are as long as they must be.
long=$(git ls-files -co --exclude-standard -z 'docs/*.md' 'docs/man/*.txt' HACKING.md README.md |
        LC_ALL=C xargs -0 -r awk '
        FNR == 1 { code = 0 }
        /^```/ { code = !code }
        { n = gsub(/[^\200-\277]/, "&") }
        !code && !/^(\||    )/ && n > 120 { print FILENAME ":" FNR ": " n " columns" }')
[ -z "$long" ] || complain "$long"
exit $bad
