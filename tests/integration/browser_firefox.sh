#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The timeline in Firefox: drawn, zoomed, dragged, hovered, clicked, searched, measured, by keyboard; two traces side by side
set -eu
. tests/tap.sh
plan 18
need node firefox-esr
export XDG_STATE_HOME="$TMPDIR/state" XDG_CACHE_HOME="$TMPDIR/cache"
mkdir -p "$XDG_CACHE_HOME"
. tests/browser/run_node.sh

HYPROF_BROWSER=firefox run_node tests/browser/timeline.js
HYPROF_BROWSER=firefox run_node tests/browser/compare.js
