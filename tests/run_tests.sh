#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the tests of one build.  Usage: run_tests.sh build/VARIANT [TEST...]
#
# Without TEST: the unit tests, the replay of the fuzz corpora, then tests/integration and tests/acceptance; with
# sanitizers without the scripts that tests/not_sanitized.list names.
# A test is a unit test's binary or a script.  It may print TAP lines ("ok 1 - name", "not ok 2 - name",
# "ok 3 - name # SKIP reason"): each counts as a case.  Otherwise its exit status is one case: 0 passed,
# 77 skipped (the last line printed is the reason), anything else failed.  Lines that begin with "# " are
# shown even when the test passes: measured figures.
#
# A script that fails is tried a second time when all others have run, alone: it watches the scheduling of a machine
# that others use too.  If it passes then, it has passed, and what failed first is shown.  HYPROF_TRIES=1: it has
# failed at once.
#
# With CI=true or HYPROF_REQUIRE=1 a skip fails the run unless its reason begins with "hardware:" or "network:".
set -u

cd "$(dirname "$0")/.." || exit 2
build=${1:?Usage: run_tests.sh build/VARIANT [TEST...]}
shift
build=$(realpath "$build") || exit 2
variant=${build##*/}

export HYPROF=$build/hyprof WORKLOADS=$build/workloads EXAMPLES=$build/examples BUILD=$build VARIANT=$variant
export CK_DEFAULT_TIMEOUT=60
export LC_ALL=C.UTF-8
# Under sudo hyprof would become another user, to whom the folders of the tests are closed.
unset SUDO_UID SUDO_GID
limit_s=300
under=()
n_at_once=$(nproc)
script_try=first
[ "${HYPROF_TRIES:-2}" != 1 ] || script_try=only

case $variant in
asan)
        export ASAN_OPTIONS=abort_on_error=1:detect_stack_use_after_return=1
        export UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1
        export CK_FORK=no
        ;;
tsan)
        export TSAN_OPTIONS=halt_on_error=1
        export CK_FORK=no
        # The runtime of these compilers does not know the larger address randomisation of newer kernels.
        [ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28)" -le 28 ] || under=(setarch -R)
        ;;
esac

scratch=$(mktemp -d "${TMPDIR:-/tmp}/hyprof-tests.XXXXXX") || exit 2
# shellcheck disable=SC2046 # numbers of processes
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

n_passed=0 n_failed=0 n_skipped=0 n_second=0
failed=()
again=() # scripts whose first try failed; what came of it is in $scratch/firstNUMBER
forbidden_skips=()

skipped() { # name, reason
        n_skipped=$((n_skipped + 1))
        printf 'SKIP  %s: %s\n' "$1" "$2"
        case $2 in
        hardware:* | network:*) ;;
        *) forbidden_skips+=("$1: $2") ;;
        esac
}

# Counts the TAP lines of a file.  Sets n_ok, n_not_ok, and what is skipped with its reasons.
count_tap() { # name, file
        local line reason
        n_ok=0 n_not_ok=0 skips=() reasons=()
        while IFS= read -r line; do
                case $line in
                "not ok "*) n_not_ok=$((n_not_ok + 1)) ;;
                "ok "*"# SKIP"*)
                        reason=${line#*# SKIP}
                        line=${line%%# SKIP*}
                        skips+=("$1: ${line#*- }")
                        reasons+=("${reason# }")
                        ;;
                "ok "*) n_ok=$((n_ok + 1)) ;;
                esac
        done <"$2"
}

# What passed says nothing, and would hide the case that did not.
show_failed() { # output
        grep -v '^ok ' "$1" | tail -n 100 | sed 's/^/      | /'
}

# Runs one test, with a folder of its own for what it leaves.  What came of it is in the folder then.
run_in() { # folder, command...
        local folder=$1 began=$SECONDS status=0
        shift
        mkdir -p "$folder/tmp"
        TMPDIR=$folder/tmp CK_TAP_LOG_FILE_NAME=$folder/tap \
                timeout -k 10 "$limit_s" "${under[@]}" "$@" >"$folder/out" 2>&1 </dev/null || status=$?
        rm -rf "$folder/tmp"
        [ -s "$folder/tap" ] || cp "$folder/out" "$folder/tap"
        echo "$((SECONDS - began))" >"$folder/seconds"
        echo "$status" >"$folder/status.now"
        mv "$folder/status.now" "$folder/status" # at once: others look for it
}

# The try is one of "only", "first" and "second"; a first one that fails counts for nothing yet: it returns 1.
judge() { # try, name, folder
        local try=$1 name=$2 out=$3/out status words i
        local n_ok n_not_ok skips reasons
        status=$(cat "$3/status")
        if [ "$status" -eq 77 ] && [ "$try" != second ]; then
                skipped "$name" "$(tail -n 1 "$out")"
                return 0
        fi
        count_tap "$name" "$3/tap"
        if [ "$status" -ne 0 ] && [ "$n_not_ok" -eq 0 ]; then
                n_not_ok=1
        elif [ $((n_ok + n_not_ok + ${#skips[@]})) -eq 0 ]; then
                n_ok=1
        fi
        words="exit status $status"
        [ "$status" -ne 124 ] || words="stopped after $limit_s s"
        if [ "$n_not_ok" -ne 0 ] && [ "$try" = first ]; then
                printf 'LATER %-40s %s: a second try at the end\n' "$name" "$words"
                return 1
        fi
        for i in "${!skips[@]}"; do
                skipped "${skips[i]}" "${reasons[i]}"
        done
        n_passed=$((n_passed + n_ok))
        n_failed=$((n_failed + n_not_ok))
        if [ "$n_not_ok" -ne 0 ]; then
                printf 'FAIL  %-40s %s\n' "$name" "$words"
                show_failed "$out"
                failed+=("$name")
                return 0
        fi
        if [ "$try" = second ]; then
                n_second=$((n_second + 1))
                printf 'AGAIN %s: passed at the second try\n' "$name"
        fi
        printf 'PASS  %-40s %5d ok %4d s\n' "$name" "$n_ok" "$(cat "$3/seconds")"
        grep '^# ' "$out"
        return 0
}

# ---- unit tests and replays measure nothing: as many at a time as there are processors, told of in order

names=()     # of those that were begun; what came of them is in $scratch/NUMBER
n_told=0     # of these
n_running=0

tell() { # those that have ended, up to one that has not
        while [ "$n_told" -lt "${#names[@]}" ] && [ -e "$scratch/$n_told/status" ]; do
                judge only "${names[n_told]}" "$scratch/$n_told"
                rm -rf "${scratch:?}/$n_told"
                n_told=$((n_told + 1))
        done
}

begin() { # name, command...
        if [ "$n_running" -ge "$n_at_once" ]; then
                wait -n
                n_running=$((n_running - 1))
                tell
        fi
        run_in "$scratch/${#names[@]}" "${@:2}" &
        names+=("$1")
        n_running=$((n_running + 1))
}

finish() {
        wait
        n_running=0
        tell
}

replay() { # target: its corpus, all files in one run
        local name=${1##*/}
        local files=("tests/fuzz/corpus/$name"/*)
        if [ ! -e "${files[0]}" ]; then
                printf 'FAIL  replay of %s: tests/fuzz/corpus/%s is empty\n' "$name" "$name"
                n_failed=$((n_failed + 1))
                failed+=("replay of $name")
        else
                begin "replay of $name, ${#files[@]} files" "$1" "${files[@]}"
        fi
}

# ---- scripts: one at a time

run_script() { # try, script, folder
        rm -rf "$3"
        run_in "$3" bash "$2"
        judge "$1" "${2#tests/}" "$3"
}

try_script() {
        local folder=$scratch/first${#again[@]}
        run_script "$script_try" "$1" "$folder" || again+=("$1")
}

try_again() { # number: the script that failed as that one
        local n_failed_before=$n_failed words="why there was a second try"
        run_script second "${again[$1]}" "$scratch/second"
        [ "$n_failed" -eq "$n_failed_before" ] || words="the first try"
        printf '      %s:\n' "$words"
        show_failed "$scratch/first$1/out"
}

run_path() { # a unit test, a fuzz target or a script
        case $1 in
        */fuzz/fuzz_*) replay "$1" ;;
        *.sh)
                finish
                try_script "$1"
                ;;
        *) begin "${1##*/}" "$1" ;;
        esac
}

is_left_out() { # script: what sanitizers say nothing of
        case $variant in asan | tsan) ;; *) return 1 ;; esac
        awk -v name="$1" '$1 == name { found = 1 } END { exit !found }' tests/not_sanitized.list
}

if [ $# -eq 0 ]; then
        # By the sources: build/ may still hold the binary of a test that is gone.
        shopt -s nullglob
        units=(tests/unit/test_*.c)
        units=("${units[@]#tests/unit/}")
        fuzzers=(tests/fuzz/fuzz_*.c)
        fuzzers=("${fuzzers[@]#tests/fuzz/}")
        set -- "${units[@]/#/$build/tests/}" "${fuzzers[@]/#/$build/fuzz/}"
        set -- "${@%.c}"
        for script in tests/integration/*.sh tests/acceptance/*.sh; do
                is_left_out "${script#tests/}" || set -- "$@" "$script"
        done
        shopt -u nullglob
fi
for test in "$@"; do
        run_path "$test"
done
finish
for i in "${!again[@]}"; do
        try_again "$i"
done

for name in "${failed[@]}"; do
        printf 'failed: %s\n' "$name"
done
status=0
[ "$n_failed" -eq 0 ] && [ $((n_passed + n_skipped)) -gt 0 ] || status=1
if [ "${CI:-}" = true ] || [ "${HYPROF_REQUIRE:-0}" = 1 ]; then
        for name in "${forbidden_skips[@]}"; do
                printf 'skipped, but must run here: %s\n' "$name"
                status=1
        done
fi
second=
[ "$n_second" -eq 0 ] || second=", $n_second passed at the second try"
echo "$n_passed passed, $n_failed failed, $n_skipped skipped$second"
exit $status
