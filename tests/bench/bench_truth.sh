#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How right callstacks are, with as many samples as figures need: 1,000 stops beside gdb, and the shares of callstacks
# that go up to the root while hyprof records.  HYPROF_SCALE (3): about how many seconds each program runs.
set -u
cd "$(dirname "$0")/../.." || exit 2
export HYPROF_GDB_STOPS=${HYPROF_GDB_STOPS:-1000} HYPROF_SCALE=${HYPROF_SCALE:-3} VARIANT=${BUILD##*/} LC_ALL=C.UTF-8
status=0
for script in agrees_with_gdb complete_stacks; do
        scratch=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 2
        TMPDIR=$scratch bash "tests/acceptance/$script.sh" >"$scratch/printed" || [ $? -eq 77 ] || status=1
        grep -E '^(# |not ok )|hardware' "$scratch/printed"
        ! grep -q '^not ok ' "$scratch/printed" || status=1
        rm -rf "$scratch"
done
exit $status
