#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Waits are as long as they were, at the place where they were, ended by whom it was; without BPF what remains is said
set -eu
. tests/tap.sh
plan 54
need jq
need_sampling

rounds=10
places="wait_sleep wait_mutex wait_futex wait_pipe"

# The notice that waiting was recorded through perf, with its reason; empty if there is none.
not_by_bpf() { # name
        reported "$1" '.missing.rows[] | select(.code == "WAITING_BY_PERF") | .detail'
}

# The waits of the program's first thread that began at a place: "BEGIN_NS END_NS WAKER WAKER'S STACK" a line; a wait
# lasts until the thread runs again.
waits_at() { # name, place
        awk -F '\t' -v place=";$2" "$columns"'
                pid != tid { next } # a new thread is called waiter until it names itself
                kind == "switch_out" { out_ns = time_ns; preempted = $7; at = stack }
                kind == "wakeup" { by = zone; where = stack }
                kind == "switch_in" && out_ns && !preempted && index(at ";", place ";") {
                        print out_ns, time_ns, by == "" ? "-" : by, where == "" ? "-" : where
                }
                kind == "switch_in" { out_ns = 0; by = where = "" }' "$TMPDIR/$1.events"
}

# The time that the program measured at a place, less the time in which it could have run on, in ns.
truth_of() { # name, place
        awk -F '\t' -v place="$2" '
                NR == FNR { if (split($0, f, " ") && f[1] == "span" && f[2] == place) { n++; b[n] = f[3]; e[n] = f[4] } next }
                $3 == $4 && $1 == "switch_out" { out_ns = $7 ? $2 : 0 }
                $3 == $4 && $1 == "switch_in" {
                        for (i = 1; out_ns && i <= n; i++)
                                if (out_ns >= b[i] && $2 <= e[i])
                                        off += $2 - out_ns
                        out_ns = 0
                }
                END { for (i = 1; i <= n; i++) sum += e[i] - b[i]; printf "%.0f\n", sum - off }' \
                "$TMPDIR/$1.out" "$TMPDIR/$1.events"
}

# For `holds`: all waits at a place together are what the program measured.
lasts() { # name, place
        local found wanted
        found=$(waits_at "$1" "$2" | awk '{ sum += $2 - $1 } END { printf "%.0f", sum }')
        wanted=$(truth_of "$1" "$2")
        figure "$2: $(awk "BEGIN { printf \"%.2f ms, measured %.2f ms\", $found / 1e6, $wanted / 1e6 }")" >&3
        compare "($found - $wanted) / $wanted" ">" -0.01 && compare "($found - $wanted) / $wanted" "<" 0.01
}

# For `holds`: every wait at a place was ended by this one.
ended_by() { # name, place, waker
        same "$3" "$(waits_at "$1" "$2" | awk '{ print $3 }' | sort -u)"
}

woken_in() { # name, place, function
        same "$rounds" "$(waits_at "$1" "$2" | grep -c ";$3")"
}

# For `holds`: each wait lies in the time in which the program says that it waited, to a microsecond.
lies_in() { # name, place
        waits_at "$1" "$2" >"$TMPDIR/waits"
        awk -v place="$2" '
                NR == FNR { if ($1 == "span" && $2 == place) { n++; b[n] = $3; e[n] = $4 } next }
                { for (i = 1; i <= n; i++) if ($1 >= b[i] - 1000 && $2 <= e[i] + 1000) inside++ }
                END { if (n != '"$rounds"' || inside < n) { print n " spans, " inside " waits in them"; exit 1 } }' \
                "$TMPDIR/$1.out" "$TMPDIR/waits"
}

# Callstacks that are cut are no concern of this test.
lost_records() { # name
        lost "$1" | grep -v '^STACK_' || true
}

# awk expands these; preempted is a column of switch_out alone.
# shellcheck disable=SC2016
preempted='$7 == 1' waits='$7 == 0'

exec 3>&1

# ---- with BPF ----

holds "record" ends_with 0 record bpf --off-cpu "$WORKLOADS/w_waits" $rounds
read_trace bpf
reason=$(not_by_bpf bpf)
if [ -n "$reason" ]; then
        skips_group "waits by BPF" "$reason"
else
        holds "the trace is whole" is_whole bpf
        holds "nothing is lost" same "" "$(lost_records bpf)"
        for place in $places; do
                holds "$place: the time, within 1%" lasts bpf "$place"
                holds "$place: each wait is where the program says, within 1 us" lies_in bpf "$place"
        done
        holds "wait_sleep: without a waker" ended_by bpf wait_sleep -
        holds "wait_mutex: the waker" ended_by bpf wait_mutex holder
        holds "wait_futex: the waker" ended_by bpf wait_futex futexer
        holds "wait_pipe: the waker" ended_by bpf wait_pipe piper
        holds "wait_mutex: where the waker was" woken_in bpf wait_mutex hold
        holds "wait_futex: where the waker was" woken_in bpf wait_futex wake_futex
        holds "wait_pipe: where the waker was" woken_in bpf wait_pipe fill_pipe
        burning='index(thread, "burner-") == 1'
        holds "who burns is preempted" compare "$(n_events bpf "kind == \"switch_out\" && $burning && $preempted")" ">" 10
        holds "who burns does not wait" same 0 "$(n_events bpf "kind == \"switch_out\" && $burning && $waits && index(stack, \"burn_together\")")"
        holds "preempted is a reason of its own" same 0 "$(n_events bpf "kind == \"switch_out\" && ($preempted) != (zone == 1)")"
        holds "who could run on has no place of waiting" same 0 "$(n_events bpf "kind == \"switch_out\" && $preempted && stack != \"\"")"

        holds "frame pointers: record" record fp --off-cpu --unwind=fp "$WORKLOADS/w_waits" 2
        read_trace fp
        # libc has none, so that the function that called it is missing, but not the one before.
        holds "frame pointers: the places" compare "$(waits_at fp meet | wc -l)" ">=" 8

        holds "record without --off-cpu" record plain "$WORKLOADS/w_waits" 1
        read_trace plain
        holds "without: switches" compare "$(n_events plain 'kind == "switch_out" && thread == "waiter"')" ">=" 4
        holds "without: no stacks" same 0 "$(n_events plain 'kind == "switch_out" && stack != ""')"
        holds "without: no wakers" same 0 "$(n_events plain 'kind == "wakeup"')"
fi

# --cpu: who waits on a CPU that is recorded may be woken from one that is not.
if [ -z "$reason" ] && [ "$(nproc)" -ge 2 ] && command -v taskset >/dev/null; then
        read -r first second <<<"$(taskset -cp $$ | sed 's/.*: //' | awk -F, '{ n = 0; for (i = 1; i <= NF; i++) {
                split($i, r, "-"); last = r[2] == "" ? r[1] : r[2]; for (c = r[1]; c <= last; c++) list[n++] = c } print list[0], list[1] }')"
        # Each line is answered before the next one is written, and then cat has time to wait again.
        mkfifo "$TMPDIR/answers"
        # shellcheck disable=SC2016 # for the recorded shells
        holds "--cpu: record" record one --off-cpu --cpu "$second" -- sh -c '
                taskset -c "$1" sh -c "i=0; while [ \$i -lt 20 ]; do echo x; read -r _ <&3; i=\$((i + 1)); sleep 0.02; done" 3<"$3" |
                        taskset -c "$2" cat >"$3"' sh "$first" "$second" "$TMPDIR/answers"
        read_trace one
        holds "--cpu: wakers on another CPU" compare "$(n_events one \
                "kind == \"wakeup\" && thread == \"cat\" && \$8 == $first")" ">=" 5
        # Who waits when its switches begin is switched out first, which is no switch: its reason is 0.
        holds "--cpu: no switches there" same 0 "$(n_events one "kind == \"switch_in\" && zone == \"cpu=$first\" ||
                kind == \"switch_out\" && zone != 0 && \$8 == $first")"
else
        skips_group "--cpu: wakers on another CPU" "there is one CPU, or waiting is not recorded through BPF"
fi

holds "record --no-switches" record none --no-switches "$WORKLOADS/w_waits" 1
read_trace none
holds "no switches" same 0 "$(n_events none 'kind == "switch_out" || kind == "switch_in"')"

# ---- of a process that runs already ----

if [ -z "$reason" ]; then
        mkfifo "$TMPDIR/spans"
        "$WORKLOADS/w_waits" 40 >"$TMPDIR/spans" &
        pid=$!
        exec 4<"$TMPDIR/spans"
        cat <&4 >/dev/null &
        reader=$!
        holds "record -p" record joined --off-cpu -p $pid
        wait $pid $reader || true
        exec 4<&-
        read_trace joined
        holds "-p: waits have places" compare "$(waits_at joined wait_pipe | wc -l)" ">=" 30
        holds "-p: and wakers" ended_by joined wait_pipe piper
fi

# ---- without BPF ----

if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
        skips_group "without CAP_BPF" "needs root and setpriv"
        exit 0
fi
# As root, but with CAP_PERFMON alone of the two.  With tracefs, or surely without it: $1 is a command for that.
without_bpf() { # name, command for the file systems, options and command...
        unshare -m sh -c "$2"' && shift && exec setpriv --bounding-set=-bpf,-sys_admin "$@"' sh sh \
                "$HYPROF" record -o "$TMPDIR/$1.hyp" "${@:3}" >"$TMPDIR/$1.out" 2>"$TMPDIR/$1.err"
}
with_tracefs='{ [ -d /sys/kernel/tracing/events ] || mount -t tracefs nodev /sys/kernel/tracing; }'
without_tracefs='{ umount -l /sys/kernel/debug; umount -l /sys/kernel/tracing; true; } 2>/dev/null'
if ! unshare -m sh -c "$without_tracefs && [ ! -d /sys/kernel/tracing/events ]"; then
        skips_group "without CAP_BPF" "file systems cannot be mounted here"
        exit 0
fi

holds "without CAP_BPF: record" without_bpf perf "$without_tracefs" "$WORKLOADS/w_waits" 2
read_trace perf
holds "without CAP_BPF: the reason is said" grep -q 'CAP_BPF' <<<"$(not_by_bpf perf)"
holds "without CAP_BPF: switches are there" compare "$(n_events perf "kind == \"switch_out\" && pid == tid && $waits")" ">=" 8
holds "without CAP_BPF: nothing is lost" same "" "$(lost_records perf)"

# Perf tells no reason, but where it was.
rounds=4
holds "perf --off-cpu: record" without_bpf stacks "$without_tracefs" --off-cpu "$WORKLOADS/w_waits" $rounds
read_trace stacks
for place in $places; do
        holds "perf --off-cpu: $place, the time within 1%" lasts stacks "$place"
done
holds "perf --off-cpu: no tracefs, which is said" grep -q 'tracefs is not mounted' \
        <<<"$(reported stacks '.missing.rows[] | select(.code == "NO_WAKERS") | .detail')"
holds "perf --off-cpu: who could run on has no place" same 0 "$(n_events stacks "kind == \"switch_out\" && $preempted && stack != \"\"")"
holds "perf --off-cpu: those are no samples" same cpu-clock \
        "$(awk -F '\t' '$1 == "sample" && $6 != "cycles" { print $6 }' "$TMPDIR/stacks.events" | sort -u)"

if ! unshare -m sh -c "$with_tracefs && [ -d /sys/kernel/tracing/events/sched ]"; then
        skips_group "perf --off-cpu: wakers" "tracefs cannot be mounted here"
        exit 0
fi
holds "perf --off-cpu, tracefs: record" without_bpf wakers "$with_tracefs" --off-cpu "$WORKLOADS/w_waits" $rounds
read_trace wakers
holds "perf --off-cpu, tracefs: wait_sleep, no waker" ended_by wakers wait_sleep -
holds "perf --off-cpu, tracefs: wait_mutex" ended_by wakers wait_mutex holder
holds "perf --off-cpu, tracefs: wait_futex" ended_by wakers wait_futex futexer
holds "perf --off-cpu, tracefs: wait_pipe" ended_by wakers wait_pipe piper
holds "perf --off-cpu, tracefs: where the waker was" woken_in wakers wait_pipe fill_pipe
