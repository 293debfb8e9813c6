#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Call stacks of events name the library that was at the address then, also when another has its place a moment later
set -eu
. tests/tap.sh
plan 5
# Three programs one after the other: the first has no call stacks until the unwind tables of its files are there.
need gcc sqlite3
need_sampling

cat >"$TMPDIR/plugin.c" <<'END'
int FUNCTION(int (*call)(int), int n) { return call(n) + 1; }
END
cat >"$TMPDIR/host.c" <<'END'
#include <hyprof/hyprof.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static char memory[1 << 20];
static int next;
static int __attribute__((noinline)) report(int n)
{
        HYPROF_ALLOC(&memory[next], n);
        return next++;
}
int main(int argc, char **argv)
{
        int pass = atoi(argv[3]);
        static const char *const names[] = { "of_first", "of_second" };
        void *before = NULL;
        int n_same = 0;
        for (int i = 0; i < 200; i++) {
                void *object = dlopen(argv[1 + i % 2], RTLD_NOW);
                int (*work)(int (*)(int), int) = object ? dlsym(object, names[i % 2]) : NULL;
                if (!work)
                        return 2;
                n_same += (void *)work == before;
                before = (void *)work;
                work(report, (i % 2 ? 100 : 1000) * pass);
                dlclose(object);
                usleep(1000);
        }
        printf("%d\n", n_same);
        fflush(stdout);
        if (pass < 3)
                execv(argv[0], (char *[]){ argv[0], argv[1], argv[2], pass == 1 ? "2" : "3", NULL });
        return 0;
}
END
for name in first second; do gcc -O1 -g -shared -fPIC "-DFUNCTION=of_$name" -o "$TMPDIR/$name.so" "$TMPDIR/plugin.c"; done
gcc -O1 -g -Iinstrument/client/include -o "$TMPDIR/host" "$TMPDIR/host.c" "$BUILD/libhyprof.a" -pthread

run() { "$HYPROF" record -q --memory=callstacks -o "$TMPDIR/t.hyp" -- "$TMPDIR/host" "$TMPDIR/first.so" "$TMPDIR/second.so" 1 >"$TMPDIR/said"; }
holds "recorded" run
# shellcheck disable=SC2016 # awk expands it
holds "the place of one was the other's most of the time" awk '$1 >= 100 { n++ } END { exit n != 3 }' "$TMPDIR/said"
"$HYPROF" query --sqlite "$TMPDIR/t.db" "$TMPDIR/t.hyp" 2>"$TMPDIR/query.err"
below() { # sizes, function: how many blocks of these sizes were allocated below it
        sqlite3 "$TMPDIR/t.db" "SELECT count(DISTINCT m.rowid) FROM memory m JOIN stack_frames s ON s.stack = m.stack
                JOIN frame_functions f ON f.frame = s.frame WHERE size_bytes IN ($1) AND f.function = '$2'"
}
holds "no block is of the other library" same "0 0" "$(below 1000,2000,3000 of_second) $(below 100,200,300 of_first)"
holds "before execve: blocks have their library" compare "$(below 2000 of_first) + $(below 200 of_second)" ">" 20
holds "after it: blocks have their library" compare "$(below 3000 of_first) + $(below 300 of_second)" ">" 20
