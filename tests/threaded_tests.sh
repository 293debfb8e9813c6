#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints which programs can start a thread: those that need the C library's function for it.  Usage: threaded_tests.sh PROGRAM...
#
# Each unit test is linked with the objects that it uses and no others, so these are the tests that threads run in, of the
# test itself or of what it tests.  Exit status 1: there are none, which is an error of the build.
set -euo pipefail
n=0
for program; do
        if nm -D --undefined-only "$program" | grep -E ' (pthread_create|thrd_create)(@|$)' >/dev/null; then
                echo "$program"
                n=$((n + 1))
        fi
done
[ "$n" -gt 0 ] || { echo "threaded_tests.sh: not one of $# programs can start a thread" >&2 && exit 1; }
