#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Pictures of the viewer for README and docs, of a trace of the example that `make demo` records, with the source of its
# kernels, and of two stories.  Usage: screenshots.sh [build/release]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
trace=build/demo/pictures.hyp

mkdir -p build/demo docs/images
"$build/hyprof" record -q -o "$trace" -- "$build/examples/kernel_pool" --mlir
HYPROF=$build/hyprof node examples/screenshots.js "$trace" docs/images

"$build/hyprof" record -q --off-cpu -o build/demo/path.hyp -- "$build/examples/kernel_pool"
HYPROF=$build/hyprof node examples/screenshots.js build/demo/path.hyp docs/images path

picture() { # name, screen, options of record and script of Python...
        local name=$1 screen=$2
        shift 2
        "$build/hyprof" record -q -o "build/demo/$name.hyp" "${@:1:$#-1}" -- python3 "examples/stories/${!#}"
        HYPROF=$build/hyprof node examples/screenshots.js "build/demo/$name.hyp" docs/images "$name" "$screen"
}
picture gil screen=timeline --off-cpu gil.py
picture minidom screen=flame deep_dom.py
