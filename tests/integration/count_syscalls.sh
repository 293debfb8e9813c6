#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# record --syscalls counts each system call of each thread exactly, as strace does; who called is sampled without favour
set -eu
. tests/tap.sh
plan 36
need jq
need_sampling
rounds=400000

# The command ran, or nothing here can count: then the reason is the one that hyprof gave.
record counted --syscalls "$WORKLOADS/w_syscalls" $rounds || {
        grep -q -- '--syscalls counts' "$TMPDIR/counted.err" || { cat "$TMPDIR/counted.err" && exit 1; }
        skip_all "hardware: $(grep -m 1 -- '--syscalls' "$TMPDIR/counted.err")"
}
"$HYPROF" report --syscalls --limit 0 --json "$TMPDIR/counted.hyp" >"$TMPDIR/counted.json"
fact() { jq -r "$1" "$TMPDIR/counted.json"; }

# ---- sums
of_call() { fact ".calls.rows[] | select(.name == \"$1\") | $2"; } # name, member
for row in "pwritev $((rounds + 1000)) 0 $((16 * rounds + 16000)) 16 2" "unlinkat 5000 5000 null null 1" \
        "sched_yield 10 0 null null 1" "readv 20000 0 160000 8 1"; do
        read -r name rest <<<"$row"
        [ "$name" != unlinkat ] || [ -n "$(of_call unlinkat .name)" ] || name="unlink" # of the machines that have it
        holds "$name: calls, errors, bytes, bytes of each, threads" same "$rest" \
                "$(of_call "$name" '"\(.n_calls) \(.n_errors) \(.n_bytes) \(.mean_bytes) \(.n_threads)"')"
done
holds "a call that was never made has no row" same "" "$(of_call mkdirat .n_calls)"
holds "execve: the program's, not those before it" same 1 "$(of_call execve .n_calls)"
holds "times: the longest is not longer than all" same "" "$(fact '.calls.rows[] | select(.longest_ns > .time_ns or .mean_ns > .longest_ns) | .name')"
holds "all calls are the sum" same "$(fact .n_calls)" "$(fact '[.calls.rows[].n_calls] | add')"

# ---- threads
of_thread() { fact ".threads.rows[] | select(.name == \"$1\") | \"\(.thread_name) \(.n_calls)\"" | sort; }
holds "the reader's calls are the reader's" same "reader 20000" "$(of_thread readv)"
holds "those of the child are its own" same "$(printf 'w_syscalls 1000\nw_syscalls %s\n' $rounds)" "$(of_thread pwritev)"
holds "which is another process" same 2 "$(fact '[.threads.rows[] | select(.name == "pwritev") | .pid] | unique | length')"

# ---- callers and zones
estimate() { fact ".callers.rows[] | select(.function == \"$1\") | .n_calls_estimated"; }
share_of() { awk "BEGIN { print ($(estimate "$1")) / $rounds }"; }
figure "by turns: even $(share_of even_file), odd $(share_of odd_file), of $(of_call pwritev .n_samples) samples"
holds "two callers by turns: half of the calls each, about" compare "$(share_of even_file)" ">" 0.2
holds "and the other" compare "$(share_of odd_file)" ">" 0.2
holds "together all, but for the child's" compare "($(estimate even_file)) + ($(estimate odd_file))" ">" "$rounds * 0.9"
holds "a call that is made ten times has its caller" same give_way "$(of_call sched_yield .caller)"
[ -n "$(of_call unlinkat .name)" ] && unlink="unlinkat" || unlink="unlink"
holds "one caller for all" same "remove_file 1" "$(of_call "$unlink" '"\(.caller) \(.caller_share)"')"
in_zone() { fact ".zones.rows[] | select(.name == \"$1\") | \"\(.zone) \(.share)\"" | sort; }
holds "each in its zone" same "clean 1" "$(in_zone "$unlink")"
holds "or in none" same "[outside of zones] 1" "$(in_zone sched_yield)"
holds "writes in theirs" compare "$(fact '.zones.rows[] | select(.name == "pwritev" and .zone == "dump") | .share')" ">" 0.9

# ---- answers
holds "the first line is about the calls with the most time, and the most calls" grep -qE "(^|; )401,000 pwritev calls of 16 B: [0-9.]+% of the threads' time" <<<"$(fact .answer)"
holds "CSV has the tables" grep -q '^pwritev\|,pwritev,' <("$HYPROF" report --syscalls --csv "$TMPDIR/counted.hyp")
holds "the overview is about the processor's time, as ever" same cpu-clock "$("$HYPROF" report --json --limit 0 "$TMPDIR/counted.hyp" | jq -r .event | sed 's/^cycles.*/cpu-clock/')"
holds "the calls are the innermost functions of their event" grep -q "sys_pwritev" <("$HYPROF" report --top-down -e syscalls --depth 40 "$TMPDIR/counted.hyp")

# ---- Python
cat >"$TMPDIR/calls.py" <<'END'
import os
def write_small(file):
    for i in range(1000): os.write(file, b"x")
def read_zero(file):
    for i in range(200): os.read(file, 10)
def usual():
    total = 0
    while total < 20000: total += 1
null, zero = os.open("/dev/null", os.O_WRONLY), os.open("/dev/zero", os.O_RDONLY)
for i in range(100):
    write_small(null)
    read_zero(zero)
    usual()
END
record python --syscalls "${PYTHON:-/usr/bin/python3}" "$TMPDIR/calls.py"
python_callers() { # options of report
        "$HYPROF" report --syscalls --json --limit 0 "$@" "$TMPDIR/python.hyp" |
                jq -r '.calls.rows[] | select(.n_calls >= 20000) | "\(.name) \(.caller)"' | sort | paste -sd ' '
}
if grep -q '"usual"' <("$HYPROF" report --json --limit 0 "$TMPDIR/python.hyp"); then
        holds "callers are Python functions" same "read read_zero write write_small" "$(python_callers)"
        of_write() { "$HYPROF" report --syscalls --json --limit 0 "$TMPDIR/python.hyp" | jq '.calls.rows[] | select(.name == "write") | .caller_share'; }
        holds "nearly all calls have theirs" compare "$(of_write)" ">" 0.9
        of_interpreter() { python_callers --native >"$TMPDIR/native" && grep -q "^read .* write " "$TMPDIR/native" && ! grep -q 'read_zero\|write_small' "$TMPDIR/native"; }
        holds "with --native they are functions of the interpreter" of_interpreter
else
        for words in "callers are Python functions" "nearly all calls have theirs" \
                "with --native they are functions of the interpreter"; do
                skips "$words" "hardware: Python's frames cannot be read here"
        done
fi
record plain "$WORKLOADS/w_syscalls" 10
holds "a recording without says so" grep -q "^system calls were not counted" <("$HYPROF" report --syscalls "$TMPDIR/plain.hyp")

# ---- the same as strace
all_of() { jq -r '.calls.rows[] | "\(.name) \(.n_calls) \(.n_errors)"' "$1" | sort; }
if strace -qq -c -o "$TMPDIR/strace" dd if=/dev/zero of=/dev/null bs=1 count=2000 2>/dev/null; then
        record dd --syscalls dd if=/dev/zero of=/dev/null bs=1 count=2000
        "$HYPROF" report --syscalls --limit 0 --json "$TMPDIR/dd.hyp" >"$TMPDIR/dd.json"
        holds "dd: as many of each, with as many errors, as strace -c counts" same \
                "$(awk '$4 ~ /^[0-9]+$/ && $NF != "total" { print $NF, $4, NF == 6 ? $5 : 0 }' "$TMPDIR/strace" | sort)" "$(all_of "$TMPDIR/dd.json")"
else
        skips "strace -c" "strace is missing, or may not trace here"
fi

# ---- each one sampled, at the tracepoint: the program's function and the call, not the kernel's at that place
# shellcheck disable=SC2016 # for the shell inside
in_namespace=(unshare -m sh -c '[ -e /sys/kernel/tracing/events ] || mount -t tracefs none /sys/kernel/tracing && exec "$@"' sh)
at_tracepoint() { # name, event, record's other options...
        "${in_namespace[@]}" "$HYPROF" record -q -o "$TMPDIR/$1.hyp" -e "${@:2}" "$WORKLOADS/w_syscalls" 1000 2>"$TMPDIR/$1.err"
}
if at_tracepoint entered raw_syscalls:sys_enter -c 1; then
        "$HYPROF" report --json --limit 0 "$TMPDIR/entered.hyp" >"$TMPDIR/entered.json"
        holds "-e raw_syscalls:sys_enter: the first line is the call and its caller" \
                grep -qE '^[0-9,]+ raw_syscalls:sys_enter: [0-9.]+% in readv from read_index' <("$HYPROF" report "$TMPDIR/entered.hyp")
        holds "the hottest function is the program's" same "readv libc.so.6" \
                "$(jq -r '.functions.rows[0] | "\(.function) \(.module | split("/") | last)"' "$TMPDIR/entered.json" | sed -E 's/^(__GI_)?_*//')"
        holds "no function of the kernel has samples itself" same "" "$(jq -r '.functions.rows[] | select(.module == "[kernel]" and .self_samples > 0) | .function' "$TMPDIR/entered.json")"
        at_tracepoint switched sched:sched_switch
        holds "samples of another tracepoint have no system call" same "" "$("$HYPROF" dump "$TMPDIR/switched.hyp" | grep -F '"sys_' || true)"
else
        skips_group "-e raw_syscalls:sys_enter" "$(head -n 1 "$TMPDIR/entered.err")"
fi

# ---- refused in one line
if unshare -pf --mount-proc true 2>/dev/null; then
        holds "no BPF: status 125" ends_with 125 unshare -pf --mount-proc "$HYPROF" record --syscalls -o "$TMPDIR/no.hyp" touch "$TMPDIR/ran"
        says_why() {
                same 1 "$(grep -c '^hyprof: error: .*--syscalls counts system calls in the kernel, by BPF: .*namespace' "$TMPDIR/err")" &&
                        [ ! -e "$TMPDIR/ran" ]
        }
        holds "says what, why, and has not run the command" says_why
else
        skips "no BPF" "no PID namespaces here"
        skips "no BPF, in words" "no PID namespaces here"
fi
for option in --ring=10s --no-switches; do
        holds "not with $option: status 2" ends_with 2 "$HYPROF" record --syscalls "$option" true
done
