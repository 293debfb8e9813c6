#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How soon 20 million zones are seen, and with how much memory: hyprof view beside Tracy's profiler and Perfetto's
# processor.  The same program is recorded by hyprof and by Tracy; Perfetto reads hyprof's export.
#
# Each peer is left out with a line unless its part of the environment is set:
#   TRACY_DIR      a checkout of Tracy;  TRACY_CAPTURE  its tracy-capture
#   TRACY_SERVER   its server's library (libTracyServer.a);  TRACY_FLAGS  for headers that Tracy takes from elsewhere
#   TRACE_PROCESSOR  Perfetto's trace_processor_shell
# HYPROF_BENCH_ZONES: another number of zones; HYPROF_BENCH_PATTERNS: others of peer_patterns.cpp.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
include=$PWD/instrument/client/include
flags=(-std=c++17 -O2 -DNDEBUG -DTRACY_ENABLE -pthread -w)
n_zones=${HYPROF_BENCH_ZONES:-20000000}
export XDG_CACHE_HOME=$folder/cache TRACY_NO_INVARIANT_CHECK=1

# Seconds on the clock and the peak of memory of a command.
measured() { # what, command...
        local what=$1
        shift
        python3 - "$what" "$@" <<'PYTHON'
import resource, subprocess, sys, time
begin = time.monotonic()
status = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
print(f"{sys.argv[1]}: {time.monotonic() - begin:.2f} s, "
      f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MiB" + (f", exit status {status}" if status else ""))
PYTHON
}

g++ "${flags[@]}" tests/bench/peer_patterns.cpp -I"$include" -I"$include/hyprof/compat" "$BUILD/libhyprof.a" -o "$folder/hyprof"
has_tracy=0
if [ -n "${TRACY_DIR:-}" ] && [ -n "${TRACY_CAPTURE:-}" ] && [ -n "${TRACY_SERVER:-}" ]; then
        has_tracy=1
        g++ "${flags[@]}" -DTRACY_NO_SYSTEM_TRACING tests/bench/peer_patterns.cpp -I"$TRACY_DIR/public" \
                "$TRACY_DIR/public/TracyClient.cpp" -ldl -o "$folder/tracy"
        # shellcheck disable=SC2086
        g++ -std=c++20 -O2 -DNDEBUG -pthread -w ${TRACY_FLAGS:-} tests/bench/peer_load.cpp -I"$TRACY_DIR/server" \
                -I"$TRACY_DIR" "$TRACY_SERVER" -lzstd -ldl -o "$folder/load"
else
        echo "Tracy is left out: TRACY_DIR, TRACY_CAPTURE and TRACY_SERVER are not all set"
fi
[ -n "${TRACE_PROCESSOR:-}" ] || echo "Perfetto is left out: TRACE_PROCESSOR is not set"

for pattern in ${HYPROF_BENCH_PATTERNS:-nested random}; do
        echo "---- $pattern"
        "$HYPROF" record -q --client-ring 16M -o "$folder/t.hyp" -- "$folder/hyprof" "$pattern" "$n_zones"
        echo "hyprof's trace: $(($(stat -c %s "$folder/t.hyp") >> 20)) MiB"
        echo "hyprof view, the first time:"
        tests/bench/bench_view.py "$HYPROF" "$folder/t.hyp" 200
        echo "hyprof view, opened again:"
        tests/bench/bench_view.py "$HYPROF" "$folder/t.hyp" 200

        if [ "$has_tracy" = 1 ]; then
                "$TRACY_CAPTURE" -f -o "$folder/t.tracy" >"$folder/capture.log" 2>&1 &
                TRACY_NO_EXIT=1 "$folder/tracy" "$pattern" "$n_zones"
                wait $!
                echo "Tracy's trace: $(($(stat -c %s "$folder/t.tracy") >> 20)) MiB"
                echo "Tracy's profiler, its loading alone: $("$folder/load" "$folder/t.tracy")"
                echo "again: $("$folder/load" "$folder/t.tracy")"
        fi
        if [ -n "${TRACE_PROCESSOR:-}" ]; then
                "$HYPROF" export -q --force -o "$folder/t.pftrace" perfetto "$folder/t.hyp"
                echo "Perfetto's trace: $(($(stat -c %s "$folder/t.pftrace") >> 20)) MiB"
                echo 'select count(*) from slice;' >"$folder/query.sql"
                measured "Perfetto's processor, loaded and one query answered" "$TRACE_PROCESSOR" -q "$folder/query.sql" "$folder/t.pftrace"
        fi
done
