#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `hyprof view --follow` in a browser: the page of a trace that grows follows it, pauses, and shows the whole at the end
set -eu
. tests/tap.sh
plan 9
need node chromium
need_sampling
. tests/browser/run_node.sh

XDG_CACHE_HOME=$TMPDIR run_node tests/browser/viewer_live.js
