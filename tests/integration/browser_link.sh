#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An address of the timeline in a browser: it shows the same to others, foreign ranges are cut, Back leads to the view before
set -eu
. tests/tap.sh
plan 7
need node chromium
. tests/browser/run_node.sh

run_node tests/browser/timeline_link.js
