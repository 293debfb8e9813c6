#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Reports show the time that a program was written to spend, within 1 point; percentiles and statistics as its own log of its zones has them
set -eu
. tests/tap.sh
plan 37
need jq python3
need_sampling

# How many samples a point needs: they come at even distances, so a stretch of a function has its share of them to less
# than one, with a variance of 1/6; it ends up to half a millisecond, one sample, late, and so did the one before: 1/6
# more.  leaf() has a stretch in each of 50 turns, hence a standard deviation of 4 of the 2,400 samples in "recursion",
# 0.17 points: a point is six of these, and more for all others.
cpu_seconds=4
hz=2000

# Without the kernel: interrupts of a busy machine would be part of the functions, but not of their own time.
holds "recorded" record truth -e cpu-clock:u -F $hz "$WORKLOADS/w_truth" "$TMPDIR/log" $cpu_seconds
trace=$TMPDIR/truth.hyp
"$HYPROF" report --json --limit 0 "$trace" >"$TMPDIR/truth.json"
"$HYPROF" report --zones --json --limit 0 "$trace" >"$TMPDIR/zones.json"
"$HYPROF" csv "$trace" >"$TMPDIR/stats.csv"
"$HYPROF" csv --unwrap --filter logged "$trace" >"$TMPDIR/every.csv"
# These shares are without the second part of the program.
for zone in alpha beta recursion; do
        "$HYPROF" report --zone $zone --json --limit 0 --min-share 0 "$trace" >"$TMPDIR/$zone.zone"
        "$HYPROF" report --functions --zone $zone --json --limit 0 "$trace" >"$TMPDIR/$zone.functions"
done
"$HYPROF" report --functions --zone alpha,beta,recursion --json --limit 0 "$trace" >"$TMPDIR/all.functions"

holds "enough samples" compare "$(reported truth '[.zones.rows[] |
        select(.name == "alpha" or .name == "beta" or .name == "recursion") | .n_samples] | add')" ">=" \
        "0.8 * $hz * $cpu_seconds"
holds "nothing is lost" same "" "$(lost truth)"

# For `holds`: a share, in percent, within a point of the truth.
is_share() { # words, found (of 1), truth in percent
        figure "$(awk -v words="$1" -v found="$2" -v truth="$3" \
                'BEGIN { printf "%s: %.2f%%, written to be %s%%", words, 100 * found, truth }')" >&3
        compare "100 * ${2:--9} - $3" "<=" 1 && compare "100 * ${2:--9} - $3" ">=" -1
}
exec 3>&1

# The overview has no filter of zones: shares are of the three zones' samples together.
overview() { # zone
        reported truth '[.zones.rows[] | select(.name == "alpha" or .name == "beta" or .name == "recursion")] |
                (.[] | select(.name == "'"$1"'") | .samples_weight) / (map(.samples_weight) | add)'
}

inside() { # zone, function
        reported truth '.zone_functions.rows[] |
                select(.zone_name == "'"$1"'" and .function == "'"$2"'") | .total_share'
}

of_functions() { # file, function, member
        jq -r '.functions.rows[] | select(.function == "'"$2"'") | .'"$3" "$TMPDIR/$1.functions"
}

# The call tree inside of a zone: the function at whatever depth, its outermost calls.
of_zone() { # zone, function
        jq -r '[.calls.rows[] | select(.function == "'"$2"'")] | min_by(.depth) | .total_share' "$TMPDIR/$1.zone"
}

for row in "alpha 40" "beta 30" "recursion 30"; do
        read -r zone truth <<<"$row"
        holds "zone $zone" is_share "zone $zone" "$(overview "$zone")" "$truth"
done
for row in "shared 34 34" "only_alpha 12 12" "only_beta 24 24" "descend 30 22.5" "leaf 7.5 7.5"; do
        read -r function total self <<<"$row"
        holds "--functions: $function(), total" is_share "$function() in all" \
                "$(of_functions all "$function" total_share)" "$total"
        holds "--functions: $function(), self" is_share "$function() itself" \
                "$(of_functions all "$function" self_share)" "$self"
done
for row in "alpha shared 70" "alpha only_alpha 30" "beta shared 20" "beta only_beta 80" \
        "recursion descend 100" "recursion leaf 25"; do
        read -r zone function truth <<<"$row"
        holds "overview: $function() in $zone" is_share "$function() in $zone" "$(inside "$zone" "$function")" "$truth"
        holds "--functions --zone: $function() in $zone" is_share "$function() in $zone, as a filter" \
                "$(of_functions "$zone" "$function" total_share)" "$truth"
        holds "--zone: $function() in $zone" is_share "$function() in $zone, its tree" \
                "$(of_zone "$zone" "$function")" "$truth"
done
holds "recursion counts once in a zone's total" compare \
        "$(jq '[.zones.rows[] | select(.name == "level") | .total_ns] | add' "$TMPDIR/zones.json")" "<=" \
        "$(jq '[.zones.rows[] | select(.name == "recursion") | .total_ns] | add' "$TMPDIR/zones.json")"
holds "recursion counts each time in a zone's count" same \
        "$(jq '4 * ([.zones.rows[] | select(.name == "recursion") | .count] | add)' "$TMPDIR/zones.json")" \
        "$(jq '[.zones.rows[] | select(.name == "level") | .count] | add' "$TMPDIR/zones.json")"

judge_log() {
        python3 tests/tools/compare_zone_log.py "$TMPDIR/log" "$TMPDIR/zones.json" "$TMPDIR/stats.csv" "$TMPDIR/every.csv"
}
judge_log | grep -E 'p50|p99_9|max_ns|total_ns|single' | while IFS= read -r line; do figure "$line"; done || true
holds "percentiles and statistics are those of the program's own log" judge_log
