#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/run_tests.sh: every case is counted once, a failure fails the run, a skip needs a good reason in CI
set -u
tree=$TMPDIR/tree
mkdir -p "$tree/tests/integration" "$tree/tests/fuzz" "$tree/build/release/fuzz"
cp tests/run_tests.sh "$tree/tests/"
unset CI HYPROF_REQUIRE
n=0

script() { printf '%s\n' "$2" >"$tree/tests/integration/$1.sh"; }

expect() { # name, exit status, closing line, arguments...
        local name=$1 want_status=$2 want_line=$3 out status
        shift 3
        n=$((n + 1))
        out=$(bash "$tree/tests/run_tests.sh" "$tree/build/release" "$@" 2>&1)
        status=$?
        if [ "$status" -eq "$want_status" ] && [ "$(tail -n 1 <<<"$out")" = "$want_line" ]; then
                echo "ok $n - $name"
        else
                echo "not ok $n - $name: exit status $status"
                printf '%s\n' "$out" | sed 's/^/    /'
        fi
}

expect "no tests at all is a failure" 1 "0 passed, 0 failed, 0 skipped"
script good 'exit 0'
expect "exit status 0" 0 "1 passed, 0 failed, 0 skipped"
script skips 'echo "no such tool"; exit 77'
expect "exit status 77" 0 "1 passed, 0 failed, 1 skipped"
HYPROF_REQUIRE=1 expect "a skip that should not be" 1 "1 passed, 0 failed, 1 skipped"
CI=true expect "the same in CI" 1 "1 passed, 0 failed, 1 skipped"
script skips 'echo "hardware: no counters"; exit 77'
CI=true expect "a skip for the hardware" 0 "1 passed, 0 failed, 1 skipped"
script tap 'echo "ok 1 - a"; echo "ok 2 - b # SKIP hardware: none"; echo "ok 3 - c"'
expect "TAP lines" 0 "3 passed, 0 failed, 2 skipped"
script tap 'echo "ok 1 - a"; echo "not ok 2 - b"; echo "not ok 3 - c"; exit 1'
expect "failed TAP lines" 1 "2 passed, 2 failed, 1 skipped"
script tap 'echo "ok 1 - a"; exit 3'
expect "an exit status against the TAP lines" 1 "2 passed, 1 failed, 1 skipped"
script tap 'kill -SEGV $$'
expect "a crash" 1 "1 passed, 1 failed, 1 skipped"
rm "$tree/tests/integration/tap.sh"
touch "$tree/tests/fuzz/fuzz_x.c"
printf '#!/bin/sh\nexec grep -qx good "$@"\n' >"$tree/build/release/fuzz/fuzz_x"
chmod +x "$tree/build/release/fuzz/fuzz_x"
expect "a fuzz target without a corpus" 1 "1 passed, 1 failed, 1 skipped"
mkdir -p "$tree/tests/fuzz/corpus/fuzz_x"
echo good >"$tree/tests/fuzz/corpus/fuzz_x/seed"
expect "a corpus" 0 "2 passed, 0 failed, 1 skipped"
echo bad >"$tree/tests/fuzz/corpus/fuzz_x/seed"
expect "a corpus that fails" 1 "1 passed, 1 failed, 1 skipped"
