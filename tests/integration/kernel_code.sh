#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# BPF programs have the names that they had when they ran, also when they are gone and others have their place
set -eu
. tests/tap.sh
plan 7
need jq
need_sampling
[ "$(id -u)" -eq 0 ] || skip_all "only root loads BPF programs"
status=0
"$WORKLOADS/w_kernel_code" new 0.01 || status=$?
[ $status -ne 2 ] || skip_all "this machine runs no BPF programs"

n_samples() { # trace, function
        "$HYPROF" report --functions --json --limit 0 "$TMPDIR/$1.hyp" |
                jq --arg name "$2" '[.functions.rows[] | select(.function // "" | test($name)) | .self_samples] | add // 0'
}

is_named() { # trace
        local first second all
        first=$(n_samples "$1" '^bpf_prog_[0-9a-f]+_first_bpf \[bpf\]$')
        second=$(n_samples "$1" second_bpf)
        all=$(n_samples "$1" .)
        figure "$1: $first of $all samples in the first program, $second in the second"
        compare "$first" ">" 100 && same 0 "$second"
}

# ---- both are loaded while it records
holds "a program that is unloaded is recorded" record new -- "$WORKLOADS/w_kernel_code" new 1
holds "it has its own name, not that of its place's next one" is_named new
holds "hyprof symbolize finds nothing else" "$HYPROF" symbolize "$TMPDIR/new.hyp"
holds "afterwards it has its name still" is_named new

# ---- one that was there before
mkfifo "$TMPDIR/to" "$TMPDIR/from"
"$WORKLOADS/w_kernel_code" before 1 <"$TMPDIR/to" >"$TMPDIR/from" &
program=$!
exec 4>"$TMPDIR/to" 5<"$TMPDIR/from"
read -r -t 60 line <&5
holds "another program is loaded before" same ready "$line"
# shellcheck disable=SC2016 # the inner shell's
holds "and recorded with all that runs" record before -a -- sh -c 'echo >"$1/to" && read -r line <"$1/from" && test "$line" = done' sh "$TMPDIR"
holds "it has its own name as well" is_named before
exec 4>&- 5<&-
wait "$program"
