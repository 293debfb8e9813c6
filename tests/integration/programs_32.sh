#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# 32 bits: a program of 32 bits is sampled, and the report names --unwind=fp, which has its callers; hyprof is not built for 32
set -eu
. tests/tap.sh
plan 9
need gcc jq

# ---- a build
does_not_compile() {
        ! gcc -m32 -ffreestanding -fsyntax-only -I. -x c instrument/client_abi.h 2>"$TMPDIR/err" && grep -q "error: #error \"$1" "$TMPDIR/err"
}
case $(uname -m) in
x86_64)
        holds "the shared memory's layout does not compile for 32 bits" does_not_compile 'hyprof needs a machine of 64 bits'
        holds "make refuses it in words" sh -c "make -n B=\"$TMPDIR/build\" CFLAGS=-m32 all 2>&1 | grep -q 'cannot build: .* compiles for a machine of 32 bits'"
        ;;
*) skips_group "a build" "hardware: only compilers for x86-64 make 32 bits by -m32" ;;
esac

# ---- a program: without libc, of which there is none for 32 bits beside Debian's cross compilers
cat >"$TMPDIR/program.c" <<'EOS'
static volatile unsigned sink;
__attribute__((noinline)) static void leaf_32(unsigned n)
{
        for (unsigned i = 0; i < n; i++)
                sink += i ^ (sink << 3);
}
__attribute__((noinline)) static void middle_32(unsigned n)
{
        leaf_32(n);
        sink++;
        leaf_32(n);
        sink++;
}
void _start(void)
{
        for (int i = 0; i < 200; i++) {
                middle_32(1000000);
                sink++;
        }
        __asm__ volatile("int $0x80" : : "a"(1), "b"(5));
        __builtin_unreachable();
}
EOS
status=0
if [ "$(uname -m)" = x86_64 ]; then
        gcc -m32 -O1 -g -fno-omit-frame-pointer -fno-pic -no-pie -ffreestanding -nostdlib -static -fno-stack-protector \
                -fcf-protection=none "$TMPDIR/program.c" -o "$TMPDIR/program"
        "$TMPDIR/program" || status=$?
fi
if [ $status -ne 5 ]; then
        skips_group "a program" "hardware: the machine or its kernel runs no 32-bit programs"
        exit 0
fi
need_sampling
record plain -- "$TMPDIR/program" || status=$?
holds "its exit status is passed on" same 5 $status
holds "the report names what helps" sh -c "\"$HYPROF\" report \"$TMPDIR/plain.hyp\" 2>/dev/null |
        grep -qE 'call stacks of 32-bit programs, which are not unwound: use --unwind=fp'"
"$HYPROF" report --json "$TMPDIR/plain.hyp" >"$TMPDIR/plain.json" 2>/dev/null
holds "they are counted, and not as lost" compare "$(reported plain '[.missing.rows[] | select(.code == "STACK_32_BIT") | .count] | add')" ">=" \
        "0.9 * $(reported plain .n_samples)"
holds "functions have their names" same leaf_32 "$(reported plain '.functions.rows[0].function')"
record frames --unwind=fp -- "$TMPDIR/program" || true
"$HYPROF" report --json "$TMPDIR/frames.hyp" >"$TMPDIR/frames.json" 2>/dev/null
holds "with --unwind=fp nothing of the kind is said" same "" "$(reported frames '.missing.rows[] | select(.code == "STACK_32_BIT") | .count')"
of_all() { # function: the share of samples that it is in
        reported frames ".functions.rows[] | select(.function == \"$1\") | .total_share"
}
holds "and callers are there" compare "$(of_all middle_32)" ">" 0.95
holds "up to the first one" compare "$(of_all _start)" ">" 0.95
