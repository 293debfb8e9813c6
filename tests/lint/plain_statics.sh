#!/bin/sh
# SPDX-License-Identifier: MIT
# A name says whether a function is public: a static one in a .c file does not begin with its file's name, as those of its
# header do.  Usage: plain_statics.sh [root]
set -eu
cd "${1:-.}"

# shellcheck disable=SC2016 # the fields are awk's
find . -name '*.c' -not -path './build/*' | sed 's|^\./||' | sort | xargs awk '
FNR == 1 {
        stem = FILENAME
        sub(/.*\//, "", stem)
        sub(/\.c$/, "", stem)
        view = stem
        sub(/_view$/, "", view)
}
/^static [^=;(]*[ *][a-z_0-9]+\(/ {
        name = $0
        sub(/\(.*/, "", name)
        sub(/.*[ *]/, "", name)
        if (index(name, stem "_") == 1 || (view != stem && index(name, view "_") == 1)) {
                print FILENAME ":" FNR ": " name "() is static: without the name of its file"
                bad = 1
        }
}
END { exit bad }' >&2
