#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Merlin's way from a model to a profile on a RISC-V board, in one command.
# Usage: profile_on_board.sh [OPTIONS] BOARD [-- ARGS of the program]
#
#   --merlin DIR      Merlin's tree; default: here
#   --model FILE      an .mlir to compile; may be given again
#   --target NAME     what `merlin compile` compiles for; default: spacemit_x60
#   --hw NAME         default: RVV
#   --profile NAME    what `merlin build` builds for; default: spacemit
#   --build NAME      the CMake target
#   --program NAME    the program that it makes
#   --mode N          IREE_TRACING_MODE, 1 to 4; default: 3
#   --provider DIR    hyprof's lib/ and include/ for the board; default: what `make board TARGET=riscv64` has packed
#   --deploy FILE     another file that the program needs; may be given again
#   --debug-dir DIR   unstripped files, beside those of the program's own folder; may be given again
#   -o FILE           the trace; default: hyprof.hyp
#   --view            show it in the browser while it comes
#   --sudo            record as root
#   --dry-run         print the commands alone
#
# $MERLIN is how Merlin's tool is called in its tree (./merlin), $HYPROF hyprof, $HYPROF_SSH ssh.  Each command is printed
# before it runs.  The exit status is that of the first step that fails, and at last the program's.
set -euo pipefail

tree=$(realpath "$(dirname "$0")/../..")
read -r -a tool <<<"${MERLIN:-./merlin}"
hyprof=${HYPROF:-$(command -v hyprof || echo "$tree/build/release/hyprof")}
merlin=. target=spacemit_x60 hw=RVV profile=spacemit cmake_target='' program='' mode=3 provider='' trace=hyprof.hyp
models=() files=() record=() is_dry=0

fail() { # words
        printf 'profile_on_board.sh: %s\n' "$1" >&2
        exit 125
}
usage() {
        sed -n '3,23s/^# \{0,1\}//p' "$0" >&2
        exit 2
}
while [ $# -gt 0 ]; do
        case $1 in
        --merlin | --model | --target | --hw | --profile | --build | --program | --mode | --provider | --deploy | --debug-dir | -o) [ -n "${2-}" ] || usage ;;&
        --merlin) merlin=$2 && shift 2 ;;
        --model) models+=("$2") && shift 2 ;;
        --target) target=$2 && shift 2 ;;
        --hw) hw=$2 && shift 2 ;;
        --profile) profile=$2 && shift 2 ;;
        --build) cmake_target=$2 && shift 2 ;;
        --program) program=$2 && shift 2 ;;
        --mode) mode=$2 && shift 2 ;;
        --provider) provider=$2 && shift 2 ;;
        --deploy) files+=("$2") && shift 2 ;;
        -o) trace=$2 && shift 2 ;;
        --debug-dir) record+=("$1" "$2") && shift 2 ;;
        --view | --sudo) record+=("$1") && shift ;;
        --dry-run) is_dry=1 && shift ;;
        -*) usage ;;
        *) break ;;
        esac
done
if [ $# -eq 0 ] || [ -z "$cmake_target" ] || [ -z "$program" ]; then usage; fi
board=$1
shift
if [ $# -gt 0 ]; then
        [ "$1" = -- ] || usage
        shift
fi
[ -d "$merlin" ] || fail "--merlin $merlin: there is no such folder"
merlin=$(realpath "$merlin")

# The words before a command say where it runs.
step() { # words, folder, command...
        printf '\n# %s\n(cd %q &&' "$1" "$2"
        printf ' %q' "${@:3}"
        printf ')\n'
        [ $is_dry = 1 ] || (cd "$2" && "${@:3}")
}
# The newest file of this name.
find_file() { # folder, name
        [ ! -d "$1" ] || find "$1" -name "$2" -type f -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2-
}

# hyprof itself for the board: what it records with, and the provider that the runtime is linked with.
if [ -z "$provider" ]; then
        provider=$tree/build/merlin
        step "hyprof for the board, once" "$tree" make board TARGET=riscv64
        tar_file=$(find_file "$tree/build/riscv64-board" 'hyprof-*-riscv64.tar.gz')
        step "its provider for IREE" "$tree" mkdir -p build/merlin
        step "unpacked" "$tree" tar -xzf "${tar_file:-build/riscv64-board/hyprof-VERSION-riscv64.tar.gz}" -C build/merlin --strip-components 1
fi
[ $is_dry = 1 ] || [ -f "$provider/lib/libhyprof_iree.a" ] || fail "--provider $provider: there is no lib/libhyprof_iree.a in it"
provider=$(realpath -m "$provider")

# --tracy is about the compiler alone: debug information, the sources of executables, and the system's loader.
for model in "${models[@]}"; do
        step "compile $model, with debug information" "$merlin" "${tool[@]}" compile "$model" --target "$target" --hw "$hw" --quantized --tracy
done
# Not --enable-tracy, which is Tracy's provider in mode 1.
step "build the runtime with hyprof's provider, mode $mode" "$merlin" "${tool[@]}" build --profile "$profile" --config release \
        --cmake-arg=-DIREE_ENABLE_RUNTIME_TRACING=ON "--cmake-arg=-DIREE_TRACING_MODE=$mode" \
        "--cmake-arg=-DIREE_TRACING_PROVIDER=$provider/lib/libhyprof_iree.a" \
        "--cmake-arg=-DIREE_TRACING_PROVIDER_H=$provider/include/hyprof/compat/iree/hyprof_iree_provider.h" --cmake-target "$cmake_target"

binary=$(find_file "$merlin/build" "$program")
[ -n "$binary" ] || [ $is_dry = 1 ] || fail "there is no $program in $merlin/build"
# Code without unwind tables: its stacks are kept, and finished here by the unstripped files.
record+=(--keep-stacks=cut -o "$trace")
for model in "${models[@]}"; do
        name=$(basename "$model" .mlir).vmfb
        module=$(find_file "$merlin/build" "$name")
        [ -n "$module" ] || [ $is_dry = 1 ] || fail "there is no $name in $merlin/build"
        record+=(--deploy "${module:-$merlin/build/$name}")
done
for file in "${files[@]}"; do
        record+=(--deploy "$file")
done
status=0
step "deploy, run and record there, the trace and its names here" "$PWD" "$hyprof" record --on "$board" "${record[@]}" -- \
        "${binary:-$merlin/build/$program}" "$@" || status=$?
[ $is_dry = 1 ] || [ -s "$trace" ] || exit "$status"
step "where the time went" "$PWD" "$hyprof" report --zones "$trace" || true
exit "$status"
