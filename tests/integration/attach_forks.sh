#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof record -p: processes that the program forks are recorded, also daemons, whose parent has ended
set -eu
. tests/tap.sh
plan 5
need jq cc
need_sampling
set -m
sanitize=()
[ "$VARIANT" != asan ] || sanitize=(-fsanitize=address -fsanitize=undefined)

cat >"$TMPDIR/family.c" <<'END'
#include <hyprof/hyprof.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N_CHILDREN 5
#define N_ZONES    100

static void emit(const char *who)
{
        const struct timespec step = { .tv_nsec = 1000000 };

        for (int i = 0; i < 20000 && !hyprof_is_recording(); i++)
                (void)nanosleep(&step, NULL);
        for (int i = 0; i < N_ZONES; i++) {
                if (strcmp(who, "child") == 0) {
                        HYPROF_ZONE("child");
                } else {
                        HYPROF_ZONE("daemon");
                }
        }
}

static void wait_for_end(void)
{
        char byte;

        (void)!read(STDIN_FILENO, &byte, 1);
}

/* A child emits as soon as it is recorded; with "daemon" it is its child that does, whose parent ends. */
static void start(const char *who)
{
        pid_t child = fork();

        if (child == 0) {
                if (strcmp(who, "daemon") == 0 && fork() != 0)
                        _exit(0);
                emit(who);
                wait_for_end();
                _exit(0);
        }
        if (strcmp(who, "daemon") == 0)
                (void)waitpid(child, NULL, 0);
}

int main(void)
{
        const struct timespec step = { .tv_nsec = 1000000 };

        while (!hyprof_is_recording())
                (void)nanosleep(&step, NULL);
        for (int i = 0; i < N_CHILDREN; i++) {
                start("child");
                start("daemon");
        }
        (void)puts("started");
        (void)fflush(stdout);
        wait_for_end();
        while (wait(NULL) > 0)
                ;
        return 0;
}
END
builds_family() {
        cc "${sanitize[@]}" -g -O1 -Iinstrument/client/include "$TMPDIR/family.c" -o "$TMPDIR/family" "$BUILD/libhyprof.a" -lpthread
}
holds "built" builds_family
mkfifo "$TMPDIR/to" "$TMPDIR/from"

# The regions that the recorder has open have been that many for half a second.
has_regions() { # number
        local i n=0
        for ((i = 0; i < 300 && n < 5; i++)); do
                if [ "$(find "/proc/$recorder/fd" -lname '*hyprof-client*' 2>"$TMPDIR/find" | wc -l)" -eq "$1" ]; then n=$((n + 1)); else n=0; fi
                read -r -t 0.1 <> <(:) || true
        done
        [ "$n" -eq 5 ]
}

# Attaches to a family; descriptor 4 keeps it alive.
attach_to_family() { # trace
        local line=
        env -u HYPROF_RECORD -u HYPROF_RECORDER "$TMPDIR/family" <"$TMPDIR/to" >"$TMPDIR/from" &
        exec 4>"$TMPDIR/to" 5<"$TMPDIR/from"
        "$HYPROF" record --no-symbolize -o "$TMPDIR/$1.hyp" -p $! >"$TMPDIR/$1.out" 2>"$TMPDIR/$1.err" 4>&- 5<&- &
        recorder=$!
        read -r -t 60 line <&5 && same started "$line"
}
ends() {
        exec 4>&- 5<&-
        wait "$recorder"
}
n_zones() { # trace, name
        n_events "$1" "kind == \"zone_end\" && zone == \"$2\""
}

holds "five children and five daemons" attach_to_family family
holds "each is recorded" has_regions 11
holds "and ends" ends
read_trace family
holds "their zones are there" same "500 500" "$(n_zones family child) $(n_zones family daemon)"
