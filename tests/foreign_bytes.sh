#!/bin/sh
# SPDX-License-Identifier: MIT
# The tests of what parses foreign bytes, as paths in a build.  Usage: foreign_bytes.sh build/VARIANT [programs]
#
# The rule of what .ci/run tests with AddressSanitizer; `make nightly` tests the rest as well.  Each decoder of foreign bytes
# has a fuzz target: its replay, and the unit test of each file of the product whose header a fuzz target includes.
# The scripts below feed hyprof itself with traces, files, requests and peers that are odd, cut off or hostile.
# With "programs": the workloads and tools that these scripts use, which are few of those that there are.
set -eu
cd "$(dirname "$0")/.."
build=${1:?Usage: foreign_bytes.sh build/VARIANT [programs]}
scripts=
for script in bad_input cut_everywhere odd_traces relay_peers repair versions; do
        scripts="$scripts tests/integration/$script.sh"
done

if [ "${2:-}" = programs ]; then
        # shellcheck disable=SC2086 # paths without blanks
        grep -ohE '[$](WORKLOADS|BUILD/tools)/[a-z_0-9]+' $scripts tests/flight.sh tests/captured.sh |
                sed "s,^.WORKLOADS,$build/workloads,; s,^.BUILD,$build," | sort -u
        exit
fi

for target in tests/fuzz/fuzz_*.c; do
        echo "$build/fuzz/$(basename "$target" .c)"
done
sed -nE 's,^#include "(.*/)?([a-z_0-9]+)\.h"$,\2,p' tests/fuzz/fuzz_*.c | sort -u | while read -r name; do
        [ ! -f "tests/unit/test_$name.c" ] || echo "$build/tests/test_$name"
done
# shellcheck disable=SC2086 # paths without blanks
printf '%s\n' $scripts
