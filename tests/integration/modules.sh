#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Samples belong to the module that was mapped at that time: also when it is deleted, or another takes its address
set -eu
. tests/tap.sh
plan 22
need cc jq
need_sampling

# ---- libraries that are deleted as soon as they are loaded
holds "kernel_pool is recorded" record pool "$EXAMPLES/kernel_pool" --seconds 1 --kernels 8
read_trace pool
for wanted in matmul stencil softmax scan; do
        in_zone="kind == \"sample\" && path == \"/task/$wanted\""
        in_kernels="$in_zone && module ~ /\\/(matmul|stencil|softmax|scan)_[0-9]*\\.so\$/"
        # The rest is what a kernel calls in the C library, and the kernel of the system.
        holds "zone \"$wanted\": more than a third of the samples are in compiled kernels" compare \
                "$(n_events pool "$in_kernels")" ">" "$(n_events pool "$in_zone") / 3"
        holds "zone \"$wanted\": which are of that kind" same 0 "$(n_events pool "$in_kernels && module !~ /\\/${wanted}_/")"
done
holds "eight libraries are told apart" same 8 "$(n_different pool \
        'kind == "sample" && module ~ /\/(matmul|stencil|softmax|scan)_[0-9]*\.so$/' module)"
holds "they are named by the paths that they had" same 0 "$(n_events pool 'kind == "sample" && module ~ /deleted/')"
holds "which are gone" awk -F '\t' "$columns"'
        kind == "sample" && module ~ /_[0-9]*\.so$/ && !seen[module]++ && (getline line <module) >= 0 {
                print module, "is there"
                exit 1
        }' "$TMPDIR/pool.events"
holds "next to nothing lies outside of all modules" compare "$(n_events pool 'kind == "sample" && module == ""')" \
        "<=" "0.01 * $(n_events pool 'kind == "sample"')"

# ---- an address that two libraries have one after the other
# shellcheck disable=SC2016 # awk's
shared_address() { # trace
        awk '$1 == "string"  { text[substr($2, 4)] = $3 }
             $1 == "module"  { module[substr($2, 4)] = text[substr($3, 6)] }
             $1 == "mapping" { at[$3] = at[$3] " " module[substr($NF, 8)] }
             END { for (start in at) if (at[start] ~ /libfirst.*libsecond/) exit 0; exit 1 }' "$TMPDIR/$1.dump"
}

for name in first second; do
        cat >"$TMPDIR/$name.c" <<EOS
#include <stdint.h>
void ${name}_busy(uint64_t n_rounds);
__attribute__((noinline)) void ${name}_busy(uint64_t n_rounds)
{
        while (n_rounds > 0) {
                n_rounds--;
                __asm__ volatile("" : "+r"(n_rounds));
        }
}
void work(uint64_t n_rounds);
void work(uint64_t n_rounds)
{
        ${name}_busy(n_rounds);
        __asm__ volatile("");
}
EOS
        cc -O2 -g -fno-omit-frame-pointer -shared -fPIC -o "$TMPDIR/lib$name.so" "$TMPDIR/$name.c"
done
holds "w_reuse is recorded" record reuse "$WORKLOADS/w_reuse" "$TMPDIR/libfirst.so" "$TMPDIR/libsecond.so"
read_trace reuse
if grep -qx 'same address' "$TMPDIR/reuse.out"; then
        for name in first second; do
                in_zone="kind == \"sample\" && path == \"/$name\" && module ~ /lib(first|second)\\.so\$/"
                holds "w_reuse: samples in the zone \"$name\"" compare "$(n_events reuse "$in_zone")" ">" 200
                holds "w_reuse: all lie in its library" same 0 "$(n_events reuse "$in_zone && module !~ /lib$name\\.so\$/")"
                holds "w_reuse: and in its function" same 0 "$(n_events reuse "$in_zone && self !~ /^(${name}_busy|work)\$/")"
        done
        # Two libraries of the same layout: all that differs is the time.
        holds "w_reuse: at the same addresses" same 1 "$(n_different reuse 'self ~ /^(first|second)_busy$/' 'substr(address, 1, 5)')"
        holds "w_reuse: the trace has a mapping of each at one address" shared_address reuse
else
        skips_group "w_reuse" "hardware: the second library was put elsewhere"
fi
