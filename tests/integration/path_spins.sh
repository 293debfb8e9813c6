#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `hyprof path` calls a loop that pauses spinning, by its code, and says what ran meanwhile; other loops are not called so
set -eu
. tests/tap.sh
plan 8
need jq
need_sampling

case $(uname -m) in
x86_64 | aarch64 | riscv64) ;;
*) skip_all "hardware: no pause of this processor is known" ;;
esac

[ "$(nproc)" -ge 2 ] || skip_all "hardware: on one processor nothing runs while another thread spins"

# Where other programs have the CPUs, main spins while the other thread is not there yet.
priority=(chrt -r 10)
chrt -r 10 true 2>/dev/null || priority=()
# The program is a copy, which can go away.
cp "$WORKLOADS/w_pausing" "$TMPDIR/w_pausing"
record pausing -F 2000 --off-cpu --embed=none "${priority[@]}" "$TMPDIR/w_pausing"

ask() { "$HYPROF" path --json --limit 0 --zone frame "$TMPDIR/pausing.hyp" >"$TMPDIR/path.json"; }

# The kinds of a function's rows with a share of 1 % or more.
kinds_of() { # function
        jq -r --arg name "$1" '[.path.rows[] | select(.function == $name and .share >= 0.01) | .kind] | join(" ")' \
                "$TMPDIR/path.json"
}

meanwhile() {
        jq -r '.path.rows[] | select(.kind == "spin") | "\(.meanwhile_thread) \(.meanwhile_function)"' \
                "$TMPDIR/path.json" | head -n 1
}

answer_names_it() { jq -r .answer "$TMPDIR/path.json" | grep 'main spun in await_first()'; }
is_whole() { jq -e '.segments_ns == .total_ns' "$TMPDIR/path.json"; }

ask
holds "a loop that pauses is spinning" same spin "$(kinds_of await_first)"
holds "the other thread of the process is what it waited for" same "w first_work" "$(meanwhile)"
holds "the answer says that it spun" answer_names_it
holds "a loop without a pause is work" same run "$(kinds_of await_second)"
holds "work under a lock is work, though its loop could pause" same run "$(kinds_of add_under_lock)"
holds "the second pass adds up to the whole as well" is_whole

mv "$TMPDIR/w_pausing" "$TMPDIR/gone"
ask
holds "where the code is missing, it is work" same run "$(kinds_of await_first)"

mv "$TMPDIR/gone" "$TMPDIR/w_pausing"
record pausing -F 2000 --off-cpu "${priority[@]}" "$TMPDIR/w_pausing"
rm "$TMPDIR/w_pausing"
ask
holds "where the trace keeps the code, it is looked at there" same spin "$(kinds_of await_first)"
