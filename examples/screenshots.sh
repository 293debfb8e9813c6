#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Pictures of the viewer and of `hyprof top` for README and docs, of a trace of the example that `make demo` records, with the source of its
# kernels, and of two stories.  Usage: screenshots.sh [build/release]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
trace=build/demo/pictures.hyp

mkdir -p build/demo docs/images
"$build/hyprof" record -q -o "$trace" --off-cpu -- "$build/examples/kernel_pool" --mlir
HYPROF=$build/hyprof node examples/screenshots.js "$trace" docs/images

picture() { # name, screen, options of record... -- command...
        "$build/hyprof" record -q -o "build/demo/$1.hyp" "${@:3}"
        HYPROF=$build/hyprof node examples/screenshots.js "build/demo/$1.hyp" docs/images "$1" "$2"
}
# ---- a terminal
/usr/bin/python3 tests/tools/on_terminal.py xterm-256color 17x110 'see zones' -- "$build/hyprof" top --table zones -n 9 -- \
        "$build/examples/kernel_pool" --seconds 60 | /usr/bin/python3 examples/terminal_picture.py 17x110 >docs/images/top.svg

picture path zone:wait --off-cpu -- "$build/examples/kernel_pool"

# ---- a program and its two devices, each of which wrote a file
mkdir -p build/demo/devices
"$build/hyprof" record -q -o build/demo/devices.hyp --off-cpu -- /usr/bin/python3 examples/stories/two_devices.py build/demo/devices
for file in build/demo/devices/gpu?.csv; do
        "$build/hyprof" import -q "$file" --into build/demo/devices.hyp
done
# 60 ms from the first kernel on
first=$("$build/hyprof" report --devices --json build/demo/devices.hyp | jq '[.devices.rows[].first_at_ns] | min')
HYPROF=$build/hyprof node examples/screenshots.js build/demo/devices.hyp docs/images devices "screen=timeline&view_from=$((first - 5000000))&view_to=$((first + 60000000))"

# ---- the stories; without Redis, of its story none
export PYTHONPATH=$PWD/$build/python
stories=examples/stories run='screen=timeline&path=run'
picture gil 'screen=timeline&rows=n' --off-cpu -- /usr/bin/python3 $stories/gil.py
picture minidom screen=flame -- /usr/bin/python3 $stories/deep_dom.py
command -v redis-server >/dev/null &&
        picture path-database "$run" --off-cpu -- $stories/append_only.sh always
picture path-loop zone:ping --off-cpu -- /usr/bin/python3 $stories/blocked_loop.py
picture path-pipeline "$run" --off-cpu -- sh -c "strings $(printf '%s\n' /usr/lib/*/libLLVM-*.so.1 | head -n 1) | sort | gzip | wc -c"
picture path-build "$run" --off-cpu -- make -f $stories/build.mk -j2
picture path-python "$run" --off-cpu -- /usr/bin/python3 $stories/gil.py
