#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Twelve questions of a person about recordings with known answers: the served viewer answers each in at most five actions
set -eu
. tests/tap.sh
plan 12
need node chromium
need_sampling
. tests/browser/run_node.sh

recorded() { # trace, options of record, --, command
        "$HYPROF" record -o "$TMPDIR/$1" "${@:2}" >/dev/null 2>"$TMPDIR/log" || { cat "$TMPDIR/log"; exit 1; }
}

recorded split.hyp -- "$WORKLOADS/w_split" 1
recorded shares.hyp -- "$WORKLOADS/w_shares" 1
recorded locks.hyp -- "$WORKLOADS/w_locks"
recorded messages.hyp -- "$WORKLOADS/w_messages"
recorded every.hyp -- "$WORKLOADS/w_every_event"
recorded why.hyp --off-cpu -- "$WORKLOADS/w_why" lock 400 250
recorded pool.hyp -- "$BUILD/examples/kernel_pool"

TRACES=$TMPDIR run_node tests/browser/viewer_questions.js
