#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of instrumentation, row by row; each figure is measured in one run with what it is compared to.
#
# With TRACY_DIR (a checkout of Tracy) and TRACY_CAPTURE (its tracy-capture) in the environment, the same programs
# are built with Tracy's headers as well and run beside, alternately.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
include=$PWD/instrument/client/include
flags=(-std=c++17 -O2 -DNDEBUG -DTRACY_ENABLE -DTRACY_FIBERS -pthread -w)
n_runs=${HYPROF_BENCH_RUNS:-9}

# ------------------------------------------------------------------ the programs, once for each side

build_peers() { # side, flags...
        local side=$1 peer
        shift
        for peer in peer_costs peer_patterns; do
                g++ "${flags[@]}" "tests/bench/$peer.cpp" "$@" -o "$folder/$side.$peer"
        done
}
build_peers hyprof -I"$include" -I"$include/hyprof/compat" "$BUILD/libhyprof.a"
sides=hyprof
if [ -n "${TRACY_DIR:-}" ] && [ -n "${TRACY_CAPTURE:-}" ]; then
        g++ "${flags[@]}" -DTRACY_NO_SYSTEM_TRACING -c "$TRACY_DIR/public/TracyClient.cpp" -o "$folder/client_fibers.o"
        build_peers tracy_fibers -I"$TRACY_DIR/public" "$folder/client_fibers.o" -ldl
        flags=(-std=c++17 -O2 -DNDEBUG -DTRACY_ENABLE -pthread -w)
        g++ "${flags[@]}" -DTRACY_NO_SYSTEM_TRACING -c "$TRACY_DIR/public/TracyClient.cpp" -o "$folder/client.o"
        build_peers tracy -I"$TRACY_DIR/public" "$folder/client.o" -ldl
        sides="hyprof tracy tracy_fibers"
else
        echo "Tracy is left out: TRACY_DIR and TRACY_CAPTURE are not both set"
fi
export TRACY_NO_INVARIANT_CHECK=1

# ------------------------------------------------------------------ how each side records

recorded() { # side, output, command...
        local side=$1 output=$2 capture
        shift 2
        case $side in
        hyprof)
                "$HYPROF" record -q -o "$output" -- "$@"
                ;;
        *)
                "$TRACY_CAPTURE" -f -o "$output" >"$folder/capture.log" 2>&1 &
                capture=$!
                TRACY_NO_EXIT=1 "$@"
                wait "$capture"
                ;;
        esac
}

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
value() { awk -v name="$2" '$1 == name { print $2 }' "$1"; } # file, case

# The median over all runs of a side, of a case or of its difference to another case of the same run.
over() { # side, case, base
        local run
        for run in "$folder/$1".costs.*; do
                awk -v name="$2" -v base="$3" '$1 == name { x = $2 } $1 == base { y = $2 } END { print x - y }' "$run"
        done | median
}

# ------------------------------------------------------------------ costs while recorded

for run in $(seq "$n_runs"); do
        for side in $sides; do
                recorded "$side" "$folder/costs.trace" "$folder/$side.peer_costs" >"$folder/$side.costs.$run"
        done
        "$folder/hyprof.peer_costs" bare >"$folder/idle.costs.$run"
        "$HYPROF" record -q -e page-faults -o "$folder/costs.trace" -- "$folder/hyprof.peer_costs" \
                >"$folder/unsampled.costs.$run"
done

printf '%-58s %10s' "CPU time in ns, medians of $n_runs alternating runs" hyprof
[ "$sides" = hyprof ] || printf ' %10s %10s' Tracy "+ fibers"
printf '  %s\n' target
row() { # words, case, base, target
        local side
        printf '%-58s' "$1"
        for side in $sides; do
                printf ' %10.2f' "$(over "$side" "$2" "$3")"
        done
        printf '  %s\n' "$4"
}
row "two bare time stamps" two_stamps nothing ""
row "zone, over two stamps" zone two_stamps "<= 2"
row "zone on each of two threads, over two stamps" zone_two_threads two_stamps "<= 2"
row "the same while fibers are in use" zone_while_fibers two_stamps "<= 2"
row "zone with 20 bytes of text, in all" zone_with_text nothing "<= Tracy's"
row "zone with a value, in all" zone_with_value nothing "<= Tracy's"
row "transient zone, in all" zone_transient nothing "<= Tracy's"
row "message literal, in all" message_literal nothing "<= Tracy's"
row "fiber entered and left, in all" fiber_enter_and_leave nothing "<= Tracy's with fibers"
row "allocation and free, over two stamps" alloc_and_free two_stamps "<= 6"
row "mutex, over two stamps" mutex_instrumented two_stamps "<= 8 + bare mutex"
row "bare mutex" mutex_bare nothing ""
row "zone with a callstack of 8 frames" zone_with_stack recursion "<= 200"
printf '%-58s %10.2f  %s\n' "zone, not sampled (page faults only), over two stamps" \
        "$(over unsampled zone two_stamps)" "<= 2"
printf '%-58s %10.2f  %s\n' "zone without a recorder, over an empty loop" "$(over idle zone nothing)" "<= 1.6"

# ------------------------------------------------------------------ linking it in

cat >"$folder/empty.c" <<'END'
#ifdef WITH
#include <hyprof/hyprof.h>
int main(void)
{
        HYPROF_ZONE("main");
        return 0;
}
#else
int main(void)
{
        return 0;
}
#endif
END
gcc -O2 "$folder/empty.c" -o "$folder/empty" -pthread
gcc -O2 -DWITH -I"$include" "$folder/empty.c" "$BUILD/libhyprof.a" -o "$folder/linked" -pthread
gcc -O2 tests/bench/spawn_cost.c -D_GNU_SOURCE -o "$folder/spawn_cost"
"$folder/spawn_cost" 201 "$folder/empty" -- "$folder/linked" | awk '
        NR == 1 { us = $1; kb = $4 }
        NR == 2 { printf "%-58s %10.3f  %s\n%-58s %10d  %s\n", "linked in: ms more for a process", ($1 - us) / 1000, "< 1",
                "linked in: KB of memory more", $4 - kb, "< 300" }'

# ------------------------------------------------------------------ bytes a zone

printf '\n%-58s %10s' "bytes a zone in the file, 10 million zones" hyprof
[ "$sides" = hyprof ] || printf ' %10s' Tracy
printf '  %s\n' target
targets=(0.41 0.85 4.1)
n=0
for pattern in tight nested random; do
        printf '%-58s' "$pattern"
        for side in ${sides%tracy_fibers}; do
                recorded "$side" "$folder/$pattern.$side" "$folder/$side.peer_patterns" $pattern 10000000 \
                        >"$folder/patterns.out"
                printf ' %10.3f' "$(awk -v bytes="$(stat -c %s "$folder/$pattern.$side")" '{ print bytes / $1 }' \
                        "$folder/patterns.out")"
        done
        printf '  <= %s\n' "${targets[n]}"
        "$HYPROF" report --json --limit 0 "$folder/$pattern.hyprof" | jq -r '.missing.rows[] | select(.code | test("DROPPED|RING")) |
                "  not all of them: \(.code) \(.count)"'
        n=$((n + 1))
done

# ------------------------------------------------------------------ sustained

# 20 million zones a second from one thread for 10 s, and flat out from two.
printf '\nsustained into a file\n'
sustained() { # words, command...
        local words=$1 n_zones seconds
        shift
        "$HYPROF" record -o "$folder/sustained" --client-ring 16M -- "$@" >"$folder/sustained.out" 2>"$folder/sustained.err" &
        local recorder=$! peak=0 now
        while kill -0 "$recorder" 2>/dev/null; do
                now=$(awk '/VmHWM/ { print $2 }' "/proc/$recorder/status" 2>/dev/null || true)
                peak=${now:-$peak}
                sleep 0.2
        done
        wait "$recorder"
        read -r n_zones seconds <"$folder/sustained.out"
        printf '%s: %s zones in %s s; ' "$words" "$n_zones" "$seconds"
        "$HYPROF" report --json --limit 0 "$folder/sustained" | jq -r '
                "dropped: \([.missing.rows[] | select(.code | test("DROPPED|RING")) | .count] | add // 0)"' | tr '\n' ';'
        printf ' recorder %d MB at most\n' $((peak / 1024))
}
sustained "20 million a second, target none dropped, <= 256 MB" "$folder/hyprof.peer_patterns" tight 200000000 20000000
sustained "2 million a second, target none dropped" "$folder/hyprof.peer_patterns" tight 20000000 2000000
