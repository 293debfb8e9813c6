#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A parent, its child and the next program of a process each have code of their own at one address: none has another's name
set -eu
. tests/tap.sh
plan 9
need jq
need_sampling

status=0
"$WORKLOADS/w_jit_heirs" dump "$TMPDIR" || status=$?
[ $status -ne 2 ] || skip_all "no machine code for $(uname -m)"

n_samples() { # trace, function, report's options...
        "$HYPROF" report --functions --json --limit 0 "${@:3}" "$TMPDIR/$1.hyp" |
                jq --arg name "$2" '[.functions.rows[] | select(.module == "anon" or .module == "//anon") |
                        select((.function // "") == $name) | .self_samples] | add // 0'
}

# The words that stand for code without a name.
unnamed='[no symbol]'

# ---- both write into one jitdump, which says of which process each record is
holds "w_jit_heirs dump is recorded" record dump -- "$WORKLOADS/w_jit_heirs" dump "$TMPDIR"
old=$(n_samples dump old_code)
heir=$(n_samples dump heir_code --process heir)
figure "dump: $old samples of the parent's code, $heir of the child's"
holds "the parent's code has its name before, during and after the child's" compare "$old" ">" "1.3 * $heir"
holds "the child's code has its own" compare "$heir" ">" 50
holds "and no other process has that" same "$heir" "$(n_samples dump heir_code)"

# ---- the parent's map names code that it has put there after the fork
holds "w_jit_heirs map is recorded" record map -- "$WORKLOADS/w_jit_heirs" map "$TMPDIR"
figure "map: $(n_samples map old_code) samples of the parent's code, $(n_samples map "$unnamed") of the child's"
holds "the child's code has no name" same "0 0" \
        "$(n_samples map old_code --process heir) $((50 > $(n_samples map "$unnamed" --process heir)))"
holds "the parent's has its own" compare "$(n_samples map old_code)" ">" 50

# ---- the next program of the process has the map of the earlier one before it
holds "w_jit_heirs exec is recorded" record exec -- "$WORKLOADS/w_jit_heirs" exec "$TMPDIR"
old=$(n_samples exec old_code)
next=$(n_samples exec "$unnamed")
figure "exec: $old samples of the first program's code, $next of the next one's"
holds "its code has no name, and the first one's has" compare "($next > 50) + ($old < 1.5 * $next)" "==" 2
