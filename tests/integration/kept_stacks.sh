#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copies of stacks in code without unwind tables are kept, and `symbolize --debug-dir` finishes these call stacks elsewhere
set -eu
. tests/tap.sh
plan 26
need_sampling
need gcc strip objcopy jq
# Elsewhere hyprof follows the code itself to its return, and most call stacks are whole without tables.
[ "$(uname -m)" = x86_64 ] || skip_all "hardware: on this machine call stacks need no tables"

cat >"$TMPDIR/deep.c" <<'END'
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
volatile uint64_t sink;
__attribute__((noipa)) uint64_t leaf(uint64_t n)
{
        uint64_t words[16];
        for (int i = 0; i < 16; i++)
                words[i] = n + (uint64_t)i;
        for (uint64_t i = 0; i < n; i++)
                words[i & 15] = words[(i + 3) & 15] * 2654435761U + i;
        return words[n & 15];
}
__attribute__((noipa)) uint64_t middle(uint64_t n)
{
        uint64_t words[8] = { n };
        sink += leaf(n);
        return words[n & 7];
}
__attribute__((noipa)) uint64_t outer(uint64_t n)
{
        uint64_t words[4] = { n };
        sink += middle(n);
        return words[n & 3];
}
int main(void)
{
        struct timespec now;
        do {
                sink += outer(100000);
                (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        } while (now.tv_sec == 0 && now.tv_nsec < 400000000);
        return 0;
}
END
unstripped=$TMPDIR/unstripped elsewhere=$TMPDIR/elsewhere
mkdir "$unstripped" "$TMPDIR/debug" "$TMPDIR/tables" "$elsewhere"
gcc -O2 -g -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables -Wl,--build-id=sha1 -o "$unstripped/app-1.2" "$TMPDIR/deep.c"
strip -o "$TMPDIR/app" "$unstripped/app-1.2"
objcopy --only-keep-debug "$unstripped/app-1.2" "$TMPDIR/debug/any.debug"
objcopy --strip-all --keep-section=.debug_frame "$unstripped/app-1.2" "$TMPDIR/tables/app"

deep() { # name, options...: of the program without tables
        record "$1" -q -F 997 --keep-stacks=cut "${@:2}" -- "$TMPDIR/app"
}
dumped() { # trace: number of its copies, and of its samples that lack a table
        "$HYPROF" dump "$1" | awk '/^stack_copy / { copies++ } /^sample .* state=1[04]$/ { lacking++ } END { print copies + 0, lacking + 0 }'
}
chains() { # trace: how many percent of the samples in leaf() have its callers
        "$HYPROF" export folded -o - "$1" | awk '{ n = $NF; sub(/ [0-9]+$/, "") }
                /;leaf(;|$)/ || /^leaf/ { all += n; if ($0 ~ /;main;outer;middle;leaf(;|$)/) right += n }
                END { printf "%.1f\n", all ? 100 * right / all : 0 }'
}
symbolize() { # options and trace; what it says is in $TMPDIR/err
        HYPROF_CACHE_DIR=$TMPDIR/cache "$HYPROF" symbolize "$@" 2>"$TMPDIR/err" || { cat "$TMPDIR/err" && return 1; }
}
says() { grep -qF -- "$1" "$TMPDIR/err" || { cat "$TMPDIR/err" && return 1; }; }
advice() { "$HYPROF" report --json --limit 0 "$1" | jq -r '.missing.rows[] | select(.code == "CALLERS_MISSING") | .words'; }
advises() { # trace, words
        advice "$1" | grep -qF -- "$2" || { advice "$1" && return 1; }
}
n_lacking() { "$HYPROF" report --json --limit 0 "$1" | jq '[.missing.rows[] | select(.code == "STACK_NO_TABLE") | .count] | add // 0'; }

# ---- what is kept
deep t
before=$TMPDIR/t.hyp
cp "$before" "$elsewhere/finished.hyp"
read -r n_copies n_cut < <(dumped "$before")
holds "without tables call stacks are cut" compare "$n_cut" ">=" 100
holds "a copy is kept of each" same "$n_cut" "$n_copies"
holds "they take little" compare "$(stat -c %s "$before")" "<" $((n_copies * 1024 + 200000))
holds "the report says how they are finished" advises "$before" "copies of $n_copies of these stacks are kept: hyprof symbolize --debug-dir DIR"
holds "and names the file and the flag" advises "$before" "most end in app, which has no unwind tables: compile it with -fasynchronous-unwind-tables"
record none -q -F 997 -- "$TMPDIR/app"
holds "without copies: the report names the option" advises "$TMPDIR/none.hyp" "record with --keep-stacks=cut"
read -r n_copies_none _ < <(dumped "$TMPDIR/none.hyp")
holds "nothing is kept unasked" same 0 "$n_copies_none"
record whole -q -F 997 --keep-stacks=cut -- gcc -O2 -c -o "$TMPDIR/deep.o" "$TMPDIR/deep.c"
holds "of code with tables none is kept" same 0 "$(dumped "$TMPDIR/whole.hyp" | awk '{ print $1 - $2 }')"

# ---- elsewhere: the program is not there
mv "$TMPDIR/app" "$TMPDIR/moved"
finished=$elsewhere/finished.hyp
cp "$before" "$elsewhere/same.hyp"
symbolize "$elsewhere/same.hyp"
holds "without the file none is finished" says "0 of $n_cut call stacks without unwind tables are finished, by their copies; most others end in app"
holds "and the copies stay" same "$n_copies $n_cut" "$(dumped "$elsewhere/same.hyp")"
symbolize --debug-dir "$unstripped" "$finished"
holds "with the unstripped file, of another name, all are" says "$n_cut of $n_cut call stacks without unwind tables are finished, by their copies"
holds "the copies are gone" same "0 0" "$(dumped "$finished")"
holds "the call stacks are right" compare "$(chains "$finished")" ">=" 99
holds "before, none was" compare "$(symbolize --debug-dir "$unstripped" -o "$elsewhere/names.hyp" "$TMPDIR/none.hyp" && chains "$elsewhere/names.hyp")" "<=" 5
holds "nothing is said to be missing" same 0 "$(n_lacking "$finished")"
holds "it was before" same "$n_cut" "$(n_lacking "$before")"
holds "the trace is intact" "$HYPROF" check "$finished"
symbolize --debug-dir "$unstripped" "$elsewhere/same.hyp"
holds "what stayed can be finished later" same "0 0" "$(dumped "$elsewhere/same.hyp")"
symbolize --debug-dir "$TMPDIR/debug" -o "$elsewhere/debug.hyp" "$before"
holds "a file with debug information alone will do" compare "$(chains "$elsewhere/debug.hyp")" ">=" 99
symbolize --debug-dir "$TMPDIR/tables" -o "$elsewhere/tables.hyp" "$before"
holds "and so will one with tables, and neither names nor debug information" says "$n_cut of $n_cut call stacks without unwind tables are finished"
symbolize --debug-dir "$unstripped" -o - - <"$before" >"$elsewhere/pipe.hyp"
holds "from pipe to pipe" cmp "$finished" "$elsewhere/pipe.hyp"

# ---- a merged trace, and a limit
mv "$TMPDIR/moved" "$TMPDIR/app"
deep second
"$HYPROF" merge -q -o "$elsewhere/merged.hyp" "$before" "$TMPDIR/second.hyp"
n_both=$(($(dumped "$TMPDIR/second.hyp" | cut -d ' ' -f 2) + n_cut))
symbolize --debug-dir "$unstripped" "$elsewhere/merged.hyp"
holds "two recordings in one" says "$n_both of $n_both call stacks without unwind tables are finished"
holds "their call stacks are right" compare "$(chains "$elsewhere/merged.hyp")" ">=" 99
deep limited --keep-stacks-max=100K
read -r n_copies n_cut < <(dumped "$TMPDIR/limited.hyp")
n_lost=$("$HYPROF" dump "$TMPDIR/limited.hyp" | sed -nE 's/^loss .* reason=68 .* count=([0-9]+) .*/\1/p' | awk '{ n += $1 } END { print n + 0 }')
holds "no more than the limit is kept" compare "$n_copies" "<" "$n_cut"
holds "the rest is counted" same "$n_cut" $((n_copies + n_lost))
symbolize --debug-dir "$unstripped" "$TMPDIR/limited.hyp"
holds "what was kept is finished" same "0 $n_lost" "$(dumped "$TMPDIR/limited.hyp")"
