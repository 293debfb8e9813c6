#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs that build Perfetto's SDK from its source find share/hyprof/perfetto instead: built unchanged, recorded, zones exact
# shellcheck disable=SC2016 # CMake expands them
set -u
. tests/tap.sh
plan 5
need cmake
need_sampling
ROOT=$TMPDIR/root
PREFIX=/opt/hyprof
LIBDIR=$PREFIX/lib/$(uname -m)-linux-gnu
TREE=$ROOT$PREFIX/share/hyprof/perfetto
sanitize=()
case $VARIANT in
asan) sanitize=(-fsanitize=address -fsanitize=undefined) ;;
tsan) sanitize=(-fsanitize=thread) ;;
esac
export LD_LIBRARY_PATH=$ROOT$LIBDIR CXXFLAGS="${sanitize[*]}" LDFLAGS="${sanitize[*]}"

make_it() { make VARIANT="$VARIANT" PREFIX=$PREFIX LIBDIR="$LIBDIR" DESTDIR="$ROOT" "$1"; }

project() { # folder, lines of CMake before the program
        mkdir -p "$1"
        cat >"$1/main.cpp" <<'END'
#include <perfetto.h>
PERFETTO_DEFINE_CATEGORIES(perfetto::Category("engine"));
PERFETTO_TRACK_EVENT_STATIC_STORAGE();
int main()
{
        perfetto::TracingInitArgs args;
        args.backends = perfetto::kInProcessBackend;
        perfetto::Tracing::Initialize(args);
        perfetto::TrackEvent::Register();
        for (int i = 0; i < 1000; i++)
                TRACE_EVENT("engine", "step", "i", i);
}
END
        {
                printf 'cmake_minimum_required(VERSION 3.16)\nproject(engine LANGUAGES CXX)\nset(CMAKE_CXX_STANDARD 17)\n'
                printf '%s\n' "${@:2}" 'add_executable(program main.cpp)' 'target_link_libraries(program PRIVATE perfetto)'
        } >"$1/CMakeLists.txt"
}

built() { # folder, flags...
        cmake -S "$1" -B "$1/build" "-DCMAKE_CXX_STANDARD_LIBRARIES=-L$ROOT$LIBDIR -lhyprof" "${@:2}" && cmake --build "$1/build" &&
                "$ROOT$PREFIX/bin/hyprof" record -o "$TMPDIR/t.hyp" -- "$1/build/program" &&
                "$ROOT$PREFIX/bin/hyprof" report "$TMPDIR/t.hyp" --zones --csv | grep ',step,1000,'
}

holds "install" make_it install
project "$TMPDIR/fetch" 'include(FetchContent)' 'find_package(Threads)' \
        'FetchContent_Declare(perfetto GIT_REPOSITORY https://invalid.invalid/perfetto.git GIT_TAG v50.1)' \
        'FetchContent_MakeAvailable(perfetto)' 'add_library(perfetto STATIC ${perfetto_SOURCE_DIR}/sdk/perfetto.cc)' \
        'target_include_directories(perfetto PUBLIC ${perfetto_SOURCE_DIR}/sdk)' 'target_link_libraries(perfetto PUBLIC Threads::Threads)'
holds "FetchContent" built "$TMPDIR/fetch" "-DFETCHCONTENT_SOURCE_DIR_PERFETTO=$TREE"
project "$TMPDIR/module" 'add_library(perfetto STATIC third_party/perfetto/sdk/perfetto.cc)' \
        'target_include_directories(perfetto PUBLIC third_party/perfetto/sdk)'
mkdir -p "$TMPDIR/module/third_party"
ln -s "$TREE" "$TMPDIR/module/third_party/perfetto"
holds "a submodule" built "$TMPDIR/module"
holds "uninstall" make_it uninstall
holds "leaves nothing" same "" "$(find "$ROOT$PREFIX" ! -type d)"
