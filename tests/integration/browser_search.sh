#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The search of the timeline in a browser: every hit once, in the order of time; a server and a file find the same
set -eu
. tests/tap.sh
plan 10
need node chromium
. tests/browser/run_node.sh

run_node tests/browser/timeline_search.js
for trace in v1.4 v1.10; do
        TRACE=tests/golden/$trace.hyp run_node tests/browser/served_search.js
done
