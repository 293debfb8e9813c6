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
plan 19

says() { # what `hyprof doctor` calls it
        "$HYPROF" doctor >"$TMPDIR/doctor"
        grep -q "^  yes  $1 " "$TMPDIR/doctor" || { cat "$TMPDIR/doctor"; return 1; }
}
passes() { # unit test: a skip has not passed
        "$BUILD/tests/$1"
}
notices() { "$HYPROF" report --json --limit 0 "$TMPDIR/$1.hyp" | jq -r '.missing.rows[] | select(.source == "notice").code' | paste -sd ' '; }
lacks() { # name, notice
        case " $(notices "$1") " in *" $2 "*) "$HYPROF" report "$TMPDIR/$1.hyp" | grep -A 10 '^missing'; return 1 ;; esac
}
spins='
import os, time
def spin(until):
    n = 0
    while time.process_time() < until: n += 1 # of its own time: the machine may be kept from the processor
for i in range(20):
    spin(time.process_time() + 0.1)
    os.listdir("/proc")
    time.sleep(0.005)
'

# A machine that hangs says where each thread waits.
(
        sleep "${HANG_S:-240}"
        for thread in /proc/[1-9]*/task/*; do
                [ -s "$thread/stack" ] && printf '# thread %s %s: %s\n' "${thread##*/}" "$(cat "$thread/comm")" "$(sed 's/.* //' "$thread/stack" | head -n 6 | paste -sd ' ')"
        done
) &

holds "doctor: recording works" "$HYPROF" doctor
holds "doctor: kernel names" says "kernel names"
for name in test_switch_types test_python_verified; do
        holds "$name: the kernel takes the programs" passes "$name"
done
holds "a Python program, and what it waits for" record spins -F 499 --off-cpu -- python3 -c "$spins"
"$HYPROF" report --json --limit 0 "$TMPDIR/spins.hyp" >"$TMPDIR/spins.json"
holds "waits come from BPF" lacks spins WAITING_BY_PERF
holds "the timers that end waits have their functions" compare "$("$HYPROF" report --off-cpu --json --limit 0 "$TMPDIR/spins.hyp" |
        jq '[.wakers.rows[] | select(.kind == "timer").count] | add // 0')" ">=" 10
all_hold() { # script
        bash "$1" >"$TMPDIR/tap" 2>&1 && ! grep -q '^not ok' "$TMPDIR/tap" && grep '^ok' "$TMPDIR/tap" && return
        grep -A 5 '^not ok' "$TMPDIR/tap" || tail -n 5 "$TMPDIR/tap"
        return 1
}
holds "idle CPUs are told apart" all_hold tests/integration/idle_cpus.sh
holds "Python's functions are read at the sample" lacks spins PYTHON_APPROXIMATE
holds "all is named" lacks spins SYMBOLIZER_FAILED
holds "its function has most samples" compare "$(reported spins '[.functions.rows[] | select(.function == "spin").total_samples] | add // 0')" ">" \
        "$(reported spins .n_samples) * 0.25"
holds "functions of the kernel have names" compare "$(reported spins '[.functions.rows[] | select(.module == "[kernel]" and (.function | test("^[a-z_]"))).self_samples] | add // 0')" ">" 0
holds "a program with zones" record zones -F 499 -- "$EXAMPLES/hello_zones"
"$HYPROF" report --json --limit 0 "$TMPDIR/zones.hyp" >"$TMPDIR/zones.json"
holds "all are there" same "0 lost, some recorded" "$(lost zones | wc -l) lost, $(reported zones 'if .n_zones > 0 then "some" else "no" end') recorded"

# The program keeps no frame pointers, so without copies of its stack no call stack is complete.
sysctl -q kernel.perf_event_paranoid=2
folder=$(mktemp -d /tmp/hyprof-user.XXXXXX)
cp "$HYPROF" "$WORKLOADS/w_deep" "$folder/" && chown -R 65534:65534 "$folder"
as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all env HOME="$folder" "$@"; }
as_user "$folder/hyprof" doctor >"$folder/doctor"
holds "an ordinary user: doctor: stack copies" grep '^  yes  stack copies ' "$folder/doctor"
holds "an ordinary user: doctor: no kernel code, and what would allow it" grep -A 1 '^  no   kernel code ' "$folder/doctor"
holds "an ordinary user: a program" as_user "$folder/hyprof" record -q -F 499 -o "$folder/user.hyp" -- "$folder/w_deep" 3000 40
cp "$folder/user.hyp" "$TMPDIR/" && "$HYPROF" report --json --limit 0 "$TMPDIR/user.hyp" >"$TMPDIR/user.json"
holds "an ordinary user: stacks are copied" lacks user NO_STACK_COPIES
holds "an ordinary user: most call stacks are complete" compare "$(reported user .complete_share)" ">" 0.9
