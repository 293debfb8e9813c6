#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Code, debug information and perf maps made to harm: an error or a missing name, little memory and time, never a crash
set -eu
. tests/tap.sh
plan 47
need gcc as ld objcopy python3 jq
need_sampling

# Memory and time that a symbolization may take here.  A sanitizer's runtime reserves more than any limit.
memory_kib=$((1536 * 1024)) seconds=60
case $VARIANT in asan | tsan) memory_kib=unlimited ;; esac
bounded() { # command...
        (ulimit -c 0 -v "$memory_kib" && exec timeout -k 5 "$seconds" "$@")
}
# It ends by itself, and says so if it found nothing to be used.
survives() { # greatest exit status, command...
        local status=0 most=$1
        shift
        bounded "$@" >"$TMPDIR/out" 2>"$TMPDIR/err" || status=$?
        [ "$status" -le "$most" ] && ! grep -qE 'Sanitizer|runtime error|died of signal|killed by' "$TMPDIR/err" && return 0
        echo "exit status $status: $*"
        tail -n 30 "$TMPDIR/err"
        return 1
}
tool=$BUILD/tools/symbolize_addresses
# All addresses of the first 64 KiB, in steps.
addresses=$TMPDIR/addresses
python3 -c 'print("\n".join(hex(a) for a in range(0, 0x10000, 61)))' >"$addresses"
asks() { survives 1 "$tool" "$1" <"$addresses"; }

burn='#include <stdint.h>
static inline __attribute__((always_inline)) uint64_t inner(uint64_t n) { uint64_t s = 0; while (n--) { s += n; __asm__ volatile("" : "+r"(s)); } return s; }
__attribute__((noinline)) uint64_t burner(uint64_t n);
__attribute__((noinline)) uint64_t burner(uint64_t n) { return inner(n) + 1; }
#ifndef LIBRARY
int main(void) { return burner(600000000) == 1; }
#endif
'
printf '%s' "$burn" >"$TMPDIR/burn.c"

# ---- a program whose file is exchanged for something else between recording and symbolizing
gcc -O2 -g -Wl,--build-id=none -o "$TMPDIR/victim" "$TMPDIR/burn.c"
holds "a program is recorded" "$HYPROF" record -q --no-symbolize -o "$TMPDIR/t.hyp" -- "$TMPDIR/victim"
cp "$TMPDIR/victim" "$TMPDIR/good"
symbolizes() { survives 0 "$HYPROF" symbolize --force -o "$TMPDIR/out.hyp" "$TMPDIR/t.hyp"; }
is_stale() { # no name that only the other file has
        ! "$HYPROF" dump "$TMPDIR/out.hyp" | grep -q 'text="impostor"' || { echo "the name of another file is believed"; return 1; }
}
sed 's/burner/impostor/g' "$TMPDIR/burn.c" >"$TMPDIR/other.c"
gcc -O2 -g -Wl,--build-id=none -o "$TMPDIR/new" "$TMPDIR/other.c" && mv "$TMPDIR/new" "$TMPDIR/victim"
holds "another program is at its path" symbolizes
holds "it is not believed" is_stale
truncate -s 4G "$TMPDIR/new" && mv "$TMPDIR/new" "$TMPDIR/victim"
holds "4 GiB of nothing are at its path" symbolizes
cp "$TMPDIR/good" "$TMPDIR/new" && truncate -s 4G "$TMPDIR/new" && mv "$TMPDIR/new" "$TMPDIR/victim"
holds "the program is there, with 4 GiB of nothing after it" symbolizes
mkfifo "$TMPDIR/new" && mv "$TMPDIR/new" "$TMPDIR/victim"
holds "a pipe without a writer is there" symbolizes

# ---- 4 GiB that claim to be one section
# A section whose offset and size are the file's, at the place of .debug_info, .debug_line, .debug_str and .symtab in turn.
cat >"$TMPDIR/inflate.py" <<'EOS'
import os, struct, sys
path, section = sys.argv[1:]
data = bytearray(open(path, "rb").read())
shoff, = struct.unpack_from("<Q", data, 0x28)
n, names = struct.unpack_from("<HH", data, 0x3c)
base, = struct.unpack_from("<Q", data, shoff + names * 64 + 0x18)
for i in range(n):
    at = shoff + i * 64
    name, = struct.unpack_from("<I", data, at)
    if data[base + name:data.index(0, base + name)].decode() == section:
        struct.pack_into("<QQ", data, at + 0x18, 0x40, (4 << 30) - 0x1000)
open(path, "wb").write(data)
os.truncate(path, 4 << 30)
EOS
for section in .debug_info .debug_abbrev .debug_line .debug_str .symtab .strtab; do
        cp "$TMPDIR/good" "$TMPDIR/big"
        python3 "$TMPDIR/inflate.py" "$TMPDIR/big" $section
        holds "$section of 4 GiB in a sparse file" asks "$TMPDIR/big"
done
rm -f "$TMPDIR/big"

# ---- debug information that leads in circles, made by hand
# Each is a unit of one function over all of .text, with other entries in it.
circle() { # name, debugging entries in the function
        cat >"$TMPDIR/$1.s" <<EOS
        .text
        .globl  f
        .type   f, @function
f:      .skip   4096, 0x90
        ret
.Lend:  .size   f, .Lend - f
        .section .debug_abbrev,"",@progbits
        .uleb128 1, 0x11
        .byte 1
        .uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0
        .uleb128 2, 0x2e
        .byte 1
        .uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0
        .uleb128 3, 0x1d
        .byte 1
        .uleb128 0x31, 0x13, 0x11, 0x01, 0x12, 0x07, 0x58, 0x0b, 0x59, 0x0b, 0, 0
        .uleb128 4, 0x2e
        .byte 0
        .uleb128 0x31, 0x13, 0, 0
        .uleb128 5, 0x2e
        .byte 0
        .uleb128 0x47, 0x13, 0, 0
        .uleb128 6, 0x3d
        .byte 0
        .uleb128 0x18, 0x10, 0, 0
        .byte 0
        .section .debug_info,"",@progbits
.Lcu:   .long   .Lcu_end - .Lcu_body
.Lcu_body:
        .short  4
        .long   .debug_abbrev
        .byte   8
        .uleb128 1
        .asciz  "circle.c"
        .quad   f
        .quad   .Lend - f
.Lfunction:
        .uleb128 2
        .asciz  "f"
        .quad   f
        .quad   .Lend - f
$2
        .byte   0
        .byte   0
.Lcu_end:
EOS
        gcc -shared -nostdlib -Wl,--build-id=none -o "$TMPDIR/$1.so" "$TMPDIR/$1.s" 2>"$TMPDIR/$1.log" ||
                { cat "$TMPDIR/$1.log"; return 1; }
}
inlined() { # label, label of its origin
        printf '%s:\n        .uleb128 3\n        .long %s - .Lcu\n        .quad f\n        .quad .Lend - f\n        .byte 1, 1\n' "$1" "$2"
}
reference() { # label, abbreviation, label referred to
        printf '%s:\n        .uleb128 %s\n        .long %s - .Lcu\n' "$1" "$2" "$3"
}
end='        .byte 0'
tries() { # name, entries
        circle "$1" "$2"
        holds "$1" asks "$TMPDIR/$1.so"
        holds "$1: the function has its name" grep -qx f "$TMPDIR/out"
}
tries own_origin "$(inlined .La .La; echo "$end")"
tries origin_is_its_function "$(inlined .La .Lfunction; echo "$end")"
tries two_origins_in_a_circle "$(inlined .La .Lb; echo "$end"; inlined .Lb .La; echo "$end")"
tries child_is_its_parents_origin "$(inlined .La .Lb; inlined .Lb .La; echo "$end"; echo "$end")"
tries circle_of_abstract_functions "$(inlined .La .Lb; echo "$end"; reference .Lb 4 .Lc; reference .Lc 4 .Lb)"
tries circle_of_specifications "$(inlined .La .Lb; echo "$end"; reference .Lb 5 .Lc; reference .Lc 5 .Lb)"
tries origin_outside_of_the_unit "$(inlined .La '.Lcu + 0x7fffffff'; echo "$end")"
tries origin_amid_an_entry "$(inlined .La '.Lfunction + 1'; echo "$end")"
# 20,000 levels of inlined calls, and 20,000 beside each other, all over the same code.
deep=$(for ((i = 0; i < 20000; i++)); do inlined ".Ld$i" .Lfunction; done; printf '        .fill 20000, 1, 0\n')
tries inlined_20000_deep "$deep"
wide=$(for ((i = 0; i < 20000; i++)); do inlined ".Lw$i" .Lfunction; echo "$end"; done)
tries inlined_20000_wide "$wide"
tries imports_itself "$(printf '        .uleb128 6\n        .quad .Lcu\n')"

# ---- cut off, and damaged
gcc -O2 -g -gdwarf-5 -DLIBRARY -shared -fPIC -Wl,--build-id=none -o "$TMPDIR/five.so" "$TMPDIR/burn.c"
gcc -O2 -g -gdwarf-4 -gz -DLIBRARY -shared -fPIC -Wl,--build-id=none -o "$TMPDIR/four.so" "$TMPDIR/burn.c"
cat >"$TMPDIR/damage.py" <<'EOS'
import random, subprocess, sys
tool, path, how, scratch, addresses = sys.argv[1:]
data = open(path, "rb").read()
rng = random.Random(7)
bad = 0
for i in range(120):
    if how == "cut":
        made = data[:len(data) * i // 120]
    elif how == "bytes":
        made = bytearray(data)
        for _ in range(1 + i // 4):
            made[rng.randrange(64, len(made))] = rng.choice((0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)))
    else:
        made = bytearray(data)
        at = rng.randrange(64, len(made) - 8)
        made[at:at + 8] = rng.choice((b"\xff" * 8, b"\0" * 8, b"\xff\xff\xff\x7f\0\0\0\0", b"\0\0\0\0\1\0\0\0"))
    open(scratch, "wb").write(made)
    try:
        done = subprocess.run([tool, scratch], stdin=open(addresses), capture_output=True, timeout=60)
        status, words = done.returncode, done.stderr
    except subprocess.TimeoutExpired:
        status, words = "it does not end", b""
    if status not in (0, 1) or b"Sanitizer" in words or b"runtime error" in words:
        print(how, i, status, words[-2000:].decode(errors="replace"))
        bad += 1
sys.exit(bad != 0)
EOS
for file in five four; do
        for how in cut bytes words; do
                holds "$file: 120 times $how" python3 "$TMPDIR/damage.py" "$tool" "$TMPDIR/$file.so" $how "$TMPDIR/damaged.so" "$addresses"
        done
done

# ---- recorded: a program that runs damaged code, and says nonsense of what it compiles
cat >"$TMPDIR/host.c" <<'EOS'
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
        for (int i = 1; i < argc; i++) {
                void *library = dlopen(argv[i], RTLD_NOW);
                uint64_t (*burner)(uint64_t) = library ? (uint64_t(*)(uint64_t))dlsym(library, "burner") : 0;
                if (burner)
                        burner(100000000);
                unlink(argv[i]);
        }
        return 0;
}
EOS
gcc -O1 -w -o "$TMPDIR/host" "$TMPDIR/host.c" -ldl
cat >"$TMPDIR/spoil.py" <<'EOS'
import random, struct, subprocess, sys
# Only what the loader does not look at: the sections that are not loaded, and the table of sections.
path, seed = sys.argv[1], int(sys.argv[2])
data = bytearray(open(path, "rb").read())
rng = random.Random(seed)
shoff, = struct.unpack_from("<Q", data, 0x28)
n, = struct.unpack_from("<H", data, 0x3c)
loose = [struct.unpack_from("<QQ", data, shoff + i * 64 + 0x18) for i in range(n)
         if struct.unpack_from("<Q", data, shoff + i * 64 + 0x10)[0] == 0 and i > 0]
for at, size in loose + [(shoff, n * 64)]:
    for _ in range(1 + seed % 5):
        if size:
            data[at + rng.randrange(size)] = rng.choice((0, 0xff, 0x80, rng.randrange(256)))
open(path, "wb").write(data)
EOS
spoiled=()
for seed in 1 2 3 4 5 6 7 8; do
        cp "$TMPDIR/five.so" "$TMPDIR/spoiled$seed.so"
        python3 "$TMPDIR/spoil.py" "$TMPDIR/spoiled$seed.so" $seed
        spoiled+=("$TMPDIR/spoiled$seed.so")
done
memory_kib=unlimited # a recorder maps large rings
holds "eight libraries with damaged debug information, deleted, are recorded" survives 0 "$HYPROF" record -o "$TMPDIR/s.hyp" -- \
        "$TMPDIR/host" "${spoiled[@]}"
holds "the trace is whole" "$HYPROF" check "$TMPDIR/s.hyp"
holds "it says nothing of a symbolizer that failed" same 0 "$("$HYPROF" report --json --limit 0 "$TMPDIR/s.hyp" |
        jq '[.missing.rows[] | select(.code == "SYMBOLIZER_FAILED")] | length')"

# Code in anonymous memory, and a map of it.
cat >"$TMPDIR/jit.c" <<'EOS'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
        /* for (n = rdi; n != 0; n--); */
        static const unsigned char code[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 };
        unsigned char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        char path[64];
        FILE *f;
        memcpy(memory, code, sizeof(code));
        (void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
        f = fopen(path, "w");
        (void)fprintf(f, "%lx %zx hot code\n", (unsigned long)memory, sizeof(code));
        (void)fputs("garbage\n\n \n0\n0 0\nffffffffffffffff ffffffffffffffff over the end\n-1 -1 negative\n"
                    "1234 zz not a number\n99999999999999999999999999 1 too large\n", f);
        (void)fprintf(f, "%lx 0 empty\n%lx ffffffff huge\n", (unsigned long)memory + 1, (unsigned long)memory + 64);
        for (int i = 0; i < 3000000; i++)
                (void)putc("0123456789abcdef \n\t\377\033"[(unsigned)(i * 2654435761u) >> 16 % 20 & 15], f);
        (void)fputc(0, f);
        for (int i = 0; i < 2000000; i++)
                (void)fputc('a', f);
        (void)fprintf(f, "\n%lx %zx hot code\n", (unsigned long)memory, sizeof(code));
        (void)fclose(f);
        ((void (*)(unsigned long))(void *)memory)(1500000000ul);
        (void)unlink(path);
        return 0;
}
EOS
if [ "$(uname -m)" = x86_64 ]; then
        gcc -O1 -w -o "$TMPDIR/jit" "$TMPDIR/jit.c"
        holds "a perf map of garbage is recorded" survives 0 "$HYPROF" record -o "$TMPDIR/j.hyp" -- "$TMPDIR/jit"
        holds "the trace with it is whole" "$HYPROF" check "$TMPDIR/j.hyp"
        read_trace j
        holds "what it says of the code is found all the same" compare "$(n_events j 'self == "hot code"')" ">" 100
        holds "its garbage is counted" compare "$(lost j | sed -n 's/^JIT_GARBAGE //p')" ">" 5
else
        skips_group "a perf map of garbage" "hardware: the code is of x86-64"
fi
