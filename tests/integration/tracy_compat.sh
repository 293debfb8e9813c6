#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs that know Tracy alone compile with the headers in its place, and all that they say is in the trace
set -eu
. tests/tap.sh
plan 47

include=(-Iinstrument/client/include/hyprof/compat)
strict=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror)
sanitize=()
case $VARIANT in
asan) sanitize=(-fsanitize=address -fsanitize=undefined) ;;
tsan) sanitize=(-fsanitize=thread) ;;
esac

events_of() { # name of the trace, pattern for names of threads and fibers
        awk -v pattern="$2" -f tests/trace_words.awk "$TMPDIR/$1.dump" "$TMPDIR/$1.dump"
}

# Rows of a table, with texts instead of ids.
rows_of() { # name of the trace, table, columns that are texts, columns that are not
        awk -v table="$2" -v texts="$3" -v others="$4" '
        function of(name,    i, n) {
                n = length(name) + 1
                for (i = 2; i <= NF; i++)
                        if (substr($i, 1, n) == name "=")
                                return substr($i, n + 1)
        }
        $1 == "string" { id = of("id"); sub(/^[^"]*"/, ""); sub(/"$/, ""); text[id] = $0 }
        $1 == table {
                row = ""
                for (i = 1; i <= split(texts, t, " "); i++)
                        row = row (i > 1 ? "|" : "") text[of(t[i])]
                for (i = 1; i <= split(others, t, " "); i++)
                        row = row "|" of(t[i])
                print row
        }' "$TMPDIR/$1.dump"
}

compiles() { # compiler, dialect, source, flags...
        local old=()
        [ "${3##*.}" != cpp ] || old=(-Wold-style-cast)
        "$1" -std="$2" "${strict[@]}" "${old[@]}" -O1 "${include[@]}" "${@:4}" -c "tests/workloads/$3" -o "$TMPDIR/object.o"
}

compiles_words() { # what is after the include, flags...
        printf '#include <tracy/Tracy.hpp>\n%s\n' "$1" >"$TMPDIR/words.cpp"
        c++ -std=c++11 "${strict[@]}" "${include[@]}" -DTRACY_ENABLE "${@:2}" -c "$TMPDIR/words.cpp" -o "$TMPDIR/object.o"
}

compiles_in_all() { # source, compilers and dialects...
        local source=$1 pair not=()
        shift
        for pair; do
                if ! command -v "${pair% *}" >/dev/null; then
                        skips_group "$source with ${pair% *}" "${pair% *} is not installed"
                        continue
                fi
                # The program in C is no pedantic C++ itself.
                [ "$pair" != "g++ c++11" ] || [ "${source##*.}" != c ] || not=(-Wno-pedantic)
                holds "$source with $pair" compiles "${pair% *}" "${pair#* }" "$source" -DTRACY_ENABLE \
                        -DTRACY_FIBERS "${not[@]}"
                holds "$source with $pair, without TRACY_ENABLE" compiles "${pair% *}" "${pair#* }" "$source" \
                        -DTRACY_FIBERS -Wno-unused "${not[@]}"
        done
}

prints_the_same_without() { # compiler, source: without TRACY_ENABLE, and then without any library of ours
        local program=${2%.*}
        "$1" "${include[@]}" -DTRACY_FIBERS "tests/workloads/$2" -pthread -o "$TMPDIR/$program" &&
                same "$("$WORKLOADS/$program")" "$("$TMPDIR/$program")"
}

compiles_in_all w_tracy_cpp.cpp "g++ c++11" "g++ c++17" "g++ c++20" "clang++ c++11" "clang++ c++17" "clang++ c++20"
compiles_in_all w_tracy_c.c "gcc c99" "gcc c17" "clang c99" "clang c17" "g++ c++11"
holds "the C program of the revision before" compiles gcc c11 w_tracy_c.c -DTRACY_ENABLE -DTRACY_FIBERS \
        -DTRACY_COMPAT_API=1103
holds "a zone in a lambda that initialises a member" compiles_words \
        'struct s { int i = [] { ZoneScopedN("in a class"); return 4; }(); };' -DTRACY_ALLOW_SHADOW_WARNING
holds "without TRACY_ENABLE the C++ program does the same" prints_the_same_without c++ w_tracy_cpp.cpp
holds "without TRACY_ENABLE the C program does the same" prints_the_same_without cc w_tracy_c.c

need jq
need_sampling


# ---------------------------------------------------------------------- C++

holds "the C++ program is recorded" record cpp "$WORKLOADS/w_tracy_cpp"
read_trace cpp
cat >"$TMPDIR/wanted" <<'WANTED'
zone_begin zones 000000
zone_text 0 words
zone_text 0 from a string
zone_text 0 number 7
zone_text 0 no arguments
zone_end
zone_begin named 000000
zone_name 0 renamed
zone_name 0 renamed again
zone_color 0 123456
zone_value 0 42
zone_text 0 is active
zone_begin inner 6a5acd
zone_text 0 of the inner one
zone_end
zone_text 0 of the outer one
zone_end
zone_begin zones 8b0000
zone_end
zone_begin zones 000000
zone_begin two 000000
zone_begin zones 010203
zone_begin four ff6347
zone_text 2 of two
zone_text 2 of two, printed
zone_name 3 the first
zone_name 3 the first again
zone_color 1 040506
zone_value 0 -1
zone_end
zone_end
zone_end
zone_end
zone_begin zones 000000
zone_begin made of 3 000000
zone_begin made and coloured 112233
zone_end
zone_end
zone_end
zone_begin long text 000000
zone_text 0 (100000 bytes)
zone_text 0 (100000 bytes)
zone_end
callstack
zone_begin zones_with_callstack 000000
callstack
zone_begin stack named 000000
zone_end
zone_end
callstack
zone_begin more_zones_with_callstack 223344
zone_end
callstack
zone_begin stack named coloured 334455
zone_end
callstack
zone_begin more_zones_with_callstack 000000
callstack
zone_begin stack b 000000
callstack
zone_begin more_zones_with_callstack 445566
callstack
zone_begin stack d 556677
callstack
zone_begin more_zones_with_callstack 000000
callstack
zone_begin stack f 000000
zone_end
zone_end
zone_end
zone_end
zone_end
zone_end
frame_mark
frame_mark audio
frame_begin physics
frame_end physics
frame_mark run-time frames
frame_mark other run-time frames
frame_picture
plot_i64 bytes -3
plot_f64 float 0.5
plot_f64 double 0.25
plot_i64 run-time frames 1
plot_i64 pending 5
plot_i64 yes 1
plot_i64 unsigned 1
message 2 000000 with a length
message 2 000000 a literal
message 2 000000 text that lives until the message has been written
message 2 ff0000 red
message 2 00ff00 green
callstack
message 2 000000 stack
callstack
message 2 000000 stack literal
callstack
message 2 ff0000 stack red
callstack
message 2 00ff00 stack green
message 5 ff0000 fatal
message 0 000000 trace of
memory_alloc  64
memory_free
memory_alloc pool 32
memory_free pool
memory_alloc arena 16
memory_discard arena
callstack
memory_alloc  63
callstack
memory_free
callstack
memory_alloc pool 31
callstack
memory_free pool
memory_discard arena
memory_alloc  61
memory_free
memory_alloc pool 29
memory_free pool
callstack
memory_alloc  59
callstack
memory_free
callstack
memory_alloc pool 27
callstack
memory_free pool
memory_discard arena
memory_discard arena
lock_obtain std::mutex global_mutex
lock_mark std::mutex global_mutex locks
lock_name std::mutex global_mutex the global one
lock_release std::mutex global_mutex
lock_obtain std::mutex global_mutex
lock_release std::mutex global_mutex
lock_obtain std::recursive_mutex member_mutex
lock_release std::recursive_mutex member_mutex
lock_obtain shared one shared
lock_release shared one shared
lock_obtain shared one shared
lock_release shared one shared
lock_obtain shared one
lock_mark shared one locks
lock_name shared one the shared one
lock_release shared one
lock_obtain std::shared_mutex member_shared
lock_release std::shared_mutex member_shared
lock_wait contended
lock_obtain contended
lock_release contended
lock_gone std::shared_mutex member_shared
lock_gone std::recursive_mutex member_mutex
lock_wait own lock
lock_obtain own lock
lock_mark own lock own lock
lock_name own lock mine
lock_release own lock
lock_obtain own lock
lock_release own lock
lock_wait own lock
lock_obtain own lock
lock_release own lock
lock_wait own lock shared
lock_obtain own lock shared
lock_release own lock shared
lock_obtain own lock shared
lock_release own lock shared
zone_begin own lock 000000
zone_begin by hand 0a0b0c
zone_text 0 both by hand
zone_end
zone_end
lock_gone own lock
lock_gone own lock
fiber_enter fiber one
fiber_enter fiber two
fiber_enter fiber one
frame_begin level 3
frame_begin boss
frame_end level 3
frame_end boss
zone_begin connected 000000
zone_end
lock_gone contended
lock_gone shared one
lock_gone std::mutex global_mutex
WANTED
events_of cpp '^tracy main$' >"$TMPDIR/found"
holds "C++: every event of the main thread, in order" diff "$TMPDIR/wanted" "$TMPDIR/found"
holds "C++: the zone on a fiber is the fiber's" same "zone_begin on a fiber 000000
zone_end" "$(events_of cpp '^fiber one$')"
holds "C++: the thread that holds the lock" same "thread_group 7
lock_obtain contended
lock_release contended" "$(events_of cpp '^tracy helper$')"
holds "C++: what the plots are" same "bytes|1|0x1|0xff0000
run-time frames|2|0x2|0x0" "$(rows_of cpp plot name "format flags color" | sort)"
holds "C++: about the program" same "program|tracy workload
|version 3" "$(rows_of cpp program_info "key value" "" | sort)"
holds "C++: what is not recorded is counted, and nothing is lost" same "NO_PICTURES 1
NO_DEVICE_ZONES 2
NO_EVENTS 5" "$(lost cpp)"
holds "C++: the trace is whole" is_whole cpp

# ------------------------------------------------------------------------ C

holds "the C program is recorded" record c "$WORKLOADS/w_tracy_c"
read_trace c
cat >"$TMPDIR/wanted" <<'WANTED'
zone_begin zones 000000
zone_begin c named 000000
zone_begin zones 123456
zone_begin c both 654321
zone_text 2 c text
zone_text 2 c text 2
zone_name 2 c name
zone_name 2 c name 2
zone_color 0 abcdef
zone_value 0 42
zone_end
zone_end
zone_end
zone_end
callstack
zone_begin zones_with_callstack 000000
callstack
zone_begin c stack named 000000
callstack
zone_begin zones_with_callstack 123456
callstack
zone_begin c stack both 654321
zone_end
zone_end
zone_end
zone_end
frame_mark
frame_mark c audio
frame_begin c physics
frame_end c physics
frame_picture
plot_i64 c bytes -3
plot_f64 c float 0.5
plot_f64 c double 0.25
plot_i64 c run-time plot 1
message 2 000000 c with a length
message 2 000000 c literal
message 2 ff0000 c red
message 2 00ff00 c green
callstack
message 2 000000 c stack
callstack
message 2 000000 c stack literal
callstack
message 2 ff0000 c stack red
callstack
message 2 00ff00 c stack green
memory_alloc  64
memory_free
memory_alloc c pool 32
memory_free c pool
memory_alloc c arena 16
memory_discard c arena
callstack
memory_alloc  63
callstack
memory_free
callstack
memory_alloc c pool 31
callstack
memory_free c pool
memory_discard c arena
memory_alloc  61
memory_free
memory_alloc c pool 29
memory_free c pool
callstack
memory_alloc  59
callstack
memory_free
callstack
memory_alloc c pool 27
callstack
memory_free c pool
memory_discard c arena
memory_discard c arena
lock_wait locks
lock_obtain locks
lock_mark locks locks
lock_name locks c lock
lock_release locks
lock_obtain locks
lock_release locks
lock_gone locks
lock_wait locks
lock_obtain locks
lock_mark locks locks
lock_name locks c shared
lock_release locks
lock_obtain locks
lock_release locks
lock_wait locks shared
lock_obtain locks shared
lock_release locks shared
lock_obtain locks shared
lock_release locks shared
lock_gone locks
fiber_enter c fiber
zone_begin f static 010203
zone_text 0 f text
zone_name 0 f name
zone_color 0 0a0b0c
zone_value 0 3
zone_end
zone_begin f static 010203
zone_text 0 f text
zone_name 0 f name
zone_color 0 0a0b0c
zone_value 0 3
zone_end
callstack
zone_begin f static 010203
zone_begin made 000000
zone_begin f made 040506
callstack
zone_begin f made 040506
zone_text 0 f text printed
zone_name 0 f name printed
zone_end
zone_end
zone_end
zone_end
frame_mark
frame_mark f frames
frame_begin f frames
frame_end f frames
frame_picture
plot_f64 f plot 0.25
plot_f64 f plot 0.5
plot_i64 f plot 7
message 4 00ff00 f error
callstack
message 1 000000 f debug
message 2 000000 f message
message 2 000000 f literal
message 2 ff0000 f red
callstack
message 2 00ff00 f green
memory_alloc  64
memory_free
callstack
memory_alloc  63
callstack
memory_free
memory_alloc f pool 62
memory_free f pool
callstack
memory_alloc f pool 61
callstack
memory_free f pool
memory_discard f pool
memory_discard f pool
fiber_enter f fiber
device_zone_begin the gpu 0 g outer
callstack
device_zone_begin the gpu 1 g inner
device_zone_end the gpu 2
device_zone_end the gpu 3
device_time the gpu 0 2000
device_time the gpu 1 2500
device_time the gpu 2 3000
device_time the gpu 3 3500
WANTED
events_of c '^tracy c main$' >"$TMPDIR/found"
holds "C: every event of the main thread, in order" diff "$TMPDIR/wanted" "$TMPDIR/found"
holds "C: what is said on a fiber is the fiber's" same "zone_begin c on a fiber 000000
frame_mark
plot_i64 c bytes 4
zone_end" "$(events_of c '^c fiber$')"
holds "C: what the plots are" same "c bytes|1|0x1|0xff0000
f plot|2|0x2|0x0" "$(rows_of c plot name "format flags color" | sort)"
holds "C: about the program" same "|c version 3
|f version" "$(rows_of c program_info "key value" "" | sort)"
holds "C: the device, with its tick and its kind" same "the gpu|2|2" "$(rows_of c device name "period_bits kind")"
holds "C: its clock" same "1000 4000 5000" \
        "$(awk '$1 == "device_clock" { sub(/.*ticks=/, ""); sub(/ .*/, ""); print }' "$TMPDIR/c.dump" | xargs)"
holds "C: what is not recorded is counted, and nothing is lost" same "NO_PICTURES 1" "$(lost c)"
holds "C: pictures of frames" same "2 2" "$(grep -c '^frame_picture ' "$TMPDIR/c.dump") $(grep -c '^attachment .*kind=6' "$TMPDIR/c.dump")"
holds "C: the trace is whole" is_whole c

# ----------------------------------------- bindings, with each shared library

cat >"$TMPDIR/wanted" <<'WANTED'
zone_begin foreign 0 000000
zone_text 0 first
zone_text 0 second
zone_end
zone_begin foreign 1 000000
zone_text 0 first
zone_text 0 second
zone_end
zone_begin foreign 2 000000
zone_text 0 first
zone_text 0 second
zone_end
message 2 000000 foreign
memory_alloc foreign pool 100
memory_free foreign pool
callstack
memory_alloc foreign pool 100
callstack
memory_free foreign pool
memory_alloc foreign pool 7
memory_discard foreign pool
WANTED
mkdir "$TMPDIR/lib"
for library in hyprof hyprof_tracy hyprof_tracy_0.13 hyprof_tracy_ondemand; do
        ln -s "$BUILD/lib$library.so" "$TMPDIR/lib/lib$library.so.1"
        ln -s "$BUILD/lib$library.so" "$TMPDIR/lib/lib$library.so"
done
binding_is_recorded() { # library, flags...
        cc "${sanitize[@]}" -fno-omit-frame-pointer "${@:2}" tests/workloads/w_tracy_foreign.c -L"$TMPDIR/lib" \
                -Wl,--no-as-needed -l"$1" -lhyprof -o "$TMPDIR/foreign" &&
                LD_LIBRARY_PATH=$TMPDIR/lib "$TMPDIR/foreign" &&
                LD_LIBRARY_PATH=$TMPDIR/lib record foreign "$TMPDIR/foreign" &&
                read_trace foreign &&
                events_of foreign . >"$TMPDIR/found" &&
                diff "$TMPDIR/wanted" "$TMPDIR/found"
}
holds "a binding of 0.14" binding_is_recorded hyprof_tracy
holds "a binding of 0.14 with TRACY_ON_DEMAND" binding_is_recorded hyprof_tracy_ondemand -DON_DEMAND
holds "a binding of 0.13" binding_is_recorded hyprof_tracy_0.13 -DREVISION=1103
