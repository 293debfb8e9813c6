#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# All static checks, cheap ones first.  A tool that is not installed is left out with a line; in CI that fails.
# A check that vanished fails as well: there are n_planned.  As many checks run at a time as there are processors.
#
# With "quick" the analyzers of C, which take minutes, are left out, and what a check has passed is not checked again until
# it changes: build/lint/NAME was written when the check NAME last passed.
#
# HYPROF_LINT_NODES=225000: how far clang's analyzer follows the paths through a function.  That is its own limit, and the
# nightly run's; ours takes a tenth of the time.
set -u
cd "$(dirname "$0")/../.." || exit 2

mapfile -t sources < <(git ls-files -co --exclude-standard '*.c' '*.h' '*.hpp' '*.cpp' | while read -r f; do [ -f "$f" ] && echo "$f"; done)
mapfile -t scripts < <(git ls-files -co --exclude-standard '*.sh' .ci/run | while read -r f; do [ -f "$f" ] && echo "$f"; done)
mapfile -t library < <(printf '%s\n' "${sources[@]}" | grep -E '^(base|format|instrument|symbolize|unwind|sampler|analyze|timeline|merge|import|view|export|web|cli|boards|python)/.*\.c$' | grep -v '\.bpf\.c$')
# cppcheck does not know the macros of CPython.
mapfile -t plain < <(printf '%s\n' "${library[@]}" | grep -v '^python/')
flags=(-std=c11 -D_GNU_SOURCE -I. -Iinstrument/client/include "-DHYPROF_VERSION=\"0\"" "-DSWITCH_PROGRAM_FILE=\"/dev/null\"" "-DPYTHON_PROGRAM_FILE=\"/dev/null\"" "-DPROBE_PROGRAM_FILE=\"/dev/null\""
        "-DMANUAL_PROSE_FILE=\"/dev/null\"" "-DPAGE_FILES_FILE=\"/dev/null\"" "-DHYPROF_DATE=\"\"" "-DHYPROF_GIT_ID=\"\"" "-DHYPROF_MACHINE=\"\""
        "-DHYPROF_VARIANT=\"\"" "-DHYPROF_HAS_"{BPF,NCURSES,SQLITE,VIEWER,PFM}"=1" -isystem "$(/usr/bin/python3 python/facts.py | cut -d ' ' -f 1)")
n_planned=24
is_quick=0
[ "${1-}" != quick ] || is_quick=1
n_checks=0
failed=()
scratch=$(mktemp -d "${TMPDIR:-/tmp}/hyprof-lint.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT

# Those of the files that changed since the check passed.  A script's text and this file count for each check.
changed_since() { # check, files...
        local stamp=build/lint/$1 file
        shift
        if [ $is_quick = 0 ] || [ ! -e "$stamp" ] || [ tests/lint/run_lint.sh -nt "$stamp" ]; then
                printf '%s\n' "$@"
                return
        fi
        for file; do
                [ ! "$file" -nt "$stamp" ] || printf '%s\n' "$file"
        done
}

# The files and folders that a check reads, where they are few; no line for cheap checks, and for those that select their
# files by themselves.
inputs_of() { # check
        case $1 in
        client_headers.sh | cxx_headers.sh) find "tests/lint/$1" instrument/client/include ;;
        client_symbols.sh) find "tests/lint/$1" instrument base/namespace_clock.h debian/libhyprof1.symbols ;;
        page_types.sh) find "tests/lint/$1" web/pages tests/browser ;;
        esac
}

run_check() { # name, command...
        local name=$1 inputs
        shift
        mapfile -t inputs < <(inputs_of "$name")
        if [ ${#inputs[@]} -gt 0 ] && [ -z "$(changed_since "$name" "${inputs[@]}")" ]; then
                echo "unchanged since it passed"
        else
                "$@"
        fi
}

# Each check's own folder has what it printed, and last its outcome.
run_aside() { # folder, name, command...
        local folder=$1 name=$2 began=$SECONDS status=0
        shift 2
        mkdir -p build/lint "$folder"
        touch "$folder/stamp"
        run_check "$name" "$@" >"$folder/out" 2>&1 || status=$?
        if [ $status = 0 ]; then mv "$folder/stamp" "build/lint/$name"; else rm -f "build/lint/$name"; fi
        echo $((SECONDS - began)) >"$folder/seconds"
        echo $status >"$folder/status"
}

names=() # of the checks that were begun, in order

check() { # name, tool, command...
        local name=$1 tool=$2
        shift 2
        n_checks=$((n_checks + 1))
        if [ $is_quick = 1 ] && case $name in cppcheck | clang-tidy) ;; *) false ;; esac then
                echo "LEFT OUT  $name: make lint runs it"
        elif ! command -v "$tool" >/dev/null; then
                echo "LEFT OUT  $name: $tool is not installed"
                [ "${CI:-}" != true ] || failed+=("$name")
        else
                while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
                run_aside "$scratch/${#names[@]}" "$name" "$@" &
                names+=("$name")
        fi
}

# Waits for the checks, and shows them in the order in which they were begun.
finish() {
        local i folder
        wait
        for i in "${!names[@]}"; do
                folder=$scratch/$i
                cat "$folder/out"
                if [ "$(cat "$folder/status")" = 0 ]; then
                        printf 'PASS  %-20s %3d s\n' "${names[i]}" "$(cat "$folder/seconds")"
                else
                        printf 'FAIL  %s\n' "${names[i]}"
                        failed+=("${names[i]}")
                fi
        done
}

# Long files first, so that no processor waits for the last one.
run_tidy() {
        local out limit=(-Xclang -analyzer-config -Xclang "max-nodes=${HYPROF_LINT_NODES:-5000}")
        out=$(stat -c '%s %n' "${library[@]}" | sort -rn | cut -d ' ' -f 2- |
                xargs -P "$(nproc)" -I '{}' clang-tidy --quiet '{}' -- "${flags[@]}" "${limit[@]}" 2>/dev/null) && return 0
        printf '%s\n' "$out"
        return 1
}

# With -x, a script is checked together with those that it sources.
run_shellcheck() {
        local changed file
        mapfile -t changed < <(changed_since shellcheck "${scripts[@]}")
        for file in "${changed[@]}"; do
                ! grep -qE "^[[:space:]]*(\.|source) .*${file##*/}" "${scripts[@]}" || changed=("${scripts[@]}")
        done
        [ ${#changed[@]} -eq 0 ] || printf '%s\n' "${changed[@]}" | xargs -P "$(nproc)" -n 20 shellcheck -x
}

run_clang_format() {
        local changed
        mapfile -t changed < <(changed_since clang-format .clang-format "${sources[@]}")
        [ "${changed[0]:-}" != .clang-format ] || changed=(.clang-format "${sources[@]}")
        printf '%s\n' "${changed[@]}" | grep -vx -e .clang-format -e '' | xargs -r clang-format --dry-run -Werror
}

# The slow ones first, so that no processor waits for the last one; the two that use all processors at the end.
check shellcheck shellcheck run_shellcheck
for script in tests/lint/{cxx,client}_headers.sh tests/lint/*.sh; do
        case " run_lint.sh ${names[*]} " in *" ${script##*/} "*) continue ;; esac
        check "${script##*/}" sh sh "$script"
done
check clang-format clang-format run_clang_format
check codespell codespell codespell --ignore-words-list=inout,mis,te,ans,parm,olt,onot,nd "${sources[@]}" "${scripts[@]}" ./*.md docs
check pyflakes3 pyflakes3 pyflakes3 python
check mypy mypy mypy --config-file python/pyproject.toml --cache-dir build/mypy python/src/hyprof
wait
check cppcheck cppcheck cppcheck --quiet -j "$(nproc)" --std=c11 --platform=unix64 -D__LP64__ \
        --enable=warning,style,performance,portability --inline-suppr --suppress=missingIncludeSystem \
        --suppress=unmatchedSuppression --suppress=variableScope -D_GNU_SOURCE -I. -Iinstrument/client/include --error-exitcode=1 "${plain[@]}"
wait
check clang-tidy clang-tidy run_tidy
finish

[ "$n_checks" -eq "$n_planned" ] || failed+=("$n_planned checks are planned, there are $n_checks")
# A folder of the product that the two analyzers, or the filter of their headers, leave out.
for folder in $(printf '%s\n' "${sources[@]}" | sed -n 's,/.*\.c$,,p' | sort -u | grep -vxE 'tests|examples'); do
        printf '%s\n' "${library[@]}" | grep -q "^$folder/" || failed+=("clang-tidy and cppcheck do not read $folder/")
        grep -qE "^HeaderFilterRegex:.*[(|]${folder}[|)]" .clang-tidy || failed+=("clang-tidy does not read headers of $folder/")
done
[ ${#sources[@]} -gt 0 ] || failed+=("no source file was found: is this a git repository?")
for name in "${failed[@]}"; do
        printf 'failed: %s\n' "$name"
done
[ ${#failed[@]} -eq 0 ]
