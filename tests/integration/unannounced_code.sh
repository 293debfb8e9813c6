#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Code that no record of the kernel announced is found in the maps; call stacks at a uretprobe say why they end
set -eu
. tests/tap.sh
plan 10
need jq nm
need_sampling

# Samples, those of moved(), and those outside of every module.
counts() { # trace
        "$HYPROF" report --json --limit 0 "$TMPDIR/$1.hyp" >"$TMPDIR/$1.json"
        "$HYPROF" export -q -o - folded "$TMPDIR/$1.hyp" | awk '{ n += $NF }
                /;moved [0-9]+$/ { moved += $NF }
                /outside of every module/ { outside += $NF }
                /;main;run_moved;moved [0-9]+$/ { called += $NF }
                END { print n + 0, moved + 0, outside + 0, called + 0 }'
}

for kind in plain mremap shared; do
        holds "$kind is recorded" record "$kind" "$WORKLOADS/w_moved_code" "$kind"
        read -r n moved outside called <<<"$(counts "$kind")"
        figure "$kind: $moved of $n samples are named, $called of them with their callers, $outside are outside of every module"
        holds "$kind: the code has its name" compare "$moved" ">" "0.8 * $n"
        holds "$kind: and its callers" compare "$called" ">" "0.8 * $n"
done

# ---- a uretprobe: the kernel has put another return address onto the stack, and keeps the right one
offset=$(nm "$WORKLOADS/w_moved_code" | awk '/ T moved$/ { print $1 }')
status=0
"$BUILD/tools/with_uretprobe" "$WORKLOADS/w_moved_code" "$offset" "$HYPROF" record -q -o "$TMPDIR/probed.hyp" \
        -- "$WORKLOADS/w_moved_code" plain >"$TMPDIR/probed.out" 2>&1 || status=$?
are_cut() { # for `holds`: the command ended well, and so many call stacks are cut by the probe, at least
        local n
        same 0 "$status" || { cat "$TMPDIR/probed.out" && return 1; }
        n=$("$HYPROF" report --json --limit 0 "$TMPDIR/probed.hyp" | jq '[.missing.rows[] | select(.code == "STACK_RETURN_PROBE") | .count] | add // 0')
        compare "$n" ">" "$1"
}
if [ "$status" -eq 77 ]; then
        skips "uretprobe: the call stacks say that they are cut by it" "$(tail -n 1 "$TMPDIR/probed.out")"
else
        holds "uretprobe: the call stacks say that they are cut by it" are_cut 100
fi
