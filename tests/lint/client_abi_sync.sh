#!/bin/sh
# SPDX-License-Identifier: MIT
# instrument/client_abi.h and docs/understand/client-abi.md say the same.  Usage: client_abi_sync.sh [root]
#
# The version, twice in the document; of each struct the fields with their offsets and sizes, each a row
# "| offset | bytes | `name` |", without a name for what is reserved; and each event, a row "| number | NAME |".
# shellcheck disable=SC2016 # names stand in backquotes
set -eu
cd "${1:-.}"
header=instrument/client_abi.h
document=docs/understand/client-abi.md
[ -f "$document" ] || { echo "$document is missing" >&2; exit 1; }

# Lines "offset bytes name" of the structs that the document has tables of; reserved fields are called "-".
fields_of_header() {
        sed -E 's,/\*.*\*/,,; s,/\*.*,,; s,^ +\*.*,,' "$header" | awk '
                /^struct client_abi_(header|slot|location) \{/ { inside = 1; offset = 0; text = ""; next }
                /^};/ { inside = 0 }
                inside {
                        text = text " " $0
                        while ((end = index(text, ";")) > 0) {
                                n = split(substr(text, 1, end - 1), word, " ")
                                text = substr(text, end + 1)
                                name = word[n]
                                bytes = 0
                                if (word[n - 1] == "uint8_t") bytes = 1
                                if (word[n - 1] == "uint16_t") bytes = 2
                                if (word[n - 1] == "uint32_t") bytes = 4
                                if (word[n - 1] == "uint64_t") bytes = 8
                                if (word[n - 1] == "client_abi_link") bytes = 16
                                if (match(name, /\[[0-9]+\]/)) {
                                        bytes *= substr(name, RSTART + 1, RLENGTH - 2)
                                        name = substr(name, 1, RSTART - 1)
                                }
                                print offset, bytes, name ~ /^reserved/ ? "-" : name
                                offset += bytes
                        }
                }'
}
fields_of_document() {
        sed -nE 's/^\| *([0-9]+) *\| *([0-9]+) *\| *(`([a-z_]+)`)? *\|.*/\1 \2 \4/p' "$document" | awk '{ print $1, $2, NF == 3 ? $3 : "-" }'
}
events_of_header() { sed -nE 's/^ *CLIENT_ABI_EVENT_([A-Z0-9_]+) = ([0-9]+),.*/\2 \1/p' "$header"; }
events_of_document() { sed -nE 's/^\| *([0-9]+) *\| *([A-Z][A-Z0-9_]*) *\|.*/\1 \2/p' "$document"; }
number() { sed -nE "s/^#define CLIENT_ABI_$1 +([0-9]+).*/\1/p" "$header"; }

bad=0
same() { # what, of the header, of the document
        [ -n "$2" ] || { bad=1; echo "$header: no $1 was found" >&2; }
        [ "$2" = "$3" ] && return
        bad=1
        echo "$document has other $1 than $header (<):" >&2
        printf '%s\n' "$2" >"$scratch/header"
        printf '%s\n' "$3" | diff "$scratch/header" - >&2 || true
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
version=$(number MAJOR).$(number MINOR)
same versions "$version $version" "$(sed -nE 's/^Version ([0-9.]+)\.$/\1/p' "$document") $(
        sed -nE 's/^\|[ 0-9]*\|[ 0-9]*\| *`abi_major` *\| *([0-9]+).*/\1/p' "$document").$(
        sed -nE 's/^\|[ 0-9]*\|[ 0-9]*\| *`abi_minor` *\| *([0-9]+).*/\1/p' "$document")"
same fields "$(fields_of_header | sort)" "$(fields_of_document | sort)"
same events "$(events_of_header | sort)" "$(events_of_document | sort)"
exit $bad
