#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A trace that grows has all of its tracks in the viewer: CPUs, load, plots, frames, locks, memory, devices
set -eu
. tests/tap.sh
plan 4
need node chromium
need_sampling
. tests/browser/run_node.sh

XDG_CACHE_HOME=$TMPDIR run_node tests/browser/live_tracks.js
