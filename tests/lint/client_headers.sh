#!/bin/sh
# SPDX-License-Identifier: MIT
# The public header compiles alone, in every dialect it promises, and -DHYPROF_DISABLE leaves no trace of it.
set -eu
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
include=instrument/client/include
flags="-O2 -fPIC -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wundef -Werror"
bad=0

cat >"$work/use.c" <<'END'
#include <hyprof/hyprof.h>
int use(int x);
int use(int x)
{
        HYPROF_ZONE("block");
        HYPROF_ZONE_COLOR("colour", 0xff8000);
        HYPROF_ZONE_FUNCTION();
        HYPROF_ZONE_BEGIN(part, "part");
        HYPROF_ZONE_BEGIN_COLOR(other, "other", 0x0080ff);
        if (x > 0)
                HYPROF_MESSAGE("positive");
        else
                HYPROF_MESSAGE_COLOR("not positive", HYPROF_SEVERITY_WARNING, 0xffff00);
        HYPROF_PLOT_INT("x", x);
        HYPROF_PLOT_DOUBLE("half", x / 2.0);
        HYPROF_ZONE_END(other);
        HYPROF_ZONE_END(part);
        HYPROF_FRAME();
        HYPROF_FRAME_NAMED("named");
        hyprof_thread_name("thread");
        return hyprof_is_recording() ? x + 1 : x;
}
END
cat >"$work/bare.c" <<'END'
int use(int x);
int use(int x)
{
        return x;
}
END
echo '#include <hyprof/hyprof.h>' >"$work/alone.c"
for name in use alone; do
        cp "$work/$name.c" "$work/$name.cpp"
done

compile() { # compiler, dialect, file, output, more flags...
        compiler=$1 dialect=$2 file=$3 output=$4
        shift 4
        # shellcheck disable=SC2086
        "$compiler" -std="$dialect" $flags "$@" -I"$include" -c "$file" -o "$output" || {
                echo "$include/hyprof/hyprof.h: $compiler -std=$dialect $* does not compile it" >&2
                bad=1
        }
}

code_of() { # object -> its instructions
        objdump -d --no-show-raw-insn "$1" | sed 1,3d
}

check_compiler() { # compiler, extension, dialects...
        compiler=$1 extension=$2
        shift 2
        command -v "$compiler" >/dev/null || {
                echo "client_headers.sh: $compiler is not installed, left out"
                return 0
        }
        for dialect in "$@"; do
                compile "$compiler" "$dialect" "$work/alone.$extension" "$work/alone.o"
                compile "$compiler" "$dialect" "$work/use.$extension" "$work/use.o"
                compile "$compiler" "$dialect" "$work/use.$extension" "$work/use.o" -DHYPROF_DISABLE
                [ "$extension" = c ] || continue
                compile "$compiler" "$dialect" "$work/bare.c" "$work/bare.o"
                code_of "$work/bare.o" >"$work/bare.s"
                code_of "$work/use.o" | cmp -s - "$work/bare.s" || {
                        echo "$compiler -std=$dialect: HYPROF_DISABLE leaves code behind" >&2
                        bad=1
                }
        done
}

check_compiler gcc c c99 c11 c17
check_compiler clang c c99 c11 c17
check_compiler g++ cpp c++11 c++20
check_compiler clang++ cpp c++11 c++20
# By any path to it, with no -I: build systems that take one file as a setting include it like that.
echo "#include \"$PWD/$include/hyprof/hyprof.h\"" >"$work/path.c"
(cd "$work" && "${CC:-cc}" -std=c99 -c path.c -o path.o) || {
        echo "$include/hyprof/hyprof.h: cannot be included by its path alone" >&2
        bad=1
}
exit $bad
