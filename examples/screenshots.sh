#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Pictures of the viewer for README and docs, of a trace of the example that `make demo` records, with the source of its
# kernels.  Usage: screenshots.sh [build/release]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
trace=build/demo/pictures.hyp

mkdir -p build/demo docs/images
"$build/hyprof" record -q -o "$trace" -- "$build/examples/kernel_pool" --mlir
HYPROF=$build/hyprof node examples/screenshots.js "$trace" docs/images
