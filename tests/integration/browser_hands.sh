#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The timeline by touch, trackpad, plus and minus, and on a phone; its colors and marks are explained
set -eu
. tests/tap.sh
plan 5
need node chromium
. tests/browser/run_node.sh

run_node tests/browser/timeline_hands.js
