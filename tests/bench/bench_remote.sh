#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A trace that is taken over a port of this machine while the program runs: bytes on the wire for each zone, how soon the
# first zones can be read, how long the end takes, and what the program pays.
#
# With TRACY_DIR (a checkout of Tracy) and TRACY_CAPTURE (its tool) in the environment, the same program is taken by both, in
# turns.  The bytes are counted by a relay between both ends; the other figures are of runs without it.  tracy-capture writes
# its file at the end: Tracy's window, which shows zones while they come, is not measured.
set -eu
folder=$(mktemp -d)
processes=()
# shellcheck disable=SC2317 # the trap calls it
cleanup() {
        for pid in "${processes[@]}"; do kill "$pid" 2>/dev/null || true; done
        rm -rf "$folder"
}
trap cleanup EXIT
export XDG_RUNTIME_DIR=$folder
include=$PWD/instrument/client/include
flags=(-std=c++17 -O2 -DNDEBUG -pthread -w)
n_runs=${HYPROF_BENCH_RUNS:-5}
n_zones=${HYPROF_BENCH_ZONES:-5000000}
port=${HYPROF_BENCH_PORT:-18086}

g++ "${flags[@]}" -DTRACY_ENABLE tests/bench/peer_patterns.cpp -I"$include" -I"$include/hyprof/compat" "$BUILD/libhyprof.a" -o "$folder/hyprof"
g++ "${flags[@]}" tests/bench/peer_patterns.cpp -I"$include" -I"$include/hyprof/compat" -o "$folder/none"
sides=hyprof
if [ -n "${TRACY_DIR:-}" ] && [ -n "${TRACY_CAPTURE:-}" ]; then
        g++ "${flags[@]}" -DTRACY_ENABLE -DTRACY_NO_SYSTEM_TRACING -DTRACY_ONLY_LOCALHOST -DTRACY_NO_BROADCAST tests/bench/peer_patterns.cpp \
                -I"$TRACY_DIR/public" "$TRACY_DIR/public/TracyClient.cpp" -ldl -o "$folder/tracy"
        sides="hyprof tracy"
else
        echo "Tracy is left out: TRACY_DIR and TRACY_CAPTURE are not both set"
fi

cat >"$folder/relay.py" <<'END'
import socket, sys, threading

own, other = int(sys.argv[1]), int(sys.argv[2])
listener = socket.create_server(("127.0.0.1", own))
print("ready", flush=True)
client, _ = listener.accept()
server = socket.create_connection(("127.0.0.1", other))
counts = [0, 0]


def pass_on(source, sink, which):
    while data := source.recv(1 << 20):
        counts[which] += len(data)
        try:
            sink.sendall(data)
        except OSError:
            break
    try:
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


threads = [threading.Thread(target=pass_on, args=a) for a in ((server, client, 0), (client, server, 1))]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(sum(counts))
END

now() { date +%s.%N; }

listens() { # port
        local hex
        hex=$(printf ':%04X 00000000:0000 0A' "$1")
        until grep -q "$hex" /proc/net/tcp /proc/net/tcp6; do read -r -t 0.005 <> <(:) || true; done
}

# The program at full speed or at a rate, taken at a port.  Leaves the seconds of the program in `inside`, those from its start
# to its first zones in `first`, from its end to the whole file in `after`.
take() { # side, pattern, zones a second, port of the taker, is the first picture waited for
        local side=$1 begin end capture program file=$folder/$1.trace
        rm -f "$file" "$file.taking"
        first=-
        if [ "$side" = hyprof ]; then
                "$HYPROF" record -q --no-sampling --no-switches --client-ring 16M --listen "$port" -- "$folder/hyprof" "$2" "$n_zones" "$3" \
                        >"$folder/out" 2>"$folder/err" &
                program=$!
                listens "$port"
                begin=$(now)
                "$HYPROF" capture -q --no-symbolize "$4" -o "$file" >"$folder/said" 2>&1 &
                capture=$!
        else
                TRACY_NO_EXIT=1 TRACY_PORT=$port "$folder/tracy" "$2" "$n_zones" "$3" >"$folder/out" 2>"$folder/err" &
                program=$!
                listens "$port"
                begin=$(now)
                "$TRACY_CAPTURE" -f -a 127.0.0.1 -p "$4" -o "$file" >"$folder/said" 2>&1 &
                capture=$!
        fi
        if [ "$5" = yes ] && [ "$side" = hyprof ]; then
                until "$HYPROF" report --zones "$file" 2>/dev/null | grep -q '^ .* nested\|^ .* random'; do
                        kill -0 "$capture" 2>/dev/null || break
                done
                first=$(echo "$(now) - $begin" | bc)
        fi
        # The program prints its line at its end.
        until [ -s "$folder/out" ]; do read -r -t 0.002 <> <(:) || true; done
        end=$(now)
        wait "$capture" || { cat "$folder/said" "$folder/err" && return 1; }
        after=$(echo "$(now) - $end" | bc)
        [ "$side" = hyprof ] || first=$(echo "$(now) - $begin" | bc)
        wait "$program" || true
        inside=$(awk '{ print $2 }' "$folder/out")
}

middle() { sort -n | awk '{ v[NR] = $1 } END { printf "%.3g", v[int((NR + 1) / 2)] }'; }

for pattern in nested random; do
        for ((run = 0; run < n_runs; run++)); do
                "$folder/none" $pattern "$n_zones" 1000000000 | awk '{ print $2 }' >>"$folder/none.$pattern.inside"
                for side in $sides; do
                        take "$side" $pattern 1000000000 "$port" no
                        echo "$inside" >>"$folder/$side.$pattern.inside"
                        take "$side" $pattern 2000000 "$port" yes
                        echo "$first" >>"$folder/$side.$pattern.first"
                        echo "$after" >>"$folder/$side.$pattern.after"
                done
        done
        for side in $sides; do
                python3 "$folder/relay.py" $((port + 1)) "$port" >"$folder/counted" &
                processes+=($!)
                listens $((port + 1))
                take "$side" $pattern 2000000 $((port + 1)) no
                wait "${processes[-1]}"
                sed -n 2p "$folder/counted" >"$folder/$side.$pattern.wire"
                [ "$side" = tracy ] || "$HYPROF" report --zones --json --limit 0 "$folder/hyprof.trace" |
                        jq -r --arg n "$(awk '{ print $1 }' "$folder/out")" '"\(($n | tonumber) - .n_zones) zones missing"' |
                        sed "s/^/hyprof, $pattern: /"
        done
done

printf '%-58s' "$n_zones zones"
for side in $sides; do printf ' %10s' "$side"; done
echo
for pattern in nested random; do
        printf '%-58s' "$pattern: bytes on the wire a zone"
        for side in $sides; do printf ' %10s' "$(awk -v n="$n_zones" '{ printf "%.2f", $1 / n }' "$folder/$side.$pattern.wire")"; done
        printf '\n%-58s' "$pattern: ns a zone at full speed, taken meanwhile"
        for side in $sides; do
                printf ' %10s' "$(paste "$folder/$side.$pattern.inside" "$folder/none.$pattern.inside" |
                        awk -v n="$n_zones" '{ print ($1 - $2) * 1e9 / n }' | middle)"
        done
        printf '\n%-58s' "$pattern: s from connecting to zones that can be read"
        for side in $sides; do printf ' %10s' "$(middle <"$folder/$side.$pattern.first")"; done
        printf '\n%-58s' "$pattern: s from the program's end to the whole file"
        for side in $sides; do printf ' %10s' "$(middle <"$folder/$side.$pattern.after")"; done
        echo
done
