#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How soon the viewer answers and draws: 100 million zones and 1 million samples served; 1 million and 20 million zones,
# 10,000 threads, and 20 million zones on a 4K screen: the first picture, the index, the search, the frames, with the memory of
# page and viewer; 20 million zones, and 1 million with 100,000 samples, in one HTML file; a recording of 5 million zones a
# second that a page follows.  Needs 3 GB in TMPDIR, and 140 MB for each second of that.
#
# HYPROF_BENCH_ONLY=pages leaves the 100 million zones out, =served, =html or =follow all but that.
# HYPROF_BENCH_ZONES and HYPROF_BENCH_VIEWS: another number of zones, of views.  HYPROF_BENCH_MINUTES (2): how long the page
# follows.  On a machine with other work run it under
# "chrt -r 10", as root: then that does not take the processor away.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache
status=0

# The folder has to be there: hyprof takes another one else.
fresh_cache() {
        rm -rf "$XDG_CACHE_HOME"
        mkdir "$XDG_CACHE_HOME"
}

wants() { # part of the benchmark
        [ "${HYPROF_BENCH_ONLY:-$1}" = "$1" ]
}

fresh_cache
if wants served; then
        "$BUILD/tools/large_trace" "$folder/served.hyp" "${HYPROF_BENCH_ZONES:-100000000}" || exit 1
        tests/bench/bench_view.py "$HYPROF" "$folder/served.hyp" "${HYPROF_BENCH_VIEWS:-1000}" || status=1
        node tests/bench/bench_view_page.js "$HYPROF" "$folder/served.hyp" || status=1
        rm -f "$folder/served.hyp"
fi
# What, zones (a thread has 1,000 at a time), threads, size of the screen.
while wants pages && read -r what zones threads size; do
        echo "$what:"
        "$BUILD/tools/large_trace" "$folder/page.hyp" "$zones" 100 "$threads" || exit 1
        tests/bench/bench_view.py "$HYPROF" "$folder/page.hyp" 200 </dev/null || status=1
        fresh_cache
        node tests/bench/bench_view_page.js "$HYPROF" "$folder/page.hyp" 300 "$size" </dev/null || status=1
        fresh_cache
done <<'END'
1-million-zones 1000000 12 1920x1080
20-million-zones 20000000 12 1920x1080
10,000-threads 10000000 10000 1920x1080
20-million-zones-at-4K 20000000 12 3840x2160
END
if wants html; then
        echo '20 million zones in one file (targets: 10 s, 20 MiB):'
        "$BUILD/tools/large_trace" "$folder/file.hyp" 20000000 100 || exit 1
        TIMEFORMAT='html: %R s, %U + %S s of the processor'
        began=${EPOCHREALTIME/./}
        time "$HYPROF" html -o "$folder/file.html" "$folder/file.hyp" || exit 1
        [ $((${EPOCHREALTIME/./} - began)) -le 10000000 ] || status=1
        [ "$(stat -c %s "$folder/file.html")" -le $((20 << 20)) ] || status=1
        "$BUILD/tools/large_trace" "$folder/file.hyp" 1000000 10 || exit 1
        "$HYPROF" html --quiet --force -o "$folder/file.html" "$folder/file.hyp" || exit 1
        node tests/bench/bench_html_page.js "$folder/file.html" || status=1
        rm -f "$folder/file.hyp"
fi
if wants follow; then
        gcc -O2 -Iinstrument/client/include tests/bench/burst_program.c "$BUILD/libhyprof.a" -pthread -o "$folder/program" || exit 1
        node tests/bench/bench_view_follow.js "$HYPROF" "$folder/program" "$folder" $((${HYPROF_BENCH_MINUTES:-2} * 60)) || status=1
fi
exit $status
