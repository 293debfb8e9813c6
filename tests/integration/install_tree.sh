#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make install: a program in C and one in C++ build, link and run with what was installed; uninstall leaves nothing
set -u
root=$TMPDIR/root
prefix=/opt/hyprof
n=0
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
                lib/pkgconfig/hyprof.pc lib/libhyprof_iree.a include/hyprof/compat/iree/hyprof_iree_provider.h)
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

case_of "install" install_it
case_of "all files are there" files_are_there
case_of "a C program" builds_and_runs cc -std=c99
case_of "a C++ program" builds_and_runs c++ -std=c++11 -x c++
case_of "a program with HYPROF_DISABLE links with nothing" disabled_needs_no_library
if [ "$(id -u)" = 0 ]; then
        case_of "install on the machine itself refreshes the linker's cache, with DESTDIR it does not" refreshes_cache
else
        n=$((n + 1))
        echo "ok $n - install on the machine itself refreshes the linker's cache # SKIP not root"
fi
case_of "uninstall" uninstall_leaves_nothing
