#!/bin/sh
# SPDX-License-Identifier: MIT
# The recorder's constants of time, and of how much it takes at once, are rows of sampler/pace/pace.h, where a deadline that
# defeats another one is seen.  Usage: pace_constants.sh [root]
set -eu
cd "${1:-.}"

# FILE NAME, then why it stands there.  Programs of BPF (sampler/bpf) have their own headers.
exceptions='
sampler/switches/switch_record.c GIL_INTERVAL_US_MAX the largest value of a foreign field that is believed
'

# shellcheck disable=SC2016 # the fields are awk's
git ls-files -co --exclude-standard 'sampler/*.c' 'sampler/*.h' | grep -vE '^sampler/(pace|bpf)/' |
        while read -r file; do [ ! -f "$file" ] || printf '%s\n' "$file"; done |
        xargs -r -d '\n' awk -v exceptions="$exceptions" '
        BEGIN {
                n = split(exceptions, rows, "\n")
                for (i = 1; i <= n; i++) {
                        split(rows[i], word, " ")
                        allowed[word[1] " " word[2]] = 1
                }
        }
        # A macro with parameters has no value of its own.
        /^[ \t]*#[ \t]*define[ \t]+[A-Za-z_0-9]+([ \t\\]|$)/ {
                name = $0
                sub(/^[ \t]*#[ \t]*define[ \t]+/, "", name)
                value = name
                sub(/[^A-Za-z_0-9].*/, "", name)
                value = substr(value, length(name) + 1)
                if (name !~ /_(NS|US|MS|S|SECONDS)(_MAX|_MIN)?$/ && name !~ /_(AT_)?ONCE$/ && value !~ /NS_PER_/) next
                if ((FILENAME " " name) in allowed) next
                print FILENAME ":" FNR ": " name " is a row of sampler/pace/pace.h"
                bad = 1
        }
        END { exit bad }' >&2
