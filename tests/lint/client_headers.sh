#!/bin/sh
# SPDX-License-Identifier: MIT
# Each public header compiles alone, in every dialect it promises, and -DHYPROF_DISABLE leaves no trace of them.
set -eu
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
include=instrument/client/include
flags="-O2 -fPIC -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wundef -Werror"
bad=0

# Everything that a program can use, each name once at least: checked below.
cat >"$work/use.c" <<'END'
#include <hyprof/hyprof.h>
int use(int x);
static void moments(int x)
{
        static struct hyprof_location frames = HYPROF_NAME("frames");
        static struct hyprof_location plot = HYPROF_NAME("plot");
        const char *unit = "ms";

        HYPROF_FRAME();
        HYPROF_FRAME_NAMED("named");
        HYPROF_FRAME_BEGIN("gaps");
        HYPROF_FRAME_END("gaps");
        hyprof_frame_mark(&frames);
        hyprof_frame_begin(&frames);
        hyprof_frame_end(&frames);
        hyprof_frame_picture(0, 4, 4, 0, 0);
        if (x > 0)
                HYPROF_MESSAGE("positive");
        else
                HYPROF_MESSAGE_COLOR("not positive", HYPROF_SEVERITY_WARNING, 0xffff00);
        hyprof_message("text", 4, HYPROF_SEVERITY_TRACE, 0);
        hyprof_message("text", 4, HYPROF_SEVERITY_DEBUG, 0);
        hyprof_message("text", 4, HYPROF_SEVERITY_INFO, 0);
        static struct hyprof_location literal = HYPROF_NAME(0);
        hyprof_message_literal(&literal, "text", HYPROF_SEVERITY_INFO, 0);
        hyprof_message_callstack("text", 4, HYPROF_SEVERITY_ERROR, 0, 8);
        hyprof_message_callstack("text", 4, HYPROF_SEVERITY_FATAL, 0, 8);
        HYPROF_PLOT_INT("x", x);
        HYPROF_PLOT_FLOAT("float", (float)x);
        HYPROF_PLOT_DOUBLE("half", x / 2.0);
        HYPROF_PLOT_CONFIG("x", HYPROF_PLOT_PERCENT, HYPROF_PLOT_STEP | HYPROF_PLOT_FILL, 0x00ff00, HYPROF_NULL_);
        hyprof_plot_int(&plot, x);
        hyprof_plot_float(&plot, (float)x);
        hyprof_plot_double(&plot, x);
        hyprof_plot_config(&plot, HYPROF_PLOT_NUMBER, HYPROF_PLOT_STEP, 0, unit);
        hyprof_plot_config(&plot, HYPROF_PLOT_BYTES, HYPROF_PLOT_FILL, 0, HYPROF_NULL_);
        hyprof_plot_config(&plot, HYPROF_PLOT_WATTS, 0, 0, unit);
}
static void zones(int x)
{
        static struct hyprof_location here = HYPROF_LOCATION("here", 0);
        const char *text = "text";
        hyprof_zone zone;

        HYPROF_ZONE("block");
        HYPROF_ZONE_COLOR("colour", 0xff8000);
        HYPROF_ZONE_FUNCTION();
        HYPROF_ZONE_BEGIN(part, "part");
        HYPROF_ZONE_BEGIN_COLOR(other, "other", 0x0080ff);
        HYPROF_ZONE_TEXT(other, text, 4);
        HYPROF_ZONE_VALUE(other, x);
        HYPROF_ZONE_END(other);
        HYPROF_ZONE_END(part);
        zone = hyprof_zone_begin(&here);
        hyprof_zone_text(zone, "text", 4);
        hyprof_zone_name(zone, "name", 4);
        hyprof_zone_value(zone, x);
        hyprof_zone_key(zone, &here, 1);
        hyprof_zone_color(zone, 0xff0000);
        hyprof_zone_end(zone);
        zone = hyprof_zone_begin_callstack(hyprof_location_of("n", 1, "f", 1, "file", 4, 1, 0), 8);
        hyprof_zone_end(zone);
        HYPROF_FLOW_BEGIN((uint64_t)x);
        HYPROF_FLOW_STEP((uint64_t)x);
        HYPROF_FLOW_END((uint64_t)x);
        HYPROF_FLOW_BEGIN_OF("request", (uint64_t)x);
        HYPROF_FLOW_STEP_OF("request", (uint64_t)x);
        HYPROF_FLOW_END_OF("request", (uint64_t)x);
        hyprof_flow_begin(&here, (uint64_t)x);
        hyprof_flow_step(&here, (uint64_t)x);
        hyprof_flow_end(HYPROF_NULL_, (uint64_t)x);
        hyprof_fiber_enter("fiber");
        hyprof_fiber_leave();
}
static void memory(const void *address, size_t bytes)
{
        HYPROF_ALLOC(address, bytes);
        HYPROF_FREE(address);
        HYPROF_ALLOC_POOL("pool", address, bytes);
        HYPROF_FREE_POOL("pool", address);
        HYPROF_DISCARD_POOL("pool");
        hyprof_memory_alloc(HYPROF_NULL_, address, bytes);
        hyprof_memory_free(HYPROF_NULL_, address);
        hyprof_memory_alloc_callstack(HYPROF_NULL_, address, bytes, 8);
        hyprof_memory_free_callstack(HYPROF_NULL_, address, 8);
        hyprof_memory_discard(hyprof_name_of("pool"));
}
static void locks(int x)
{
        static struct hyprof_location here = HYPROF_LOCATION("here", 0);
        static struct hyprof_lock lock = HYPROF_LOCK("lock");
        struct hyprof_lock other;

        hyprof_lock_init(&other, &here);
        hyprof_lock_wait(&other);
        hyprof_lock_obtain(&other);
        hyprof_lock_release(&other);
        hyprof_lock_gone(&other);
        hyprof_lock_wait_shared(&lock);
        hyprof_lock_obtain_shared(&lock);
        hyprof_lock_release_shared(&lock);
        hyprof_lock_try(&lock, x);
        hyprof_lock_try_shared(&lock, x);
        hyprof_lock_mark(&lock, &here);
        hyprof_lock_name(&lock, "name", 4);
}
static void devices(uint64_t ticks)
{
        static struct hyprof_location here = HYPROF_LOCATION("here", 0);
        static struct hyprof_device device = HYPROF_DEVICE("queue", 1.5, 0);
        enum hyprof_track_kind other_kind = HYPROF_TRACK_STREAM;
        struct hyprof_device other;

        hyprof_device_init(&other, "other", 0, 1);
        hyprof_device_calibrate(&other, ticks, hyprof_now_ns());
        hyprof_device_zone_begin(&device, &here, 1);
        hyprof_device_zone_end(&device, 2);
        hyprof_device_time(&device, 1, ticks);
        hyprof_device_span(&device, &here, ticks, ticks + 1, 0, 0);
        hyprof_device_calibrate_within(&device, ticks, hyprof_now_ns(), hyprof_now_ns());
        hyprof_device_track(&device, 1, HYPROF_NO_LANE, "core", HYPROF_TRACK_CORE);
        hyprof_device_track(&device, 2, 1, "processor", HYPROF_TRACK_PROCESSOR);
        hyprof_device_track(&device, 3, 1, "queue", other_kind);
        hyprof_device_track(&device, 4, 1, "else", HYPROF_TRACK_OTHER);
        hyprof_device_keyed_span(&device, &here, ticks, ticks + 1, 1, &here, 2);
        hyprof_device_instant(&device, &here, ticks, 1, HYPROF_NULL_, 0);
        hyprof_device_value(&device, &here, ticks, 1, 0.5);
        hyprof_device_value_int(&device, &here, ticks, 1, -1);
}
static void program(const void *code, size_t bytes)
{
        struct hyprof_code_line line = { 0, 1 };

        hyprof_pause();
        hyprof_mark("mark");
        hyprof_resume();
        hyprof_thread_name("thread");
        hyprof_thread_group(-1);
        hyprof_program_info("line", 4);
        hyprof_program_value("key", "value");
        hyprof_source_text("file", 4, "text", 4);
        hyprof_code_add(code, bytes, "name", 4, HYPROF_NULL_, 0);
        hyprof_code_add_lines(code, bytes, HYPROF_NULL_, &line, 1);
        hyprof_code_remove(code, bytes);
}
int use(int x)
{
        moments(x);
        zones(x);
        memory(&x, sizeof(x));
        locks(x);
        devices((uint64_t)x);
        program(&x, sizeof(x));
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
printf 'int use(int x);\nint main(void)\n{\n        return use(0);\n}\n' >"$work/main.c"
headers=$(basename -a -s .h "$include"/hyprof/*.h)
for header in $headers; do
        printf '#include <hyprof/%s.h>\n#include <hyprof/%s.h>\n' "$header" "$header" >"$work/alone_$header.c"
done
for file in "$work"/*.c; do
        cp "$file" "${file}pp"
done
sed -i 's/^int use(int x);/extern "C" &/' "$work"/*.cpp

# Functions that programs call have no underscore at the end; hyprof_emit_* and the memory itself are the library's.
names=$(cat "$include"/hyprof/*.h | sed 's|^ *\*.*||; s|/\*.*||' |
        grep -oE '\b(hyprof|HYPROF)_[A-Za-z0-9_]*[A-Za-z0-9]\b' |
        grep -vE '^(hyprof_emit_.*|hyprof_control|hyprof_severity|hyprof_plot_format|hyprof_scoped_zone|HYPROF_DISABLE|HYPROF_[A-Z]+_H)$' | sort -u)
for name in $names; do
        grep -qwF -- "$name" "$work/use.c" || {
                echo "client_headers.sh: use.c does not use $name" >&2
                bad=1
        }
done

compile() { # compiler, dialect, file, output, more flags...
        compiler=$1 dialect=$2 file=$3 output=$4
        shift 4
        case $output in */alone.o) set -- "$@" -fsyntax-only ;; esac # there is no code in it
        # shellcheck disable=SC2086
        "$compiler" -std="$dialect" $flags "$@" -I"$include" -c "$file" -o "$output" || {
                echo "$include/hyprof: $compiler -std=$dialect $* does not compile ${file##*/}" >&2
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
                for header in $headers; do
                        compile "$compiler" "$dialect" "$work/alone_$header.$extension" "$work/alone.o"
                done
                compile "$compiler" "$dialect" "$work/use.$extension" "$work/use.o"
                compile "$compiler" "$dialect" "$work/use.$extension" "$work/use.o" -DHYPROF_DISABLE
                compile "$compiler" "$dialect" "$work/bare.$extension" "$work/bare.o"
                code_of "$work/bare.o" >"$work/bare.s"
                code_of "$work/use.o" | cmp -s - "$work/bare.s" || {
                        echo "$compiler -std=$dialect: HYPROF_DISABLE leaves code behind" >&2
                        bad=1
                }
                "$compiler" -std="$dialect" -O0 -DHYPROF_DISABLE -I"$include" "$work/use.$extension" \
                        "$work/main.$extension" -o "$work/main" || {
                        echo "$compiler -std=$dialect -O0: HYPROF_DISABLE needs the library" >&2
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
