#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `hyprof path --what-if` says what faster functions gain at most: more the faster, nothing where they are not on the path
set -eu
. tests/tap.sh
plan 8
need jq
need_sampling

record serial -F 2000 --off-cpu "$WORKLOADS/w_delays" serial

ask() { # what if, expression of jq
        "$HYPROF" path --json --zone frame --what-if "$1" "$TMPDIR/serial.hyp" | jq -r "$2"
}

gain() { ask "$1" .what_if_gain; }
answer_names_it() { ask serial=0.5 .answer | grep "^'frame' would take at most .*% less (.* -> .*) if serial() took half the time"; }
half=$(gain serial=0.5)
figure "serial=0.5 gains at most $half, without time $(gain serial=0), both functions at half $(gain serial=0.5,side_by_side=50%)"
holds "a function that is most of the path gains much" compare "$half" ">" 0.1
holds "without any time it gains more" compare "$(gain serial=0)" ">" "$half"
holds "and with another function as well" compare "$(gain serial=0.5,side_by_side=50%)" ">" "$half"
holds "one that takes its usual time gains nothing" same 0 "$(gain serial=1)"
holds "for which it need not be off the path" same 0 "$(ask serial=1 .answer | grep -c "on the path" || true)"
holds "the answer says it as a bound" answer_names_it
holds "the mean is less by the gain" compare "$(ask serial=0.5 '(1 - .what_if_mean_ns / .what_if_before_ns - .what_if_gain) | fabs')" "<" 0.001
holds "the table has the path then and now" same true \
        "$(ask serial=0.5 '.what_if_path.rows[] | select(.function == "serial" and .own) | .then_ns < 0.7 * .before_ns and .then_ns > 0.3 * .before_ns')"
