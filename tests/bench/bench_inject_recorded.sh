#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of a range of NVTX and a task of ITT, beside a zone of hyprof's own: not injected, injected, and recorded.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for ((run = 0; run < ${HYPROF_BENCH_RUNS:-3}; run++)); do
        echo "a zone of the client:"
        "$BUILD/bench/bench_zone"
        echo "nothing is injected:"
        "$BUILD/bench/bench_inject"
        echo "injected, nothing is recorded:"
        NVTX_INJECTION64_PATH=$BUILD/libhyprof_inject.so "$BUILD/bench/bench_inject"
        echo "recorded:"
        "$HYPROF" record -q --no-sampling -o "$folder/bench.hyp" -- "$BUILD/bench/bench_inject"
done
