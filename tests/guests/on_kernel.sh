#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cases of other_kernels.sh, which run on the other kernel, as root.  Usage: on_kernel.sh TREE BUILD FOLDER
#
# FOLDER/cache has symbol indexes which the machine around this one made: here they are in the lower folder of an overlay.
set -u
cd "$1" || exit 1
export HYPROF=$2/hyprof BUILD=$2 WORKLOADS=$2/workloads EXAMPLES=$2/examples VARIANT=release TMPDIR=$3 XDG_CACHE_HOME=$3/cache
export CK_DEFAULT_TIMEOUT=300
. tests/tap.sh
plan 12

says() { # what `hyprof doctor` calls it
        "$HYPROF" doctor >"$TMPDIR/doctor"
        grep -q "^  yes  $1 " "$TMPDIR/doctor" || { cat "$TMPDIR/doctor"; return 1; }
}
passes() { # unit test: a skip has not passed
        "$BUILD/tests/$1"
}
notices() { "$HYPROF" report --json "$TMPDIR/$1.hyp" | jq -r '.missing.rows[] | select(.source == "notice").code' | paste -sd ' '; }
lacks() { # name, notice
        case " $(notices "$1") " in *" $2 "*) "$HYPROF" report "$TMPDIR/$1.hyp" | grep -A 10 '^missing'; return 1 ;; esac
}
spins='
import os, time
def spin(until):
    n = 0
    while time.monotonic() < until: n += 1
for i in range(20):
    spin(time.monotonic() + 0.05)
    os.listdir("/proc")
    time.sleep(0.005)
'

holds "doctor: recording works" "$HYPROF" doctor
holds "doctor: kernel names" says "kernel names"
for name in test_switch_types test_python_verified; do
        holds "$name: the kernel takes the programs" passes "$name"
done
holds "a Python program, and what it waits for" record spins -F 499 --off-cpu -- python3 -c "$spins"
"$HYPROF" report --json "$TMPDIR/spins.hyp" >"$TMPDIR/spins.json"
holds "waits come from BPF" lacks spins WAITING_BY_PERF
holds "Python's functions are read at the sample" lacks spins PYTHON_APPROXIMATE
holds "all is named" lacks spins SYMBOLIZER_FAILED
holds "its function has most samples" compare "$(reported spins '[.functions.rows[] | select(.function == "spin").total_samples] | add // 0')" ">" \
        "$(reported spins .n_samples) * 0.4"
holds "functions of the kernel have names" compare "$(reported spins '[.functions.rows[] | select(.module == "[kernel]" and (.function | test("^[a-z_]"))).self_samples] | add // 0')" ">" 0
holds "a program with zones" record zones -F 499 -- "$EXAMPLES/hello_zones"
"$HYPROF" report --json "$TMPDIR/zones.hyp" >"$TMPDIR/zones.json"
holds "all are there" same "0 lost, some recorded" "$(lost zones | wc -l) lost, $(reported zones 'if .n_zones > 0 then "some" else "no" end') recorded"
