#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The timeline in a browser before anything is clicked: the answer above it, names in each lane, names beside their own rows
set -eu
. tests/tap.sh
plan 11
need node chromium
. tests/browser/run_node.sh

run_node tests/browser/first_screen.js
