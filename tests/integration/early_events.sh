#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The client begins at the first event, also in constructors that run before its own: nothing is missing at the start
set -eu
. tests/tap.sh
plan 18
need jq cc c++
need_sampling

cat >"$TMPDIR/program.c" <<'END'
#include <hyprof/hyprof.h>
#include <stdio.h>
__attribute__((constructor(101))) static void first(void) { HYPROF_ZONE("first"); hyprof_memory_alloc(0, &first, 1); }
__attribute__((constructor)) static void second(void) { HYPROF_ZONE("second"); }
int main(void) { HYPROF_ZONE("main"); printf("%d\n", hyprof_is_recording()); return 0; }
END
cat >"$TMPDIR/library.c" <<'END'
#include <hyprof/hyprof.h>
__attribute__((constructor)) static void library(void) { hyprof_memory_alloc(0, &library, 1); HYPROF_ZONE("library"); }
END
# Every block of the program is an event, from the first on: those of other libraries' constructors come before its own.
cat >"$TMPDIR/preload.c" <<'END'
#include <hyprof/hyprof.h>
extern void *__libc_malloc(size_t bytes);
extern void __libc_free(void *address);
void *malloc(size_t bytes)
{
        void *address = __libc_malloc(bytes);
        if (address) hyprof_memory_alloc(0, address, bytes);
        return address;
}
void free(void *address)
{
        if (address) hyprof_memory_free(0, address);
        __libc_free(address);
}
END
cat >"$TMPDIR/blocks.cpp" <<'END'
#include <cstdio>
#include <cstdlib>
#include <string>
static std::string *early = new std::string(1000, 'x');
int main() { void *p = malloc(10); free(p); std::printf("%zu\n", early->size()); delete early; }
END

cp "$BUILD/libhyprof.so" "$TMPDIR/libhyprof.so.1"
flags="-O2 -Iinstrument/client/include"
# shellcheck disable=SC2086 # words
{
"${CC:-cc}" $flags "$TMPDIR/program.c" "$BUILD/libhyprof.a" -o "$TMPDIR/with_archive" -pthread
"${CC:-cc}" $flags "$TMPDIR/program.c" "$TMPDIR/libhyprof.so.1" -Wl,-rpath,"$TMPDIR" -o "$TMPDIR/with_library"
# A library that uses the program's copy: its constructor runs before all of the program's.
"${CC:-cc}" $flags -fPIC -shared "$TMPDIR/library.c" -o "$TMPDIR/liblibrary.so"
"${CC:-cc}" $flags -rdynamic "$TMPDIR/program.c" -Wl,--whole-archive "$BUILD/libhyprof.a" -Wl,--no-whole-archive \
        -Wl,--no-as-needed "$TMPDIR/liblibrary.so" -Wl,-rpath,"$TMPDIR" -o "$TMPDIR/with_constructor" -pthread
"${CC:-cc}" $flags -fno-builtin -fPIC -shared "$TMPDIR/preload.c" "$BUILD/libhyprof.a" -o "$TMPDIR/preload.so" -pthread
"${CXX:-c++}" -O0 "$TMPDIR/blocks.cpp" -o "$TMPDIR/blocks"
}
events() { # trace
        "$HYPROF" dump "$TMPDIR/$1.hyp" | grep -cE '^(zone_begin|memory_alloc) '
}
for name in with_archive with_library with_constructor; do
        wanted=4
        [ "$name" != with_constructor ] || wanted=6
        holds "$name" record "$name" -- "$TMPDIR/$name"
        holds "$name: all events are there" same "$wanted" "$(events "$name")"
        holds "$name alone: nothing is recorded" same 0 "$("$TMPDIR/$name")"
done
# The environment may be gone when a library comes with the client: it begins, and nothing is recorded.
cat >"$TMPDIR/late.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
        int (*is_recording)(void);
        void *library;
        if (argc < 3) clearenv();
        library = dlopen(argv[1], RTLD_NOW);
        if (!library || !(*(void **)&is_recording = dlsym(library, "is_recording"))) return 1;
        printf("%d\n", is_recording());
        return 0;
}
END
printf '#include <hyprof/hyprof.h>\nint is_recording(void);\nint is_recording(void) { return hyprof_is_recording(); }\n' >"$TMPDIR/asks.c"
# shellcheck disable=SC2086 # words
{
"${CC:-cc}" $flags -fPIC -shared "$TMPDIR/asks.c" "$BUILD/libhyprof.a" -o "$TMPDIR/libasks.so" -pthread
"${CC:-cc}" -O2 "$TMPDIR/late.c" -o "$TMPDIR/late"
}
holds "a library that comes late" record late -- "$TMPDIR/late" "$TMPDIR/libasks.so" with
holds "has a client that records" same 1 "$(cat "$TMPDIR/late.out")"
record cleared -- "$TMPDIR/late" "$TMPDIR/libasks.so"
holds "without an environment nothing is recorded" same 0 "$(cat "$TMPDIR/cleared.out")"
holds "of zones alone" record zones --zones -- "$TMPDIR/with_constructor"
holds "no other events, from the first on" same "4 0" \
        "$("$HYPROF" dump "$TMPDIR/zones.hyp" | grep -c '^zone_begin ') $("$HYPROF" dump "$TMPDIR/zones.hyp" | grep -c '^memory_alloc ' || true)"

holds "an allocator's events" record blocks --memory=callstacks -- env LD_PRELOAD="$TMPDIR/preload.so" "$TMPDIR/blocks"
holds "the program's output is its own" same 1000 "$(cat "$TMPDIR/blocks.out")"
"$HYPROF" report --memory --json --limit 0 "$TMPDIR/blocks.hyp" >"$TMPDIR/blocks.json"
figure "blocks: $(jq -c '.pools.rows[0] | [.n_allocations, .n_frees, .n_freed_unknown]' "$TMPDIR/blocks.json")"
holds "blocks of before the constructor were recorded" compare "$(jq '.pools.rows[0].n_allocations' "$TMPDIR/blocks.json")" ">=" 3
holds "no block is freed that was not allocated" same 0 "$(jq '[.pools.rows[].n_freed_unknown] | add' "$TMPDIR/blocks.json")"
