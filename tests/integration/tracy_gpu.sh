#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Zones of OpenGL and Vulkan by Tracy's macros, on Mesa's software renderers: each is in the trace, on the host's clock
set -u
. tests/tap.sh
plan 15
need c++ jq
need_sampling
sanitize=()
case $VARIANT in
asan) sanitize=(-fsanitize=address -fsanitize=undefined) ;;
tsan) sanitize=(-fsanitize=thread) ;;
esac
export LIBGL_ALWAYS_SOFTWARE=1
for driver in /usr/share/vulkan/icd.d/lvp_icd.*.json; do
        [ ! -e "$driver" ] || export VK_ICD_FILENAMES=$driver
done

built() { # source, program, flags...
        c++ -std=c++11 -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wold-style-cast -Werror "${sanitize[@]}" -DTRACY_ENABLE \
                -Iinstrument/client/include/hyprof/compat "tests/workloads/$1" "$BUILD/libhyprof.a" "${@:3}" -pthread -o "$TMPDIR/$2"
}

has_header() { printf '#include <%s>\n' "$1" | c++ -E - >/dev/null 2>&1; }

zones_of() { # name of the trace
        "$HYPROF" csv -g "$TMPDIR/$1.hyp" | awk -F, 'NR > 1 { n[$1 " " $5]++ } END { for (zone in n) print zone, n[zone] }' | LC_ALL=C sort
}

# Each zone of the device lies between the begin and the end of the recording, and inner zones within outer ones.
in_time() { # name of the trace, outer zone, inner zone
        local length
        length=$(reported "$1" '.summary.duration_ns')
        "$HYPROF" csv -g "$TMPDIR/$1.hyp" | awk -F, -v length_ns="$length" -v outer="$2" -v inner="$3" '
        NR > 1 && ($3 < 0 || $3 + $4 > length_ns) { print "out of time: " $0; bad = 1 }
        $1 == outer { begin[n_outer] = $3; end[n_outer++] = $3 + $4 }
        $1 == inner { at[n_inner] = $3; to[n_inner++] = $3 + $4 }
        END {
                for (i = 0; i < n_inner; i++)
                        if (at[i] < begin[i] || to[i] > end[i]) { print "not inside: " i; bad = 1 }
                exit bad || n_outer == 0 || n_outer != n_inner
        }'
}

late() { # program, wanted zones, arguments...: its context is made while nothing is recorded
        record "$1_late" --delay 300ms "$TMPDIR/$1" 200 "${@:3}" late && same "$2" "$(zones_of "$1_late")"
}

group() { # name, program, wanted zones, outer, inner, arguments...
        local status=0
        "$TMPDIR/$2" 3 "${@:6}" >"$TMPDIR/out" 2>&1 || status=$?
        if [ "$status" = 77 ]; then
                skips_group "$1" "hardware: no such device here"
                return
        fi
        record "$2" "$TMPDIR/$2" 200 "${@:6}"
        read_trace "$2"
        holds "$1: every zone" same "$3" "$(zones_of "$2")"
        holds "$1: times of the host, inner zones inside" in_time "$2" "$4" "$5"
        holds "$1: nothing is lost" same "" "$(lost_events "$2")"
        holds "$1: a recording that begins after the context" late "$2" "$3" "${@:6}"
}

if has_header EGL/egl.h && has_header GL/glext.h; then
        holds "OpenGL: a program compiles" built gl_zones.cpp gl -lEGL -lOpenGL
        group OpenGL gl "clear renderer 200
frame renderer 200
made one renderer 100
made two renderer 100
odd renderer 100" frame clear
else
        skips_group OpenGL "libegl-dev or libopengl-dev is not installed"
fi
vulkan="fill vulkan queue 200
frame vulkan queue 200
made one vulkan queue 100
made two vulkan queue 100
odd vulkan queue 100"
if has_header vulkan/vulkan.h; then
        holds "Vulkan: a program compiles" built vulkan_zones.cpp vulkan -lvulkan
        group "Vulkan, calibrated once" vulkan "$vulkan" frame fill plain
        holds "Vulkan: a program compiles that loads functions itself" built vulkan_zones.cpp vulkan_table -lvulkan -DTRACY_VK_USE_SYMBOL_TABLE
        group "Vulkan, reset by the host" vulkan_table "$vulkan" frame fill host
else
        skips_group Vulkan "libvulkan-dev is not installed"
fi
