#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# All static checks, cheap ones first.  A tool that is not installed is left out with a line; in CI that fails.
# A check that vanished fails as well: there are n_planned.
#
# HYPROF_LINT_NODES=225000: how far clang's analyzer follows the paths through a function.  That is its own limit; ours
# takes less than half of the time.
set -u
cd "$(dirname "$0")/../.." || exit 2

mapfile -t sources < <(git ls-files -co --exclude-standard '*.c' '*.h' '*.hpp' '*.cpp' | while read -r f; do [ -f "$f" ] && echo "$f"; done)
mapfile -t scripts < <(git ls-files -co --exclude-standard '*.sh' .ci/run | while read -r f; do [ -f "$f" ] && echo "$f"; done)
mapfile -t library < <(printf '%s\n' "${sources[@]}" | grep -E '^(base|format|instrument|symbolize|unwind|sampler|analyze|timeline|merge|view|export|web|cli|boards|python)/.*\.c$' | grep -v '\.bpf\.c$')
# cppcheck does not know the macros of CPython.
mapfile -t plain < <(printf '%s\n' "${library[@]}" | grep -v '^python/')
flags=(-std=c11 -D_GNU_SOURCE -I. -Iinstrument/client/include "-DHYPROF_VERSION=\"0\"" "-DSWITCH_PROGRAM_FILE=\"/dev/null\"" "-DPYTHON_PROGRAM_FILE=\"/dev/null\""
        "-DMANUAL_PROSE_FILE=\"/dev/null\"" "-DPAGE_FILES_FILE=\"/dev/null\"" "-DHYPROF_DATE=\"\"" "-DHYPROF_GIT_ID=\"\"" "-DHYPROF_MACHINE=\"\""
        "-DHYPROF_VARIANT=\"\"" -DHYPROF_HAS_BPF=1 -isystem "$(/usr/bin/python3 python/facts.py | cut -d ' ' -f 1)")
n_planned=23
n_checks=0
failed=()

check() { # name, tool, command...
        local name=$1 tool=$2 began=$SECONDS
        shift 2
        n_checks=$((n_checks + 1))
        if ! command -v "$tool" >/dev/null; then
                echo "LEFT OUT  $name: $tool is not installed"
                [ "${CI:-}" != true ] || failed+=("$name")
        elif "$@"; then
                printf 'PASS  %-20s %3d s\n' "$name" "$((SECONDS - began))"
        else
                printf 'FAIL  %s\n' "$name"
                failed+=("$name")
        fi
}

# Long files first, so that no processor waits for the last one.
run_tidy() {
        local out limit=(-Xclang -analyzer-config -Xclang "max-nodes=${HYPROF_LINT_NODES:-60000}")
        out=$(stat -c '%s %n' "${library[@]}" | sort -rn | cut -d ' ' -f 2- |
                xargs -P "$(nproc)" -I '{}' clang-tidy --quiet '{}' -- "${flags[@]}" "${limit[@]}" 2>/dev/null) && return 0
        printf '%s\n' "$out"
        return 1
}

for script in tests/lint/*.sh; do
        [ "$script" = tests/lint/run_lint.sh ] || check "${script##*/}" sh sh "$script"
done
check clang-format clang-format clang-format --dry-run -Werror "${sources[@]}"
check shellcheck shellcheck shellcheck "${scripts[@]}"
check codespell codespell codespell --ignore-words-list=inout,mis,te,ans,parm "${sources[@]}" "${scripts[@]}" ./*.md docs
check pyflakes3 pyflakes3 pyflakes3 python
check mypy mypy mypy --config-file python/pyproject.toml --cache-dir build/mypy python/src/hyprof python/compat/tracy
check cppcheck cppcheck cppcheck --quiet -j "$(nproc)" --std=c11 --platform=unix64 -D__LP64__ \
        --enable=warning,style,performance,portability --inline-suppr --suppress=missingIncludeSystem \
        --suppress=unmatchedSuppression --suppress=variableScope -D_GNU_SOURCE -I. -Iinstrument/client/include --error-exitcode=1 "${plain[@]}"
check clang-tidy clang-tidy run_tidy

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
