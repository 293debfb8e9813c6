#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs what README.md and docs/use/python.md tell a newcomer, each line in a Debian 12 of its own that has nothing but make,
# git and certificates: what a line needs beyond that, it installs itself.  Usage: bare.sh [PART-OF-A-LINE]
#
# Each line has a copy of build/bare/root and of the tree.  It needs root, 5 GB and the network; without `make test` half an
# hour, with it an hour.  Exit status: 0 = all lines passed, 1 = one failed; build/bare/N.log has the output.
set -euo pipefail
cd "$(dirname "$0")/../.."
part=${1:-}
place=$PWD/build/bare
. tests/guests/chroot.sh

# The lines of README's "Install"; the packages, which a comment there names; those of docs/use/python.md.
list_lines() {
        sed -n '/^## Install/,/^\[/s/^    \(\(sudo \)\?make .*\)/\1/p' README.md | sed 's/ *#.*//'
        echo "make deb && apt-get install -y ./build/deb/*.deb && hyprof doctor"
        echo "make board TARGET=aarch64"
        echo "make wheel && apt-get install -y python3-venv && python3 -m venv v && . v/bin/activate && $(sed -n 's/^    \(pip install --no-index .*\)/\1/p' docs/use/python.md) && python3 -c 'import hyprof'"
}

# In CI's way: a test that something should have been there for fails.
try_line() { # number, line
        local root=$place/copy status=0
        rm -rf "$root"
        cp -a -x --reflink=auto "$place/root" "$root"
        mkdir "$root/tree"
        list_tree | tar -c -T - | tar -x -m --no-same-owner -C "$root/tree"
        # Tests that look at git's files need a repository.
        git -C "$root/tree" -c init.defaultBranch=main init -q
        git -C "$root/tree" add -A
        git -C "$root/tree" -c user.name=bare -c user.email=bare@localhost commit -qm bare
        chown -R 0:0 "$root/tree"
        enter_root "$root" "${2/#sudo /}" >"$place/$1.log" 2>&1 </dev/null || status=$?
        rm -rf "$root"
        return $status
}

mkdir -p "$place"
make_root bookworm ca-certificates,git,make
list_lines >"$place/lines"
[ "$(grep -c . "$place/lines")" -ge 7 ] || fail "README.md and docs/use/python.md have fewer lines than they had"
n=0 n_tried=0 n_failed=0
while IFS= read -r line; do
        n=$((n + 1))
        [[ "$line" == *"$part"* ]] || continue
        n_tried=$((n_tried + 1))
        began=$SECONDS
        if try_line "$n" "$line"; then
                printf 'PASS  %5d s  %s\n' $((SECONDS - began)) "$line"
        else
                n_failed=$((n_failed + 1))
                tail -n 15 "$place/$n.log"
                printf 'FAIL  %5d s  %s: build/bare/%d.log\n' $((SECONDS - began)) "$line" "$n"
        fi
done <"$place/lines"
[ $n_tried -gt 0 ] || fail "no line with '$part'"
[ $n_failed -eq 0 ]
