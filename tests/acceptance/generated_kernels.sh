#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Kernels that were generated while a program ran have names, lines and hot instructions, from the trace alone
#
# Each is recorded without names; then the trace is put into a folder of its own, all that it was made of is removed,
# and it is completed there.  Every sample of a kernel must have the name of its function where a symbol exists, and
# its line where there is debug information, whatever else had the address before.
set -eu
. tests/tap.sh
need cc clang jq lli-14
need_sampling

kinds='matmul|stencil|softmax|scan'
# Samples that fell into a kernel: in its zone, but not in a library that it calls, the way there, the program, or the system.
in_kernel='kind == "sample" && path ~ /^\/task\/('$kinds')$/ &&
        module !~ /^\/(usr\/)?lib|^\[(kernel|vdso|truncated)|\/kernel_pool$/ && self !~ /@plt$/'
# matmul_48 and its parts in the zone "matmul".
named='self ~ ("^" substr(path, 7) "_[0-9]+(_row|_sweep|_exponents|_step)?$")'

# The trace alone in an empty folder, and nothing else that was there.
carry_away() { # name
        mkdir "$TMPDIR/elsewhere-$1"
        mv "$TMPDIR/$1.hyp" "$TMPDIR/elsewhere-$1/$1.hyp"
        rm -rf "${TMPDIR:?}/home"
}
complete() { # name
        local there=$TMPDIR/elsewhere-$1
        (cd "$there" && "$HYPROF" symbolize "$1.hyp") && "$HYPROF" check "$there/$1.hyp" && cp "$there/$1.hyp" "$TMPDIR/$1.hyp"
}
none() { # name, condition: shows some of what there must be none of
        local n
        n=$(n_events "$1" "$2")
        [ "$n" -eq 0 ] && return 0
        echo "$n samples, such as"
        awk -F '\t' "$columns $2"' { print self, module, path, source_line, address }' "$TMPDIR/$1.events" | sort | uniq -c |
                sort -rn | head -n 5
        return 1
}
annotates() { # name, function, pattern that must be there
        "$HYPROF" annotate --asm "$TMPDIR/$1.hyp" "$2" >"$TMPDIR/$1.annotated" || return 1
        grep -q "$2" "$TMPDIR/$1.annotated" || { echo "no $2"; head -n 20 "$TMPDIR/$1.annotated"; return 1; }
        grep -qE -- "$3" "$TMPDIR/$1.annotated" || { echo "nothing like $3"; head -n 40 "$TMPDIR/$1.annotated"; return 1; }
}
# A share of the samples, in percent, beside an instruction that computes with floating-point numbers.
hot_float='[0-9.]+ ?%.*\b(v?(mul|add|fmadd)[0-9a-z]*s[sd]|f(mul|add|madd))\b'

# ---- kernel_pool, in all its variants
# "most": each lives for a few milliseconds in memory that is used again.  On a machine with more to do than processors some
# are gone when they are looked at; those are counted, and no sample has the name of another one.
pool() { # name, lines ("c", "mlir" or "none"), names ("all", "most" or "exported"), options...
        local n late=0 allowed=0 seen=$in_kernel
        mkdir -p "$TMPDIR/home/tmp"
        cp "$EXAMPLES/kernel_pool" "$TMPDIR/home/"
        holds "$1: is recorded" env TMPDIR="$TMPDIR/home/tmp" "$HYPROF" record -q --no-symbolize -o "$TMPDIR/$1.hyp" -- \
                "$TMPDIR/home/kernel_pool" --seconds 1 "${@:4}"
        carry_away "$1"
        holds "$1: is completed where neither program nor kernels are" complete "$1"
        [ -e "$TMPDIR/$1.hyp" ] || cp "$TMPDIR/elsewhere-$1/$1.hyp" "$TMPDIR/"
        read_trace "$1"
        n=$(n_events "$1" "$in_kernel")
        holds "$1: kernels were sampled" compare "$n" ">" 20
        if [ "$3" = most ]; then
                late=$(lost "$1" | sed -n 's/^CODE_TOO_LATE //p')
                seen="$in_kernel && self != \"?\""
                allowed="0.01 * $n + 4 * ${late:-0} * $n / $(n_events "$1" 'kind == "zone_begin" && zone == "batch"')"
        fi
        if [ "$3" = most ]; then
                holds "$1: what has a name has the right one" none "$1" "$seen && !($named)"
                holds "$1: as good as all have their own" compare "$n - $(n_events "$1" "$seen")" "<=" "$allowed"
        elif [ "$3" = all ]; then
                holds "$1: every sample of a kernel has the name of its function" none "$1" "$in_kernel && !($named)"
        else
                holds "$1: what has a name has the right one" none "$1" "$in_kernel && self != \"?\" && !($named)"
                holds "$1: exported functions have theirs" compare "$(n_events "$1" "$in_kernel && $named")" ">" 0
        fi
        if [ "$2" = none ]; then
                holds "$1: there are no lines" none "$1" "$in_kernel && source_line ~ /:[1-9]/"
        else
                holds "$1: and its line" none "$1" \
                        "$seen && source_line !~ (\"/\" substr(path, 7) \"_[0-9]+[.]$2:[1-9][0-9]*\$\")"
        fi
        holds "$1: nothing was left out" same "" "$(lost "$1" | grep -E '^(CODE|JIT)_' | sed "${late:+/^CODE_TOO_LATE $late\$/d}" || true)"
        [ "$3" = exported ] || holds "$1: its hot loop is shown by the instruction" annotates "$1" matmul_64_row "$hot_float"
        figure "$1: $n samples in kernels, $(n_events "$1" "$in_kernel && $named") with names, $(
                n_events "$1" "$in_kernel && source_line ~ /:[1-9]/") with lines, $(stat -c %s "$TMPDIR/$1.hyp") bytes"
}

# The memory of a program that is built with a sanitizer has terabytes, in which no image is found in time.
bare='-g0 -Wl,--build-id=none'
pool deleted c all
pool deleted-mlir mlir all --mlir
pool deleted-no-build-id mlir all --mlir --cflags '-Wl,--build-id=none'
pool deleted-dwarf4 mlir all --mlir --cflags '-gdwarf-4 -gz -Wl,--build-id=none'
pool deleted-symbols none all --cflags "$bare"
pool deleted-stripped none exported --cflags "$bare -s"
pool reloaded mlir all --mlir --reload
[ "$VARIANT" != release ] || pool reloaded-symbols none most --seconds 3 --reload --cflags "$bare"
[ "$VARIANT" != release ] || pool memory c all --memory
[ "$VARIANT" != release ] || pool memory-no-build-id mlir all --mlir --memory --cflags '-Wl,--build-id=none'
[ "$VARIANT" != release ] || pool memory-stripped none exported --memory --cflags "$bare -s"
[ "$VARIANT" != release ] || pool memory-reloaded mlir most --seconds 3 --mlir --memory --reload --cflags '-Wl,--build-id=none'
holds "the MLIR that was handed over is beside its instructions" \
        "$HYPROF" annotate --source --asm "$TMPDIR/deleted-mlir.hyp" matmul_64_row
holds "deleted-mlir: line 7 of it" grep -q 'arith.mulf %x, %y' <("$HYPROF" annotate --source --asm "$TMPDIR/deleted-mlir.hyp" matmul_64_row 2>&1)

# Names that `hyprof record` itself gives when it ends, of kernels that are gone.
holds "named at once: is recorded" record at-once "$EXAMPLES/kernel_pool" --seconds 1 --mlir --reload
read_trace at-once
holds "named at once: every kernel" none at-once "$in_kernel && !($named)"
holds "named at once: and line" none at-once "$in_kernel && source_line !~ /[.]mlir:[1-9][0-9]*\$/"

# ---- 2,000 kernels in turn, which live for milliseconds, at a few addresses
turns() { # name, kernels, milliseconds each, words for the compiler...
        local here n late n_named
        mkdir -p "$TMPDIR/home/tmp"
        cc -O2 -g -shared -fPIC -fno-omit-frame-pointer -Wl,--build-id=none "${@:4}" -o "$TMPDIR/home/template.so" \
                tests/workloads/kernel_template.c
        holds "$1: is recorded" env TMPDIR="$TMPDIR/home/tmp" "$HYPROF" record -F 2000 -q --no-symbolize -o "$TMPDIR/$1.hyp" \
                -- "$WORKLOADS/w_kernel_turns" "$TMPDIR/home/template.so" "$2" "$3"
        carry_away "$1"
        holds "$1: is completed" complete "$1"
        [ -e "$TMPDIR/$1.hyp" ] || cp "$TMPDIR/elsewhere-$1/$1.hyp" "$TMPDIR/"
        read_trace "$1"
        here='kind == "sample" && path ~ /^\/kernel_[0-9]+$/ && module ~ /\/kernel_[0-9]+[.]so$/'
        n=$(n_events "$1" "$here")
        n_named=$(n_events "$1" "$here && self == substr(path, 2)")
        late=$(lost "$1" | sed -n 's/^CODE_TOO_LATE //p')
        holds "$1: kernels were sampled" compare "$n" ">" "$2"
        holds "$1: no sample has another kernel's name" none "$1" "$here && self != \"?\" && self != \"entry\" && self != substr(path, 2)"
        holds "$1: nor another kernel's line" none "$1" \
                "$here && source_line ~ /[.]mlir:/ && source_line !~ (path \"[.]mlir:[1-9]\")"
        # 99.9 % on a quiet machine; on one that has other work, less: the test below says that no other reason is there.
        holds "$1: as good as all have their own" compare "$n_named" ">=" "0.7 * $n"
        holds "$1: kernels without name are those that it was too late for" compare \
                "$(n_different "$1" "$here && self == \"?\"" path)" "<=" "${late:-0}"
        figure "$1: $n samples of $(n_different "$1" "$here" path) kernels, $n_named with their names, ${late:-0} kernels too late, $(
                stat -c %s "$TMPDIR/$1.hyp") bytes"
}
# A sanitizer makes the recorder too slow for that.
case $VARIANT in
asan | tsan) ;;
*)
        turns turns 2000 2
        turns turns-symbols 500 1 -g0
        ;;
esac

# ---- LLVM's JITs, which tell debuggers of their objects
jitted() { # kind of JIT
        local n in_jit
        mkdir -p "$TMPDIR/home"
        cat >"$TMPDIR/home/hot.c" <<'EOS'
#line 1 "hot_kernel.mlir"
static __attribute__((noinline)) double hot_kernel(double x, int n)
{
        for (int i = 0; i < n; i++)
                x = x * 0.5 + 1.0;
        return x;
}
int main(void)
{
        double sum = 0;
        for (int i = 0; i < 4000; i++)
                sum += hot_kernel(sum, 100000);
        return sum < 0;
}
EOS
        clang -O1 -g -S -emit-llvm -o "$TMPDIR/home/hot.ll" "$TMPDIR/home/hot.c"
        holds "lli $1: is recorded" "$HYPROF" record -q --no-symbolize -o "$TMPDIR/lli-$1.hyp" -- \
                lli-14 "--jit-kind=$1" "$TMPDIR/home/hot.ll"
        carry_away "lli-$1"
        holds "lli $1: is completed" complete "lli-$1"
        [ -e "$TMPDIR/lli-$1.hyp" ] || cp "$TMPDIR/elsewhere-lli-$1/lli-$1.hyp" "$TMPDIR/"
        read_trace "lli-$1"
        in_jit='kind == "sample" && module !~ /^\/(usr\/)?(lib|bin)|^\[(kernel|vdso|truncated)/'
        n=$(n_events "lli-$1" "$in_jit")
        holds "lli $1: the kernel was sampled" compare "$n" ">" 100
        holds "lli $1: every sample has its name" none "lli-$1" "$in_jit && self !~ /^(hot_kernel|main)\$/"
        holds "lli $1: and its line" none "lli-$1" "$in_jit && source_line !~ /hot_kernel[.]mlir:[1-9]/"
        holds "lli $1: its hot loop is shown by the instruction" annotates "lli-$1" hot_kernel "$hot_float"
        figure "lli $1: $n samples in compiled code, $(n_events "lli-$1" "$in_jit && self == \"hot_kernel\"") of hot_kernel"
}
jitted mcjit
jitted orc
