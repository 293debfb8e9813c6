#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each screen of the viewer by what a person does; by keyboard, at 200 % zoom, with contrast in light and dark
set -eu
. tests/tap.sh
plan 16
need node chromium
need_sampling
. tests/browser/run_node.sh

recorded() { # trace, options of record, --, command
        "$HYPROF" record -o "$TMPDIR/$1" "${@:2}" >/dev/null 2>"$TMPDIR/log" || { cat "$TMPDIR/log"; exit 1; }
}

recorded pool.hyp -- "$BUILD/examples/kernel_pool" --mlir
recorded every.hyp -- "$WORKLOADS/w_every_event"
recorded every2.hyp -- "$WORKLOADS/w_every_event"
recorded why.hyp --off-cpu -- "$WORKLOADS/w_why" lock 1200 40

TRACES=$TMPDIR run_node tests/browser/screens.js
