#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Call stacks of events never harm the program, on whatever stack it runs, and callers that frame pointers miss are there
set -eu
. tests/tap.sh
plan 14
need jq cc
need_sampling

all="--zones=callstacks --messages=callstacks --memory=callstacks --locks"
"$WORKLOADS/w_stacks" >"$TMPDIR/bare"
# shellcheck disable=SC2086 # words
for arguments in 20 "20 denied"; do
        holds "w_stacks $arguments" ends_with 0 "$HYPROF" record -q -o "$TMPDIR/stacks.hyp" $all -- "$WORKLOADS/w_stacks" $arguments
        holds "it prints what it does alone" cmp "$TMPDIR/bare" "$TMPDIR/out"
        holds "the trace is whole" is_whole stacks
        holds "with call stacks" compare "$("$HYPROF" dump "$TMPDIR/stacks.hyp" | grep -c '^callstack ')" ">" 1000
done

# ---- a chain of frame pointers that ends in the middle
cat >"$TMPDIR/hooks.c" <<'END'
#include <hyprof/hyprof.h>
__attribute__((noinline)) static void inner(void *p) { hyprof_memory_alloc(0, p, 10); __asm__ volatile(""); }
__attribute__((noinline)) static void middle(void *p) { inner(p); __asm__ volatile(""); }
__attribute__((noinline)) void hook(void *p) { middle(p); __asm__ volatile(""); }
END
# Its register for frame pointers holds a counter, from 0 on, or the address of zeros above.
cat >"$TMPDIR/counts.c" <<'END'
#include <stdlib.h>
extern void hook(void *p);
__attribute__((noinline)) static void leak(char *p, long from, long n)
{
#ifdef __x86_64__
        register long i __asm__("rbp");
#else
        long i;
#endif
        for (i = from; i < from + n; i++) {
                __asm__ volatile("" : "+r"(i));
                hook(p + i % 1000);
        }
}
__attribute__((noinline)) static void wrapper(char *p, long from, long n) { leak(p, from, n); __asm__ volatile(""); }
int main(void)
{
        long zeros[64] = { 0 };
        __asm__ volatile("" : : "r"(zeros) : "memory");
        wrapper(malloc(1000), 0, 500);
        wrapper(malloc(1000), (long)zeros, 1);
        wrapper(malloc(1000), (long)(zeros + 32), 1);
        return (int)zeros[1];
}
END
flags="-g -O2 -Iinstrument/client/include"
# shellcheck disable=SC2086
build() { # frame pointers of the program, its name
        "${CC:-cc}" $flags -fno-omit-frame-pointer -c "$TMPDIR/hooks.c" -o "$TMPDIR/hooks.o"
        "${CC:-cc}" $flags "$1" -c "$TMPDIR/counts.c" -o "$TMPDIR/counts.o"
        "${CC:-cc}" "$TMPDIR/counts.o" "$TMPDIR/hooks.o" "$BUILD/libhyprof.a" -pthread -o "$TMPDIR/$2"
}
callers() { # trace
        "$HYPROF" report --memory --limit 0 --json "$TMPDIR/$1.hyp" | jq -r '.sites.rows[].callstack | join(" < ")'
}
# For `holds`: each line of callers has the pattern, and there are some.
all_have() { # pattern
        awk -v pattern="$1" '$0 ~ pattern { n++; next } { print } END { exit !(NR > 0 && n == NR) }' "$TMPDIR/callers"
}
build -fomit-frame-pointer counts
holds "a program without frame pointers" record counts --memory=callstacks -- "$TMPDIR/counts"
holds "502 allocations" same 502 "$("$HYPROF" dump "$TMPDIR/counts.hyp" | grep -c '^memory_alloc ')"
callers counts >"$TMPDIR/callers"
holds "there are call stacks" compare "$(wc -l <"$TMPDIR/callers")" ">" 0
holds "each of them leads to main()" all_have 'hook < leak.* < wrapper.* < main'
# The null case: with frame pointers the chains are whole.
sed -i 's/register long i __asm__("rbp")/long i/' "$TMPDIR/counts.c"
build -fno-omit-frame-pointer framed
holds "one with frame pointers" record framed --memory=callstacks -- "$TMPDIR/framed"
callers framed >"$TMPDIR/callers"
holds "leads there as well" all_have 'leak.* < wrapper.* < main'
