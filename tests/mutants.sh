#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Breaks one line at a time and expects a test to fail.
# Usage: mutants.sh [PART-OF-A-ROW] | mutants.sh --random N SEED [PART-OF-A-PATH]
#
# tests/mutants.table has a row a mutant: the file's name, what stands there exactly once, what stands there instead, unit
# tests; tabs between.  A file's name is unique in the tree (tests/lint/unique_names.sh), so rows need no folders.  All tests
# must pass on the code as it is, and each of a row must fail on its mutant; one that does not end in 5 minutes has failed.
# The tree is copied to build/mutants, with build/release at first, and built there.  --random: tests/random_mutants.py draws N.
# Exit status: 0 = all were noticed, 1 = one survived, 2 = a row does not fit the code, does not build, or has a test that fails anyway.
set -euo pipefail
cd "$(dirname "$0")/.."
part=${1:-}
copy=build/mutants
n=0 n_survived=0 n_unfit=0
export MALLOC_PERTURB_=165 # as tests/run_tests.sh

# Only what differs is written, so that make builds that anew, and what a run that was interrupted has left.
copy_tree() {
        local file
        mkdir -p "$copy"
        git ls-files -co --exclude-standard | LC_ALL=C sort >"$copy/files.now"
        # With their times: nothing that is built already is built again.
        if [ ! -e "$copy/build" ] && [ -e build/release/flags ]; then
                tar -c --files-from="$copy/files.now" --ignore-failed-read build/release 2>/dev/null | tar -x -C "$copy"
        fi
        (cd "$copy" && find . -type f -not -path './build/*' -not -path './*.log' -not -path './files.now' -printf '%P\n') | LC_ALL=C sort |
                LC_ALL=C comm -13 "$copy/files.now" - | while IFS= read -r file; do rm -f "$copy/$file"; done
        while IFS= read -r file; do
                [ ! -f "$file" ] || cmp -s "$file" "$copy/$file" || install -D -m "$(stat -c %a "$file")" "$file" "$copy/$file"
        done <"$copy/files.now"
}

build() { # tests
        make -C "$copy" --no-print-directory -j"$(nproc)" "${@/#/build/release/tests/}" >"$copy/make.log" 2>&1
}

passes() { # test
        timeout 300 "$copy/build/release/tests/$1" >"$copy/test.log" 2>&1
}

unfit() { # words
        echo "UNFIT     $name: $from: $1"
        n_unfit=$((n_unfit + 1))
}

rows() { # command, once for each row, with name, from, to and tests
        local name from to list tests
        # Tabs are blanks to read, which takes two of them for one; a row may put nothing in the place of something.
        while IFS=$'\037' read -r name from to list; do
                case $name in '' | '#'*) continue ;; esac
                [[ "$name $from $to $list" == *"$part"* ]] || continue
                read -r -a tests <<<"$list"
                "$@"
        done < <(tr '\t' '\037' <tests/mutants.table)
}

print_tests() { printf '%s\n' "${tests[@]}"; }

# On the code as it is: a test that fails there would notice everything.
try_unbroken() {
        local all test
        mapfile -t all < <(rows print_tests | sort -u)
        [ ${#all[@]} -gt 0 ] || { echo "no row with '$part'" && exit 2; }
        build "${all[@]}" || { tail -n 20 "$copy/make.log" && echo "does not build: $copy/make.log" && exit 2; }
        for test in "${all[@]}"; do
                passes "$test" || { tail -n 20 "$copy/test.log" && echo "$test fails without a mutant" && exit 2; }
        done
}

try_row() {
        local text before after test file
        file=$(git ls-files -co --exclude-standard "${name##*/}" "*/${name##*/}")
        [ -f "$file" ] || { unfit 'no such file' && return; }
        text=$(cat "$file" && printf .)
        before=${text%%"$from"*}
        after=${text#*"$from"}
        [ "$before" != "$text" ] || { unfit 'not there' && return; }
        [[ $after != *"$from"* ]] || { unfit 'more than once' && return; }
        text=$before$to$after
        printf %s "${text%.}" >"$copy/$file"
        if build "${tests[@]}"; then
                n=$((n + 1))
                for test in "${tests[@]}"; do
                        if passes "$test"; then
                                n_survived=$((n_survived + 1))
                                echo "SURVIVED  $test  $name: $from -> $to"
                        else
                                echo "noticed   $test  $name: $from -> $to"
                        fi
                done
        else
                unfit "does not build: $copy/make.log"
        fi
        cp "$file" "$copy/$file"
}

copy_tree
if [ "$part" = --random ]; then
        cd "$copy"
        exec tests/random_mutants.py "${@:2}"
fi
try_unbroken
rows try_row
echo "$n mutants, $n_survived survived, $n_unfit rows do not fit, $SECONDS s"
[ "$n_unfit" -eq 0 ] || exit 2
[ "$n_survived" -eq 0 ]
