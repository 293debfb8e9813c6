#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# record --zone-syscalls: each system call of the recorded threads is a zone with its result, and none of others
set -eu
. tests/tap.sh
plan 20
need jq
need_sampling
rounds=2000

refused() { # words, options...
        local status=0
        "$HYPROF" record -q -o "$TMPDIR/refused.hyp" "${@:2}" "$WORKLOADS/w_syscalls" 1 >"$TMPDIR/refused.out" 2>"$TMPDIR/refused.err" ||
                status=$?
        same 125 "$status" && same "" "$(cat "$TMPDIR/refused.out")" && grep -q -- "$1" "$TMPDIR/refused.err" &&
                same 1 "$(grep -c '^hyprof: error' "$TMPDIR/refused.err")"
}
zones() { # name of the trace, zone
        n_events "$1" "kind == \"zone_begin\" && zone == \"$2\""
}
texts() { # name of the trace: "COUNT TEXT" of zones
        "$HYPROF" dump "$TMPDIR/$1.hyp" | sed -n 's/^zone_text .* text="\(.*\)"$/\1/p' | sort | uniq -c | sed 's/^ *//'
}
note() { # name of the trace, code
        "$HYPROF" report --json "$TMPDIR/$1.hyp" | jq -r ".missing.rows[] | select(.code == \"$2\") | .detail"
}

# The command ran, or nothing can be recorded here: then the reason is the one that hyprof gave.
record all --zone-syscalls --zone-function-limit 10000000 --syscalls "$WORKLOADS/w_syscalls" $rounds || {
        grep -qE 'BPF|tracefs|tracepoints' "$TMPDIR/all.err" || { cat "$TMPDIR/all.err" && exit 1; }
        skip_all "hardware: $(grep -m 1 -E 'BPF|tracefs|tracepoints' "$TMPDIR/all.err")"
}
read_trace all
holds "each call of the program and of its child" same "$((rounds + 1000))" "$(zones all pwritev)"
holds "of its threads" same 20000 "$(zones all readv)"
holds "that fail" same 5000 "$(zones all unlink)"
holds "that give way" same 10 "$(zones all sched_yield)"
holds "calls before the command's execve, which are the recorder's, are left out" same 0 "$(zones all execve)"
texts all >"$TMPDIR/texts"
holds "a number is the result" grep -q "^[0-9]* 16\$" "$TMPDIR/texts"
holds "or an error, by its name" grep -q '^5[0-9]* ENOENT$' "$TMPDIR/texts"
holds "a call is in the program's zone" same "$rounds" "$(awk -F '\t' '$1 == "zone_begin" { path[$4, ++depth[$4]] = $6
        n += $6 == "pwritev" && path[$4, depth[$4] - 1] == "dump" } $1 == "zone_end" { depth[$4]-- } END { print n + 0 }' "$TMPDIR/all.events")"
holds "as many ends as begins: those that never end are closed with their threads" same \
        "$(n_events all 'kind == "zone_begin"')" "$(n_events all 'kind == "zone_end"')"
holds "the ends of the processes are among them" same 2 "$(zones all exit_group)"
holds "the sums of --syscalls are there as well" same "$((rounds + 1000))" \
        "$("$HYPROF" report --syscalls --json "$TMPDIR/all.hyp" | jq '.calls.rows[] | select(.name == "pwritev") | .n_calls')"
holds "the price is said" grep -qE '^[0-9]+ hits of 2 tracepoints, about [0-9.]+ ms' <<<"$(note all PROBES)"
holds "nothing was lost" same "" "$(lost all)"

# ---- some of them
record some --zone-syscalls=readv,unlink --zone-syscalls=sched_yield "$WORKLOADS/w_syscalls" $rounds
read_trace some
holds "only those that are wanted" same "clean dump readv sched_yield unlink " \
        "$(awk -F '\t' '$1 == "zone_begin" { print $6 }' "$TMPDIR/some.events" | sort -u | tr '\n' ' ')"
holds "all of them" same "20000 5000 10" "$(zones some readv) $(zones some unlink) $(zones some sched_yield)"
holds "one that the machine does not have" refused "no system call 'nosuch'" --zone-syscalls=read,nosuch

# ---- those of 32-bit programs have other numbers: 3 is their read, and close of the others
cat >"$TMPDIR/calls_32.c" <<'C'
static void call(int number)
{
        __asm__ volatile("int $0x80" : "+a"(number) : "b"(-1), "c"(0), "d"(0) : "memory");
}
void _start(void)
{
        for (int i = 0; i < 7; i++)
                call(3);
        for (int i = 0; i < 5; i++)
                call(6);
        for (;;)
                call(1);
}
C
if gcc -m32 -O1 -fno-pic -no-pie -ffreestanding -nostdlib -static -fno-stack-protector "$TMPDIR/calls_32.c" -o "$TMPDIR/calls_32" 2>/dev/null &&
        { "$TMPDIR/calls_32" || [ $? = 255 ]; }; then
        record calls_32 --zone-syscalls=close "$TMPDIR/calls_32" || true
        read_trace calls_32
        holds "they are chosen by their names" same "5 0" "$(zones calls_32 close) $(zones calls_32 read)"
else
        skips "they are chosen by their names" "hardware: the machine or its kernel runs no 32-bit programs"
fi

# ---- a 64-bit program may make calls by these numbers too: 20 is getpid of theirs, and writev of the others
cat >"$TMPDIR/calls_both.c" <<'C'
#include <errno.h>
#include <sys/uio.h>
int main(void)
{
        for (int i = 0; i < 7; i++) {
                int number = 20;

                __asm__ volatile("int $0x80" : "+a"(number) : "b"(0), "c"(0), "d"(0) : "memory", "r8", "r9", "r10", "r11");
                if (number == -ENOSYS)
                        return 1;
        }
        for (int i = 0; i < 3; i++)
                (void)writev(-1, (struct iovec[1]){ { 0 } }, 1);
        return 0;
}
C
if gcc "$TMPDIR/calls_both.c" -o "$TMPDIR/calls_both" 2>/dev/null && "$TMPDIR/calls_both"; then
        record both --syscalls --zone-syscalls=getpid,writev "$TMPDIR/calls_both"
        read_trace both
        holds "a call by int 0x80 has its own name" same "7 3" "$(zones both getpid) $(zones both writev)"
        holds "also in the sums" same "getpid 7 writev 3" "$("$HYPROF" report --syscalls --json --limit 0 "$TMPDIR/both.hyp" |
                jq -r '[.calls.rows[] | select(.name == "getpid" or .name == "writev") | "\(.name) \(.n_calls)"] | sort | join(" ")')"
else
        skips "a call by int 0x80 has its own name" "hardware: the kernel has no such calls"
        skips "also in the sums" "hardware: the kernel has no such calls"
fi

# ---- the limit
record limit --zone-syscalls=readv --zone-function-limit 100 "$WORKLOADS/w_syscalls" $rounds
holds "too many calls switch them off" grep -q 'switched off: more than 100 calls in a second' <<<"$(note limit NO_PROBE)"
