#!/bin/sh
# SPDX-License-Identifier: MIT
# Libraries return what happened; only cli/ talks to people and ends the process.  Usage: no_output.sh [root]
#
# format/trace_dump.c, view/ and export/ write, but to the FILE that their caller names.
set -eu
cd "${1:-.}"

# Comments go first, so that they may speak of these functions.
# shellcheck disable=SC2016 # the fields are awk's
find base format symbolize unwind instrument sampler analyze timeline merge import view export web -name '*.[ch]' | sort |
        xargs -r -d '\n' awk '
        FNR == 1 {
                in_comment = 0
                to_its_file = FILENAME ~ /^(view|export)\// || FILENAME == "format/trace_dump.c"
        }
        { gsub(/\/\*.*\*\//, "") }
        in_comment {
                if (/\*\//) in_comment = 0
                next
        }
        /\/\*/ {
                in_comment = 1
                next
        }
        /(^|[^A-Za-z0-9_>.])(printf|vprintf|puts|putchar|perror|psignal|err|errx|warn|warnx|exit|quick_exit|abort)[ ]*\(/ ||
        /(^|[^A-Za-z0-9_])(stdout|stderr)([^A-Za-z0-9_]|$)/ ||
        (!to_its_file && /(^|[^A-Za-z0-9_>.])(v?fprintf|fputs|fputc|fwrite)[ ]*\(/) {
                print FILENAME ":" FNR ": only cli/ and tests/ print or end the process: " $0
                bad = 1
        }
        END { exit bad }' >&2
