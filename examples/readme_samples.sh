#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Writes what hyprof prints now about the demo's trace into README.md.  Usage, after make demo:
# examples/readme_samples.sh [build/release [README.md]]; HYPROF_DEMO_TRACE names another trace of kernel_pool.
#
# Between "<!-- sample: NAME -->" and "<!-- end -->" stands a command and the parts of its output that are wanted there.
set -euo pipefail
cd "$(dirname "$0")/.."
hyprof=$(realpath "${1:-build/release}")/hyprof
readme=${2:-README.md}
trace=${HYPROF_DEMO_TRACE:-build/demo/kernel_pool.hyp}
samples=$(mktemp -d)
trap 'rm -rf "$samples"' EXIT

# The paragraphs whose first line matches, in order.  One that is missing is an error: the output has changed.
paragraphs() { # pattern...
        awk -v wanted="$*" 'BEGIN { n = split(wanted, patterns, " "); RS = ""; next_one = 1 }
                next_one <= n && tolower($0) ~ "^" patterns[next_one] { print (next_one++ > 1 ? "\n" : "") $0 }
                END { if (next_one <= n) { print "no paragraph " patterns[next_one] >"/dev/stderr"; exit 1 } }'
}

# The functions of the first zone alone.
first_zone() { awk 'tolower($0) ~ /^functions in/ { zones = 1 } zones && /^  [^ ]/ && zones++ > 2 { exit } { print }'; }

sample() { # name, the command as one would type it, pattern of a paragraph...
        local words
        read -r -a words <<<"$2"
        {
                printf '$ %s\n' "$2"
                "$hyprof" "${words[@]:1:${#words[@]}-2}" "$trace" | paragraphs "${@:3}" | first_zone
        } | sed -e 's/ *$//' -e 's/^./    &/' >"$samples/$1"
}

export COLUMNS=120
sample report "hyprof report --limit 2 kernel_pool.hyp" zones, functions.in
sample why "hyprof why --zone task kernel_pool.hyp" .

awk -v folder="$samples" '
        /^<!-- end -->/ { inside = 0 }
        !inside { print }
        /^<!-- sample: / {
                inside = 1
                print ""
                while ((getline line < (folder "/" $3)) > 0) print line
                print ""
        }' "$readme" >"$samples/README.md"
cp "$samples/README.md" "$readme"
