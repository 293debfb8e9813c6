#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A trace is completed on a machine that has neither the program nor its debug files, by a debuginfod server that has them
set -eu
. tests/tap.sh
plan 16
need gcc objcopy strip readelf debuginfod curl jq
need_sampling

# The server's files and caches, and the empty home of another machine.
served=$TMPDIR/served home=$TMPDIR/home
mkdir -p "$served" "$home" "$TMPDIR/bin"

cat >"$TMPDIR/shop.c" <<'EOS'
#include <stdint.h>
#include <stdlib.h>
static inline __attribute__((always_inline)) uint64_t mix(uint64_t x)
{
        for (int i = 0; i < 64; i++)
                x = (x ^ (x >> 7)) * 0x9e3779b97f4a7c15u;
        return x;
}
__attribute__((noinline)) static uint64_t price_all(uint64_t n)
{
        uint64_t sum = 0;
        for (uint64_t i = 0; i < n; i++)
                sum += mix(i);
        return sum;
}
int main(void)
{
        return price_all(8000000) == 1;
}
EOS
(cd "$TMPDIR" && gcc -O2 -g -Wl,--build-id -o "$TMPDIR/bin/shop" shop.c)
objcopy --only-keep-debug "$TMPDIR/bin/shop" "$served/shop.debug"
strip "$TMPDIR/bin/shop"
build_id=$(readelf -n "$TMPDIR/bin/shop" | sed -n 's/.*Build ID: //p')

# ---- a real server, on the loopback, at a port that is free
server=
stop_server() {
        [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true
        server=
}
trap stop_server EXIT
start_server() {
        local tries
        for ((tries = 0; tries < 5; tries++)); do
                port=$((20000 + (RANDOM * 32768 + RANDOM) % 40000))
                debuginfod -p $port -d "$TMPDIR/server.db" -F "$served" -t 0 >"$TMPDIR/server.log" 2>&1 &
                server=$!
                for ((n = 0; n < 200; n++)); do
                        kill -0 $server 2>/dev/null || break
                        curl -sf --noproxy '*' -o /dev/null "http://127.0.0.1:$port/buildid/$build_id/debuginfo" && return 0
                        read -r -t 0.1 <> <(:) || true
                done
                stop_server
        done
        tail -n 5 "$TMPDIR/server.log"
        return 1
}
holds "the server has the debug file" start_server
url=http://127.0.0.1:$port

# ---- the recording, and another machine
holds "a stripped program is recorded" "$HYPROF" record -q --no-symbolize --embed=none -o "$TMPDIR/t.hyp" -- "$TMPDIR/bin/shop"
rm -rf "${TMPDIR:?}/bin" "$TMPDIR/shop.c"
offline() { # options of hyprof symbolize; the server's address in $urls
        env -i PATH="$PATH" HOME="$home" XDG_CACHE_HOME="$home/.cache" TMPDIR="$TMPDIR" LC_ALL=C.UTF-8 no_proxy='*' \
                ${urls:+DEBUGINFOD_URLS="$urls"} "$HYPROF" symbolize "$@"
}
in_program='kind == "sample" && module ~ /\/shop$/'

holds "without a server it is completed as far as it can be" offline -o "$TMPDIR/none.hyp" "$TMPDIR/t.hyp"
[ -e "$TMPDIR/none.hyp" ] || cp "$TMPDIR/t.hyp" "$TMPDIR/none.hyp"
read_trace none
n=$(n_events none "$in_program")
holds "the program was sampled" compare "$n" ">" 100
holds "there are no names" same 0 "$(n_events none "$in_program && self != \"?\"")"
holds "hyprof modules says what is missing, with its build-id" grep -q "$build_id" <("$HYPROF" modules "$TMPDIR/none.hyp" 2>&1)

urls=http://127.0.0.1:1
holds "a server that is not there: it ends all the same" offline --debuginfod -o "$TMPDIR/dead.hyp" "$TMPDIR/t.hyp"
holds "no server is named: none is asked" offline -o "$TMPDIR/unasked.hyp" "$TMPDIR/t.hyp"
urls=$url
before=$(grep -c "$build_id" "$TMPDIR/server.log" || true)
holds "with --debuginfod" offline --debuginfod -o "$TMPDIR/full.hyp" "$TMPDIR/t.hyp"
holds "the server was asked" compare "$(grep -c "$build_id" "$TMPDIR/server.log" || true)" ">" "$before"
[ -e "$TMPDIR/full.hyp" ] || cp "$TMPDIR/t.hyp" "$TMPDIR/full.hyp"
holds "the trace is whole" is_whole full
read_trace full
holds "every sample has the name of its function" same 0 "$(n_events full "$in_program && self !~ /^(mix|price_all|main|_start)([.]|\$)/")"
holds "which is almost always the hot one" compare "$(n_events full "$in_program && self ~ /^(mix|price_all)([.]|\$)/")" ">=" "0.9 * $n"
holds "and the line of what is inlined there" compare "$(n_events full "$in_program && source_line ~ /shop[.]c:[4-8]\$/")" \
        ">=" "0.8 * $n"

stop_server
holds "what was fetched is kept: without the server" offline --debuginfod -o "$TMPDIR/again.hyp" "$TMPDIR/t.hyp"
[ -e "$TMPDIR/again.hyp" ] || cp "$TMPDIR/t.hyp" "$TMPDIR/again.hyp"
read_trace again
holds "it is the same" same "$(n_events full "$in_program && self ~ /^(mix|price_all)([.]|\$)/")" \
        "$(n_events again "$in_program && self ~ /^(mix|price_all)([.]|\$)/")"
figure "$n samples in a stripped program, $(n_events full "$in_program && self != \"?\"") with names, $(
        n_events full "$in_program && source_line ~ /:[1-9]/") with lines"
