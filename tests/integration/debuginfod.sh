#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Debug files come from a debuginfod server by build-id; what is not the wanted file is thrown away, and nothing waits for ever
set -eu
. tests/tap.sh
plan 37
need debuginfod curl python3 gcc objcopy readelf

fetch=$BUILD/tools/fetch_debug_file
servers=()
# shellcheck disable=SC2317 # the trap calls it
stop_servers() { [ "${#servers[@]}" -eq 0 ] || kill "${servers[@]}" 2>/dev/null || true; }
trap stop_servers EXIT

# Distinct build-ids, a program and its debug file each.
mkdir "$TMPDIR/served"
make_program() { # name
        printf 'int %s(int n) { return n + 1; } int main(int n, char **v) { return %s(n) + v[0][0]; }\n' "$1" "$1" >"$TMPDIR/$1.c"
        gcc -g -Wl,--build-id=sha1 "$TMPDIR/$1.c" -o "$TMPDIR/served/$1"
        objcopy --only-keep-debug "$TMPDIR/served/$1" "$TMPDIR/served/$1.debug"
        objcopy --strip-debug "$TMPDIR/served/$1"
}
build_id() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }
make_program one
make_program two
# libdebuginfod gives up on this when it is larger than a limit.
head -c 3000000 /dev/urandom >"$TMPDIR/ballast"
objcopy --add-section .ballast="$TMPDIR/ballast" "$TMPDIR/served/two.debug"
one=$(build_id "$TMPDIR/served/one")
two=$(build_id "$TMPDIR/served/two")
other=0123456789abcdef0123456789abcdef01234567

# The first free port of some; the server says when it is taken.
start_server() {
        local try
        for try in 1 2 3 4 5 6 7 8; do
                port=$((20000 + (RANDOM + try) % 20000))
                debuginfod -p "$port" -d :memory: -F "$TMPDIR/served" >"$TMPDIR/server" 2>&1 &
                server=$!
                servers+=("$server")
                while kill -0 "$server" 2>/dev/null; do
                        if curl -sf "http://127.0.0.1:$port/buildid/$two/debuginfo" -o "$TMPDIR/answer" &&
                           curl -sf "http://127.0.0.1:$port/buildid/$one/debuginfo" -o "$TMPDIR/answer"; then
                                return 0
                        fi
                        sleep 0.1
                done
        done
        return 1
}

n_caches=0
# Each with an empty cache: what one run got would be there for the next.
run_fetch() { # argument...
        n_caches=$((n_caches + 1))
        cache=$TMPDIR/cache$n_caches
        mkdir "$cache"
        env -u DEBUGINFOD_MAXSIZE DEBUGINFOD_CACHE_PATH="$cache" DEBUGINFOD_URLS="http://127.0.0.1:$port" \
                "$fetch" "$@" >"$TMPDIR/fetched" 2>"$TMPDIR/progress" || true
}
state_of() { sed -n "$1s/ .*//p" "$TMPDIR/fetched"; }
path_of() { sed -n "$1s/.* //p" "$TMPDIR/fetched"; }
n_cached() { find "$cache" -type f -size +0 -path "*/$1/*" | wc -l; }

start_server || skip_all "debuginfod does not start: $(tail -n 1 "$TMPDIR/server")"

run_fetch "$one" "$other" "$two"
holds "a debug file is found" same found "$(state_of 1)"
holds "it is the one that is served" cmp "$(path_of 1)" "$TMPDIR/served/one.debug"
holds "one that no server has is not found" same not-found "$(state_of 2)"
holds "the next is found still" same found "$(state_of 3)"
holds "it is the one that is served" cmp "$(path_of 3)" "$TMPDIR/served/two.debug"
holds "what has come is told" grep -q "^progress 2 " "$TMPDIR/progress"
run_fetch -x "$one"
holds "an executable is found" same found "$(state_of 1)"
holds "it is the one that is served" cmp "$(path_of 1)" "$TMPDIR/served/one"

run_fetch -s 100000 "$two" "$one"
holds "one over the limit of bytes fails" same failed "$(state_of 1)"
holds "and is not kept" same 0 "$(n_cached "$two")"

unset_urls() { env -u DEBUGINFOD_URLS "$fetch" "$one"; }
holds "without DEBUGINFOD_URLS nothing is asked" ends_with 1 unset_urls
holds "and that is said" grep -q "^error -61 .*DEBUGINFOD_URLS" "$TMPDIR/out"

kill "$server"
wait "$server" 2>/dev/null || true
run_fetch "$one" "$two"
holds "a server that is gone: it fails" same failed "$(state_of 1)"
holds "the rest is not tried" same not-tried "$(state_of 2)"

# One that serves what it likes.
mkdir -p "$TMPDIR/liar/buildid/$one" "$TMPDIR/liar/buildid/$two"
head -c 5000 /dev/urandom >"$TMPDIR/liar/buildid/$one/debuginfo"
cp "$TMPDIR/served/one.debug" "$TMPDIR/liar/buildid/$two/debuginfo"
python3 -u -m http.server --bind 127.0.0.1 --directory "$TMPDIR/liar" 0 >"$TMPDIR/liar.out" 2>/dev/null &
servers+=("$!")
until grep -q 'port [0-9]' "$TMPDIR/liar.out"; do sleep 0.1; done
port=$(sed -n 's/.* port \([0-9]*\).*/\1/p' "$TMPDIR/liar.out")
run_fetch "$one" "$two"
holds "garbage is not believed" same wrong "$(state_of 1)"
holds "and does not stay in the cache" same 0 "$(n_cached "$one")"
holds "the file of another build-id is not believed" same wrong "$(state_of 2)"
holds "and does not stay in the cache" same 0 "$(n_cached "$two")"

# One that takes the call and says nothing.
cat >"$TMPDIR/silent.py" <<'END'
import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(8)
print("port", s.getsockname()[1], flush=True)
calls = []
while True:
    calls.append(s.accept())
END
python3 "$TMPDIR/silent.py" >"$TMPDIR/silent.out" &
servers+=("$!")
until grep -q 'port [0-9]' "$TMPDIR/silent.out"; do sleep 0.1; done
port=$(sed -n 's/port //p' "$TMPDIR/silent.out")
run_fetch -t 1 "$one" "$two"
holds "a server that says nothing: it fails in time" same "failed -110 -" "$(sed -n 1p "$TMPDIR/fetched")"
holds "the rest is not tried" same not-tried "$(state_of 2)"

# ---- one that answers in every wrong way
mkdir "$TMPDIR/says"
python3 tests/tools/hostile_debuginfod.py "$TMPDIR/says" >"$TMPDIR/hostile.out" &
servers+=("$!")
until grep -q 'port [0-9]' "$TMPDIR/hostile.out"; do sleep 0.1; done
port=$(sed -n 's/port //p' "$TMPDIR/hostile.out")
answers() { # build-id, how, what
        printf '%s\n%s\n' "$2" "${3:-}" >"$TMPDIR/says/$1"
}
refused() { # options: what is asked for first is not believed, nothing of it stays, and the fetch ends by itself
        run_fetch "$@" "$one"
        case $(state_of 1) in found | not-tried | "") cat "$TMPDIR/fetched" && return 1 ;; esac
        same 0 "$(n_cached "$one")"
}
answers "$one" right "$TMPDIR/served/one.debug"
run_fetch "$one"
holds "this server can be right" same found "$(state_of 1)"
answers "$one" endless
holds "bytes without an end: over the limit" refused -s 1000000
answers "$one" trickle
holds "a byte at a time: over the time" refused -t 2
answers "$one" huge
holds "a length that never comes" refused -s 100000000
answers "$one" cut "$TMPDIR/served/one.debug"
holds "half a file" refused -t 5
answers "$one" header
holds "a megabyte of headers" refused -t 5
answers "$one" redirect "file://$TMPDIR/served/one.debug"
holds "a way to a file of this machine" refused -t 5
answers "$one" redirect "http://127.0.0.1:$port/buildid/$one/debuginfo"
holds "a way that leads to itself" refused -t 5
answers "$one" error
holds "an error" refused -t 5

# ---- hyprof symbolize, with a home that has no cache yet: the client makes it, and nothing else changes
need_sampling
cat >"$TMPDIR/busy.c" <<'END'
#include <stdint.h>
volatile uint64_t sum;
__attribute__((noinline)) static void planted(uint64_t n) { for (uint64_t i = 0; i < n; i++) sum += i * i; }
int main(void) { for (int i = 0; i < 100; i++) planted(4000000); }
END
gcc -g -O1 -Wl,--build-id=sha1 "$TMPDIR/busy.c" -o "$TMPDIR/busy"
objcopy --only-keep-debug "$TMPDIR/busy" "$TMPDIR/busy.debug"
strip "$TMPDIR/busy"
busy=$(build_id "$TMPDIR/busy")
"$HYPROF" record -q -o "$TMPDIR/busy.hyp" -- "$TMPDIR/busy"
mkdir "$TMPDIR/home"
symbolize() { # seconds
        cp "$TMPDIR/busy.hyp" "$TMPDIR/named.hyp"
        rm -rf "$TMPDIR/home/.cache"
        timeout 100 env -u XDG_CACHE_HOME -u DEBUGINFOD_CACHE_PATH -u HYPROF_CACHE_DIR HOME="$TMPDIR/home" DEBUGINFOD_URLS="http://127.0.0.1:$port" \
                DEBUGINFOD_MAXSIZE=1000000 DEBUGINFOD_MAXTIME=5 DEBUGINFOD_TIMEOUT=3 "$HYPROF" symbolize "$TMPDIR/named.hyp"
}
is_named() { "$HYPROF" export -q folded "$TMPDIR/named.hyp" -o - >"$TMPDIR/folded" && grep -q planted "$TMPDIR/folded"; }
answers "$busy" right "$TMPDIR/busy.debug"
holds "symbolize: it asks" ends_with 0 symbolize
holds "and has the names" is_named
holds "the file is in the client's cache" test -s "$TMPDIR/home/.cache/debuginfod_client/$busy/debuginfo"
for how in endless trickle garbage; do
        answers "$busy" "$how"
        [ $how != garbage ] || { head -c 20000 /dev/urandom >"$TMPDIR/noise" && answers "$busy" right "$TMPDIR/noise"; }
        holds "symbolize, $how: it ends well" ends_with 0 symbolize
done
is_nameless() { ! is_named && [ -s "$TMPDIR/folded" ]; }
holds "without the names" is_nameless
# The right build-id, and debug information that is noise.
cp "$TMPDIR/busy.debug" "$TMPDIR/noisy.debug"
for section in .debug_info .debug_line .debug_abbrev; do
        head -c 3000 /dev/urandom >"$TMPDIR/noise"
        objcopy --update-section "$section=$TMPDIR/noise" "$TMPDIR/noisy.debug"
done
answers "$busy" right "$TMPDIR/noisy.debug"
holds "symbolize, the right build-id and noise for the rest: it ends well" ends_with 0 symbolize
