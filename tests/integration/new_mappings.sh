#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Call stacks deeper than their copy are complete also where code is mapped all the time, and name the right callers
set -eu
. tests/tap.sh
plan 4
need_sampling

holds "record" record t -F 2000 "$WORKLOADS/w_new_mappings"
"$HYPROF" dump "$TMPDIR/t.hyp" >"$TMPDIR/t.dump"
read -r n_stacks n_complete _ <<<"$(awk -f tests/complete_stacks.awk "$TMPDIR/t.dump")"
figure "$n_complete of $n_stacks call stacks are complete"
holds "there are samples" compare "$n_stacks" ">=" 100
# A recorder that comes late on a busy machine finds the program elsewhere now and then.
holds "call stacks are complete" compare "$n_complete" ">=" "0.6 * $n_stacks"

# How many of the samples are in hold() or below it, by call stacks that go up to main().
share() {
        "$HYPROF" export -q folded -o - "$TMPDIR/t.hyp" | awk '
                { all += $NF } /;main;hold/ { right += $NF } /;main;/ { led += $NF }
                END { print led == 0 ? 0 : 100 * right / led }'
}
holds "main() called hold(), and nothing else" compare "$(share)" ">=" 99
