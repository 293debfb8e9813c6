#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ELF images in anonymous memory and objects of JITs are modules: their frames are offsets in them, and they are kept
# shellcheck disable=SC2154 # tests/tap.sh assigns them
set -eu
. tests/tap.sh
plan 52
need cc jq strip
need_sampling

# Kept code is only looked at where there is any.
"$HYPROF" record --help | grep -q -e --embed && keeps=holds || keeps=:

# Without a build-id, and with one.
ids=(first:none second:sha1)
for one in "${ids[@]}"; do
        name=${one%:*}
        cat >"$TMPDIR/$name.c" <<EOS
#include <stdint.h>
static __attribute__((noinline)) void ${name}_busy(uint64_t n_rounds)
{
        while (n_rounds > 0) {
                n_rounds--;
                __asm__ volatile("# $name" : "+r"(n_rounds));
        }
}
void ${name}_run(uint64_t n_rounds);
void ${name}_run(uint64_t n_rounds)
{
        ${name}_busy(n_rounds);
        __asm__ volatile("");
}
EOS
        cc -g -O2 -shared -fPIC -nostdlib "-Wl,--build-id=${one#*:}" -Wl,-e,"${name}_run" -o "$TMPDIR/$name.so" "$TMPDIR/$name.c"
done

# Where a function lies in its file: its address, less that of its section, and where that lies.
function_range() { # file, function: first offset and the one after the last
        local section symbol
        read -ra section < <(readelf -SW "$1" | sed 's/\[ */[/' | awk '$2 == ".text" { print $4, $5 }')
        read -ra symbol < <(readelf -sW "$1" | awk -v name="$2" '$8 == name { print $2, $3; exit }')
        local at=$((16#${symbol[0]} - 16#${section[0]} + 16#${section[1]}))
        echo "$at $((at + symbol[1]))"
}

# The share of a trace's samples whose place is in this function of an image.
share_in() { # trace, file, function
        local ends address n=0
        read -ra ends < <(function_range "$2" "$3")
        while read -r address; do
                [ $((address)) -ge "${ends[0]}" ] && [ $((address)) -lt "${ends[1]}" ] && n=$((n + 1))
        done < <(awk -F '\t' "$columns"'kind == "sample" && module ~ /^\[image [0-9a-f]+\]$/ { print address }' "$TMPDIR/$1.events")
        awk -v n=$n -v all="$(n_events "$1" 'kind == "sample"')" 'BEGIN { print n / (all ? all : 1) }'
}

# An image of the trace whose state is KEPT, or the kind of its attachment.
kept_kind() { # trace, name of the module
        awk -v wanted="$2" '
                function of(name,    i) { for (i = 2; i <= NF; i++) if (index($i, name "=") == 1) return substr($i, length(name) + 2) }
                $1 == "string" { at = index($0, "\""); text[of("id")] = substr($0, at + 1, length($0) - at - 1) }
                $1 == "module" { name[of("id")] = text[of("path")] }
                $1 == "attachment" { kind[of("id")] = of("kind") }
                $1 == "module_image" && name[of("module")] ~ wanted { print kind[of("attachment")] }' "$TMPDIR/$1.dump" | sort -u
}

# The memory of a program that is built with a sanitizer has terabytes, in which nothing is found in time.
searched=(header bare late)
case $VARIANT in asan | tsan) searched=() ;; esac
for mode in header freed "${searched[@]:1}"; do
        holds "$mode: is recorded" record "$mode" "$WORKLOADS/w_memory_image" "$mode" "$TMPDIR/first.so" "$TMPDIR/second.so"
        read_trace "$mode"
        # In memory that can be written while it is executed nothing is known from before the first look at it.
        enough=0.85
        [ "$mode" != late ] || enough=0.3
        holds "$mode: more than $enough of the samples are in the function, by its place in the file" compare \
                "$(share_in "$mode" "$TMPDIR/first.so" first_busy)" ">" "$enough"
        holds "$mode: they are of one image" same 1 "$(n_different "$mode" 'kind == "sample" && module ~ /^\[image/' module)"
done
for mode in "${searched[@]}"; do
        # In memory that can be written, if there was time to find it.
        wanted=3
        [ "$mode" != late ] || wanted='3|4'
        $keeps "$mode: the whole image is kept, from the heap" grep -qxE "$wanted" <(kept_kind "$mode" 'image' | head -n 1)
done
$keeps "freed: what is mapped is kept, or all of it if there was time" grep -qxE '3|4' <(kept_kind freed 'image')

# Stripped and without a build-id: the unstripped file names it afterwards, recognised by its code, whatever its name is,
# and told from one with the same code and other names.
strip -s -o "$TMPDIR/stripped.so" "$TMPDIR/first.so"
mkdir "$TMPDIR/unstripped"
cp "$TMPDIR/first.so" "$TMPDIR/unstripped/another_name"
cp "$TMPDIR/second.so" "$TMPDIR/unstripped/another_file"
holds "stripped: is recorded" record stripped "$WORKLOADS/w_memory_image" header "$TMPDIR/stripped.so" "$TMPDIR/second.so"
read_trace stripped
holds "stripped: its function has no name" same 0 "$(n_events stripped 'kind == "sample" && self == "first_busy"')"
$keeps "stripped: symbolize --debug-dir" ends_with 0 "$HYPROF" symbolize --debug-dir "$TMPDIR/unstripped" "$TMPDIR/stripped.hyp"
read_trace stripped
$keeps "stripped: names it" compare "$(n_events stripped 'kind == "sample" && self == "first_busy"')" ">" \
        "0.85 * $(n_events stripped 'kind == "sample"')"

# Another image at the same place later is another module.
holds "turns: is recorded" record turns "$WORKLOADS/w_memory_image" turns "$TMPDIR/first.so" "$TMPDIR/second.so"
read_trace turns
for name in first second; do
        holds "turns: the $name image has its half of the samples" compare \
                "$(share_in turns "$TMPDIR/$name.so" ${name}_busy)" ">" 0.4
done
holds "turns: an image with a build-id has its name from it" grep -q "$(readelf -n "$TMPDIR/second.so" |
        sed -n 's/.*Build ID: \(........\).*/[image \1]/p')" "$TMPDIR/turns.events"

# Two models compiled from the same kernel: the same code byte for byte, other names and constants, no build-id.
for name in alike other; do
        cat >"$TMPDIR/$name.c" <<EOS
#include <stdint.h>
__attribute__((visibility("default"))) const char model_name[] = "$name";
static __attribute__((noinline)) void ${name}_busy(uint64_t n_rounds)
{
        while (n_rounds > 0) {
                n_rounds--;
                __asm__ volatile("" : "+r"(n_rounds));
        }
}
__attribute__((visibility("default"))) void run_it(uint64_t n_rounds);
void run_it(uint64_t n_rounds)
{
        ${name}_busy(n_rounds);
        __asm__ volatile("");
}
EOS
        cc -g -O2 -shared -fPIC -nostdlib -Wl,--build-id=none,-e,run_it -o "$TMPDIR/$name.so" "$TMPDIR/$name.c"
        objcopy -O binary -j .text "$TMPDIR/$name.so" "$TMPDIR/$name.text"
done
holds "alike: the code is the same" cmp "$TMPDIR/alike.text" "$TMPDIR/other.text"
case " ${searched[*]} " in
*" header "*)
        holds "alike: is recorded" record alike "$WORKLOADS/w_memory_image" turns "$TMPDIR/alike.so" "$TMPDIR/other.so"
        read_trace alike
        for name in alike other; do
                holds "alike: $name has its half of the samples" compare \
                        "$(n_events alike "kind == \"sample\" && self == \"${name}_busy\"")" ">" "0.4 * $(n_events alike 'kind == "sample"')"
        done
        ;;
esac

# Two that are the same in all that is mapped, in memory that stays writable: no sample of the second has the first's
# names, and the replacement is counted.
for name in whole1 whole2; do
        sed -e '/model_name/d' -e "s/alike/$name/" "$TMPDIR/alike.c" >"$TMPDIR/$name.c"
        (cd "$TMPDIR" && cc -g -O2 -shared -fPIC -nostdlib -Wl,--build-id=none,-e,run_it -o "$name.so" "$name.c")
        objcopy -O binary "$TMPDIR/$name.so" "$TMPDIR/$name.mapped"
done
holds "written: what is mapped is the same" cmp "$TMPDIR/whole1.mapped" "$TMPDIR/whole2.mapped"
holds "written: is recorded" record written "$WORKLOADS/w_memory_image" written "$TMPDIR/whole1.so" "$TMPDIR/whole2.so"
read_trace written
for name in whole1 whole2; do
        holds "written: no more than its half has the names of $name" compare \
                "$(n_events written "kind == \"sample\" && self == \"${name}_busy\"")" "<" "0.6 * $(n_events written 'kind == "sample"')"
done

# ---- a program that puts its own code into memory of no file, as those do that want huge pages
cat >"$TMPDIR/own.c" <<'EOS'
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#define PAGE __attribute__((aligned(4096), noinline))
PAGE __attribute__((section(".text.own"))) void own_busy(uint64_t n_rounds)
{
        while (n_rounds > 0) {
                n_rounds--;
                __asm__ volatile("" : "+r"(n_rounds));
        }
}
PAGE __attribute__((section(".text.z_behind"))) int main(void)
{
        static char copy[4096];
        memcpy(copy, (void *)own_busy, sizeof(copy));
        void *at = mmap((void *)own_busy, sizeof(copy), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (at == MAP_FAILED)
                return 1;
        memcpy(at, copy, sizeof(copy));
        if (mprotect(at, sizeof(copy), PROT_READ | PROT_EXEC) < 0)
                return 1;
        own_busy(1000000000);
        return 0;
}
EOS
cc -O2 -g -ffunction-sections -Wl,--build-id,-z,max-page-size=4096 -o "$TMPDIR/own" "$TMPDIR/own.c"
holds "own code in memory of no file: is recorded" record own "$TMPDIR/own"
read_trace own
holds "own code: it is the program's" compare "$(n_events own 'kind == "sample" && self == "own_busy" && module ~ /.own$/')" \
        ">" "0.9 * $(n_events own 'kind == "sample" && module !~ /kernel/')"

# ---- objects of JITs, by GDB's interface
# Two hundred, each for two milliseconds in the same memory.  The list is read from time to time, so some are never seen:
# these have no name.
cat >"$TMPDIR/kernel_0000.c" <<'EOS'
#include <stdint.h>
void kernel_0000(uint64_t n_rounds)
{
        while (n_rounds > 0) {
                n_rounds--;
                __asm__ volatile("" : "+r"(n_rounds));
        }
}
EOS
cc -O2 -g -c -fno-asynchronous-unwind-tables -o "$TMPDIR/kernel_0000.o" "$TMPDIR/kernel_0000.c"
for when in before after; do
        holds "told $when it is code: is recorded" record "told-$when" -F 2000 "$WORKLOADS/w_jit_turns" "$when" "$TMPDIR/kernel_0000.o"
        read_trace "told-$when"
        own='kind == "sample" && path ~ /^.kernel_[0-9]+$/ && self ~ /^kernel_[0-9]+$/'
        holds "told $when: no sample has the name of what was there before or later" same 0 \
                "$(n_events "told-$when" "$own && self != substr(path, 2)")"
        holds "told $when: some have their own" compare "$(n_events "told-$when" "$own")" ">" 0
        figure "told $when: $(n_events "told-$when" "$own") samples with their names, $(
                n_events "told-$when" 'kind == "sample" && path ~ /^.kernel/ && module ~ /anon/') without"
done
lli=$(llvm_tool lli)
if command -v "$lli" >/dev/null && command -v clang >/dev/null; then
        cat >"$TMPDIR/jit.c" <<'EOS'
#include <stdint.h>
#include <time.h>
static uint64_t hot_loop(uint64_t n)
{
        uint64_t x = n;
        for (uint64_t i = 0; i < n; i++) {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
        }
        return x;
}
int main(void)
{
        uint64_t sum = 0;
        clock_t begin = clock(); /* what lli did to get here is not in the image, and may be long */
        while (clock() - begin < CLOCKS_PER_SEC * 3 / 2)
                sum += hot_loop(1000000 + (sum & 1));
        return sum == 42;
}
EOS
        clang -g -O1 -fno-inline -fno-omit-frame-pointer -S -emit-llvm -o "$TMPDIR/jit.ll" "$TMPDIR/jit.c"
        for kind in mcjit orc orc-lazy "orc --jit-linker=jitlink"; do
                name=${kind// /_}
                # shellcheck disable=SC2086 # words
                holds "lli $kind: is recorded" record "$name" "$lli" --jit-kind=$kind "$TMPDIR/jit.ll"
                read_trace "$name"
                holds "lli $kind: the loop's samples are in an image" compare \
                        "$(n_events "$name" 'kind == "sample" && module ~ /^\[image/')" ">" \
                        "0.5 * $(n_events "$name" 'kind == "sample" && module !~ /kernel/')"
                $keeps "lli $kind: whose object is kept" same 3 "$(kept_kind "$name" image | sort -u)"
        done
else
        skips_group "objects of lli" "lli or clang is not installed"
fi
