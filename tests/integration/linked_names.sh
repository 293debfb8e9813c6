#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A function keeps its name, or none, whatever linkers and strip did with its file and with others of its build-id
set -eu
. tests/tap.sh
plan 19
need cc jq strip objcopy
need_sampling

# ---- what is recorded: nearly all of the time is in hot()
cat >"$TMPDIR/program.c" <<'EOS'
#include <stdint.h>
#define FUNCTION __attribute__((noinline))
volatile int sink;
static inline __attribute__((always_inline)) void tiny(int k) { sink += k * 7; sink += k * 9; sink += k * 11; }
#define TEN(k) tiny(k); tiny(k + 1); tiny(k + 2); tiny(k + 3); tiny(k + 4); tiny(k + 5); tiny(k + 6); tiny(k + 7); tiny(k + 8); tiny(k + 9);
FUNCTION void discarded(int k) { TEN(k) TEN(k + 10) TEN(k + 20) TEN(k + 30) TEN(k + 40) TEN(k + 50) TEN(k + 60) TEN(k + 70) TEN(k + 80) }
__asm__(".text\n.globl sizeless\n.type sizeless,@function\nsizeless:\n nop\n ret\n");
FUNCTION void hot(uint64_t n_rounds)
{
        while (n_rounds > 0) {
                n_rounds--;
                __asm__ volatile("" : "+r"(n_rounds));
        }
}
FUNCTION void run(void) { hot(300000000); __asm__ volatile(""); }
#ifndef NO_MAIN
int main(void) { run(); return 0; }
#endif
EOS
printf 'void run(void);\nint main(void) { run(); return 0; }\n' >"$TMPDIR/main.c"

build() { # name, options...
        cc -O1 -g -fno-toplevel-reorder "${@:2}" -o "$TMPDIR/$1" "$TMPDIR/program.c"
}

# The function with most samples, and its module's name.
hottest() { # trace
        "$HYPROF" report --functions --json --limit 0 "$TMPDIR/$1.hyp" |
                jq -r '.functions.rows[0] | "\(.function) \(.module | sub(".*/"; ""))"'
}

# Each function of programs with a twentieth of the samples, with its module; a busy machine has some of the kernel.
warm() { # trace
        "$HYPROF" report --functions --json --limit 0 "$TMPDIR/$1.hyp" |
                jq -r '[.functions.rows[] | select(.self_share > 0.05 and .module != "[kernel]") | "\(.function) \(.module | sub(".*/"; ""))"] | sort | join(", ")'
}

# "libx+0x113b": the address of hot() in a file with symbols.
unnamed() { # name of the module, file
        printf '%s+0x%x' "$1" "$((16#$(nm "$TMPDIR/$2" | awk '$3 == "hot" { print $1 }')))"
}

# ---- code that the linker discarded
for linker in bfd gold lld; do
        options=()
        [ $linker = gold ] || options=("-Wl,-z,noseparate-code")
        if ! command -v ld.$linker >/dev/null; then
                skips "$linker: a discarded function lends its name to none" "no ld.$linker"
                skips "$linker: nor its lines" "no ld.$linker"
                continue
        fi
        build "discard_$linker" -ffunction-sections -Wl,--gc-sections -fuse-ld=$linker "${options[@]}"
        record "discard_$linker" "$TMPDIR/discard_$linker"
        holds "$linker: a discarded function lends its name to none" same "hot discard_$linker" "$(hottest "discard_$linker")"
        read_trace "discard_$linker"
        first=$(grep -n 'void hot' "$TMPDIR/program.c" | cut -d: -f1)
        holds "$linker: nor its lines" same 0 "$(n_events "discard_$linker" \
                "kind == \"sample\" && self == \"hot\" && (source_line !~ /program.c:/ || substr(source_line, match(source_line, /:[0-9]+/) + 1) + 0 < $first)")"
done

# ---- symbols without a size
build gap
objcopy --strip-symbol=hot "$TMPDIR/gap" "$TMPDIR/gap_dwarf"
record gap_dwarf "$TMPDIR/gap_dwarf"
holds "a symbol without a size: debug information goes before it" same "hot gap_dwarf" "$(hottest gap_dwarf)"
objcopy --strip-debug --strip-symbol=hot "$TMPDIR/gap" "$TMPDIR/gap_bare"
record gap_bare "$TMPDIR/gap_bare"
holds "a symbol without a size ends where unwind information says" same "$(unnamed gap_bare gap) gap_bare" "$(hottest gap_bare)"

cc -O1 -DNO_MAIN -fno-toplevel-reorder -shared -fPIC -Drun='__attribute__((visibility("default"))) run' \
        -fvisibility=hidden -o "$TMPDIR/whole.so" "$TMPDIR/program.c"
strip -o "$TMPDIR/libstripped.so" "$TMPDIR/whole.so"
cc -O1 -o "$TMPDIR/user" "$TMPDIR/main.c" "$TMPDIR/libstripped.so" -Wl,-rpath,"$TMPDIR"
record user "$TMPDIR/user"
holds "an export without a size lends its name to no function of a stripped library" \
        same "$(unnamed libstripped whole.so) libstripped.so" "$(hottest user)"

cat >"$TMPDIR/labels.c" <<'EOS'
__asm__(".text\n.globl loop\nloop:\n .cfi_startproc\n .rept 300000\n nop\n .endr\n"
        "inner:\n .rept 300000\n nop\n .endr\n.globl global_inner\nglobal_inner:\n .rept 300000\n nop\n .endr\n ret\n .cfi_endproc\n");
void loop(void);
int main(void) { for (int i = 0; i < 1500; i++) loop(); return 0; }
EOS
cc -O1 -o "$TMPDIR/labels" "$TMPDIR/labels.c"
record labels "$TMPDIR/labels"
holds "labels without a type within a function are none" same "loop labels" "$(warm labels)"

# ---- one build-id, two files
strip -o "$TMPDIR/stripped" "$TMPDIR/gap"
holds "both have one build-id" same "$(readelf -n "$TMPDIR/gap" | grep Build)" "$(readelf -n "$TMPDIR/stripped" | grep Build)"
for embed in none auto; do
        for order in 'gap stripped' 'stripped gap'; do
                # shellcheck disable=SC2086,SC2016 # two words; the inner shell's
                record both --embed=$embed sh -c 'for one; do "$0/$one"; done' "$TMPDIR" $order
                holds "--embed=$embed, $order: the better one names both" same "hot gap, hot stripped" "$(warm both)"
        done
done
n_advised() { "$HYPROF" report "$TMPDIR/$1.hyp" | grep -cE "/$2 \(.*\) has no symbols"; } # trace, file
holds "nothing is advised about an unstripped file" same 0 "$(n_advised both gap)"
holds "but about one whose functions have no names" same 1 "$(n_advised gap_bare gap_bare)"
cp "$TMPDIR/gap_bare" "$TMPDIR/gap_other"
# shellcheck disable=SC2016 # the inner shell's
record two_bare sh -c '"$0/gap_bare"; "$0/gap_other"' "$TMPDIR"
n_said=$("$HYPROF" report "$TMPDIR/two_bare.hyp" | tr -s ' \n' ' ' | grep -o 'hyprof symbolize --debug-dir' | wc -l)
holds "advice that is good for two files is said once" same "1 1 1" \
        "$(n_advised two_bare gap_bare) $(n_advised two_bare gap_other) $n_said"

# ---- code that was moved out of its file's mapping before the recording began
if [ "$(uname -m)" = x86_64 ]; then
        cat >"$TMPDIR/moved.c" <<'EOS'
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
/* Inline: no code of the segment may be called while it is moved. */
__attribute__((noinline, aligned(4096), section(".mover"))) static void move_text(char *begin, size_t n, char *copy)
{
        register long flags __asm__("r10") = MREMAP_MAYMOVE | MREMAP_FIXED;
        register long to __asm__("r8") = (long)begin;
        long r;
        for (size_t i = 0; i < n; i++)
                copy[i] = begin[i];
        __asm__ volatile("syscall" : "=a"(r) : "0"((long)SYS_mprotect), "D"(copy), "S"(n), "d"(5L) : "rcx", "r11", "memory");
        __asm__ volatile("syscall" : "=a"(r) : "0"((long)SYS_mremap), "D"(copy), "S"(n), "d"(n), "r"(flags), "r"(to)
                         : "rcx", "r11", "memory");
}
__attribute__((noinline)) static void moved(void)
{
        for (volatile uint64_t n = 0; n < UINT64_MAX; n++) {}
}
int main(void)
{
        unsigned long begin = 0, end = 0, wanted = (unsigned long)main;
        char line[512], rights[8];
        FILE *maps = fopen("/proc/self/maps", "r");
        while (maps && fgets(line, sizeof(line), maps))
                if (sscanf(line, "%lx-%lx %7s", &begin, &end, rights) == 3 && wanted >= begin && wanted < end)
                        break;
        char *copy = mmap(NULL, end - begin, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        move_text((char *)begin, end - begin, copy);
        puts("moved");
        fclose(stdout);
        moved();
        return 0;
}
EOS
        cc -O1 -g -o "$TMPDIR/moved" "$TMPDIR/moved.c"
        mkfifo "$TMPDIR/ready"
        "$TMPDIR/moved" >"$TMPDIR/ready" &
        moved=$!
        read -r _ <"$TMPDIR/ready"
        record moved -p $moved -- "$TMPDIR/gap"
        kill $moved
        holds "code that was moved into anonymous memory has its file's names" same "moved moved" "$(hottest moved)"
else
        skips "code that was moved into anonymous memory has its file's names" "x86-64 only"
fi
