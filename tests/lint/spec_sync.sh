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

# A list after the other, each after a line with its number.
printf '1\n%s\n2\n%s\n3\n%s\n' "$in_spec" "$in_document" "$constants" | awk -v spec="$spec" -v document="$document" '
        NF != 2 {
                if (NF == 1) list = $1
                next
        }
        list == 1 { in_spec[$0] = 1 }
        list == 2 { in_document[$0] = 1 }
        list == 3 {
                # TRACE_LOSS_NONE is the constant of NONE, and of LOSS_NONE.
                for (name = $2; sub(/^[A-Z0-9]*_/, "", name);) constant[$1 " " name] = 1
        }
        END {
                for (row in in_spec) if (!(row in in_document)) {
                        split(row, field)
                        print document ": has no row for | " field[1] " | " field[2] " |"
                        bad = 1
                }
                for (row in in_document) if (!(row in in_spec) && !(row in constant)) {
                        split(row, field)
                        print spec ": does not have | " field[1] " | " field[2] " | of " document
                        bad = 1
                }
                exit bad
        }' >&2
