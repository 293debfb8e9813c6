#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Two traces side by side in a browser: one axis, one place for instances of a zone, histograms over each other
set -eu
. tests/tap.sh
plan 17
need node chromium
export XDG_STATE_HOME="$TMPDIR/state" XDG_CACHE_HOME="$TMPDIR/cache"
mkdir -p "$XDG_CACHE_HOME"
. tests/browser/run_node.sh

run_node tests/browser/compare.js
