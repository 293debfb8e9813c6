#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Events that options left out are said to be not recorded; events that the program did not report are not
set -eu
. tests/tap.sh
need_sampling
families="zones frames messages plots memory locks devices"
plan 24

# Facts and answers of every kind but the one that was asked for.
answers() { # name of the trace
        local view
        "$HYPROF" report "$TMPDIR/$1.hyp" | grep '^  zones '
        for view in frames messages plots memory locks devices; do
                "$HYPROF" report --"$view" "$TMPDIR/$1.hyp" | head -n 1
        done
}

for family in $families; do
        holds "record --$family" ends_with 0 "$HYPROF" record -q "--$family" -o "$TMPDIR/$family.hyp" -- \
                "$WORKLOADS/w_every_event"
        answers "$family" >"$TMPDIR/$family.out"
        holds "the other six were not recorded" same 6 "$(grep -c "not recorded: --$family alone\$" "$TMPDIR/$family.out")"
        holds "nothing is said of the program" same 0 \
                "$(grep -cE 'no instrumented program|the program (reported|marked|wrote|plotted)' "$TMPDIR/$family.out")"
done

holds "record two" ends_with 0 "$HYPROF" record -q --memory=callstacks --locks -o "$TMPDIR/two.hyp" -- \
        "$WORKLOADS/w_every_event"
holds "both are named" same 1 "$("$HYPROF" report "$TMPDIR/two.hyp" | grep -c '^  zones  *not recorded: --memory, --locks alone$')"

# Everything was recorded, and there was nothing.
"$HYPROF" record -q -o "$TMPDIR/none.hyp" -- true
answers none >"$TMPDIR/none.out"
holds "a program without events has none" same 7 \
        "$(grep -cE 'no instrumented program|the program (reported|marked|wrote|plotted)' "$TMPDIR/none.out")"
