#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# examples/merlin/profile_on_board.sh: from a model to zones of a program that is linked with hyprof's provider, over sshd; --dry-run prints these commands
#
# Merlin's tool and IREE's compiler are a stand-in: it takes the options of Merlin's guide, and compiles w_iree.c, which has
# IREE's macros, with the provider that it is given.  Merlin's own tree and board are not at hand.
set -eu
. tests/tap.sh
. tests/sshd.sh
plan 17
need setpriv gcc jq strip tar
need_sampling
TMPDIR=$(realpath "$TMPDIR")
cleanup() {
        local pid
        for pid in "${processes[@]}"; do
                kill -KILL "$pid" 2>/dev/null || true
        done
}
trap cleanup EXIT
export HYPROF_CACHE_DIR=$TMPDIR/cache
boards=$TMPDIR/cache/boards/$("$HYPROF" --version | sed -n '1s/hyprof \([^ ]*\).*/\1/p')
mkdir -p "$boards" "$TMPDIR/merlin/models" "$TMPDIR/provider/lib" "$TMPDIR/provider/include" "$TMPDIR/here"
cp "$HYPROF" "$boards/hyprof-$(uname -m)"
cp "$BUILD/libhyprof_iree.a" "$TMPDIR/provider/lib"
cp -r instrument/client/include/hyprof "$TMPDIR/provider/include"
echo module >"$TMPDIR/merlin/models/small.mlir"
cat >"$TMPDIR/merlin/merlin" <<END
#!/bin/sh
set -eu
echo "\$*" >>"$TMPDIR/calls"
case \$1 in
compile)
        mkdir -p build/compiled_models/small
        cp "\$2" build/compiled_models/small/small.vmfb ;;
build)
        for word; do
                case \$word in
                --cmake-arg=-DIREE_TRACING_PROVIDER=*) provider=\${word#*PROVIDER=} ;;
                --cmake-arg=-DIREE_TRACING_PROVIDER_H=*) header=\${word#*PROVIDER_H=} ;;
                --cmake-arg=-DIREE_TRACING_MODE=*) mode=\${word#*MODE=} ;;
                esac
        done
        mkdir -p build/spacemit-merlin-release/tools
        gcc -std=c11 -O2 -g -I"$PWD" "-DIREE_TRACING_MODE=\$mode" "-DIREE_TRACING_PROVIDER_H=\"\$header\"" "$PWD/tests/workloads/w_iree.c" \\
                "\$provider" -lpthread -lm -o build/spacemit-merlin-release/tools/w_iree
        mkdir -p unstripped
        gcc -O2 -g -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables -Wl,--build-id=sha1 "$TMPDIR/deep.c" -o unstripped/deep
        strip unstripped/deep -o build/deep
        printf '#!/bin/sh\ncat small.vmfb\n./w_iree >/dev/null\n./deep\nexit "\$1"\n' >build/run_it
        chmod +x build/run_it ;;
esac
END
chmod +x "$TMPDIR/merlin/merlin"
cat >"$TMPDIR/deep.c" <<'END'
#include <time.h>
volatile unsigned sink;
__attribute__((noipa)) unsigned leaf(unsigned n)
{
        unsigned words[16] = { n };
        for (unsigned i = 0; i < n; i++)
                words[i & 15] = words[(i + 3) & 15] * 2654435761U + i;
        return words[n & 15];
}
__attribute__((noipa)) unsigned middle(unsigned n)
{
        unsigned words[8] = { n };
        sink += leaf(n);
        return words[n & 7];
}
int main(void)
{
        struct timespec now;
        do {
                sink += middle(100000);
                (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        } while (now.tv_sec == 0 && now.tv_nsec < 400000000);
        return 0;
}
END
script=$PWD/examples/merlin/profile_on_board.sh
usual=(--merlin "$TMPDIR/merlin" --provider "$TMPDIR/provider" --model models/small.mlir --build all --program run_it
        --deploy "$TMPDIR/merlin/build/spacemit-merlin-release/tools/w_iree"
        --deploy "$TMPDIR/merlin/build/deep" --debug-dir "$TMPDIR/merlin/unstripped" -o "$TMPDIR/here/small.hyp")
run() { (cd "$TMPDIR/here" && HYPROF=$(realpath "$HYPROF") "$script" "$@"); }
commands() { grep -A 1 '^# ' "$1" | grep -v '^--$'; }

holds "--dry-run" ends_with 0 run --dry-run "${usual[@]}" 127.0.0.1 -- 7
cp "$TMPDIR/out" "$TMPDIR/dry"
holds "--dry-run: nothing runs" [ ! -e "$TMPDIR/calls" ]
holds "--dry-run: the debug information of the guide" grep -q 'compile models/small.mlir --target spacemit_x60 --hw RVV --quantized --tracy' "$TMPDIR/dry"
holds "--dry-run: the provider" grep -q 'DIREE_TRACING_PROVIDER=.*/lib/libhyprof_iree.a' "$TMPDIR/dry"
holds "--dry-run: stacks in code without unwind tables are kept, and finished by the unstripped files" \
        grep -q "record --on 127.0.0.1 --debug-dir $TMPDIR/merlin/unstripped --keep-stacks=cut " "$TMPDIR/dry"
holds "--dry-run: without a provider it is made" ends_with 0 run --dry-run --merlin "$TMPDIR/merlin" --build all --program run_it board
holds "--dry-run: by make board" grep -q 'make board TARGET=riscv64' "$TMPDIR/out"
holds "no board" ends_with 2 run "${usual[@]}"
holds "no tree of Merlin" ends_with 125 run --merlin "$TMPDIR/nosuch" --build all --program run_it board
if ! reach_sshd; then
        skips_group "ssh" "sshd: $(tail -n 1 "$TMPDIR/why")"
else
        export HYPROF_SSH="ssh ${ssh_options[*]} -p $port"
        holds "over sshd: the program's status" ends_with 7 run "${usual[@]}" 127.0.0.1 -- 7
        holds "over sshd: the module was there" grep -qx module "$TMPDIR/out"
        holds "over sshd: both of Merlin's steps ran" same "compile build" "$(cut -d ' ' -f 1 "$TMPDIR/calls" | tr '\n' ' ' | sed 's/ $//')"
        # The paths of what was built are known afterwards alone.
        paths() { sed "s,$TMPDIR/merlin/build[^ ]*/,,g"; }
        holds "over sshd: the commands are those of --dry-run" same "$(commands "$TMPDIR/dry" | paths)" "$(commands "$TMPDIR/out" | paths)"
        holds "over sshd: the trace is intact" "$HYPROF" check "$TMPDIR/here/small.hyp"
        "$HYPROF" export folded -q "$TMPDIR/here/small.hyp" -o "$TMPDIR/folded"
        holds "over sshd: stripped code has samples" grep -q 'leaf' "$TMPDIR/folded"
        holds "over sshd: and callers" grep -q 'main;middle;leaf' "$TMPDIR/folded"
        holds "over sshd: zones of the runtime" compare "$("$HYPROF" report --json "$TMPDIR/here/small.hyp" | jq .n_zones)" ">" 0
fi
