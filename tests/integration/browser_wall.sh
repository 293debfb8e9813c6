#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The flame graph of the wall time, in a browser: samples and waits in one tree, by color
set -eu
. tests/tap.sh
plan 3
need node chromium
. tests/browser/run_node.sh

run_node tests/browser/wall_flame.js
