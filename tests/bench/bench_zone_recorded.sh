#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of a zone while it is recorded, as fast as one thread can emit them; the last line tells what was dropped.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$HYPROF" record -o "$folder/bench.hyp" -- "$BUILD/bench/bench_zone" 2>&1
