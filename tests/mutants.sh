#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Breaks one line at a time and expects a test to fail.  Usage: mutants.sh [PART-OF-A-ROW]
#
# tests/mutants.table has a row a mutant: file, what stands there exactly once, what stands there instead, unit tests; tabs
# between.  Each of the tests must fail; a test that does not end in 5 minutes has failed.  The tree is copied to build/mutants.
# Exit status: 0 = all were noticed, 1 = one survived, 2 = a row does not fit the code, or does not build.
set -euo pipefail
cd "$(dirname "$0")/.."
part=${1:-}
copy=build/mutants
n=0 n_survived=0 n_unfit=0

mkdir -p "$copy"
git ls-files -z | tar --create --null --files-from - | tar --extract --directory "$copy"

build() { # tests
        make -C "$copy" --no-print-directory -j"$(nproc)" "${@/#/build/release/tests/}" >"$copy/make.log" 2>&1
}

unfit() { # words
        echo "UNFIT     $file: $from: $1"
        n_unfit=$((n_unfit + 1))
}

try_row() {
        local text before after test
        text=$(cat "$file" && printf .)
        before=${text%%"$from"*}
        after=${text#*"$from"}
        [ "$before" != "$text" ] || { unfit 'not there' && return; }
        [[ $after != *"$from"* ]] || { unfit 'more than once' && return; }
        text=$before$to$after
        printf %s "${text%.}" >"$copy/$file"
        if build "${tests[@]}"; then
                for test in "${tests[@]}"; do
                        n=$((n + 1))
                        if timeout 300 "$copy/build/release/tests/$test" >"$copy/test.log" 2>&1; then
                                n_survived=$((n_survived + 1))
                                echo "SURVIVED  $test  $file: $from -> $to"
                        else
                                echo "noticed   $test  $file: $from -> $to"
                        fi
                done
        else
                unfit "does not build: $copy/make.log"
        fi
        cp "$file" "$copy/$file"
}

while IFS=$'\t' read -r file from to list; do
        case $file in '' | '#'*) continue ;; esac
        [[ "$file $from $to $list" == *"$part"* ]] || continue
        read -r -a tests <<<"$list"
        try_row
done <tests/mutants.table
echo "$n mutants, $n_survived survived, $n_unfit rows do not fit"
[ "$n_unfit" -eq 0 ] || exit 2
[ "$n_survived" -eq 0 ]
