#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Calls on other stacks and signal trampolines of a program's own have their callers; a call stack that ends early says so
set -eu
. tests/tap.sh
plan 19
need_sampling
[ "$(uname -m)" = x86_64 ] || skip_all "w_other_stacks has no code for $(uname -m)"

# "samples of leaf(), those of them with these frames between main and leaf(), those with other ones, those cut"
leaves() { # trace, frames
        "$HYPROF" export -q -o - folded "$TMPDIR/$1.hyp" | sed -E 's/(;[^;]*_\[k\])+ / /' | awk -v wanted=";main;$2;leaf;burn" '
                / / && /;leaf;burn [0-9]+$/ {
                        n += $NF
                        if (index($0, "[truncated]"))
                                cut += $NF
                        else if (index($0, wanted))
                                right += $NF
                        else
                                wrong += $NF
                }
                END { print n + 0, right + 0, wrong + 0, cut + 0 }'
}

for kind in "other work;call_on" "nested work;call_on;second;call_on;third;call_on" "memory work;call_by_memory"; do
        read -r name frames <<<"$kind"
        holds "$name is recorded" record "$name" "$WORKLOADS/w_other_stacks" "$name"
        read -r n right wrong cut <<<"$(leaves "$name" "$frames")"
        figure "$name: $right of $n call stacks are right, $wrong wrong, $cut cut"
        holds "$name: no caller is wrong" same 0 "$wrong"
        # The first samples of a program may be cut: its tables are being made.
        holds "$name: most call stacks are complete" compare "$right" ">" "0.75 * $n"
done

holds "restorer is recorded" record restorer "$WORKLOADS/w_other_stacks" restorer
stacks=$("$HYPROF" export -q -o - folded "$TMPDIR/restorer.hyp")
read -r n right <<<"$(awk '/;leaf;burn/ { n += $NF; if (/;main;work;.*;trampoline;handler;leaf;burn/) right += $NF }
        END { print n + 0, right + 0 }' <<<"$stacks")"
figure "restorer: $right of $n call stacks are right"
holds "restorer: the interrupted function calls the trampoline, which calls the handler" compare "$right" ">" "0.75 * $n"
holds "restorer: the function before the trampoline is not taken for a caller" same 0 "$(grep -c 'before_trampoline' <<<"$stacks")"

holds "zero is recorded" record zero "$WORKLOADS/w_other_stacks" zero
read -r n right wrong cut <<<"$(leaves zero "work;bare")"
figure "zero: $right of $n call stacks are complete, $wrong end without a mark, $cut are cut"
holds "zero: leaf() was sampled" compare "$n" ">" 100
holds "zero: no call stack that lacks main() counts as complete" same 0 "$wrong"

# ---- Go: C's stack is the thread's, and the goroutine that called it has another one
if command -v go >/dev/null && command -v gcc >/dev/null; then
        mkdir "$TMPDIR/go"
        cat >"$TMPDIR/go/main.go" <<'END'
package main

// void burn_c(void) { for (volatile long i = 0; i < 400000000; i++); }
import "C"

//go:noinline
func callC() { C.burn_c() }

func main() { callC() }
END
        holds "a Go program that calls C is built" env HOME="$TMPDIR" GO111MODULE=off CGO_CFLAGS="-O1 -g" \
                GOFLAGS= go build -o "$TMPDIR/go/calls_c" "$TMPDIR/go/main.go"
        holds "it is recorded" record go "$TMPDIR/go/calls_c"
        stacks=$("$HYPROF" export -q -o - folded "$TMPDIR/go.hyp" | grep burn_c)
        read -r n right wrong <<<"$(awk '{ n += $NF }
                /;main\.main;main\.callC;.*;runtime\.asmcgocall[^;]*;[^;]*;burn_c/ { right += $NF; next }
                !/\[truncated\];runtime\.asmcgocall/ { wrong += $NF }
                END { print n + 0, right + 0, wrong + 0 }' <<<"$stacks")"
        figure "go: $right of $n call stacks are right, $wrong wrong"
        holds "go: the callers of C are the goroutine's" compare "$right" ">" "0.5 * $n"
        holds "go: no caller is wrong" same 0 "$wrong"
else
        for name in "a Go program that calls C is built" "it is recorded" "go: the callers of C are the goroutine's" "go: no caller is wrong"; do
                skips "$name" "there is no go"
        done
fi
