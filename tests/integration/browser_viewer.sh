#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The viewer in a browser, by what a person does: open, click, type, read; by keyboard; at 200 % zoom; with hostile texts
set -eu
. tests/tap.sh
plan 10
need node chromium
. tests/browser/run_node.sh

run_node tests/browser/viewer_file.js
