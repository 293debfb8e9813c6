#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# record --zone-tracepoint: from one tracepoint of the kernel to another, on a thread, or by a key from thread to thread
set -eu
. tests/tap.sh
plan 21
need jq python3
need_sampling
n=50
rounds=500

refused() { # words, options...
        local status=0
        "$HYPROF" record -q -o "$TMPDIR/refused.hyp" "${@:2}" "$WORKLOADS/w_syscalls" 1 >"$TMPDIR/refused.out" 2>"$TMPDIR/refused.err" ||
                status=$?
        same 125 "$status" && same "" "$(cat "$TMPDIR/refused.out")" && grep -q -- "$1" "$TMPDIR/refused.err" &&
                same 1 "$(grep -c '^hyprof: error' "$TMPDIR/refused.err")"
}
note() { # name of the trace, code
        "$HYPROF" report --json "$TMPDIR/$1.hyp" | jq -r ".missing.rows[] | select(.code == \"$2\") | .detail"
}

# ---- zones of threads
pair=syscalls:sys_enter_pwritev,syscalls:sys_exit_pwritev
record calls --zone-tracepoint="$pair" "$WORKLOADS/w_syscalls" $rounds || {
        grep -qE 'BPF|tracefs|tracepoint' "$TMPDIR/calls.err" || { cat "$TMPDIR/calls.err" && exit 1; }
        skip_all "hardware: $(grep -m 1 -E 'BPF|tracefs|tracepoint' "$TMPDIR/calls.err")"
}
read_trace calls
holds "each is a zone of its thread" same "$((rounds + 1000))" "$(n_events calls 'kind == "zone_begin" && zone == "sys"')"
holds "within the program's own" same "$rounds" "$(awk -F '\t' '$1 == "zone_begin" { path[$4, ++depth[$4]] = $6
        n += $6 == "sys" && path[$4, depth[$4] - 1] == "dump" } $1 == "zone_end" { depth[$4]-- } END { print n + 0 }' "$TMPDIR/calls.events")"
holds "all ended" same "$(n_events calls 'kind == "zone_begin"')" "$(n_events calls 'kind == "zone_end"')"
holds "with the fields of the begin as text" grep -qE '^zone_text .* text="__syscall_nr=[0-9]+, fd=[0-9]+, ' "$TMPDIR/calls.dump"
holds "the price is said" grep -qE '^[0-9]+ hits of 2 tracepoints, about [0-9.]+ ms' <<<"$(note calls PROBES)"
holds "nothing was lost" same "" "$(lost calls)"

# ---- by a key: a signal that one thread sends and another one gets; the last three are ignored, as may be that of its end
cat >"$TMPDIR/signals.py" <<'P'
import os, signal, sys, threading
done = threading.Semaphore(0)
signal.signal(39, lambda *_: done.release())
main = threading.get_ident()
def send():
    for _ in range(int(sys.argv[1])):
        signal.pthread_kill(main, 39)
        done.acquire()
sender = threading.Thread(target=send)
sender.start()
while sender.is_alive():
    sender.join(0.01)
for _ in range(3):
    os.kill(os.getpid(), signal.SIGWINCH)
P
record signals --zone-tracepoint=signal:signal_generate,signal:signal_deliver,sig --no-sampling "$(python3 -c 'import sys; print(sys.executable)')" \
        "$TMPDIR/signals.py" $n
read_trace signals
holds "each is a zone of a device" same "$n" "$(grep -c '^device_span ' "$TMPDIR/signals.dump")"
holds "with its key and the other fields of the begin as text" grep -q '^string .* text="sig=39, errno=0, code=-6, pid=[0-9]*"' "$TMPDIR/signals.dump"
holds "of the thread where it began, which ended on another one" same 1 \
        "$(n_different signals 'kind == "device_span"' tid)"
holds "begins without an end are counted" grep -qE '; [34] begins of tracepoints had no end' <<<"$(note signals PROBES)"
holds "a report has them" same "$n" "$("$HYPROF" report --devices --json "$TMPDIR/signals.hyp" | jq '.devices.rows[] | select(.device == "signal") | .count')"

# ---- begins that wait for their ends have a table of 16,384: others are lost, which is not the ring's fault
cat >"$TMPDIR/many.py" <<'P'
import os
file = os.open("/dev/zero", os.O_RDONLY)
for i in range(20000):
    os.pread(file, 1, i)
P
record many --zone-tracepoint=syscalls:sys_enter_pread64,syscalls:sys_enter_pwrite64,pos --no-sampling \
        "$(python3 -c 'import sys; print(sys.executable)')" "$TMPDIR/many.py"
read_trace many
holds "begins for which there is no room have a reason of their own" grep -qx 'PROBES_OPEN 36[01][0-9]' <<<"$(lost many)"

# ---- several zones of one tracepoint: it ends one of them and begins the next, as a work of a disk does that was queued
enter=syscalls:sys_enter_pwritev leave=syscalls:sys_exit_pwritev
record both --zone-tracepoint="$pair" --zone-tracepoint="$leave,$enter" --zone-tracepoint="$enter,$leave,__syscall_nr" \
        --no-sampling "$WORKLOADS/w_syscalls" $rounds
read_trace both
holds "a tracepoint may belong to several" same "" "$(note both NO_PROBE)"
holds "each has its zones" same "$((2 * (rounds + 1000))) $((rounds + 1000))" \
        "$(grep -cE '^zone_text .* text="__syscall_nr=' "$TMPDIR/both.dump") $(grep -c '^device_span ' "$TMPDIR/both.dump")"
holds "more than four are too many" refused "more than 4 kinds of zones begin or end at $enter" \
        --zone-tracepoint="$pair" --zone-tracepoint="$pair" --zone-tracepoint="$pair" --zone-tracepoint="$pair" --zone-tracepoint="$pair"

# ---- what cannot be
holds "one for both" refused "a zone cannot begin and end at the same tracepoint" --zone-tracepoint="$enter,$enter"
holds "no such tracepoint" refused "unknown tracepoint 'irq:nosuch'" --zone-tracepoint=irq:nosuch,irq:irq_handler_exit
holds "no such field, but others" refused "irq:irq_handler_entry has no field 'nosuch', but: irq, name" \
        --zone-tracepoint=irq:irq_handler_entry,irq:irq_handler_exit,nosuch
holds "a text is no key" refused "'name' of irq:irq_handler_entry is a text; a key is a number" \
        --zone-tracepoint=irq:irq_handler_entry,irq:irq_handler_exit,name
holds "one name" refused "not two tracepoints" --zone-tracepoint=irq:irq_handler_entry
holds "no tracepoint" refused "'irq_handler_entry' is not a tracepoint" --zone-tracepoint=irq_handler_entry,irq:irq_handler_exit
