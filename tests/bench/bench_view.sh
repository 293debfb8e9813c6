#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How soon the viewer answers and draws: 100 million zones and 1 million samples served; 1 million and 20 million zones,
# 10,000 threads, and 20 million zones on a 4K screen, with the memory of page and viewer; and 1 million zones and 100,000
# samples in one HTML file.  Needs 3 GB in TMPDIR.
#
# HYPROF_BENCH_ONLY=pages leaves the 100 million zones out.
# HYPROF_BENCH_ZONES and HYPROF_BENCH_VIEWS: another number of zones, of views.  On a machine with other work run it under
# "chrt -r 10", as root: then that does not take the processor away.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache
status=0

if [ "${HYPROF_BENCH_ONLY:-}" != pages ]; then
        "$BUILD/tools/large_trace" "$folder/served.hyp" "${HYPROF_BENCH_ZONES:-100000000}" || exit 1
        tests/bench/bench_view.py "$HYPROF" "$folder/served.hyp" "${HYPROF_BENCH_VIEWS:-1000}" || status=1
        node tests/bench/bench_view_page.js "$HYPROF" "$folder/served.hyp" || status=1
        rm -f "$folder/served.hyp"
fi
# What, zones, threads, size of the screen.
while read -r what zones threads size; do
        echo "$what:"
        "$BUILD/tools/large_trace" "$folder/page.hyp" "$zones" 100 "$threads" || exit 1
        node tests/bench/bench_view_page.js "$HYPROF" "$folder/page.hyp" 300 "$size" </dev/null || status=1
done <<'END'
1-million-zones 1000000 12 1920x1080
20-million-zones 20000000 12 1920x1080
10,000-threads 2000000 10000 1920x1080
20-million-zones-at-4K 20000000 12 3840x2160
END
"$BUILD/tools/large_trace" "$folder/file.hyp" 1000000 10 || exit 1
"$HYPROF" html --quiet -o "$folder/file.html" "$folder/file.hyp" || exit 1
node tests/bench/bench_html_page.js "$folder/file.html" || status=1
exit $status
