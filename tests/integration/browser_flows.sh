#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Flows on the timeline in a browser: an arrow from each zone to the next, between processes too; served, growing, in one file
set -eu
. tests/tap.sh
plan 5
need node chromium
. tests/browser/run_node.sh

# From "submit" of one process to "serve" of another one, which takes it 40 us later, and 300 us later to a thread of the
# first where no zone is open.
later() {
        awk 'BEGIN { for (i = 0; i < 40000; i++)
                printf "{\"ph\": \"X\", \"name\": \"later\", \"pid\": 10, \"tid\": 12, \"ts\": %d, \"dur\": 9},\n", 2000 + 100 * i }'
}
cat >"$TMPDIR/host.json" <<END
{"traceEvents": [
{"ph": "M", "name": "process_name", "pid": 10, "args": {"name": "client"}},
{"ph": "M", "name": "process_name", "pid": 20, "args": {"name": "server"}},
{"ph": "M", "name": "thread_name", "pid": 10, "tid": 11, "args": {"name": "front"}},
{"ph": "M", "name": "thread_name", "pid": 10, "tid": 12, "args": {"name": "back"}},
{"ph": "M", "name": "thread_name", "pid": 20, "tid": 21, "args": {"name": "pool"}},
{"ph": "X", "name": "prepare", "pid": 10, "tid": 11, "ts": 900, "dur": 50},
{"ph": "X", "name": "submit", "pid": 10, "tid": 11, "ts": 1000, "dur": 100},
{"ph": "s", "name": "request", "cat": "flow", "id": 7, "pid": 10, "tid": 11, "ts": 1060},
{"ph": "X", "name": "serve", "pid": 20, "tid": 21, "ts": 1090, "dur": 200},
{"ph": "t", "name": "request", "cat": "flow", "id": 7, "pid": 20, "tid": 21, "ts": 1100},
{"ph": "f", "name": "request", "cat": "flow", "id": 7, "pid": 10, "tid": 12, "ts": 1400},
$(later)
{"ph": "X", "name": "alone", "pid": 10, "tid": 12, "ts": 1900, "dur": 5}]}
END
here=$PWD
cd "$TMPDIR"
export XDG_CACHE_HOME=$TMPDIR XDG_STATE_HOME=$TMPDIR
"$HYPROF" import -q -o whole.hyp host.json
"$HYPROF" html -o page.html whole.hyp >/dev/null
# Without the end of its events, the trace is one that still grows.
last=$("$HYPROF" dump whole.hyp | sed -n 's/^chunk offset=\([0-9]*\) kind=2 .*/\1/p' | tail -n 1)
head -c "$((last + 50))" whole.hyp >growing.hyp

cd "$here"
run_node tests/browser/flows.js
