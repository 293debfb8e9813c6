#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof diff: recordings of one program do not differ, in pairs and in sets; one that does more work is found, and it alone
set -eu
. tests/tap.sh
plan 7
need jq
need_sampling

# Many functions of 0.5 to 5% of the time, which differ from run to run more than counts explain.  tests/bench/diff_rates.sh
# measures rates; here each count has room for chance, and a method without one of its guards exceeds it by far.
units=800

# Zones take longer while others have the processor, which is a true difference, but not one of the program's: where it is
# permitted, the program is not preempted by them.
program=("$WORKLOADS/w_diff_containers" "$units")
! chrt -r 1 true 2>/dev/null || program=(chrt -r 1 "${program[@]}")

for i in 1 2 3 4 5 6; do
        # In turns, so that a change of the machine meets both.
        record "a$i" -F 5000 "${program[@]}"
        [ "$i" = 6 ] || record "b$i" -F 5000 "${program[@]}" 60
done

verdict() { # arguments of hyprof diff
        "$HYPROF" diff --json --limit 0 "$@" | jq -r '"\(.verdict): \(.answer)"'
}

set_of() { # option, runs
        local run
        for run in "${@:2}"; do
                printf '%s\n' "$1" "$TMPDIR/$run.hyp"
        done
}

# By the program's own clock, each zone took as long in both runs, to a tenth.  Runs that differ prove nothing: other guests
# of the host may slow memory down during one of them, and diff is right to report that.
are_alike() { # run, run
        paste -d ' ' "$TMPDIR/$1.out" "$TMPDIR/$2.out" |
                awk '$2 > 1.1 * $4 || $4 > 1.1 * $2 { differs = 1 } END { exit differs || NR != 4 }'
}

# Counts pairs of run $1 with those before it.
compare_with_earlier() { # number of the run
        local i said
        for ((i = 1; i < $1; i++)); do
                are_alike "a$i" "a$1" || continue
                n_pairs=$((n_pairs + 1))
                said=$(verdict "$TMPDIR/a$i.hyp" "$TMPDIR/a$1.hyp")
                case $said in changed:*) n_false=$((n_false + 1)) && figure "a$i, a$1: $said" ;; esac
        done
}

n_pairs=0
n_false=0
n_runs=0
while [ "$n_runs" -lt 6 ] || { [ "$n_pairs" -lt 6 ] && [ "$n_runs" -lt 15 ]; }; do
        n_runs=$((n_runs + 1))
        [ "$n_runs" -le 6 ] || record "a$n_runs" -F 5000 "${program[@]}"
        compare_with_earlier "$n_runs"
done
figure "$n_pairs pairs of $n_runs runs in which the program took as long"
holds "of $n_pairs pairs of one program at most one differs ($n_false)" compare "$n_false" "<=" 1
holds "there were enough of them" compare "$n_pairs" ">=" 6

# Each way to make two sets of three of the six: with a2 and a3 there are four, and so on.
n_sets=0
n_false=0
for i in 2 3 4 5; do
        for ((j = i + 1; j <= 6; j++)); do
                others=()
                for k in 2 3 4 5 6; do
                        [ "$k" = "$i" ] || [ "$k" = "$j" ] || others+=("a$k")
                done
                mapfile -t arguments < <(set_of --before a1 "a$i" "a$j" && set_of --after "${others[@]}")
                n_sets=$((n_sets + 1))
                said=$(verdict "${arguments[@]}")
                case $said in changed:*) n_false=$((n_false + 1)) && figure "a1, a$i, a$j: $said" ;; esac
        done
done
holds "of $n_sets ways to split six runs in two sets at most three differ ($n_false)" compare "$n_false" "<=" 3

mapfile -t slower < <(set_of --before a1 a2 a3 a4 a5 && set_of --after b1 b2 b3 b4 b5)
mapfile -t faster < <(set_of --before b1 b2 b3 b4 b5 && set_of --after a1 a2 a3 a4 a5)
# The zone of a function may come before the function itself.
said=$(verdict "${slower[@]}")
figure "${said:0:150}"
holds "60% more work in a function: found" ends_with 1 "$HYPROF" diff --fail-above 20% "${slower[@]}"
holds "60% more work in a function: it is named among the first" grep -q '^changed: slower: .*score_rows' <<<"$said"
said=$(verdict "${faster[@]}")
figure "${said:0:150}"
holds "less work in a function: no failure" ends_with 0 "$HYPROF" diff --fail-above 20% "${faster[@]}"
holds "less work in a function: found" grep -q '^changed: faster: .*score_rows' <<<"$said"
