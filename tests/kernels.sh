# shellcheck shell=bash disable=SC2034,SC2154 # the scripts use what is set here, and tap.sh sets the columns
# SPDX-License-Identifier: MIT
# Shared by the scripts about kernels that are generated while a program runs; sourced after tap.sh

# A JIT of LLVM's.
lli=$(llvm_tool lli)
# Those of kernel_pool.
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
none() { # name, condition: shows some lines that must not be there
        local n
        n=$(n_events "$1" "$2")
        [ "$n" -eq 0 ] && return 0
        echo "$n samples, such as"
        awk -F '\t' "$columns $2"' { print self, module, path, source_line, address }' "$TMPDIR/$1.events" | sort | uniq -c |
                sort -rn | head -n 5
        return 1
}
# The instruction that has most samples (*) is like the pattern, or one of the two before it is: a sample marks the
# instruction that runs next, often one or two after the one that took the time.
annotates() { # name, function, pattern of the instruction that takes the time
        "$HYPROF" annotate --asm "$TMPDIR/$1.hyp" "$2" >"$TMPDIR/$1.annotated" || return 1
        grep -q "$2" "$TMPDIR/$1.annotated" || { echo "no $2"; head -n 20 "$TMPDIR/$1.annotated"; return 1; }
        grep -E -B 2 '^ +[0-9.]+ ?% +[0-9]+[*] ' "$TMPDIR/$1.annotated" | grep -qE -- "$3" ||
                { echo "nothing like $3"; sed -n '/^Instructions/,$p' "$TMPDIR/$1.annotated" | head -n 60; return 1; }
}
# One that computes with floating-point numbers.
hot_float='\b(v?(mul|add|fmadd)[0-9a-z]*s[sd]|f(mul|add|madd))\b'
