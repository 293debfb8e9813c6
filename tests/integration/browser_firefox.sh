#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The timeline in Firefox: drawn, zoomed, dragged, hovered, clicked, searched, measured, by keyboard
set -eu
. tests/tap.sh
plan 9
need node firefox-esr
. tests/browser/run_node.sh

HYPROF_BROWSER=firefox run_node tests/browser/timeline.js
