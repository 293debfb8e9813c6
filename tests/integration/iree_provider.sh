#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# IREE's tracing provider: every macro compiles in C and C++ with every set of features, and every event is in the trace
set -eu
. tests/tap.sh
plan 35
need jq gcc g++ clang clang++
need_sampling

include=$PWD/instrument/client/include
header=$include/hyprof/compat/iree/hyprof_iree_provider.h
sanitize=()
case $VARIANT in
asan) sanitize=(-fsanitize=address -fsanitize=undefined) ;;
tsan) sanitize=(-fsanitize=thread) ;;
esac

# ---- compiled as IREE does it: the provider by its absolute path, nothing of hyprof's in the include path
compiles() { # options of the features...
        local with
        for with in "gcc -std=c11" "clang -std=c11" "g++ -std=c++17 -x c++" "clang++ -std=c++17 -x c++"; do
                # shellcheck disable=SC2086
                $with -O2 -Wall -Wextra -Werror -I. "-DIREE_TRACING_PROVIDER_H=\"$header\"" "$@" \
                        -c tests/workloads/w_iree.c -o "$TMPDIR/w_iree.o" || { echo "with $with" && return 1; }
        done
}

for mode in 1 2 3 4; do
        holds "compiles in mode $mode" compiles -DIREE_TRACING_MODE=$mode
done
for features in 0x1ff 0x000 0x001 0x002 0x004 0x008 0x010 0x018 0x020 0x040 0x080 0x100; do
        holds "compiles with features $features" compiles -DIREE_TRACING_FEATURES_REQUESTED=$features
done

# ---- one library to link with
in_cxx() {
        g++ -std=c++17 -x c++ -O2 -fno-omit-frame-pointer "${sanitize[@]}" -I. "-DIREE_TRACING_PROVIDER_H=\"$header\"" \
                tests/workloads/w_iree.c -x none "$BUILD/libhyprof_iree.a" -o "$TMPDIR/in_cxx"
}
holds "links in C++" in_cxx

# ---- what is in the trace: a line an event, names instead of ids
events() { # name, thread's name
        awk -v wanted="$2" '
                function of(name,    i, n) {
                        n = length(name) + 1
                        for (i = 2; i <= NF; i++)
                                if (substr($i, 1, n) == name "=")
                                        return substr($i, n + 1)
                        return ""
                }
                function quoted() { return substr($0, index($0, "=\"") + 2, length($0) - index($0, "=\"") - 2) }
                function shown(location) {
                        return (zone[location] != "" ? zone[location] : function_of[location]) " " place[location]
                }
                NR == FNR && $1 == "string" { text[of("id")] = quoted() }
                NR == FNR && $1 == "location" {
                        zone[of("id")] = text[of("name")]
                        function_of[of("id")] = text[of("function")]
                        place[of("id")] = text[of("file")]
                        if (place[of("id")] !~ /w_iree/)
                                place[of("id")] = place[of("id")] ":" of("line")
                }
                NR == FNR && $1 == "lock" { lock[of("id")] = shown(of("location")) }
                NR == FNR && $1 == "device" { device[of("id")] = text[of("name")] }
                NR == FNR && $1 == "thread_name" { thread[substr($2, 8)] = text[of("name")] }
                NR == FNR || $3 !~ /^time_ns=/ || thread[substr($2, 8)] != wanted { next }
                $1 ~ /^(sample|switch_out|switch_in|thread_name|thread_exit|callstack)$/ { next }
                $1 == "zone_begin"         { print $1, shown(of("location")); next }
                $1 ~ /^(plot_i64|plot_f64|frame_mark|frame_begin|frame_end)$/ {
                        print $1, text[of("name")], of("value") of("bits"); next
                }
                $1 == "message_text"       { print $1, of("severity"), of("color"), length(quoted()) < 99 ? quoted() : length(quoted()); next }
                $1 == "zone_text"          { print $1, quoted(); next }
                $1 ~ /^(zone_value|zone_color)$/ { print $1, of("value") of("color"); next }
                $1 ~ /^memory_/            { print $1, text[of("pool")], of("pool") != 0 ? of("address") : "", of("size_bytes"); next }
                $1 ~ /^lock_/              { print $1, of("lock"), lock[of("lock")]; next }
                $1 == "device_zone_begin"  { print $1, device[of("device")], of("query"), shown(of("location")); next }
                $1 ~ /^device_/            { print $1, device[of("device")], of("query"), of("ticks"); next }
                $1 == "fiber_enter"        { print $1, thread[of("fiber")]; next }
                { print $1 }' "$TMPDIR/$1.dump" "$TMPDIR/$1.dump" | sed 's/  */ /g; s/ *$//'
}

source=tests/workloads/w_iree.c
cat >"$TMPDIR/wanted" <<EOS
zone_begin zones $source
zone_text a string
zone_text part
zone_value -5
zone_value 6
zone_color 1122867
zone_begin dispatch_a $source
zone_end
zone_begin dispatch_b $source
zone_end
zone_begin matmul model.mlir:42
zone_end
zone_begin named model.mlir:43
zone_end
zone_begin early $source
zone_end
zone_begin late $source
zone_end
zone_begin leaked $source
zone_end
zone_end
plot_f64 executor-1 0.5
plot_i64 queue-depth -7
plot_f64 bytes 0.25
frame_mark
frame_mark Iteration
frame_begin init
frame_end init
message_text 4 16711680 an error
message_text 3 16776960 a warning
message_text 2 16777215 an info
message_text 0 12632256 a detail
message_text 1 65280 a debug
message_text 2 1193046 in color
message_text 3 16776960 dynamic
message_text 4 16711680 100000
memory_alloc 100
memory_free
memory_alloc 200
memory_free
memory_alloc device-local 0x1000 4096
memory_free device-local 0x1000
lock_wait 1 new_lock $source
lock_obtain 1 new_lock $source
lock_release 1 new_lock $source
lock_obtain 2 new_lock $source
lock_release 2 new_lock $source
lock_gone 1 new_lock $source
lock_gone 2 new_lock $source
lock_gone 1 new_lock $source
device_zone_begin queue-0 1 device $source
device_zone_begin queue-0 2 kernel gpu.mlir:7
device_zone_end queue-0 3
device_zone_end queue-0 4
device_zone_begin queue-0 5 device $source
device_zone_end queue-0 6
device_time queue-0 1 2000
device_time queue-0 2 3000
device_time queue-0 3 4000
device_time queue-0 4 5000
device_time queue-0 5 0
device_time queue-0 6 0
fiber_enter invoke-0003
fiber_leave
zone_begin on the thread $source
zone_end
fiber_enter invoke-0003
fiber_leave
EOS
cat >"$TMPDIR/wanted_fiber" <<EOS
zone_begin on the fiber $source
zone_end
EOS
cp "$TMPDIR/wanted" "$TMPDIR/wanted_cxx"
cat >>"$TMPDIR/wanted_cxx" <<EOS
zone_begin scopes $source
zone_begin inner scope $source
zone_text of the inner scope
zone_value 8
zone_end
zone_text of the outer
zone_end
EOS

is_as_wanted() { # name, file
        events "$1" iree-main >"$TMPDIR/found"
        diff "$2" "$TMPDIR/found"
}

has_row() { # name, row's beginning, what else it says...
        local words
        for words in "${@:3}"; do
                grep "^$2 " "$TMPDIR/$1.dump" | grep -qF -- "$words" && continue
                echo "no $2 with $words" && grep "^$2 " "$TMPDIR/$1.dump"
                return 1
        done
}

id_of() { # name, string
        sed -nE "s/^string id=([0-9]+) text=\"$2\"\$/\1/p" "$TMPDIR/$1.dump"
}

for language in c cxx; do
        program=$WORKLOADS/w_iree wanted=$TMPDIR/wanted
        [ "$language" = c ] || program=$TMPDIR/in_cxx wanted=$TMPDIR/wanted_cxx
        holds "$language: recorded" record $language -- "$program"
        read_trace $language
        holds "$language: every event of the thread, in order, with its values" is_as_wanted $language "$wanted"
        events $language invoke-0003 >"$TMPDIR/found_fiber"
        holds "$language: the zone of the fiber is the fiber's" diff "$TMPDIR/wanted_fiber" "$TMPDIR/found_fiber"
        holds "$language: how plots are shown" has_row $language plot \
                "name=$(id_of $language executor-1) unit=0 format=2 flags=0x3 color=0x1f883d" \
                "name=$(id_of $language queue-depth) unit=0 format=0 flags=0x0 color=0x0" \
                "name=$(id_of $language bytes) unit=0 format=1 flags=0x1 color=0x0"
        holds "$language: what the program says of itself" has_row $language program_info \
                "value=$(id_of $language 'w_iree, version 1')"
        holds "$language: the clock of the device, when it was made and later" has_row $language device_clock \
                "ticks=1000 " "ticks=2000 "
        holds "$language: the source text" has_row $language attachment \
                "size_bytes=40 " "name=$(id_of $language model.mlir)"
        holds "$language: each zone has a callstack, as asked for" compare "$(grep -c '^callstack ' "$TMPDIR/$language.dump")" \
                ">=" "$(grep -c '^zone_begin ' "$TMPDIR/$language.dump")"
        holds "$language: nothing is lost" same "" "$(lost $language)"
done
