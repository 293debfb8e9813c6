#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How soon the viewer answers and draws: 100 million zones and 1 million samples served, and 1 million zones and 100,000
# samples in one HTML file.  Needs 3 GB in TMPDIR.
#
# HYPROF_BENCH_ZONES and HYPROF_BENCH_VIEWS: another number of zones, of views.  On a machine with other work run it under
# "chrt -r 10", as root: then that does not take the processor away.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache
status=0

"$BUILD/tools/large_trace" "$folder/served.hyp" "${HYPROF_BENCH_ZONES:-100000000}" || exit 1
tests/bench/bench_view.py "$HYPROF" "$folder/served.hyp" "${HYPROF_BENCH_VIEWS:-1000}" || status=1
node tests/bench/bench_view_page.js "$HYPROF" "$folder/served.hyp" || status=1
"$BUILD/tools/large_trace" "$folder/file.hyp" 1000000 10 || exit 1
"$HYPROF" html --quiet -o "$folder/file.html" "$folder/file.hyp" || exit 1
node tests/bench/bench_html_page.js "$folder/file.html" || status=1
exit $status
