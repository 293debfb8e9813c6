#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/run_tests.sh: every case is counted once, none vanishes, a failure fails the run, but a script's only at the second try, and not
# again and again; a skip needs a good reason in CI
set -u
tree=$TMPDIR/tree
mkdir -p "$tree/tests/integration" "$tree/tests/fuzz" "$tree/build/release/fuzz"
cp tests/run_tests.sh "$tree/tests/"
unset CI HYPROF_REQUIRE HYPROF_TRIES
export marks=$TMPDIR # of the scripts, from one try to the next
n=0
echo "1..52"
variant=release

script() { printf '%s\n' "$2" >"$tree/tests/integration/$1.sh"; }

expect() { # name, exit status, closing line, arguments...
        local name=$1 want_status=$2 want_line=$3 status
        shift 3
        n=$((n + 1))
        out=$(bash "$tree/tests/run_tests.sh" "$tree/build/$variant" "$@" 2>&1)
        status=$?
        if [ "$status" -eq "$want_status" ] && [ "$(tail -n 1 <<<"$out")" = "$want_line" ]; then
                echo "ok $n - $name"
        else
                echo "not ok $n - $name: exit status $status"
                printf '%s\n' "$out" | sed 's/^/    /'
        fi
}

# For the output of the last run.
says() { # name, words
        n=$((n + 1))
        if grep -qF -- "$2" <<<"$out"; then echo "ok $n - $1"; else echo "not ok $n - $1: $2"; fi
}

expect "no tests at all is a failure" 1 "0 passed, 0 failed, 0 skipped"
script good 'echo 1..1; echo "ok 1 - a"'
expect "exit status 0" 0 "1 passed, 0 failed, 0 skipped"
script skips 'echo "no such tool"; exit 77'
expect "exit status 77" 0 "1 passed, 0 failed, 1 skipped"
HYPROF_REQUIRE=1 expect "a skip that should not be" 1 "1 passed, 0 failed, 1 skipped"
CI=true expect "the same in CI" 1 "1 passed, 0 failed, 1 skipped"
script skips 'echo "hardware: no counters"; exit 77'
CI=true expect "a skip for the hardware" 0 "1 passed, 0 failed, 1 skipped"
script skips 'echo "network: no registry"; exit 77'
CI=true expect "a skip for the network" 0 "1 passed, 0 failed, 1 skipped"
script skips 'echo "hardware: no counters"; exit 77'
script tap 'echo 1..3; echo "ok 1 - a"; echo "ok 2 - b # SKIP hardware: none"; echo "ok 3 - c"'
expect "TAP lines" 0 "3 passed, 0 failed, 2 skipped"
script tap 'echo 1..3; echo "ok 1 - a"; echo "not ok 2 - b"; echo "not ok 3 - c"; exit 1'
expect "failed TAP lines" 1 "2 passed, 2 failed, 1 skipped"
script tap 'echo 1..1; echo "ok 1 - a"; exit 3'
expect "an exit status against the TAP lines" 1 "2 passed, 1 failed, 1 skipped"
script tap 'kill -SEGV $$'
expect "a crash" 1 "1 passed, 1 failed, 1 skipped"

# Cases that vanish: no plan, another number of cases.
script tap 'echo "ok 1 - a"'
HYPROF_TRIES=1 expect "no plan" 1 "2 passed, 1 failed, 1 skipped"
says "which is said" "FAIL  integration/tap.sh                       exit status 0, no plan"
script tap 'exit 0'
HYPROF_TRIES=1 expect "neither plan nor cases" 1 "1 passed, 1 failed, 1 skipped"
script tap 'echo 1..3; echo "ok 1 - a"; echo "ok 2 - b"'
HYPROF_TRIES=1 expect "a case that vanished" 1 "3 passed, 1 failed, 1 skipped"
says "which is said, with the numbers" "exit status 0, 3 cases planned, 2 printed"
script tap 'echo 1..3; echo "ok 1 - a"; echo "ok 2 - b # SKIP hardware: none"'
HYPROF_TRIES=1 expect "a skip stands for one case" 1 "2 passed, 1 failed, 2 skipped"
script tap 'echo 1..3; echo "ok 1 - a"; echo "ok 2 - b: all cases # SKIP hardware: none"'
HYPROF_TRIES=1 expect "but for several where it says so" 0 "2 passed, 0 failed, 2 skipped"
script tap 'echo 1..1; echo "ok 1 - a"; echo "ok 2 - b"'
HYPROF_TRIES=1 expect "a case more than planned" 1 "3 passed, 1 failed, 1 skipped"
script tap '. tests/tap.sh; plan 4; holds a true; skips b "hardware: none"; skips_group c "hardware: none"'
cp tests/tap.sh "$tree/tests/"
HYPROF_TRIES=1 expect "what scripts share prints such lines" 0 "2 passed, 0 failed, 3 skipped"

# Fails the first time it runs, as the words say, and passes the next time.
flaky() { # name, first try
        rm -f "$marks/$1"
        rm -f "$tree/build/release/test-history"
        script "$1" "echo 1..2; if [ ! -e \"\$marks/$1\" ]; then touch \"\$marks/$1\"; $2; fi; echo \"ok 1 - a\"; echo \"ok 2 - b # SKIP hardware: none\""
}
flaky tap 'echo "ok 1 - a # SKIP hardware: none"; echo "not ok 2 - too late"; echo "ok 3 - c"'
expect "a second try that passes is what counts" 0 "2 passed, 0 failed, 2 skipped, 1 passed at the second try"
says "it is told from those that passed at once" "AGAIN integration/tap.sh: passed at the second try"
says "with what failed first" "| not ok 2 - too late"
flaky tap 'exit 3'
flaky other 'kill -SEGV $$'
expect "of an exit status, and of a crash" 0 "3 passed, 0 failed, 3 skipped, 2 passed at the second try"
rm "$tree/tests/integration/other.sh"
flaky tap 'exit 3'
HYPROF_TRIES=1 expect "no second try where none is wanted" 1 "1 passed, 1 failed, 1 skipped"
flaky tap 'exit 3'
# shellcheck disable=SC2016 # for the script
script tap 'if [ ! -e "$marks/tap" ]; then touch "$marks/tap"; exit 3; fi; exit 77'
expect "a second try that is skipped has not passed" 1 "1 passed, 1 failed, 1 skipped"
script tap 'echo 1..1; echo "not ok 1 - always $$"; exit 1'
expect "what fails twice has failed" 1 "1 passed, 1 failed, 1 skipped"
says "the first try is shown too" "the first try:"

# The same script again: in two of three runs.  A mark is what the next first try fails for.
needs_two() { rm -f "$marks/tap"; }
flaky tap 'exit 3'
expect "the second try of a first run" 0 "2 passed, 0 failed, 2 skipped, 1 passed at the second try"
expect "the second run needs none" 0 "2 passed, 0 failed, 2 skipped"
needs_two
expect "the third needs it again" 1 "2 passed, 1 failed, 2 skipped"
says "which is said" "FAIL  integration/tap.sh                       a second try was needed in two of three runs"
needs_two
expect "so does the fourth" 1 "2 passed, 1 failed, 2 skipped"
expect "one that passes at once has passed" 0 "2 passed, 0 failed, 2 skipped"
expect "and once more" 0 "2 passed, 0 failed, 2 skipped"
needs_two
expect "after two such runs it may need it again" 0 "2 passed, 0 failed, 2 skipped, 1 passed at the second try"
flaky tap 'exit 3'
CI=true expect "in CI it must pass a third try" 0 "2 passed, 0 failed, 2 skipped, 1 passed at the second try"
flaky tap 'exit 3'
# shellcheck disable=SC2016 # for the script
script tap 'echo 1..1; echo x >>"$marks/tries"; [ "$(wc -l <"$marks/tries")" = 2 ] || exit 3; echo "ok 1 - a"'
rm -f "$marks/tries"
CI=true expect "which this one does not" 1 "1 passed, 1 failed, 1 skipped"
says "which is said" "exit status 3, 1 cases planned, 0 printed at the third try; the second one passed"
rm "$tree/tests/integration/tap.sh"

# With sanitizers, what is listed is left out, unless it is named.
mkdir -p "$tree/build/asan"
printf '# why\nintegration/good.sh counts samples\n' >"$tree/tests/not_sanitized.list"
expect "the list means sanitizers only" 0 "1 passed, 0 failed, 1 skipped"
variant=asan expect "what is listed does not run with sanitizers" 0 "0 passed, 0 failed, 1 skipped"
variant=asan expect "unless it is named" 0 "1 passed, 0 failed, 0 skipped" tests/integration/good.sh

# Scripts that are listed run beside each other, also on a machine of one processor if it says that it has two: these two wait
# for each other.  One that is not sees none that runs.
mkdir "$marks/bin"
printf '#!/bin/sh\necho 2\n' >"$marks/bin/nproc"
chmod +x "$marks/bin/nproc"
cat >"$marks/runs.sh" <<'END'
touch "$marks/$1-runs" "$marks/$1-began"
trap "rm '$marks/$1-runs'" EXIT
case $1 in
alone) sleep 0.2 && [ "$(echo "$marks"/*-runs)" = "$marks/alone-runs" ] ;;
*) for _ in $(seq "$3"); do [ ! -e "$marks/$2-began" ] || break; sleep 0.05; done; [ -e "$marks/$2-began" ] ;;
esac || exit 3
echo 1..1
echo "ok 1 - $*"
END
# shellcheck disable=SC2016 # for the scripts
meet() { # how often they look for each other: not for long where they cannot meet
        rm -f "$marks"/*-began
        script left '. "$marks/runs.sh" left right '"$1"
        script right '. "$marks/runs.sh" right left '"$1"
        script alone '. "$marks/runs.sh" alone'
}
meet 1000
printf '# why\nintegration/right.sh\nintegration/left.sh\n' >"$tree/tests/side_by_side.list"
PATH=$marks/bin:$PATH HYPROF_TRIES=1 expect "listed scripts meet, and one that is not listed meets none" 0 "4 passed, 0 failed, 1 skipped"
meet 20
printf 'integration/right.sh\n' >"$tree/tests/side_by_side.list"
PATH=$marks/bin:$PATH HYPROF_TRIES=1 expect "one that is not listed meets none that is" 1 "3 passed, 1 failed, 1 skipped"
meet 1000
printf 'integration/right.sh\nintegration/left.sh\nintegration/alone.sh\n' >"$tree/tests/side_by_side.list"
flaky alone 'exit 3'
PATH=$marks/bin:$PATH expect "a listed script has a second try" 0 "4 passed, 0 failed, 2 skipped, 1 passed at the second try"
rm "$tree/tests/side_by_side.list" "$tree/tests/integration"/{left,right,alone}.sh
for list in not_sanitized side_by_side; do
        n=$((n + 1))
        missing=$(awk '!/^#/ && NF { print $1 }' tests/$list.list | while read -r name; do [ -f "tests/$name" ] || echo "$name"; done)
        if [ -z "$missing" ]; then echo "ok $n - each name in $list.list is a script's"; else echo "not ok $n - not there: $missing"; fi
done
n=$((n + 1))
measures=$(awk '!/^#/ && FNR == NR { listed[$1] = 1 } FNR != NR && $1 in listed { name = $1; $1 = ""; if (/counts|time/) print name }' tests/side_by_side.list tests/not_sanitized.list)
if [ -z "$measures" ]; then echo "ok $n - none that measures runs beside others"; else echo "not ok $n - measure, and are in side_by_side.list: $measures"; fi

touch "$tree/tests/fuzz/fuzz_x.c"
printf '#!/bin/sh\nexec grep -qx good "$@"\n' >"$tree/build/release/fuzz/fuzz_x"
chmod +x "$tree/build/release/fuzz/fuzz_x"
expect "a fuzz target without a corpus" 1 "1 passed, 1 failed, 1 skipped"
mkdir -p "$tree/tests/fuzz/corpus/fuzz_x"
echo good >"$tree/tests/fuzz/corpus/fuzz_x/seed"
expect "a corpus" 0 "2 passed, 0 failed, 1 skipped"
echo bad >"$tree/tests/fuzz/corpus/fuzz_x/seed"
expect "a corpus that fails" 1 "1 passed, 1 failed, 1 skipped"
touch "$tree/tests/fuzz/fuzz_x.c"
# shellcheck disable=SC2016 # for the program
printf '#!/bin/sh\n[ -e "$marks/x" ] || { touch "$marks/x"; exit 1; }\n' >"$tree/build/release/fuzz/fuzz_x"
expect "a replay has no second try" 1 "1 passed, 1 failed, 1 skipped"
