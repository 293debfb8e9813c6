#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Over a whole recording, times of events differ from CLOCK_MONOTONIC_RAW by less than 1 us
#
# HYPROF_CLOCK_SECONDS=60 for the time that is promised; less of it has the less room for clocks that drift apart.  Nightly 20.
set -eu
. tests/tap.sh
plan 5
need_sampling

seconds=8
[ -z "${HYPROF_THOROUGH:-}" ] || seconds=20
seconds=${HYPROF_CLOCK_SECONDS:-$seconds}
holds "$seconds s are recorded" record clock -F 100 -- "$WORKLOADS/w_clock" "$seconds"

# Time stamp of the event, and the clock before and after it.  Differences of numbers above 2^53 would be rounded.
"$HYPROF" dump "$TMPDIR/clock.hyp" | awk '
        $1 == "plot_i64" {
                for (i = 2; i <= NF; i++) {
                        split($i, field, "=")
                        operand[field[1]] = field[2]
                }
                if (++n % 2) {
                        time = operand["time_ns"]
                        before = operand["value"]
                } else {
                        print time, before, operand["value"]
                }
        }' >"$TMPDIR/times"
read -r first_ns _ <"$TMPDIR/times"

# How far the time stamp lies outside of its bracket; of the narrower half of the brackets, how far from the middle.
awk -v first="$first_ns" '
        function seconds_of(ns) { return substr(ns, 1, length(ns) - 9) }
        function rest_of(ns)    { return substr(ns, length(ns) - 8) }
        function since_first(ns) {
                return (seconds_of(ns) - seconds_of(first)) * 1e9 + (rest_of(ns) - rest_of(first))
        }
        {
                t = since_first($1); a = since_first($2); b = since_first($3)
                outside = t < a ? a - t : t > b ? t - b : 0
                middle = t - (a + b) / 2
                print outside, b - a, middle < 0 ? -middle : middle, t
        }' "$TMPDIR/times" >"$TMPDIR/errors"

n=$(wc -l <"$TMPDIR/errors")
wide=$(awk '$1 > 1000' "$TMPDIR/errors" | wc -l)
worst=$(sort -g "$TMPDIR/errors" | tail -n 1 | cut -d ' ' -f 1)
median=$(sort -g -k 2,2 "$TMPDIR/errors" | head -n $((n / 2)) | sort -g -k 3,3 |
        awk '{ e[NR] = $3 } END { print e[int((NR + 1) / 2)] }')
width=$(sort -g -k 2,2 "$TMPDIR/errors" | awk '{ e[NR] = $2 } END { print e[int((NR + 1) / 4)] }')
span_s=$(awk 'END { printf "%.1f", $4 / 1e9 }' "$TMPDIR/errors")

figure "$n events over $span_s s: median distance from the middle of the bracket $median ns (brackets of $width ns), \
at most $worst ns outside, $wide more than 1000 ns"
holds "there are events over the whole time" compare "$span_s" ">=" "0.95 * $seconds"
holds "enough of them" compare "$n" ">=" "100 * $seconds"
holds "99.9% lie within 1 us of the clock" compare "$wide" "<=" "0.001 * $n"
holds "the median does, by its distance from the middle" compare "$median" "<" "1000 * ($seconds > 20 ? $seconds : 20) / 60"
