#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Unwind tables of a recording are of use to the next one, and no harm, whatever has become of their file
set -u
. tests/tap.sh
plan 17
need_sampling
need gcc jq

export HYPROF_CACHE_DIR=$TMPDIR/cache
old=$TMPDIR/old
gcc -O2 -fomit-frame-pointer -x c -o "$old" - <<'END'
#include <time.h>
__attribute__((noinline)) static int deep(int n)
{
        volatile int kept = n;
        struct timespec now;

        if (n > 0)
                return deep(n - 1) + kept;
        do
                (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        while (now.tv_nsec < 200000000);
        return 0;
}
int main(void)
{
        return deep(20) < 0;
}
END
sleep 1.2 # what was changed a moment ago is not kept

complete() { # the share of call stacks that are complete, in percent
        "$HYPROF" record -q --no-symbolize -o "$TMPDIR/t.hyp" -- "$@" >/dev/null || return 1
        "$HYPROF" report "$TMPDIR/t.hyp" | sed -n 's/^ *stacks  *\([0-9]*\)[.0-9]*% complete.*/\1/p'
}
kept() { (cd "$HYPROF_CACHE_DIR/unwind" && stat -c '%n %s' -- *.tables); }
records_well() { # words, command...
        local share
        share=$(complete "${@:2}")
        [ -n "$share" ] || share=0
        holds "$1: call stacks are complete" compare "$share" ">=" 90
}

records_well "without tables from before" "$old"
first=$(kept)
holds "there is one file" same 1 "$(kept | wc -l)"
holds "it has tables" compare "${first#* }" ">=" 10000
records_well "with them" "$old"
holds "and none of them was made again" same "$first" "$(kept)"

# A copy is another file; one that was made a moment ago is not kept.
cp "$old" "$TMPDIR/new"
records_well "a new program" "$TMPDIR/new"
holds "its table is not kept" same "$first" "$(kept)"
sleep 1.2
records_well "the same later" "$TMPDIR/new"
second=$(kept)
holds "then it is" compare "${second#* }" ">" "${first#* }"

table=$HYPROF_CACHE_DIR/unwind/${first% *}
truncate -s $((${second#* } - 100)) "$table"
records_well "after the file was cut" "$TMPDIR/new"
holds "what was cut off is there again" same "$second" "$(kept)"
head -c "${second#* }" /dev/urandom >"$table"
records_well "after the file was overwritten" "$old"
holds "it was begun anew" same "$first" "$(kept)"
rm "$table" && mkdir "$table"
records_well "with a folder in its place" "$old"
rmdir "$table"
export HYPROF_CACHE_DIR=
records_well "without a cache" "$old"
holds "nothing is kept then" same "" "$(ls "$TMPDIR/cache/unwind")"
export HYPROF_CACHE_DIR=$TMPDIR/full
if [ "$(id -u)" = 0 ] && mkdir "$HYPROF_CACHE_DIR" && mount -t tmpfs -o size=16k none "$HYPROF_CACHE_DIR" 2>/dev/null; then
        records_well "when the disk is full" "$old"
        umount "$HYPROF_CACHE_DIR"
else
        skips "when the disk is full: call stacks are complete" "only root can mount a small one"
fi
