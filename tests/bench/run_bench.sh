#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs every benchmark of one build.  Usage: run_bench.sh build/release
#
# A benchmark prints what it measured, side by side with what it is compared to; the figures are kept in
# build/<variant>/bench.txt.
set -u
cd "$(dirname "$0")/../.." || exit 2
# Under sudo hyprof would become another user, to whom the folder is closed.
unset SUDO_UID SUDO_GID
build=$(realpath "${1:?Usage: run_bench.sh build/VARIANT}") || exit 2
export HYPROF=$build/hyprof WORKLOADS=$build/workloads EXAMPLES=$build/examples BUILD=$build

shopt -s nullglob
figures=$build/bench.txt
: >"$figures"
status=0
for bench in tests/bench/bench_*.c tests/bench/bench_*.sh; do
        name=$(basename "$bench")
        command=("$build/bench/${name%.c}")
        [ "$bench" = "${bench%.sh}" ] || command=(bash "$bench")
        printf '== %s\n' "${name%.*}" | tee -a "$figures"
        timeout -k 10 900 "${command[@]}" | tee -a "$figures"
        [ "${PIPESTATUS[0]}" -eq 0 ] || status=1
done
echo "the figures are in ${figures#"$PWD"/}"
exit $status
