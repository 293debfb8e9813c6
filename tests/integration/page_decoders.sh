#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The decoders of the pages take any bytes, or refuse them with words, in bounded time: lanes, samples, launches, addresses
set -eu
. tests/tap.sh
plan 6
need node
. tests/browser/run_node.sh

run_node tests/browser/decoder_fuzz.js
