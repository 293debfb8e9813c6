#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program in a container calls its threads by other numbers: no zone of theirs is lost, however many there are and however
# short they live
set -eu
. tests/tap.sh
plan 8
need jq setpriv unshare
need_sampling
[ "$(id -u)" -eq 0 ] || skip_all "needs root for a PID namespace"
unshare -p -f true 2>"$TMPDIR/unshare" || skip_all "unshare: $(tail -n 1 "$TMPDIR/unshare")"

# The leak checker ends programs in whose PID namespace it does not find itself in /proc.
[ "$VARIANT" != asan ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"

# Each thread has its ten zones, and there are so many of them.
each_has_ten() { # trace, threads
        awk -F '\t' "$columns"'
                kind == "zone_begin" { n[tid, life[tid] + 0]++ }
                kind == "thread_exit" { life[tid]++ }
                END { for (one in n) { n_threads++; if (n[one] != 10) { print one, n[one]; bad = 1 } }
                      print n_threads " threads"; exit bad || n_threads != '"$2"' }' "$TMPDIR/$1.events"
}

# ---- with BPF: threads that live for a moment
if [ -e /sys/kernel/btf/vmlinux ]; then
        holds "short threads are recorded" record short unshare -p -f "$WORKLOADS/w_threads" 1000
        read_trace short
        holds "short threads: each has its ten zones" each_has_ten short 1000
        holds "short threads: nothing is lost" same "" "$(lost short)"
        holds "short threads: all are of one process" same 1 "$(n_different short 'kind == "zone_begin"' pid)"
else
        skips_group "short threads" "the kernel has no BTF"
fi

# ---- without BPF: more threads at once than /proc is asked for in a cycle
without_bpf() { # name, command...
        setpriv --bounding-set=-bpf,-sys_admin "$HYPROF" record -o "$TMPDIR/$1.hyp" "${@:2}" \
                >"$TMPDIR/$1.out" 2>"$TMPDIR/$1.err"
}
if setpriv --bounding-set=-bpf,-sys_admin unshare -U -r -p -f true 2>"$TMPDIR/unshare"; then
        holds "many threads are recorded" without_bpf many unshare -U -r -p -f "$WORKLOADS/w_threads" 400 400 3000
        read_trace many
        holds "many threads: each has its ten zones" each_has_ten many 400
        holds "many threads: nothing is lost" same "" "$(lost many)"
        holds "many threads: all are of one process" same 1 "$(n_different many 'kind == "zone_begin"' pid)"
else
        skips_group "many threads" "unshare: $(tail -n 1 "$TMPDIR/unshare")"
fi
