#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs that look for Tracy in any of six ways find share/hyprof/tracy instead: built unchanged, recorded, zones exact
# shellcheck disable=SC2016 # CMake expands them
set -u
. tests/tap.sh
plan 14
need cmake pkg-config
need_sampling
ROOT=$TMPDIR/root
PREFIX=/opt/hyprof
LIBDIR=$PREFIX/lib/$(uname -m)-linux-gnu
TREE=$ROOT$PREFIX/share/hyprof/tracy
sanitize=()
case $VARIANT in
asan) sanitize=(-fsanitize=address -fsanitize=undefined) ;;
tsan) sanitize=(-fsanitize=thread) ;;
esac
export LD_LIBRARY_PATH=$ROOT$LIBDIR CXXFLAGS="${sanitize[*]}" CFLAGS="${sanitize[*]}" LDFLAGS="${sanitize[*]}"

make_it() { make VARIANT="$VARIANT" PREFIX=$PREFIX LIBDIR="$LIBDIR" DESTDIR="$ROOT" "$1"; }

# A library in C++ and a program in C, as engines are; what it includes is an argument.
sources() { # folder, how the program includes <tracy/Tracy.hpp>, <tracy/TracyC.h>
        mkdir -p "$1/src"
        cat >"$1/src/engine.cpp" <<END
#include $2
#include <mutex>
static TracyLockable(std::mutex, engine_mutex);
extern "C" void engine_step(int i);
extern "C" void engine_step(int i)
{
        ZoneScopedN("step");
        std::lock_guard<LockableBase(std::mutex)> guard(engine_mutex);
        TracyPlot("i", (int64_t)i);
#ifdef TRACY_ENABLE
        tracy::Profiler::PlotData("plain", (int64_t)i);
#endif
        FrameMark;
}
END
        cat >"$1/src/main.c" <<END
#include $3
void engine_step(int i);
int main(void)
{
        for (int i = 0; i < 1000; i++) {
                TracyCZoneN(zone, "main loop", 1);
                engine_step(i);
                TracyCZoneEnd(zone);
        }
        TracyCMessageL("done");
        return 0;
}
END
}

project() { # folder, lines of CMake
        mkdir -p "$1"
        sources "$1" "<tracy/Tracy.hpp>" "<tracy/TracyC.h>"
        {
                printf 'cmake_minimum_required(VERSION 3.16)\nproject(engine LANGUAGES C CXX)\n'
                printf '%s\n' 'add_library(engine STATIC src/engine.cpp)' 'add_executable(program src/main.c)' \
                        'target_link_libraries(program PRIVATE engine)' 'set_target_properties(program PROPERTIES LINKER_LANGUAGE CXX)'
                printf '%s\n' "${@:2}"
        } >"$1/CMakeLists.txt"
}

configured() { # folder, flags...
        if ! cmake -S "$1" -B "$1/build" "${@:2}" >"$1/log" 2>&1 || ! cmake --build "$1/build" >>"$1/log" 2>&1; then
                tail -n 20 "$1/log"
                return 1
        fi
}

is_recorded() { # program
        "$ROOT$PREFIX/bin/hyprof" record -o "$TMPDIR/t.hyp" -- "$1" >"$TMPDIR/t.out" 2>&1 || { cat "$TMPDIR/t.out" && return 1; }
        "$ROOT$PREFIX/bin/hyprof" report "$TMPDIR/t.hyp" --zones --csv >"$TMPDIR/t.csv" || return 1
        if ! grep ',step,1000,' "$TMPDIR/t.csv" || ! grep ',main loop,1000,' "$TMPDIR/t.csv"; then
                cat "$TMPDIR/t.csv"
                return 1
        fi
}

built() { # folder, flags...
        configured "$@" && is_recorded "$1/build/program"
}

holds "install" make_it install

# As box2d does: what links with Tracy is exported, definitions are set on the target, and Tracy's sources are listed.
project "$TMPDIR/fetch" 'include(FetchContent)' 'set(TRACY_ON_DEMAND ON CACHE BOOL "" FORCE)' \
        'FetchContent_Declare(tracy GIT_REPOSITORY https://invalid.invalid/tracy.git GIT_TAG v0.11.1 GIT_SHALLOW TRUE)' \
        'FetchContent_MakeAvailable(tracy)' 'target_compile_definitions(TracyClient PUBLIC ENGINE_DEFINES)' \
        'set_target_properties(TracyClient PROPERTIES FOLDER external)' 'target_link_libraries(engine PUBLIC TracyClient)' \
        'if(NOT EXISTS ${tracy_SOURCE_DIR}/public/TracyClient.cpp)' 'message(FATAL_ERROR "no ${tracy_SOURCE_DIR}")' 'endif()' \
        'install(TARGETS engine EXPORT engineConfig)' 'install(EXPORT engineConfig NAMESPACE engine:: DESTINATION lib/cmake/engine)'
holds "FetchContent, with the program exported" built "$TMPDIR/fetch" "-DFETCHCONTENT_SOURCE_DIR_TRACY=$TREE"
installs_nothing_of_tracy() {
        DESTDIR=$TMPDIR/elsewhere cmake --install "$TMPDIR/fetch/build" >"$TMPDIR/log" &&
                [ -e "$TMPDIR/elsewhere/usr/local/lib/libengine.a" ] && [ -z "$(find "$TMPDIR/elsewhere" -iname '*tracy*')" ]
}
holds "what it installs has no other Tracy in it" installs_nothing_of_tracy
holds "switched off, nothing is linked" configured "$TMPDIR/fetch" "-DFETCHCONTENT_SOURCE_DIR_TRACY=$TREE" -DTRACY_ENABLE=OFF
holds "and no zone is left" same 0 "$(nm "$TMPDIR/fetch/build/program" | grep -c 'hyprof_emit_zone')"

for name in Tracy tracy "Tracy 0.11.1"; do
        project "$TMPDIR/find ${name// /-}" "find_package($name REQUIRED)" 'target_link_libraries(engine PUBLIC Tracy::TracyClient)'
        holds "find_package($name)" built "$TMPDIR/find ${name// /-}" "-DCMAKE_PREFIX_PATH=$TREE"
done
asks_for() { # version, revision of the functions
        project "$TMPDIR/revision" "find_package(Tracy $1 REQUIRED)" 'get_target_property(set Tracy::TracyClient INTERFACE_COMPILE_DEFINITIONS)' \
                "if(NOT TRACY_COMPAT_API=$2 IN_LIST set)" 'message(FATAL_ERROR "${set}")' 'endif()'
        cmake -S "$TMPDIR/revision" -B "$TMPDIR/revision/$1" "-DCMAKE_PREFIX_PATH=$TREE"
}
both_revisions() { asks_for 0.11.1 1103 && asks_for 0.13.1 1200; }
holds "an older one gets the macros that it had" both_revisions
finds_no_tracy() {
        project "$TMPDIR/none" 'find_package(Tracy QUIET)' 'if(Tracy_FOUND)' 'message(FATAL_ERROR "${Tracy_DIR}")' 'endif()'
        cmake -S "$TMPDIR/none" -B "$TMPDIR/none/build" "-DCMAKE_PREFIX_PATH=$ROOT$PREFIX"
}
holds "who asks for hyprof's own folder finds no Tracy there" finds_no_tracy

project "$TMPDIR/sub" 'add_subdirectory(third_party/tracy)' 'target_link_libraries(engine PUBLIC Tracy::TracyClient)'
mkdir "$TMPDIR/sub/third_party"
ln -s "$TREE" "$TMPDIR/sub/third_party/tracy"
holds "add_subdirectory, a link in the place of the submodule" built "$TMPDIR/sub"

says_copied() {
        mkdir -p "$TMPDIR/copied/third_party" && cp -rL "$TREE" "$TMPDIR/copied/third_party/tracy" && rm "$TMPDIR/sub/third_party/tracy" &&
                mv "$TMPDIR/copied/third_party/tracy" "$TMPDIR/sub/third_party/" && rm -r "$TMPDIR/sub/build" || return 1
        ! cmake -S "$TMPDIR/sub" -B "$TMPDIR/sub/build" >"$TMPDIR/log" 2>&1 && tr -s ' \n' ' ' <"$TMPDIR/log" | grep -q 'make a link to it'
}
holds "a copy in its place says what to do" says_copied

by_pkg_config() {
        local flags
        mkdir -p "$TMPDIR/pc" && sources "$TMPDIR/pc" "<tracy/Tracy.hpp>" "<tracy/TracyC.h>" || return 1
        read -r -a flags <<<"$(PKG_CONFIG_PATH=$TREE/lib/pkgconfig pkg-config --cflags --libs tracy)"
        cc -c "${sanitize[@]}" "${flags[@]}" "$TMPDIR/pc/src/main.c" -o "$TMPDIR/pc/main.o" &&
                c++ "${sanitize[@]}" "$TMPDIR/pc/src/engine.cpp" "$TMPDIR/pc/main.o" "${flags[@]}" -o "$TMPDIR/pc/program" &&
                is_recorded "$TMPDIR/pc/program"
}
holds "pkg-config tracy" by_pkg_config

# Compiles the client itself, as programs with Makefiles do, and needs two libraries more.
by_path() {
        local at=$TMPDIR/path
        mkdir -p "$at/lib" && sources "$at" '"../lib/tracy/public/tracy/Tracy.hpp"' '"../lib/tracy/include/tracy/tracy/TracyC.h"' &&
                ln -s "$TREE" "$at/lib/tracy" || return 1
        cc -c "${sanitize[@]}" -DTRACY_ENABLE "$at/src/main.c" -o "$at/main.o" &&
                c++ "${sanitize[@]}" -DTRACY_ENABLE "$at/src/engine.cpp" "$at/lib/tracy/public/TracyClient.cpp" "$at/main.o" \
                        -L"$ROOT$LIBDIR" -lhyprof_tracy -lhyprof -pthread -o "$at/program" &&
                is_recorded "$at/program"
}
holds "an include by path" by_path
