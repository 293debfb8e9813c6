# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For scripts that install hyprof somewhere: examples/hello_zones is built there by CMake, Meson and pkg-config as a
# user's project is, recorded by the installed hyprof, and its zones are in the report.
#
# They set ROOT, the folder that was installed into, PREFIX and LIBDIR in it, and `sanitize`, the compiler's flags that
# the installed library needs.
sanitize=()

hello_recorded() { # program
        local -x LD_LIBRARY_PATH=$ROOT$LIBDIR
        rm -f "$TMPDIR/hello.hyp"
        "$ROOT$PREFIX/bin/hyprof" record -o "$TMPDIR/hello.hyp" -- "$1" || return 1
        "$ROOT$PREFIX/bin/hyprof" report "$TMPDIR/hello.hyp" --zones --csv >"$TMPDIR/hello.csv" || return 1
        grep ',count_primes,20,' "$TMPDIR/hello.csv"
}

hello_by_cmake() { # hyprof::hyprof or hyprof::hyprof_static, where CMake looks
        rm -rf "$TMPDIR/hello" "$TMPDIR/source"
        cp -r examples/hello_zones "$TMPDIR/source" || return 1
        sed -i "s/hyprof::hyprof)/$1)/" "$TMPDIR/source/CMakeLists.txt"
        cmake -S "$TMPDIR/source" -B "$TMPDIR/hello" "$2" -DCMAKE_C_FLAGS="${sanitize[*]}" || return 1
        cmake --build "$TMPDIR/hello" && hello_recorded "$TMPDIR/hello/hello_zones"
}

hello_flags() { PKG_CONFIG_SYSROOT_DIR=$ROOT PKG_CONFIG_LIBDIR=$ROOT$LIBDIR/pkgconfig "$@"; }

hello_by_meson() {
        rm -rf "$TMPDIR/hello"
        CFLAGS="${sanitize[*]}" LDFLAGS="${sanitize[*]}" hello_flags meson setup "$TMPDIR/hello" examples/hello_zones || return 1
        meson compile -C "$TMPDIR/hello" && hello_recorded "$TMPDIR/hello/hello_zones"
}

hello_by_pkg_config() {
        rm -rf "$TMPDIR/hello" && mkdir "$TMPDIR/hello" || return 1
        hello_flags make -C "$TMPDIR/hello" -f "$PWD/examples/hello_zones/Makefile" CC="cc ${sanitize[*]}" || return 1
        hello_recorded "$TMPDIR/hello/hello_zones"
}

# A case, or a skip where the tool is missing.
hello_case() { # tool, name, command...
        if command -v "$1" >/dev/null; then
                holds "$2: built, recorded, its zones are shown" "${@:3}"
        else
                skips "$2: built, recorded, its zones are shown" "$1 is not installed"
        fi
}

hello_cases() {
        hello_case cmake "CMake, the shared library" hello_by_cmake hyprof::hyprof -DCMAKE_PREFIX_PATH="$ROOT$PREFIX"
        hello_case cmake "CMake, the static library" hello_by_cmake hyprof::hyprof_static -DCMAKE_PREFIX_PATH="$ROOT$PREFIX"
        hello_case meson "Meson" hello_by_meson
        hello_case pkg-config "pkg-config" hello_by_pkg_config
}
