#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Devices on the timeline in a browser: arrows from what a thread handed over, served, growing and in one file; a tree of lanes
set -eu
. tests/tap.sh
plan 7
need node chromium
. tests/browser/run_node.sh

# Work of devices is shown while a trace grows when a chunk of events has begun a second after it.
later() {
        awk 'BEGIN { for (i = 0; i < 40000; i++)
                printf "{\"ph\": \"X\", \"name\": \"later\", \"pid\": 10, \"tid\": 11, \"ts\": %d, \"dur\": 9},\n", 2000 + 100 * i }'
}
here=$PWD
cd "$TMPDIR"
kernels() { # correlation, first microsecond, count
        for i in $(seq 1 "$3"); do
                printf '{"ph": "X", "cat": "kernel", "name": "step %s", "pid": 0, "tid": 7, "ts": %s, "dur": 2, "args": {"stream": 7, "correlation": %s}},\n' \
                        "$i" "$(($2 + 3 * i))" "$1"
        done
}
cat >host.json <<END
{"schemaVersion": 1, "deviceProperties": [{"id": 0}], "traceEvents": [
{"ph": "M", "name": "thread_name", "pid": 10, "tid": 11, "args": {"name": "main"}},
{"ph": "X", "cat": "cpu_op", "name": "prepare", "pid": 10, "tid": 11, "ts": 900, "dur": 50},
{"ph": "X", "cat": "cpu_op", "name": "forward", "pid": 10, "tid": 11, "ts": 1000, "dur": 5, "args": {"correlation": 7}},
{"ph": "X", "cat": "cpu_op", "name": "backward", "pid": 10, "tid": 11, "ts": 1500, "dur": 50, "args": {"correlation": 8}},
{"ph": "X", "cat": "cpu_op", "name": "alone", "pid": 10, "tid": 11, "ts": 1900, "dur": 5, "args": {"correlation": 9}},
{"ph": "X", "cat": "kernel", "name": "matmul", "pid": 0, "tid": 7, "ts": 1012, "dur": 100, "args": {"stream": 7, "correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "softmax", "pid": 0, "tid": 9, "ts": 1120, "dur": 40, "args": {"stream": 9, "correlation": 7}},
$(kernels 8 1600 70)
$(later)
{"ph": "X", "cat": "kernel", "name": "keyless", "pid": 0, "tid": 9, "ts": 1300, "dur": 9, "args": {"stream": 9}}]}
END
# A chip of 100 cores with two lanes each; lane 1 of core 10 is the busiest, and has what the host launched.
awk 'BEGIN {
        print "name,process,thread,begin_us,duration_us,device,track,lane,key,key_kind"
        print "launch,7,7,100,20,,,,1,launch"
        for (i = 0; i < 100; i++)
                for (lane = 0; lane < 2; lane++)
                        printf "work,,,%d,%d,chip 0,core %d,%d,,\n", 1000 + i, i == 10 && lane ? 900 : 500, i, lane
        print "wanted,,,2000,500,chip 0,core 10,1,1,launch"
        print "little,,,1000,500,gpu 1,,4,," }' >chip.csv
export XDG_CACHE_HOME=$TMPDIR XDG_STATE_HOME=$TMPDIR
"$HYPROF" import -q -o whole.hyp host.json
"$HYPROF" html -o page.html whole.hyp >/dev/null
"$HYPROF" import -q -o chip.hyp chip.csv
"$HYPROF" html -o chip.html chip.hyp >/dev/null
# Without the end of its events, the trace is one that still grows.
last=$("$HYPROF" dump whole.hyp | sed -n 's/^chunk offset=\([0-9]*\) kind=2 .*/\1/p' | tail -n 1)
head -c "$((last + 50))" whole.hyp >growing.hyp

cd "$here"
run_node tests/browser/devices.js
