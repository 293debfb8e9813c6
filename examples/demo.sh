#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Records two real programs and prints their reports.  Usage: demo.sh [build/release]
#
# The first marks its work with zones and runs generated code whose files are gone; the second is a program
# of the machine that knows nothing of hyprof.
set -euo pipefail
cd "$(dirname "$0")/.."
# Under sudo hyprof would become the caller, to whom what was built here may be closed.
unset SUDO_UID SUDO_GID
build=${1:-build/release}
hyprof=$build/hyprof
out=build/demo
mkdir -p "$out"

show() { # a command as the reader would type it
        printf '\n$ %s\n' "$*"
        "$@"
}

show "$hyprof" record -o "$out/kernel_pool.hyp" -- "$build/examples/kernel_pool"
show "$hyprof" report "$out/kernel_pool.hyp"
show "$hyprof" why --zone task "$out/kernel_pool.hyp"

# Something that compresses, but not at once: numbers as text.
seq 1 800000 >"$out/numbers.txt"
rm -f "$out/numbers.txt.xz"
show "$hyprof" record -o "$out/xz.hyp" -- xz -k -6 -T 2 "$out/numbers.txt"
show "$hyprof" report "$out/xz.hyp"

# The same as pictures, for a browser: no server, no network.
show "$hyprof" html --force "$out/kernel_pool.hyp" -o "$out/kernel_pool.html"

printf '\nThe traces are %s and %s.\n' "$out/kernel_pool.hyp" "$out/xz.hyp"
printf 'Open %s in a browser: the first trace as a timeline, tables and flame graphs.\n' "$PWD/$out/kernel_pool.html"
