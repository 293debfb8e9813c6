#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program and its plugins that were each linked with the static library: all that they say is in one region
set -eu
. tests/tap.sh
plan 94
need jq
need_sampling

include=(-Iinstrument/client/include)
sanitize=()
[ "$VARIANT" != asan ] || sanitize=(-fsanitize=address -fsanitize=undefined)

compile() { # output, arguments of the compiler...
        cc -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -pthread "${sanitize[@]}" "${include[@]}" -o "$TMPDIR/$1" "${@:2}"
}

plugin() { # name, arguments of the linker...
        compile "$1.so" -fPIC -shared "-DPLUGIN_NAME=\"$1\"" tests/workloads/plugin.c "$BUILD/libhyprof.a" "${@:2}"
}

host() { # name, arguments of the compiler...
        compile "$1" tests/workloads/plugin_host.c "${@:2}" -ldl
}

begun_and_ended() { # zone
        echo "$(n_events several "kind == \"zone_begin\" && zone == \"$1\"")" \
                "$(n_events several "kind == \"zone_end\" && zone == \"$1\"")"
}

check_host() { # words, zones of the host itself, host, plugins...
        holds "$1: one region, and all goes well" record several "$TMPDIR/$3" "$TMPDIR/$4.so" "$TMPDIR/$5.so"
        read_trace several
        holds "$1: the zones of $4" same "300 300" "$(begun_and_ended "$4")"
        holds "$1: the zones of $5" same "400 400" "$(begun_and_ended "$5")"
        holds "$1: the host's zone" same "$2 $2" "$(begun_and_ended host)"
        holds "$1: its child's zone" same "$2 $2" "$(begun_and_ended child)"
        holds "$1: a message of each call of the plugins" same 7 "$(n_events several 'kind ~ /^message/')"
        holds "$1: a plot of each" same 7 "$(n_events several 'kind == "plot_i64"')"
        holds "$1: in two processes" same 2 "$(n_different several 'kind == "zone_begin"' pid)"
        holds "$1: nothing is lost" same "" "$(lost several)"
}

holds "plugins with visible symbols" plugin open_a
holds "another" plugin open_b
holds "plugins with hidden symbols" plugin hidden_a -Wl,--exclude-libs,ALL
holds "another" plugin hidden_b -Wl,--exclude-libs,ALL
holds "a host with a copy" host host "$BUILD/libhyprof.a"
holds "a host whose symbols the plugins' are bound to" host bound_host "$BUILD/libhyprof.a" -rdynamic
holds "a host without a copy" host bare_host -DHYPROF_DISABLE
holds "a host with the shared library" host shared_host -L"$BUILD" -lhyprof -Wl,-rpath,"$BUILD"
holds "a host that is linked with a plugin as well" host linked_host "$BUILD/libhyprof.a" -Wl,--no-as-needed \
        "$TMPDIR/open_b.so" -Wl,-rpath,"$TMPDIR"

check_host "visible" 1 host open_a open_b
check_host "hidden" 1 host hidden_a hidden_b
check_host "mixed" 1 host open_a hidden_b
check_host "bound" 1 bound_host open_a open_b
check_host "bound and hidden" 1 bound_host hidden_a open_b
check_host "bare, visible" 0 bare_host open_a open_b
check_host "bare, hidden" 0 bare_host hidden_a hidden_b
check_host "linked" 1 linked_host open_a open_b
[ -e "$BUILD/libhyprof.so.1" ] || ln -s "$BUILD/libhyprof.so" "$TMPDIR/libhyprof.so.1"
LD_LIBRARY_PATH=$TMPDIR check_host "shared library" 1 shared_host hidden_a open_b

if [ "$VARIANT" = asan ]; then
        skips_group "a static program" "hardware: no static programs with sanitizers"
else
        holds "a static program links without a word" compile static -static \
                -DPLUGIN_NAME='"static"' -x c - -x none "$BUILD/libhyprof.a" <<'PROGRAM'
#include <hyprof/hyprof.h>
int main(void)
{
        HYPROF_ZONE(PLUGIN_NAME);
        return 0;
}
PROGRAM
        holds "it says nothing while it is linked" same "" "$(cat "$TMPDIR/case")"
        holds "it is recorded" record several "$TMPDIR/static"
        read_trace several
        holds "its zone" same "1 1" "$(begun_and_ended static)"
fi
