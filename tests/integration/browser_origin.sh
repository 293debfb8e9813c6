#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The viewer's address in a browser is a new origin, and notes outlive it
set -eu
. tests/tap.sh
plan 4
need node chromium firefox-esr
. tests/browser/run_node.sh

"$BUILD/tools/made_trace" many "$TMPDIR/made.hyp" 200 200
XDG_STATE_HOME=$TMPDIR/state XDG_CACHE_HOME=$TMPDIR OTHER_TRACE=$TMPDIR/made.hyp run_node tests/browser/viewer_origin.js
