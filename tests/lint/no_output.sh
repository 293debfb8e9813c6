#!/bin/sh
# SPDX-License-Identifier: MIT
# Libraries return what happened; only cli/ talks to people and ends the process.  Usage: no_output.sh [root]
#
# format/trace_dump.c, view/ and export/ write, but to the FILE that their caller names.
set -eu
cd "${1:-.}"

calls='(printf|vprintf|puts|putchar|perror|psignal|err|errx|warn|warnx|exit|quick_exit|abort)'
streams='(stdout|stderr)'
bad=0
for file in $(find base format symbolize unwind instrument sampler analyze timeline merge view export web -name '*.[ch]' | sort); do
        # Comments go first, so that they may speak of these functions.
        text=$(sed -E -e 's@/\*.*\*/@@g' -e '/\/\*/,/\*\//s/.*//' "$file")
        hits=$(printf '%s\n' "$text" | grep -nE "(^|[^A-Za-z0-9_>.])${calls}[ ]*\(|(^|[^A-Za-z0-9_])$streams([^A-Za-z0-9_]|\$)" || true)
        case $file in
        format/trace_dump.c | view/* | export/*) ;;
        *)
                hits=$hits$(printf '%s\n' "$text" | grep -nE '(^|[^A-Za-z0-9_>.])(v?fprintf|fputs|fputc|fwrite)[ ]*\(' || true)
                ;;
        esac
        if [ -n "$hits" ]; then
                bad=1
                printf '%s\n' "$hits" | sed "s|^|$file:|" >&2
                echo "$file: only cli/ and tests/ print or end the process" >&2
        fi
done
exit $bad
