#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The timeline in a browser: zoom, pan, hover, click, search, ghost zones, measuring, pins, keyboard, a thousand threads
set -eu
. tests/tap.sh
plan 16
need node chromium
. tests/browser/run_node.sh

run_node tests/browser/timeline.js
