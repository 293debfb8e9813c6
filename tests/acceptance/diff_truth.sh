#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof diff: pairs of recordings of one program show no change over 2%; a function that is 5% slower is found
set -eu
. tests/tap.sh
need jq
need_sampling

# Promised for 20; fewer in a usual run, where a recording takes about five seconds on an idle machine.
n_pairs=${HYPROF_DIFF_PAIRS:-4}
units=${HYPROF_DIFF_UNITS:-1200}

diff_pair() { # name, before, after
        "$HYPROF" diff --json "$TMPDIR/$2.hyp" "$TMPDIR/$3.hyp" >"$TMPDIR/$1.json"
}

# What is called significant and is over 2%, a line each.
significant() { # name
        jq -r '(.functions.rows + .zones.rows)[] | select(.verdict == "slower" or .verdict == "faster") |
                select((.change | fabs) > 0.02) | "\(.name) \(.change)"' "$TMPDIR/$1.json"
        jq -r '.whole.rows[] | select(.verdict == "slower" or .verdict == "faster") |
                select((.change | fabs) > 0.02) | "\(.of) \(.change)"' "$TMPDIR/$1.json"
}

n_false=0
n_found=0
changes=
for ((i = 1; i <= n_pairs; i++)); do
        # In turns, so that what changes on the machine meets all of them.
        record before -F 5000 "$WORKLOADS/w_diff" "$units"
        record same -F 5000 "$WORKLOADS/w_diff" "$units"
        record slower -F 5000 "$WORKLOADS/w_diff" "$units" 5
        diff_pair null before same
        diff_pair planted before slower
        n_lines=$(significant null | wc -l)
        [ "$n_lines" = 0 ] || figure "pair $i, nothing changed, but: $(significant null | tr '\n' ';')"
        n_false=$((n_false + n_lines))
        change=$(jq -r '.functions.rows[] | select(.name == "transform") |
                "\(.change * 1000 | round / 10)\(if .verdict == "slower" then "" else "?" end)"' "$TMPDIR/planted.json")
        case $change in *'?' | '') ;; *) n_found=$((n_found + 1)) ;; esac
        changes="$changes $change"
        others=$(significant planted | grep -cvE '^(transform|work|unit) ' || true)
        [ "$others" = 0 ] || figure "pair $i, transform() is slower, but also: $(significant planted | tr '\n' ';')"
        rm "$TMPDIR"/*.hyp
done
figure "load $(cut -d ' ' -f 1 /proc/loadavg), $n_pairs pairs: $n_false changes over 2% called significant where nothing changed"
figure "transform() with 5% more work, found $n_found times of $n_pairs; in percent ('?': not called significant):$changes"
holds "of $n_pairs pairs without a change at most one change is called significant" compare "$n_false" "<=" 1
# 19 of 20 is promised; of few, chance may miss two.
holds "a function that is 5% slower is found" compare "$n_found" ">=" "0.95 * $n_pairs - ($n_pairs < 20 ? 2 : 0)"
