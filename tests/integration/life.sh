#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Whatever a recorded program does with itself - other user, root, namespace, no descriptors, libraries - each zone is there once
set -eu
. tests/tap.sh
plan 51
need jq cc
need_sampling

# "NAME begins/ends in processes", for each name, in order.
zones() { # trace
        # shellcheck disable=SC2154 # of tap.sh
        awk -F '\t' "$columns"'
                kind == "zone_begin" { begun[zone]++; if (!((zone, pid) in seen)) n_pids[zone]++; seen[zone, pid] = 1 }
                kind == "zone_end" { ended[zone]++ }
                END { for (zone in begun) print zone " " begun[zone] + 0 "/" ended[zone] + 0 " in " n_pids[zone] + 0 }' \
                "$TMPDIR/$1.events" | LC_ALL=C sort | paste -sd ' '
}

# The leak checker ends programs in whose root or PID namespace it does not find itself in /proc.
[ "$VARIANT" != asan ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"

as_root() { # name of the case: false, and a skip, if this is not root
        [ "$(id -u)" -ne 0 ] || return 0
        skips_group "$1" "this test does not run as root"
        return 1
}

# Each of the names has its hundred zones in a process of its own, and nothing was lost on the way.
lives() { # trace, names in order...
        local trace=$1 wanted='' name
        shift
        for name; do wanted="$wanted${wanted:+ }$name 100/100 in 1"; done
        holds "$trace: its zones" same "$wanted" "$(zones "$trace")"
        holds "$trace: nothing is lost" same "" "$(lost "$trace")"
        holds "$trace: the trace is whole" is_whole "$trace"
}

life() { # mode, argument or nothing, names in order...
        local mode=$1 argument=$2
        shift 2
        holds "$mode: recorded" record "$mode" "$WORKLOADS/w_life" "$mode" "$argument"
        read_trace "$mode"
        lives "$mode" "$@"
}

life daemon "" daemon main
life vfork "" main program
life spawn "" main program
if as_root "descriptors closed"; then
        life closed "" child main
fi
if as_root "other user"; then
        # The folder of the test is root's alone; the program is executed once more as that user.
        life setuid 65534 child grandchild main program
fi
if as_root "chroot"; then
        mkdir "$TMPDIR/root"
        life chroot "$TMPDIR/root" child main
fi
if as_root "namespaces"; then
        # A container may forbid what the kernel can do.
        if unshare -m true 2>"$TMPDIR/unshare"; then
                life mount "" child main
                life pid "" child grandchild main
        else
                skips_group "namespaces" "unshare: $(tail -n 1 "$TMPDIR/unshare")"
        fi
fi

# ---- libraries that come and go, in a program that is not instrumented itself
sanitize=()
case $VARIANT in
asan) sanitize=(-fsanitize=address -fsanitize=undefined) ;;
esac
cat >"$TMPDIR/plugin.c" <<'END'
#include <hyprof/hyprof.h>

void work(void);

void work(void)
{
        for (int i = 0; i < 100; i++) {
                HYPROF_ZONE(PLUGIN);
        }
}
END
cat >"$TMPDIR/host.c" <<'END'
#include <dlfcn.h>
#include <stddef.h>

int main(int argc, char **argv)
{
        for (int i = 1; i < argc; i++) {
                void *plugin = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
                void (*work)(void) = plugin ? (void (*)(void))dlsym(plugin, "work") : NULL;

                if (!work)
                        return 1;
                work();
                if (dlclose(plugin) != 0)
                        return 2;
        }
        return 0;
}
END
builds() {
        local plugin
        for plugin in first second; do
                cc "${sanitize[@]}" -g -O1 -fPIC -shared -DPLUGIN="\"$plugin\"" -Iinstrument/client/include "$TMPDIR/plugin.c" \
                        -o "$TMPDIR/$plugin.so" -L"$BUILD" -lhyprof || return 1
        done
        cc "${sanitize[@]}" -g -O1 "$TMPDIR/host.c" -o "$TMPDIR/host" -ldl
}
holds "libraries: built" builds
ln -s "$BUILD/libhyprof.so" "$TMPDIR/libhyprof.so.1"
export LD_LIBRARY_PATH=$TMPDIR
holds "libraries: recorded" record libraries "$TMPDIR/host" "$TMPDIR/first.so" "$TMPDIR/second.so"
read_trace libraries
lives libraries first second

# The place of the first is taken by others: names that were read late would be theirs.
holds "libraries, one after the other many times: recorded" record again "$TMPDIR/host" \
        "$TMPDIR/first.so" "$TMPDIR/second.so" "$TMPDIR/first.so" "$TMPDIR/second.so"
unset LD_LIBRARY_PATH
read_trace again
holds "libraries, again: each zone under its own name" same "first 200/200 in 1 second 200/200 in 1" "$(zones again)"
holds "libraries, again: nothing is lost" same "" "$(lost again)"

# ---- from the first instruction on, when a ring is full at once, and when it has no reader any more
cat >"$TMPDIR/hasty.c" <<'END'
#include <hyprof/hyprof.h>
#include <stdio.h>
#include <time.h>

int main(int argc, char **argv)
{
        struct timespec begin, now;

        (void)argv;
        (void)clock_gettime(CLOCK_MONOTONIC, &begin);
        printf("%d", hyprof_is_recording());
        do {
                for (int i = 0; i < 1000; i++) {
                        HYPROF_ZONE("hasty");
                }
                (void)clock_gettime(CLOCK_MONOTONIC, &now);
        } while (argc > 1 && now.tv_sec < begin.tv_sec + 60 && hyprof_is_recording());
        printf(" %d\n", hyprof_is_recording());
        return 0;
}
END
builds_hasty() {
        cc "${sanitize[@]}" -g -O1 -Iinstrument/client/include "$TMPDIR/hasty.c" -o "$TMPDIR/hasty" "$BUILD/libhyprof.a" -lpthread
}
holds "a full ring: built" builds_hasty
holds "a full ring: recorded" env HYPROF_FULL=wait "$HYPROF" record -q --client-ring 4K -o "$TMPDIR/hasty.hyp" "$TMPDIR/hasty"
read_trace hasty
holds "a full ring: HYPROF_FULL=wait also waits for the recorder to come" same "hasty 1000/1000 in 1" "$(zones hasty)"
holds "a full ring: nothing is lost" same "" "$(lost hasty)"
holds "an heir of HYPROF_RECORDER stops recording when no recorder comes" same "1 0" \
        "$(HYPROF_RECORD=all HYPROF_RECORDER=@nobody "$TMPDIR/hasty" until)"

# ---- without the recording's environment, as under sudo: the recorder hears of the region and comes
cat >"$TMPDIR/stranger.c" <<'END'
#include <hyprof/hyprof.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int work(int is_parent)
{
        const struct timespec step = { .tv_nsec = 1000000 };

        for (int i = 0; i < 20000 && !hyprof_is_recording(); i++)
                (void)nanosleep(&step, NULL);
        for (int i = 0; i < 100; i++) {
                if (is_parent) {
                        HYPROF_ZONE("parent");
                } else {
                        HYPROF_ZONE("child");
                }
        }
        return !hyprof_is_recording();
}

int main(void)
{
        int failed = work(1), status = 1;
        pid_t child = fork();

        if (child == 0)
                _exit(work(0));
        return failed || waitpid(child, &status, 0) != child || status != 0;
}
END
builds_stranger() {
        cc "${sanitize[@]}" -g -O1 -Iinstrument/client/include "$TMPDIR/stranger.c" -o "$TMPDIR/stranger" "$BUILD/libhyprof.a" -lpthread
}
holds "no environment: built" builds_stranger
holds "stranger: recorded" record stranger env -i "ASAN_OPTIONS=${ASAN_OPTIONS-}" "$TMPDIR/stranger"
read_trace stranger
holds "stranger: its zones" same "child 100/100 in 1 parent 100/100 in 1" "$(zones stranger)"
holds "stranger: zones of before it was found may be missing" same "CLIENT_JOINED 2" "$(lost stranger)"
holds "stranger: the trace is whole" is_whole stranger
holds "stranger: the region is no module" same "1 0" \
        "$("$HYPROF" dump "$TMPDIR/stranger.hyp" | awk '/memfd:hyprof-client/ { n++ } /CLIENT_JOINED|stranger/ { is_there = 1 } END { print is_there + 0, n + 0 }')"
