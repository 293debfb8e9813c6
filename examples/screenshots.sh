#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Pictures of the viewer for README and docs, of the traces that `make demo` records.  Usage: screenshots.sh [build/release]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
trace=build/demo/kernel_pool.hyp
[ -e "$trace" ] || { echo "screenshots.sh: there is no $trace: make demo records it" >&2; exit 1; }

mkdir -p docs/images
HYPROF=$build/hyprof node examples/screenshots.js "$trace" docs/images
