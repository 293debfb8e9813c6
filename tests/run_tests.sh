#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the tests of one build.  Usage: run_tests.sh build/VARIANT [TEST...]
#
# Without TEST: the unit tests, the replay of the fuzz corpora, then tests/integration and tests/acceptance; with
# sanitizers without the scripts that tests/not_sanitized.list names.
# A test is a unit test's binary or a script.  It prints TAP lines ("ok 1 - name", "not ok 2 - name",
# "ok 3 - name # SKIP reason"), each of which counts as a case, and a plan ("1..3"): the test fails if there is no plan,
# or another number of cases, so no case vanishes unseen; where a group is left out ("ok 3 - name: all cases # SKIP reason")
# there may be fewer.  Exit status 77 skips the whole test (the last line printed is
# the reason); any other but 0 fails it.  Lines that begin with "# " are shown even when the test passes: measured figures.
#
# Unit tests, replays and the scripts in tests/side_by_side.list run beside each other, the other scripts one at a time.
#
# A script that fails is tried a second time when all others have run, alone: it watches the scheduling of a machine
# that others use too.  If it passes then, it has passed, and what failed first is shown; but not if it needed the second
# try in one of the two runs before as well: these are in build/VARIANT/test-history.  In CI, where a checkout has no history,
# it must pass a third try.  HYPROF_TRIES=1: it has failed at once.
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
limit_s=${HYPROF_LIMIT_S:-300} # for slow machines
under=()
# For what is all our own code: malloc() gives bytes of 0x5a and free() leaves 0xa5, so that nothing is 0 by chance.
perturbed=(env MALLOC_PERTURB_=165)
n_at_once=$(nproc)
n_tries=${HYPROF_TRIES:-2}
history=$build/test-history
is_ci=0
[ "${CI:-}" != true ] && [ "${HYPROF_REQUIRE:-0}" != 1 ] || is_ci=1

case $variant in asan | tsan) perturbed=() ;; esac # they have an allocator of their own
case $variant in
asan)
        limit_s=${HYPROF_LIMIT_S:-600} # some take minutes
        export ASAN_OPTIONS=abort_on_error=1:detect_stack_use_after_return=1
        export UBSAN_OPTIONS=halt_on_error=1:abort_on_error=1:print_stacktrace=1
        export CK_FORK=no
        ;;
tsan)
        limit_s=${HYPROF_LIMIT_S:-600}
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

n_passed=0 n_failed=0 n_skipped=0
failed=()
second=() # scripts that passed at their second try
took=() # "SECONDS NAME"
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

# Counts the TAP lines of a file.  Sets n_ok, n_not_ok, n_planned (-1: no plan), n_groups that were left out, and what is
# skipped with its reasons.
count_tap() { # name, file
        local line reason
        n_ok=0 n_not_ok=0 n_planned=-1 n_groups=0 skips=() reasons=()
        while IFS= read -r line; do
                case $line in
                "not ok "*) n_not_ok=$((n_not_ok + 1)) ;;
                "ok "*"# SKIP"*)
                        reason=${line#*# SKIP}
                        line=${line%%# SKIP*}
                        [[ $line != *": all cases " ]] || n_groups=$((n_groups + 1))
                        skips+=("$1: ${line#*- }")
                        reasons+=("${reason# }")
                        ;;
                "ok "*) n_ok=$((n_ok + 1)) ;;
                1..*) [[ $line =~ ^1\.\.([0-9]+)$ ]] && n_planned=${BASH_REMATCH[1]} ;;
                esac
        done <"$2"
}

# Cases that passed say nothing, and would hide the one that did not.
show_failed() { # output
        grep -v '^ok ' "$1" | tail -n 100 | sed 's/^/      | /'
}

# Runs one test, with a folder of its own for what it leaves.  Its result is in the folder then.
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

# The outcome of a try.  Sets status, words, and what count_tap() sets.
examine() { # name, folder
        local n_cases n_groups
        status=$(cat "$2/status")
        count_tap "$1" "$2/tap"
        n_cases=$((n_ok + n_not_ok + ${#skips[@]}))
        words="exit status $status"
        [ "$status" -ne 124 ] || words="stopped after $limit_s s"
        case $1 in "replay of "*) [ "$status" -ne 0 ] || n_ok=1 n_cases=1 n_planned=1 ;; esac
        if [ "$n_planned" -lt 0 ]; then
                words+=", no plan"
        elif [ "$n_cases" -gt "$n_planned" ] || { [ "$n_cases" -lt "$n_planned" ] && [ "$n_groups" -eq 0 ]; }; then
                words+=", $n_planned cases planned, $n_cases printed"
        elif [ "$status" -eq 0 ]; then
                return
        fi
        [ "$n_not_ok" -ne 0 ] || n_not_ok=1
}

# Shows and counts what examine() found.
conclude() { # name, folder
        local i
        for i in "${!skips[@]}"; do
                skipped "${skips[i]}" "${reasons[i]}"
        done
        took+=("$(cat "$2/seconds") $1")
        n_passed=$((n_passed + n_ok))
        n_failed=$((n_failed + n_not_ok))
        if [ "$n_not_ok" -ne 0 ]; then
                printf 'FAIL  %-40s %s\n' "$1" "$words"
                show_failed "$2/out"
                failed+=("$1")
                return
        fi
        printf 'PASS  %-40s %5d ok %4d s\n' "$1" "$n_ok" "$(cat "$2/seconds")"
        grep '^# ' "$2/out"
}

judge() { # name, folder
        local status words n_ok n_not_ok n_planned skips reasons
        examine "$1" "$2"
        if [ "$status" -eq 77 ]; then
                skipped "$1" "$(tail -n 1 "$2/out")"
        else
                conclude "$1" "$2"
        fi
}

# ---- what measures nothing: as many at a time as there are processors, reported in order

names=()     # of those that were begun; what came of them is in $scratch/NUMBER
scripts=()   # the script that it is; empty: unit tests and replays
n_told=0     # of these
n_running=0

tell() { # those that have ended, up to one that has not
        while [ "$n_told" -lt "${#names[@]}" ] && [ -e "$scratch/$n_told/status" ]; do
                if [ -n "${scripts[n_told]}" ]; then
                        judge_script "${names[n_told]}" "$scratch/$n_told" "${scripts[n_told]}"
                else
                        judge "${names[n_told]}" "$scratch/$n_told"
                fi
                rm -rf "${scratch:?}/$n_told"
                n_told=$((n_told + 1))
        done
}

begin() { # name, script or "", command...
        if [ "$n_running" -ge "$n_at_once" ]; then
                wait -n
                n_running=$((n_running - 1))
                tell
        fi
        run_in "$scratch/${#names[@]}" "${@:3}" &
        names+=("$1")
        scripts+=("$2")
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
                begin "replay of $name, ${#files[@]} files" "" "${perturbed[@]}" "$1" "${files[@]}"
        fi
}

# ---- scripts

# The two last runs in which a script passed: "once" or "again", the later one last.
recent() { # name
        [ ! -e "$history" ] || awk -v name="$1" '$1 == name { $1 = ""; print }' "$history"
}

remember() { # name, "once" or "again"
        local before
        before=$(recent "$1")
        { [ ! -e "$history" ] || awk -v name="$1" '$1 != name' "$history"; echo "$1 ${before##* } $2"; } >"$history.now"
        mv "$history.now" "$history"
}

# The outcome of the first try.
judge_script() { # name, folder, script
        local status words n_ok n_not_ok n_planned skips reasons
        examine "$1" "$2"
        if [ "$n_not_ok" -ne 0 ] && [ "$status" -ne 77 ] && [ "$n_tries" -ne 1 ]; then
                printf 'LATER %-40s %s: a second try at the end\n' "$1" "$words"
                mv "$2" "$scratch/first${#again[@]}"
                again+=("$3")
                return
        fi
        judge "$1" "$2"
        [ "$n_not_ok" -ne 0 ] || remember "$1" once
}

is_listed() { # name, list: with reasons, and comments
        [ -e "tests/$2" ] && awk -v name="$1" '$1 == name { found = 1 } END { exit !found }' "tests/$2"
}

is_side_by_side() { # name
        is_listed "$1" side_by_side.list
}

begin_script() { # script
        local name=${1#tests/} runs_alone=0
        is_side_by_side "$name" || runs_alone=1
        [ "$runs_alone" = 0 ] || finish
        begin "$name" "$1" bash "$1"
        [ "$runs_alone" = 0 ] || finish
}

# The last of the tries that a script needs after its first one; examine() says what came of it.  A skip has not passed.
try_on() { # script, name, folder
        rm -rf "$3"
        run_in "$3" bash "$1"
        examine "$2" "$3"
        [ "$n_not_ok" -eq 0 ]
}

try_again() { # number: the script that failed as that one
        local script=${again[$1]} name=${again[$1]#tests/} folder=$scratch/second what="why there was a second try"
        local status words n_ok n_not_ok n_planned skips reasons
        if try_on "$script" "$name" "$folder" && [ "$is_ci" = 1 ]; then
                try_on "$script" "$name" "$folder" || words+=" at the third try; the second one passed"
        fi
        if [ "$n_not_ok" -eq 0 ]; then
                [[ " $(recent "$name") " != *" again "* ]] || n_not_ok=1 words="a second try was needed in two of three runs"
                remember "$name" again
        fi
        if [ "$n_not_ok" -eq 0 ]; then
                second+=("$name")
                printf 'AGAIN %s: passed at the second try\n' "$name"
        else
                what="the first try"
        fi
        conclude "$name" "$folder"
        printf '      %s:\n' "$what"
        show_failed "$scratch/first$1/out"
}

run_path() { # a unit test, a fuzz target or a script
        case $1 in
        */fuzz/fuzz_*) replay "$1" ;;
        *.sh) begin_script "$1" ;;
        *) begin "${1##*/}" "" "${perturbed[@]}" "$1" ;;
        esac
}

is_left_out() { # script: what sanitizers say nothing of
        case $variant in asan | tsan) ;; *) return 1 ;; esac
        is_listed "$1" not_sanitized.list
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
        alone=()
        for script in tests/integration/*.sh tests/acceptance/*.sh; do
                ! is_left_out "${script#tests/}" || continue
                if is_side_by_side "${script#tests/}"; then set -- "$@" "$script"; else alone+=("$script"); fi
        done
        set -- "$@" "${alone[@]}"
        shopt -u nullglob
fi
for test in "$@"; do
        run_path "$test"
done
finish
for i in "${!again[@]}"; do
        try_again "$i"
done

if [ ${#took[@]} -gt 10 ]; then
        printf 'the slowest:'
        printf '%s\n' "${took[@]}" | sort -rn | head -n 10 | while read -r seconds name; do printf ' %s %d s;' "$name" "$seconds"; done
        echo
fi
for name in "${failed[@]}"; do
        printf 'failed: %s\n' "$name"
done
status=0
[ "$n_failed" -eq 0 ] && [ $((n_passed + n_skipped)) -gt 0 ] || status=1
if [ "$is_ci" = 1 ]; then
        for name in "${forbidden_skips[@]}"; do
                printf 'skipped, but must run here: %s\n' "$name"
                status=1
        done
fi
for name in "${second[@]}"; do
        printf 'passed at the second try: %s\n' "$name"
done
echo "$n_passed passed, $n_failed failed, $n_skipped skipped${second:+, ${#second[@]} passed at the second try}"
exit $status
