#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each screen of the viewer by what a person does; by keyboard, at 200 % zoom, with contrast in light and dark
set -eu
. tests/tap.sh
plan 20
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
recorded hog.hyp -- "$WORKLOADS/w_preempted" hog 200 10
# The child's context switches make times on CPUs known, also where nothing else interrupts the shell.
# shellcheck disable=SC2016 # the shell that is recorded has the child
recorded names.hyp -- sh -c '$(exit 0); exec env true'
# Without the rights that counting needs, the test of the table leaves itself out.
"$HYPROF" record --syscalls -o "$TMPDIR/calls.hyp" -- "$WORKLOADS/w_syscalls" 2000 >/dev/null 2>"$TMPDIR/log" ||
        { rm -f "$TMPDIR/calls.hyp" && grep -q -- '--syscalls counts' "$TMPDIR/log"; } || { cat "$TMPDIR/log"; exit 1; }

TRACES=$TMPDIR run_node tests/browser/screens.js
