#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# packaging/make_release.sh: the version in each of its places, a commit, an annotated tag; a refusal changes nothing
set -u
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@localhost GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test@localhost
n=0
tree=$TMPDIR/tree
echo "1..14"

verdict() { # name, status
        n=$((n + 1))
        [ "$2" -eq 0 ] && echo "ok $n - $1" || echo "not ok $n - $1"
}

git_there() { git -C "$tree" "$@"; }

refuses() { # words of the complaint, arguments...
        local out before
        before=$(git_there rev-parse HEAD)$(git_there status --porcelain)$(git_there tag)
        out=$("$tree/packaging/make_release.sh" "${@:2}" 2>&1)
        [ $? -eq 1 ] && [[ "$out" == *"$1"* ]] && [ "$before" = "$(git_there rev-parse HEAD)$(git_there status --porcelain)$(git_there tag)" ]
        verdict "refused, nothing changed: $1" $?
}

mkdir -p "$tree"/{packaging,tests/lint,debian}
cp packaging/make_release.sh "$tree/packaging/"
cp tests/lint/version.sh "$tree/tests/lint/"
printf 'VERSION  := 0.9.0\nRELEASED := 2026-01-02\n' >"$tree/Makefile"
printf '# Changes\n\n## Unreleased\n\n### In short\n\n- It is faster.\n\n## 0.9.0 - 2026-01-02\n\n- It is there.\n' >"$tree/CHANGELOG.md"
printf 'hyprof (0.9.0) unstable; urgency=medium\n\n  * It.\n\n -- A <a@b>  Fri, 02 Jan 2026 00:00:00 +0000\n' >"$tree/debian/changelog"
printf 'Source: hyprof\nMaintainer: A <a@b>\n' >"$tree/debian/control"
git_there init -q
git_there add -A
git_there commit -qm first

refuses "three numbers" 1.0
refuses "three numbers" 1.0.0-rc1
refuses "YYYY-MM-DD" 1.0.0 tomorrow
refuses "YYYY-MM-DD" 1.0.0 2026-02-30
refuses "not later" 0.9.0
refuses "not later" 0.8.12
echo x >>"$tree/debian/control"
refuses "not committed" 0.10.0
git_there checkout -q debian/control

"$tree/packaging/make_release.sh" 0.10.0 2026-02-03 >"$TMPDIR/out" 2>&1
verdict "a release is made" $?
sh "$tree/tests/lint/version.sh" "$tree" && grep -q '^VERSION  := 0.10.0$' "$tree/Makefile" && grep -q '^RELEASED := 2026-02-03$' "$tree/Makefile"
verdict "all places have the version and the date" $?
[ -z "$(git_there status --porcelain)" ] && [ "$(git_there log -1 --format=%s)" = "Release 0.10.0" ]
verdict "it is committed" $?
[ "$(git_there cat-file -t v0.10.0)" = tag ] && [ "$(git_there rev-parse 'v0.10.0^{commit}')" = "$(git_there rev-parse HEAD)" ]
verdict "the commit has an annotated tag" $?
text=$(git_there tag -l --format='%(contents)' v0.10.0)
[[ "$text" == *"### In short"*"It is faster."* && "$text" != *"It is there."* ]]
verdict "the tag says what is new, and only that" $?
refuses "nothing under '## Unreleased'" 0.11.0
git_there tag v0.12.0
refuses "there is a tag" 0.12.0
