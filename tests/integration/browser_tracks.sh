#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Many tracks in order, in a browser: filter, sorts, all folded, those with nothing in the view hidden; one of 10,000 threads
set -eu
. tests/tap.sh
plan 13
need node chromium
. tests/browser/run_node.sh

run_node tests/browser/timeline_tracks.js
