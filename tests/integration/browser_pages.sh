#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The pages' scripts compute what the index and the reports compute: folding, decoding, numbers, colours, links
set -eu
. tests/tap.sh
plan 33
need node
. tests/browser/run_node.sh

run_node tests/browser/pages_unit.js
