#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The timeline as a file, in a browser: pictures of the view, the trace and the viewer as one page, notes and pins in it
set -eu
. tests/tap.sh
plan 5
need node chromium
export XDG_STATE_HOME="$TMPDIR/state" XDG_CACHE_HOME="$TMPDIR/cache"
mkdir -p "$XDG_CACHE_HOME"
. tests/browser/run_node.sh

run_node tests/browser/saved_files.js
