#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The place, the call stack and the waker of a wait in panel and tooltip, and arrows of wake-ups, on a made-up trace in a browser
set -eu
. tests/tap.sh
plan 12
need node chromium
. tests/browser/run_node.sh

run_node tests/browser/waits.js
