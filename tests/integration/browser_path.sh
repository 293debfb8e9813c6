#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# "who delayed this?" and the arrows of wake-ups, on a made-up trace in a browser
set -eu
. tests/tap.sh
plan 11
need node chromium
. tests/browser/run_node.sh

run_node tests/browser/who_delayed.js
