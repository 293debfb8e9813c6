#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A trace gets its names on a machine that never had the program; what is found is added, what differs is not believed
set -eu
. tests/tap.sh
plan 105
need gcc objcopy

code_trace=$BUILD/tools/code_trace
export HYPROF_CACHE_DIR=$TMPDIR/cache
unset DEBUGINFOD_URLS
bin=$TMPDIR/bin
mkdir "$bin" "$TMPDIR/elsewhere" "$TMPDIR/debug" "$TMPDIR/root"

cat >"$TMPDIR/spin.c" <<'END'
#include <time.h>
__attribute__((noinline)) long spin_inner(long n)
{
        volatile long s = 0;
        for (long i = 0; i < n; i++)
                s += i;
        return s;
}
int main(void)
{
        struct timespec now;
        do {
                (void)spin_inner(100000);
                (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        } while (now.tv_sec == 0 && now.tv_nsec < 300000000);
        return 0;
}
END
gcc -O1 -g -Wl,--build-id=sha1 -o "$bin/spin" "$TMPDIR/spin.c"
gcc -O2 -g -Wl,--build-id=sha1 -o "$TMPDIR/other" "$TMPDIR/spin.c"
gcc -O1 -g -Wl,--build-id=none -o "$bin/nameless" "$TMPDIR/spin.c"
objcopy --only-keep-debug "$bin/spin" "$TMPDIR/spin.debug"
id=$(readelf -n "$bin/spin" | awk '/Build ID/ { print $3 }')

trace=$TMPDIR/elsewhere/t.hyp
named() { # trace: function, file and line of the frames of spin
        "$HYPROF" dump "$1" | grep -c 'spin_inner' || true
}
symbolize() { # options and trace; its summary is in $TMPDIR/err
        "$HYPROF" symbolize "$@" >"$TMPDIR/out" 2>"$TMPDIR/err" || { cat "$TMPDIR/err" && return 1; }
}
says() { # words in what hyprof said
        grep -qF -- "$1" "$TMPDIR/err" || { cat "$TMPDIR/err" && return 1; }
}
codes() { # options and trace: "module code" of each
        "$HYPROF" modules --json --limit 0 "$@" | jq -r '.modules.rows[] | "\(.path // "" | split("/") | last): \(.code)"'
}
code_is() { # name, code, options and trace
        local found
        found=$(codes "${@:3}" | grep "^$1: " | head -n 1)
        same "$1: $2" "$found"
}
unchanged() { # trace, command...
        local before
        before=$(sha256sum <"$1")
        "${@:2}"
        same "$before" "$(sha256sum <"$1")"
}

# ---- a recording without names, on a machine without the program
# The program lies in a temporary folder, and would be kept.
if "$HYPROF" doctor >/dev/null 2>&1; then
        (cd "$TMPDIR/elsewhere" && "$HYPROF" record -q --no-symbolize --embed=none -o t.hyp -- "$bin/spin")
else
        "$code_trace" "$trace" "$bin/spin" "$bin/spin" none
fi
mv "$bin/spin" "$TMPDIR/spin.moved"
cp "$trace" "$TMPDIR/again.hyp"
cp "$trace" "$TMPDIR/root.hyp"
cp "$trace" "$TMPDIR/split.hyp"
cp "$trace" "$TMPDIR/stale.hyp"
holds "recorded without symbols: the program has no name" same 0 "$(named "$trace")"
holds "the module is missing" code_is spin missing "$trace"
missing_words() {
        "$HYPROF" modules "$1" >"$TMPDIR/modules" || return 1
        grep -A 1 " $id" "$TMPDIR/modules" | grep -q "/spin$" || { cat "$TMPDIR/modules" && return 1; }
}
holds "the list says its whole build-id" missing_words "$trace"
holds "nothing is found: done, and said" symbolize "$trace"
holds "the summary names the module and its build-id" says "spin of build-id $id"

mkdir -p "$TMPDIR/debug/.build-id/${id:0:2}"
cp "$TMPDIR/spin.debug" "$TMPDIR/debug/.build-id/${id:0:2}/${id:2}.debug"
holds "a debug file alone, by build-id" symbolize --debug-dir "$TMPDIR/debug" "$TMPDIR/split.hyp"
holds "gives names and lines" compare "$(named "$TMPDIR/split.hyp")" '>' 0
holds "and is called that" code_is spin "debug file" --debug-dir "$TMPDIR/debug" "$trace"
rm -r "$TMPDIR/debug/.build-id"

strip -o "$TMPDIR/debug/spin" "$TMPDIR/spin.moved"
holds "a stripped program of the build-id, by its name" symbolize --debug-dir "$TMPDIR/debug" "$trace"
first=$(stat -c %s "$trace")
holds "again with the same: nothing is new" symbolize --debug-dir "$TMPDIR/debug" "$trace"
holds "and the trace is as it was" same "$first" "$(stat -c %s "$trace")"
cp "$TMPDIR/spin.moved" "$TMPDIR/debug/spin"
holds "again with more: it is added" symbolize --debug-dir "$TMPDIR/debug" "$trace"
holds "the function is there now" compare "$(named "$trace")" '>' 0
report_has() { # trace, words
        "$HYPROF" report --limit 0 "$1" >"$TMPDIR/report" 2>&1
        grep -qF -- "$2" "$TMPDIR/report" || { cat "$TMPDIR/report" && return 1; }
}
holds "the report shows it" report_has "$trace" spin_inner
holds "the trace is whole" "$HYPROF" check "$trace"
not_said() { ! report_has "$trace" '--no-symbolize' >/dev/null; }
holds "and does not say any more that names were left out" not_said

# ---- an unstripped file under any name, beside files that are not it
mkdir "$TMPDIR/any"
cp "$TMPDIR/other" "$TMPDIR/any/app"
echo text >"$TMPDIR/any/notes"
for name in unnamed present; do cp "$TMPDIR/again.hyp" "$TMPDIR/$name.hyp"; done
holds "no file in the folder has the build-id" symbolize --debug-dir "$TMPDIR/any" "$TMPDIR/unnamed.hyp"
holds "gives none" same 0 "$(named "$TMPDIR/unnamed.hyp")"
holds "and none counts as another version" code_is spin missing --debug-dir "$TMPDIR/any" "$TMPDIR/unnamed.hyp"
cp "$TMPDIR/spin.moved" "$TMPDIR/any/spin-1.2"
holds "an unstripped file under another name" symbolize --debug-dir "$TMPDIR/any" "$TMPDIR/unnamed.hyp"
holds "gives names" compare "$(named "$TMPDIR/unnamed.hyp")" '>' 0
strip -o "$bin/spin" "$TMPDIR/spin.moved"
holds "the same where the program itself is stripped" symbolize --debug-dir "$TMPDIR/any" "$TMPDIR/present.hyp"
holds "gives names" compare "$(named "$TMPDIR/present.hyp")" '>' 0
rm "$bin/spin"
holds "the trace is whole" "$HYPROF" check "$TMPDIR/present.hyp"

# ---- sources, with which nothing else need be new
n_sources() { # trace: rows of them
        "$HYPROF" dump "$1" | grep -c '^attachment .* kind=1 ' || true
}
cp "$trace" "$TMPDIR/sourced.hyp"
mv "$TMPDIR/spin.c" "$TMPDIR/spin.c.away"
holds "--embed-source without the source" unchanged "$TMPDIR/sourced.hyp" \
        symbolize --embed-source --debug-dir "$TMPDIR/debug" "$TMPDIR/sourced.hyp"
holds "says that it was not found" says "sources: 0 kept (0 B)"
mkdir -p "$TMPDIR/root$TMPDIR"
mv "$TMPDIR/spin.c.away" "$TMPDIR/root$TMPDIR/spin.c"
holds "with --sysroot, where it is" symbolize --embed-source --sysroot "$TMPDIR/root" "$TMPDIR/sourced.hyp"
holds "keeps it" same 1 "$(n_sources "$TMPDIR/sourced.hyp")"
holds "the trace is whole" "$HYPROF" check "$TMPDIR/sourced.hyp"
holds "once" unchanged "$TMPDIR/sourced.hyp" symbolize --embed-source --sysroot "$TMPDIR/root" "$TMPDIR/sourced.hyp"
shows_source() { "$HYPROF" annotate --source "$TMPDIR/sourced.hyp" spin_inner | grep -F 's += i;'; }
holds "hyprof annotate shows it" shows_source
mv "$TMPDIR/root$TMPDIR/spin.c" "$TMPDIR/spin.c"

mkdir -p "$TMPDIR/root$bin"
cp "$TMPDIR/spin.moved" "$TMPDIR/root$bin/spin"
holds "by the root folder of the other machine" symbolize --sysroot "$TMPDIR/root" "$TMPDIR/root.hyp"
holds "gives names" compare "$(named "$TMPDIR/root.hyp")" '>' 0
piped() { "$HYPROF" symbolize -q --debug-dir "$TMPDIR/debug" -o - - <"$TMPDIR/again.hyp" >"$TMPDIR/piped.hyp"; }
same_dump() { # trace, trace
        "$HYPROF" dump "$1" >"$TMPDIR/dump1" && "$HYPROF" dump "$2" >"$TMPDIR/dump2" && cmp "$TMPDIR/dump1" "$TMPDIR/dump2"
}
holds "from standard input to standard output" piped
"$HYPROF" symbolize -q --debug-dir "$TMPDIR/debug" -o "$TMPDIR/copied.hyp" "$TMPDIR/again.hyp"
echo "my notes" >"$TMPDIR/notes"
holds "-o: a file that exists is refused" ends_with 1 "$HYPROF" symbolize -o "$TMPDIR/notes" "$TMPDIR/again.hyp"
holds "it is said how to replace it" grep -q "^  try: hyprof symbolize --force -o .*/notes .*/again.hyp" "$TMPDIR/err"
holds "the file is as it was" same "my notes" "$(cat "$TMPDIR/notes")"
holds "--force replaces it" ends_with 0 "$HYPROF" symbolize -q --force -o "$TMPDIR/notes" "$TMPDIR/again.hyp"
holds "with a trace" "$HYPROF" check "$TMPDIR/notes"
holds "is the same trace" same_dump "$TMPDIR/piped.hyp" "$TMPDIR/copied.hyp"

mkfifo "$TMPDIR/pipe"
holds "a pipe cannot be replaced: status 1, at once" ends_with 1 timeout 200 "$HYPROF" symbolize "$TMPDIR/pipe"
holds "with the way to do it" says "hyprof symbolize -o FILE"
holds "with all frames named, now without the files" symbolize "$trace"
if grep -qE ' ([0-9,]+) of \1 frames are named' "$TMPDIR/err"; then
        holds "no module is called nameless" says "; 0 of "
else
        skips "no module is called nameless" "hardware: not all frames could be named"
fi

# ---- what differs is not believed
cp "$TMPDIR/other" "$bin/spin"
holds "another file in the place of the program" symbolize "$TMPDIR/stale.hyp"
holds "gives no name" same 0 "$(named "$TMPDIR/stale.hyp")"
holds "and is called another one" report_has "$TMPDIR/stale.hyp" '[build-id differs]'
holds "in the list as well" code_is spin differs "$TMPDIR/stale.hyp"
holds "a name is not given away for that word" unchanged "$trace" symbolize "$trace"
rm "$bin/spin"
"$code_trace" "$TMPDIR/nameless.hyp" "$bin/nameless" "$bin/nameless" none
holds "without a build-id, on another machine" symbolize "$TMPDIR/nameless.hyp"
holds "the file is not believed" code_is nameless unchecked "$TMPDIR/nameless.hyp"
"$code_trace" "$TMPDIR/nameless2.hyp" "$bin/nameless" "$bin/nameless" parts
holds "but for its content" code_is nameless found "$TMPDIR/nameless2.hyp"

# ---- code that the trace keeps
"$code_trace" "$TMPDIR/kept.hyp" "$TMPDIR/spin.moved" /nowhere/kernel.so whole
holds "kept code needs no file" symbolize "$TMPDIR/kept.hyp"
holds "and gives names" compare "$(named "$TMPDIR/kept.hyp")" '>' 0
for module in 1 kernel.so /nowhere/kernel.so "${id:0:8}"; do
        rm -f "$TMPDIR/code"
        holds "extract $module" "$HYPROF" extract -q "$TMPDIR/kept.hyp" "$module" -o "$TMPDIR/code"
        holds "byte for byte" cmp "$TMPDIR/code" "$TMPDIR/spin.moved"
done
to_output() { "$HYPROF" extract "$TMPDIR/kept.hyp" 1 -o - | cmp - "$TMPDIR/spin.moved"; }
holds "to standard output" to_output
holds "a file that is there is not overwritten" unchanged "$TMPDIR/code" \
        ends_with 1 "$HYPROF" extract "$TMPDIR/kept.hyp" 1 -o "$TMPDIR/code"
# shellcheck disable=SC2016 # for the shell inside
holds "of -i, or hyprof.hyp" sh -c 'cp "$2" "$3/hyprof.hyp" && cd "$3" && "$1" extract 1 -o - | cmp - spin.moved && "$1" extract -i hyprof.hyp 1 -o - | cmp - spin.moved' \
        sh "$(realpath "$HYPROF")" "$TMPDIR/kept.hyp" "$TMPDIR"
holds "unless it is said" "$HYPROF" extract -q --force "$TMPDIR/kept.hyp" 1 -o "$TMPDIR/code"
holds "no such module" ends_with 1 "$HYPROF" extract "$TMPDIR/kept.hyp" nobody -o "$TMPDIR/code2"
holds "a number that is none" ends_with 1 "$HYPROF" extract "$TMPDIR/kept.hyp" 4294967295 -o "$TMPDIR/code2"
"$code_trace" "$TMPDIR/twins.hyp" "$TMPDIR/spin.moved" /nowhere/kernel.so twins
holds "a name of two" ends_with 1 "$HYPROF" extract "$TMPDIR/twins.hyp" kernel.so -o "$TMPDIR/code2"
holds "shows both" same 2 "$(grep -c 'kernel.so, build-id' "$TMPDIR/err")"
"$code_trace" "$TMPDIR/none.hyp" "$TMPDIR/spin.moved" /nowhere/kernel.so none
holds "code that was not kept" ends_with 1 "$HYPROF" extract "$TMPDIR/none.hyp" 1 -o "$TMPDIR/code2"
holds "says why" says "too late"
holds "and of which module" says "module 1, kernel.so"
holds "code that was not to be kept" ends_with 1 "$HYPROF" extract "$trace" '[kernel]' -o "$TMPDIR/code2"
holds "nothing was written" test ! -e "$TMPDIR/code2"

# ---- hostile traces
for way in cut order huge garbage; do
        "$code_trace" "$TMPDIR/bad.hyp" "$TMPDIR/spin.moved" /nowhere/kernel.so "$way"
        holds "$way: symbolize" symbolize "$TMPDIR/bad.hyp"
        holds "$way: no name" same 0 "$(named "$TMPDIR/bad.hyp")"
        holds "$way: modules" "$HYPROF" modules "$TMPDIR/bad.hyp"
done
for way in cut order huge; do
        "$code_trace" "$TMPDIR/bad.hyp" "$TMPDIR/spin.moved" /nowhere/kernel.so "$way"
        holds "$way: extract" ends_with 1 "$HYPROF" extract "$TMPDIR/bad.hyp" 1 -o "$TMPDIR/code2"
done
head -c 3000 "$TMPDIR/kept.hyp" >"$TMPDIR/short.hyp"
holds "a trace that is cut off is not written over" unchanged "$TMPDIR/short.hyp" ends_with 1 "$HYPROF" symbolize "$TMPDIR/short.hyp"
holds "but can be copied" "$HYPROF" symbolize -o "$TMPDIR/copy.hyp" "$TMPDIR/short.hyp"
holds "no trace" unchanged "$TMPDIR/code" ends_with 1 "$HYPROF" symbolize "$TMPDIR/code"
holds "no such trace" ends_with 1 "$HYPROF" symbolize "$TMPDIR/nothing.hyp"
holds "no such folder" ends_with 2 "$HYPROF" symbolize --debug-dir "$TMPDIR/nothing" "$trace"
holds "usage of extract" ends_with 2 "$HYPROF" extract "$trace"
no_rest() { same "" "$(find "$TMPDIR" -name '*.part*')"; }
holds "no part of a file is left behind" no_rest

# A disk that is full: the trace is as it was.
full() { (ulimit -f 1 && trap '' XFSZ && ends_with 1 "$HYPROF" symbolize --debug-dir "$TMPDIR/debug" "$TMPDIR/again.hyp"); }
"$code_trace" "$TMPDIR/again.hyp" "$TMPDIR/spin.moved" "$bin/spin" none 20000
holds "no room for the new one" unchanged "$TMPDIR/again.hyp" full

# ---- bounded memory
"$code_trace" "$TMPDIR/large.hyp" "$TMPDIR/spin.moved" "$bin/spin" none 100 400000000
bounded() { # the address space is smaller than the trace
        (ulimit -v 300000 && symbolize --debug-dir "$TMPDIR/debug" "$TMPDIR/large.hyp")
}
case $VARIANT in
asan | tsan) skips "400 MB of events in 300 MB" "hardware: a sanitizer needs the address space" ;;
*) holds "400 MB of events in 300 MB" bounded ;;
esac
rm "$TMPDIR/large.hyp"

# ---- the cache
holds "an empty name is none" env HYPROF_CACHE_DIR= "$HYPROF" symbolize -q "$TMPDIR/kept.hyp"
chmod 777 "$TMPDIR/cache"
holds "a folder that others can write into is not used" symbolize "$TMPDIR/kept.hyp"
chmod 700 "$TMPDIR/cache"

# Without a build-id nothing but the folder tells which debug file is meant: there may be another one the next time.
{
        echo "long first(long n); int main(void) { return (int)first(1); }"
        for i in $(seq 8000); do
                echo "long function_$i(long a, long b) { long c = a * $i + b; if (c > $i) c ^= b; return c + a; }"
        done
} >"$TMPDIR/many.c"
gcc -O0 -g -c -o "$TMPDIR/many.o" "$TMPDIR/many.c"
for name in first_name other_name; do
        echo "__attribute__((noinline, aligned(64))) static long $name(long n) { return n * 3 + 1; } long first(long n) { return $name(n); }" |
                gcc -O1 -g -fno-toplevel-reorder -Wl,--build-id=none -o "$TMPDIR/$name" -x c - -x none "$TMPDIR/many.o"
done
strip -o "$TMPDIR/many" "$TMPDIR/first_name"
rm -rf "$TMPDIR/cache"
mkdir "$TMPDIR/of_folder"
for name in first_name other_name; do
        rm -f "$TMPDIR/of_folder"/*
        objcopy --only-keep-debug "$TMPDIR/$name" "$TMPDIR/of_folder/$name.debug"
        "$code_trace" "$TMPDIR/many.hyp" "$TMPDIR/many" /nowhere/many whole
        holds "a debug file by its layout, $name" symbolize --debug-dir "$TMPDIR/of_folder" "$TMPDIR/many.hyp"
        holds "its names, whatever was there before" same "$name" \
                "$("$HYPROF" dump "$TMPDIR/many.hyp" | grep -o 'first_name\|other_name' | sort -u | paste -sd ' ')"
done
rm "$TMPDIR/many.c" "$TMPDIR/many.o" "$TMPDIR/many.hyp"
