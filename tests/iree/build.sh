#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds IREE's runtime with hyprof as its tracing provider, as docs/use/iree.md says.  Usage: build.sh SOURCE MODE BUILD [TARGET]
#
# SOURCE is IREE's tree with third_party/benchmark, flatcc and googletest.  MODE is 1 to 4, or "locks" for every feature.
# BUILD is the folder with libhyprof_iree.a; TARGET is riscv64 or aarch64, this machine without it.  The programs are put
# into build/iree/TARGET-MODE/there.  No compiler of IREE is needed: the module is assembled from multiply.vmasm, and
# kernel.c is its kernel; one that IREE's compiler made lies beside IREE's test of its loader.
set -euo pipefail
cd "$(dirname "$0")/../.."

source=$(realpath "${1:?}") mode=${2:?} build=$(realpath "${3:?}") target=${4:-$(uname -m)}
tools=build/iree/tools out=build/iree/$target-$mode
programs=(runtime/src/iree/{runtime/demo/hello_world_file,hal/local/elf/elf_module_test_binary,task/executor_test})
case $target in
riscv64) architecture=riscv_64 ;;
aarch64) architecture=arm_64 ;;
*) architecture=x86_64 ;;
esac

# Only what runs modules on processors.  Optimized a little, with IREE's assertions.
configure() { # folder, options...
        [ ! -e "$1/build.ninja" ] || return 0
        cmake -G Ninja -S "$source" -B "$1" -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O1 -g1" \
                "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1" -DIREE_ERROR_ON_MISSING_SUBMODULES=OFF -DIREE_BUILD_COMPILER=OFF \
                -DIREE_BUILD_BINDINGS_TFLITE=OFF -DIREE_ENABLE_LIBBACKTRACE=OFF -DIREE_HAL_DRIVER_DEFAULTS=OFF \
                -DIREE_HAL_DRIVER_LOCAL_TASK=ON -DIREE_HAL_EXECUTABLE_PLUGIN_DEFAULTS=OFF \
                -DIREE_HAL_EXECUTABLE_LOADER_DEFAULTS=OFF -DIREE_HAL_EXECUTABLE_LOADER_EMBEDDED_ELF=ON "${@:2}"
}

mkdir -p "$out/there"
configure "$tools"
ninja -C "$tools" iree-flatcc-cli iree-c-embed-data iree-as-module

features=("-DIREE_TRACING_MODE=$mode")
[ "$mode" != locks ] || features=(-DIREE_TRACING_MODE=4 {-DCMAKE_C_FLAGS=,-DCMAKE_CXX_FLAGS=}-DIREE_TRACING_FEATURES_REQUESTED=0x1ff)
machine=() prefix=
[ "$target" = "$(uname -m)" ] || {
        prefix=$target-linux-gnu-
        machine=(-DCMAKE_SYSTEM_NAME=Linux "-DCMAKE_SYSTEM_PROCESSOR=$target" "-DCMAKE_C_COMPILER=${prefix}gcc"
                "-DCMAKE_CXX_COMPILER=${prefix}g++" "-DCMAKE_EXE_LINKER_FLAGS=-static-libgcc -static-libstdc++")
}
configure "$out" "-DIREE_HOST_BIN_DIR=$PWD/$tools/tools" "${machine[@]}" -DIREE_ENABLE_RUNTIME_TRACING=ON "${features[@]}" \
        "-DIREE_TRACING_PROVIDER=$build/libhyprof_iree.a" \
        "-DIREE_TRACING_PROVIDER_H=$PWD/instrument/client/include/hyprof/compat/iree/hyprof_iree_provider.h"
ninja -C "$out" "${programs[@]}"

# As IREE's linker makes it: nothing is imported, and there is no build-id.
"${prefix}gcc" -O2 -g -Wall -Wextra -fPIC -shared -nostdlib -fvisibility=hidden -Wl,--build-id=none -Wl,--hash-style=both \
        "-I$source/runtime/src" -o "$out/kernel.so" tests/iree/kernel.c
in_hex() { od -An -v -tx1 | tr -d ' \n'; }
sed -e "s/@FORMAT@/$(printf 'embedded-elf-%s' $architecture | in_hex)/" -e "s/@KERNEL@/$(in_hex <"$out/kernel.so")/" \
        tests/iree/multiply.vmasm >"$out/multiply.vmasm"
"$tools/tools/iree-as-module" "--output=$out/there/multiply.vmfb" "$out/multiply.vmasm"
cp "${programs[@]/#/$out/}" "$out/there/"
