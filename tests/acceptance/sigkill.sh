#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# SIGKILL at a random moment, 100 times: every zone that ended 1 ms or more before the kill is in the trace
set -eu
. tests/tap.sh
plan 1
need_sampling

n_runs=100
seed=20260817
RANDOM=$seed
figure "seed $seed"

# One line: zones that had ended 1 ms or more before the kill, those among them that are not in the trace, zones that
# ended later, those of them that are not.  A zone is there if its end lies between the times that the program noted.
judge() { # progress, dump
        od -An -v -w8 -td8 "$1" | awk -v slack_ns=1000 '
                NR == FNR && FNR == 1 { killed_ns = $1 + 0; next }
                NR == FNR && FNR == 2 { n_ended = $1 + 0; next }
                NR == FNR && FNR - 2 > n_ended { nextfile }
                NR == FNR { ended[FNR - 2] = $1 + 0; next }
                $1 == "zone_end" { found[++n_found] = substr($3, 9) + 0 }
                END {
                        if (killed_ns == 0)
                                exit 1
                        at = 1
                        for (i = 1; i <= n_ended; i++) {
                                early = killed_ns - ended[i] >= 1000000
                                n[early]++
                                while (at <= n_found && found[at] < ended[i - 1] - slack_ns)
                                        at++
                                if (at <= n_found && found[at] <= ended[i] + slack_ns)
                                        at++
                                else
                                        missing[early]++
                        }
                        print n[1] + 0, missing[1] + 0, n[0] + 0, missing[0] + 0
                }' - "$2"
}

n_good=0 n_early=0 n_early_missing=0 n_late=0 n_late_missing=0 n_others=0
for ((run = 1; run <= n_runs; run++)); do
        delay_us=$((10000 + (RANDOM * 32768 + RANDOM) % 50000))
        status=0
        # hyprof ends as the program did, and the shell has words for that.
        {
                "$HYPROF" record --no-symbolize -o "$TMPDIR/kill.hyp" -- \
                        "$WORKLOADS/w_sigkill" "$TMPDIR/progress" $delay_us >"$TMPDIR/record.out" 2>&1 || status=$?
        } 2>"$TMPDIR/shell.err"
        # Another recorder of the whole machine was there first: that is reported, and does not explain a kill.
        if grep -q 'is being recorded by process' "$TMPDIR/record.out" && [ "$n_others" -lt 20 ]; then
                n_others=$((n_others + 1)) run=$((run - 1))
                continue
        fi
        "$HYPROF" dump "$TMPDIR/kill.hyp" >"$TMPDIR/kill.dump"
        read -r early early_missing late late_missing <<<"$(judge "$TMPDIR/progress" "$TMPDIR/kill.dump")" || true
        if [ "$status" -eq 137 ] && [ "${early:-0}" -gt 0 ] && [ "$early_missing" -eq 0 ]; then
                n_good=$((n_good + 1))
        else
                figure "run $run, after $delay_us us: status $status, ${early_missing:-?} of ${early:-?} zones are missing"
                head -n 5 "$TMPDIR/record.out" | sed 's/^/# /'
        fi
        n_early=$((n_early + ${early:-0})) n_early_missing=$((n_early_missing + ${early_missing:-0}))
        n_late=$((n_late + ${late:-0})) n_late_missing=$((n_late_missing + ${late_missing:-0}))
done
figure "$n_early zones ended 1 ms or more before the kill, $n_early_missing are missing; \
$n_late ended later, $n_late_missing are missing"
holds "$n_runs kills, and all zones are there each time" same $n_runs $n_good
