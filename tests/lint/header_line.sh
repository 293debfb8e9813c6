#!/bin/sh
# SPDX-License-Identifier: MIT
# Each header says its place in the way of the data, itself in brackets.  Usage: header_line.sh [root]
set -eu
cd "${1:-.}"

# A comment that ends in line 1 or 2 is the licence: the next one is read as well.
find base format symbolize unwind instrument sampler analyze timeline merge import view export web cli python -name '*.h' | sort |
        xargs -r -d '\n' awk 'BEGIN {
                for (i = 1; i < ARGC; i++) {
                        found = 0
                        for (n = 1; (getline line < ARGV[i]) > 0; n++) {
                                if (line ~ /Way of the data:/) found = 1
                                if (found || (n > 2 && line ~ /\*\//)) break
                        }
                        close(ARGV[i])
                        if (found) continue
                        print ARGV[i] ": its first comment has no line \"Way of the data:\""
                        bad = 1
                }
                exit bad
        }' >&2
