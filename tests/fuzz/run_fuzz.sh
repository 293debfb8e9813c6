#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fuzzes every target from its corpus.  Usage: run_fuzz.sh build/fuzz SECONDS
#
# New inputs gather in build/fuzz/corpus, findings in build/fuzz/findings.  A finding belongs into
# tests/fuzz/corpus/<target> together with its fix: `make test` replays those files for ever.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${1:?Usage: run_fuzz.sh build/fuzz SECONDS}
seconds=${2:?Usage: run_fuzz.sh build/fuzz SECONDS}
export ASAN_OPTIONS=abort_on_error=1:allocator_may_return_null=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1

shopt -s nullglob
failed=()
mkdir -p "$build/findings"
for source in tests/fuzz/fuzz_*.c; do
        target=$(basename "$source" .c)
        grown=$build/corpus/$target
        seeds=tests/fuzz/corpus/$target
        mkdir -p "$grown"
        folders=("$grown")
        [ ! -d "$seeds" ] || folders+=("$seeds")
        printf '\n== %s, %s s\n' "$target" "$seconds"
        "$build/fuzz/$target" -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=2048 -timeout=10 \
                -artifact_prefix="$build/findings/$target-" -print_final_stats=1 -verbosity=0 "${folders[@]}" ||
                failed+=("$target")
done

echo
for target in "${failed[@]}"; do
        echo "finding: $target, see $build/findings/"
done
[ ${#failed[@]} -eq 0 ] && echo "no findings"
