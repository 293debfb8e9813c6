#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fuzzes every target from its corpus, as many at a time as there are processors.  Usage: run_fuzz.sh build/fuzz SECONDS
# [TARGET...]: SECONDS for each target.
#
# New inputs gather in build/fuzz/corpus, findings in build/fuzz/findings, with the target's words beside them.  A finding
# belongs into tests/fuzz/corpus/<target> together with its fix: `make test` replays those files for ever.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${1:?Usage: run_fuzz.sh build/fuzz SECONDS [TARGET...]}
seconds=${2:?Usage: run_fuzz.sh build/fuzz SECONDS [TARGET...]}
export ASAN_OPTIONS=abort_on_error=1:allocator_may_return_null=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1

shopt -s nullglob
targets=("${@:3}")
if [ ${#targets[@]} -eq 0 ]; then
        for source in tests/fuzz/fuzz_*.c; do targets+=("$(basename "$source" .c)"); done
fi
mkdir -p "$build/findings" "$build/words"
rm -f "$build/words"/*

# One line a target, when it has ended; its words are in build/fuzz/words.
fuzz() { # target
        local words=$build/words/$1 seeds=tests/fuzz/corpus/$1 folders=("$build/corpus/$1") status=0 units
        mkdir -p "${folders[0]}"
        [ ! -d "$seeds" ] || folders+=("$seeds")
        "$build/fuzz/$1" -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=2048 -timeout=10 \
                -artifact_prefix="$build/findings/$1-" -print_final_stats=1 -verbosity=0 "${folders[@]}" >"$words" 2>&1 || status=$?
        units=$(sed -n 's/^stat::number_of_executed_units: *//p' "$words")
        if [ $status -eq 0 ]; then
                echo "$1: ${units:-no} inputs in $seconds s"
                rm "$words"
        else
                echo "$1: FINDING after ${units:-unknown} inputs: see $words and $build/findings/"
        fi
}

# A target that leaves no words has ended well.
for target in "${targets[@]}"; do
        while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
        fuzz "$target" &
done
wait
words=("$build/words"/*)
[ ${#words[@]} -gt 0 ] || { echo "no findings in ${#targets[@]} targets" && exit 0; }
tail -n 40 "${words[@]}"
exit 1
