#!/bin/sh
# SPDX-License-Identifier: MIT
# format/trace_spec.h and docs/understand/trace-format.md name the same ids.  Usage: spec_sync.sh [root]
#
# Each X(id, NAME ...) of the header must have a table row "| id | NAME |" in the document.  Each such row
# must have an X(id, NAME ...) or a constant that ends in _NAME and has this value.
set -eu
cd "${1:-.}"
spec=format/trace_spec.h
document=docs/understand/trace-format.md

[ -f "$document" ] || { echo "$document is missing" >&2; exit 1; }
in_spec=$(sed -nE 's/^[ \t]*X\(([0-9]+), *([A-Z][A-Z0-9_]*)[,)].*/\1 \2/p' "$spec" | sort -u)
in_document=$(sed -nE 's/^\| *([0-9]+) *\| *([A-Z][A-Z0-9_]*) *\|.*/\1 \2/p' "$document" | sort -u)
constants=$(sed -nE 's/^[ \t]*(TRACE_[A-Z0-9_]+) = ([0-9]+),.*/\2 \1/p' "$spec")
[ -n "$in_spec" ] || { echo "$spec: no X(id, NAME) was found" >&2; exit 1; }

bad=0
printf '%s\n' "$in_spec" | {
        while read -r id name; do
                printf '%s\n' "$in_document" | grep -qxF "$id $name" ||
                        { bad=1; echo "$document: has no row for | $id | $name |" >&2; }
        done
        exit $bad
} || bad=1
printf '%s\n' "$in_document" | {
        while read -r id name; do
                printf '%s\n' "$in_spec" | grep -qxF "$id $name" ||
                        printf '%s\n' "$constants" | grep -qE "^$id TRACE_([A-Z0-9_]+_)?$name\$" ||
                        { bad=1; echo "$spec: does not have | $id | $name | of $document" >&2; }
        done
        exit $bad
} || bad=1
exit $bad
