#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No system call that a recording makes is refused by its own filter, in any of the ways to record
set -eu
. tests/tap.sh
plan 9
need strace
need_sampling
[ "$VARIANT" != asan ] || skip_all "hardware: the search for leaks traces its own process, which is traced already"
strace -qq -o /dev/null true || skip_all "hardware: processes cannot be traced here"

# The calls of the processes and threads of hyprof itself that were refused after the filter was there.
# Dropping from the bounding set needs a right that is gone by then; nothing depends on it.
refusals() { # name
        local file
        for file in "$TMPDIR/$1".trace.*; do
                awk '/^seccomp\(SECCOMP_SET_MODE_FILTER/ || FILENAME ~ /\.child$/ { filtered = 1 }
                        filtered && /= -1 EPERM/ && !/PR_CAPBSET_DROP/' "$file"
        done
}
# One file a thread; those of the command and its children are left out: they begin with another program.
traced() { # name, status, options and command...
        local file name=$1
        ends_with "$2" strace -ff -qq -o "$TMPDIR/$name.trace" "$HYPROF" record -q -o "$TMPDIR/$name.hyp" "${@:3}" || return 1
        # The first process has one successful execve, of hyprof; the command's has one of something else.
        for file in "$TMPDIR/$name".trace.*; do
                if grep -q '^execve(.* = 0$' "$file" && ! grep -q "^execve(\"$HYPROF\"" "$file"; then
                        rm "$file"
                elif ! grep -q '^seccomp(' "$file" && grep -qE 'PR_SET_PDEATHSIG|write\(' "$file"; then
                        mv "$file" "$file.child"
                fi
        done
        refusals "$name" >"$TMPDIR/refused"
        [ ! -s "$TMPDIR/refused" ] || { cat "$TMPDIR/refused" && return 1; }
        grep -q '^seccomp(SECCOMP_SET_MODE_FILTER.* = 0$' "$TMPDIR/$name".trace.* || { echo "no filter" && return 1; }
}

holds "a command" traced command 0 "$WORKLOADS/w_two_zones" 0.3
holds "a command that fails" traced fails 3 sh -c 'exit 3'
holds "a command that is killed" traced killed 143 sh -c 'kill -TERM $$'
printf '#!/nowhere\n' >"$TMPDIR/broken"
chmod 755 "$TMPDIR/broken"
holds "a command that cannot begin" traced none 127 "$TMPDIR/broken"
holds "leaves no trace file" [ ! -e "$TMPDIR/none.hyp" ]
holds "children" traced children 0 sh -c 'for i in 1 2 3; do /bin/true; done'
holds "modules that come and go" traced modules 0 "$WORKLOADS/w_restless" 0.3
"$WORKLOADS/w_two_zones" 600 >/dev/null &
target=$!
holds "a process that runs" traced attached 0 -d 300ms -p "$target"
kill "$target"
holds "with names of functions in the end" grep -q 'busy_a' <("$HYPROF" report "$TMPDIR/command.hyp")
