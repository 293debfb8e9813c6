#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make install: a program in C and one in C++ build, link and run with what was installed; uninstall leaves nothing
set -u
root=$TMPDIR/root
prefix=/opt/hyprof
n=0
echo "1..11"
sanitize=()
case $VARIANT in
asan) sanitize=(-fsanitize=address -fsanitize=undefined) ;;
tsan) sanitize=(-fsanitize=thread) ;;
esac

case_of() { # name, command...
        n=$((n + 1))
        if "${@:2}" >"$TMPDIR/out" 2>&1; then
                echo "ok $n - $1"
        else
                echo "not ok $n - $1"
                sed 's/^/    /' "$TMPDIR/out"
        fi
}

install_it() { make VARIANT="$VARIANT" PREFIX=$prefix DESTDIR="$root" install; }

files_are_there() {
        (cd "$root$prefix" && ls -L bin/hyprof lib/libhyprof.a lib/libhyprof.so include/hyprof/hyprof.h \
                lib/pkgconfig/hyprof.pc lib/cmake/hyprof/hyprofConfig{,Version}.cmake lib/libhyprof_iree.a lib/hyprof/libhyprof_inject.so include/hyprof/compat/iree/hyprof_iree_provider.h \
                include/hyprof/compat/tracy/TracyC.h include/hyprof/compat/common/TracyColor.hpp \
                lib/libhyprof_tracy{,_0.13,_ondemand}.{a,so,so.1} share/man/man1/hyprof{,-record,-guide}.1 \
                share/{bash-completion/completions/hyprof,zsh/site-functions/_hyprof,fish/vendor_completions.d/hyprof.fish})
}

flags() {
        PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root$prefix/lib/pkgconfig pkg-config --cflags --libs hyprof
}

builds_and_runs() { # compiler and flags...
        local words
        read -r -a words <<<"$(flags)"
        "$@" -Wall -Wextra -Werror "${sanitize[@]}" "$TMPDIR/program.c" "${words[@]}" -o "$TMPDIR/program" &&
                LD_LIBRARY_PATH=$root$prefix/lib "$TMPDIR/program"
}

# The lines of docs/use/tracy-compat.md.
tracy_in_cxx() {
        c++ -std=c++11 -Wall -Wextra -Werror "${sanitize[@]}" -DTRACY_ENABLE -I"$root$prefix/include/hyprof/compat" \
                "$TMPDIR/tracy.cpp" -L"$root$prefix/lib" -lhyprof -pthread -o "$TMPDIR/program" &&
                LD_LIBRARY_PATH=$root$prefix/lib "$TMPDIR/program"
}
tracy_in_c() {
        cc -std=c99 -Wall -Wextra -Werror "${sanitize[@]}" -DTRACY_ENABLE -I"$root$prefix/include/hyprof/compat" \
                "$TMPDIR/tracy.c" -L"$root$prefix/lib" -lhyprof_tracy -lhyprof -pthread -o "$TMPDIR/program" &&
                LD_LIBRARY_PATH=$root$prefix/lib "$TMPDIR/program"
}

# As with LD_PRELOAD: the program knows the path of one library, and that finds the other.
tracy_by_path() {
        cc "${sanitize[@]}" "$TMPDIR/binding.c" "$root$prefix/lib/libhyprof_tracy.so" \
                "-Wl,-rpath-link,$root$prefix/lib" "-Wl,-rpath,$root$prefix/lib" -o "$TMPDIR/program" &&
                env -u LD_LIBRARY_PATH "$TMPDIR/program"
}

# Both targets; a version that is too new is refused.
cmake_finds_it() {
        mkdir -p "$TMPDIR/cmake" && cp "$TMPDIR/program.c" "$TMPDIR/cmake/" || return 1
        cat >"$TMPDIR/cmake/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(program C)
find_package(hyprof 0.1 REQUIRED)
find_package(hyprof 1000.0 QUIET)
if(hyprof_FOUND)
        message(FATAL_ERROR "a version that does not exist was found")
endif()
add_executable(shared program.c)
target_link_libraries(shared hyprof::hyprof)
add_executable(fixed program.c)
target_link_libraries(fixed hyprof::hyprof_static)
END
        cmake -S "$TMPDIR/cmake" -B "$TMPDIR/cmake/build" -DCMAKE_PREFIX_PATH="$root$prefix" \
                -DCMAKE_C_FLAGS="${sanitize[*]}" && cmake --build "$TMPDIR/cmake/build" &&
                "$TMPDIR/cmake/build/shared" && env -u LD_LIBRARY_PATH "$TMPDIR/cmake/build/fixed"
}

disabled_needs_no_library() {
        cc -Wall -Wextra -Werror -DHYPROF_DISABLE -I"$root$prefix/include" "$TMPDIR/program.c" -o "$TMPDIR/program" &&
                "$TMPDIR/program"
}

uninstall_leaves_nothing() {
        make VARIANT="$VARIANT" PREFIX=$prefix DESTDIR="$root" uninstall &&
                [ -z "$(find "$root" -not -type d)" ] && [ ! -e "$root$prefix/include/hyprof" ]
}

# On the machine itself, so with a linker's cache that stands for the machine's, which does not work.
refreshes_cache() {
        mkdir "$TMPDIR/bin" &&
                printf '#!/bin/sh\necho called >>"%s/called"\nexit 1\n' "$TMPDIR" >"$TMPDIR/bin/ldconfig" &&
                chmod +x "$TMPDIR/bin/ldconfig" &&
                PATH=$TMPDIR/bin:$PATH install_it && [ ! -e "$TMPDIR/called" ] &&
                PATH=$TMPDIR/bin:$PATH make VARIANT="$VARIANT" PREFIX="$TMPDIR/prefix" DESTDIR= install &&
                [ "$(cat "$TMPDIR/called")" = called ]
}

cat >"$TMPDIR/program.c" <<'PROGRAM'
#include <hyprof/hyprof.h>
int main(void)
{
        HYPROF_ZONE("main");
        HYPROF_MESSAGE("hello");
        HYPROF_PLOT_INT("x", 1);
        HYPROF_FRAME();
        return 0;
}
PROGRAM
cat >"$TMPDIR/tracy.cpp" <<'PROGRAM'
#include <tracy/Tracy.hpp>
int main()
{
        ZoneScopedN("main");
        FrameMark;
        return 0;
}
PROGRAM
cat >"$TMPDIR/tracy.c" <<'PROGRAM'
#include <tracy/TracyC.h>
int main(void)
{
        TracyCZoneN(zone, "main", 1);
        TracyCZoneTextF(zone, "%d", 1);
        TracyCZoneEnd(zone);
        return 0;
}
PROGRAM
cat >"$TMPDIR/binding.c" <<'PROGRAM'
int ___tracy_connected(void);
int main(void)
{
        return ___tracy_connected();
}
PROGRAM

case_of "install" install_it
case_of "all files are there" files_are_there
case_of "a C program" builds_and_runs cc -std=c99
case_of "a C++ program" builds_and_runs c++ -std=c++11 -x c++
if command -v cmake >/dev/null; then
        case_of "a program that CMake builds" cmake_finds_it
else
        n=$((n + 1))
        echo "ok $n - a program that CMake builds # SKIP cmake is not installed"
fi
case_of "a C++ program for Tracy" tracy_in_cxx
case_of "a C program for Tracy" tracy_in_c
case_of "a program for Tracy that knows the path of one library" tracy_by_path
case_of "a program with HYPROF_DISABLE links with nothing" disabled_needs_no_library
if [ "$(id -u)" = 0 ]; then
        case_of "install on the machine itself refreshes the linker's cache, with DESTDIR it does not" refreshes_cache
else
        n=$((n + 1))
        echo "ok $n - install on the machine itself refreshes the linker's cache # SKIP not root"
fi
case_of "uninstall" uninstall_leaves_nothing
