#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The same as attach.sh with events on each thread, which is what remains without the right to whole CPUs
set -eu
export ATTACH_SCOPE=threads
exec bash tests/integration/attach.sh
