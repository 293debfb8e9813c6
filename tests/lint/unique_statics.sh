#!/bin/sh
# SPDX-License-Identifier: MIT
# A function's name says in a back trace which file it is of: static functions whose names are not unique in the product
# have their file's prefix.  Usage: unique_statics.sh [root]
set -eu
cd "${1:-.}"

# shellcheck disable=SC2016 # the fields are awk's
find base format symbolize unwind instrument sampler analyze timeline merge view export web cli python -name '*.c' | sort | xargs awk '
/^static [^=;(]*[ *][a-z_0-9]+\(/ {
        name = $0
        sub(/\(.*/, "", name)
        sub(/.*[ *]/, "", name)
        if (!((name, FILENAME) in seen)) {
                seen[name, FILENAME] = 1
                n[name]++
                where[name] = where[name] " " FILENAME
        }
}
END {
        for (name in n)
                if (n[name] > 1) {
                        print name "() is static in more than one file:" where[name]
                        bad = 1
                }
        exit bad
}' >&2
