#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Why CPUs did not run the program, in the strip of the timeline, on a made-up trace in a browser
set -eu
. tests/tap.sh
plan 5
need node chromium
. tests/browser/run_node.sh

run_node tests/browser/idle_causes.js
