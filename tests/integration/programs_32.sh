#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# 32 bits: a program of 32 bits is sampled, and the report names --unwind=fp, which has its callers; hyprof is not built for 32
set -eu
. tests/tap.sh
plan 11
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
"$HYPROF" report --json --limit 0 "$TMPDIR/plain.hyp" >"$TMPDIR/plain.json" 2>/dev/null
holds "they are counted, and not as lost" compare "$(reported plain '[.missing.rows[] | select(.code == "STACK_32_BIT") | .count] | add')" ">=" \
        "0.9 * $(reported plain .n_samples)"
holds "functions have their names" same leaf_32 "$(reported plain '.functions.rows[0].function')"
record frames --unwind=fp -- "$TMPDIR/program" || true
"$HYPROF" report --json --limit 0 "$TMPDIR/frames.hyp" >"$TMPDIR/frames.json" 2>/dev/null
holds "with --unwind=fp nothing of the kind is said" same "" "$(reported frames '.missing.rows[] | select(.code == "STACK_32_BIT") | .count')"
of_all() { # function: the share of samples that it is in
        reported frames ".functions.rows[] | select(.function == \"$1\") | .total_share"
}
holds "and callers are there" compare "$(of_all middle_32)" ">" 0.95
holds "up to the first one" compare "$(of_all _start)" ">" 0.95

# ---- its vdso is not that of 64-bit programs
cat >"$TMPDIR/vdso.c" <<'EOS'
struct head { unsigned char ident[16]; unsigned short type, machine; unsigned version, entry, segments, sections, flags;
        unsigned short bytes, segment_bytes, n_segments; };
struct segment { unsigned type, offset, address, physical, file_bytes, memory_bytes, flags, align; };
struct entry { int tag; unsigned value; };
struct symbol { unsigned name, value, size; unsigned char info, other; unsigned short section; };
static void leave(int status) { __asm__ volatile("int $0x80" : : "a"(1), "b"(status)); }
static int is_equal(const char *a, const char *b)
{
        for (; *a && *a == *b; a++)
                b++;
        return *a == *b;
}
/* The vdso tells by an entry of the auxiliary vector where it is. */
void begin(unsigned *at)
{
        const struct entry *d = 0;
        const struct symbol *symbols = 0;
        const char *names = 0;
        unsigned base = 0, n = 0, words[4] = { 0 };
        int (*function)(unsigned *, unsigned *, void *) = 0;
        for (at += 1 + *at + 1; *at; at++)
                ;
        for (at++; *at; at += 2)
                if (at[0] == 33)
                        base = at[1];
        if (!base)
                leave(2);
        for (unsigned i = 0; i < ((struct head *)base)->n_segments; i++) {
                const struct segment *s = (struct segment *)(base + ((struct head *)base)->segments) + i;
                if (s->type == 2)
                        d = (struct entry *)(base + s->offset);
        }
        for (; d->tag; d++) {
                if (d->tag == 6)
                        symbols = (struct symbol *)(base + d->value);
                if (d->tag == 5)
                        names = (char *)(base + d->value);
                if (d->tag == 4)
                        n = ((unsigned *)(base + d->value))[1];
        }
        for (unsigned i = 0; i < n; i++)
                if (is_equal(names + symbols[i].name, "__vdso_gettimeofday"))
                        function = (void *)(base + symbols[i].value);
        if (!function)
                leave(2);
        for (unsigned i = 0; i < 20000000; i++)
                (void)function(words, 0, 0);
        leave(5);
}
__asm__(".globl _start\n_start: movl %esp, %eax; pushl %eax; call begin");
EOS
status=0
gcc -m32 -w -O1 -fno-pic -no-pie -ffreestanding -nostdlib -static -fno-stack-protector -fcf-protection=none "$TMPDIR/vdso.c" -o "$TMPDIR/vdso"
"$TMPDIR/vdso" || status=$?
if [ $status -ne 5 ]; then
        skips_group "its vdso" "this kernel has no vdso with a table of symbols for 32-bit programs"
        exit 0
fi
record vdso -- "$TMPDIR/vdso" || true
"$HYPROF" report --json --limit 0 "$TMPDIR/vdso.hyp" >"$TMPDIR/vdso.json" 2>/dev/null
in_vdso() { # condition of jq
        reported vdso "[.functions.rows[] | select(.module == \"[vdso]\" and ($1)) | .self_samples] | add // 0"
}
figure "$(in_vdso true) samples in the vdso"
holds "samples are in its vdso" compare "$(in_vdso true)" ">" 50
holds "and have no names of the other one" same 0 "$(in_vdso '.kind == "named" or (.function | startswith("[vdso]+"))')"
