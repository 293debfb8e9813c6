#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Nothing blanks the timeline: whatever names, tracks and items are changed to, the others are drawn
set -eu
. tests/tap.sh
plan 3
need node chromium
. tests/browser/run_node.sh

run_node tests/browser/timeline_mutants.js
