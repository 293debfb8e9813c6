#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A handle never stands for something else that has it as its name: the word is refused, and each spelling means one thing
set -eu
. tests/tap.sh
plan 33
need cc jq
need_sampling
library=$BUILD/libhyprof.a

# Threads t1 to t4, zones z1 to z4 and functions f1 to f40: the program's own names for what hyprof calls otherwise.
# There is one more of each with the number 99999, which is no handle.
functions="$(seq 40) 99999"
{
        cat <<'EOS'
#include <hyprof/hyprof.h>
#include <pthread.h>
#include <stdint.h>
EOS
        for i in $functions; do
                printf '__attribute__((noinline)) void f%d(uint64_t n);\n' "$i"
                printf 'void f%d(uint64_t n) { while (n > 0) { n--; __asm__ volatile("# %d" : "+r"(n)); } }\n' "$i" "$i"
        done
        for i in 4 2 1 3 99999; do
                printf 'static void *run%d(void *unused)\n{\n        (void)unused;\n        hyprof_thread_name("t%d");\n' "$i" "$i"
                printf '        for (int i = 0; i < %d; i++) {\n                HYPROF_ZONE("z%d");\n' "$((i > 4 ? 1 : 10 * i))" "$i"
                for k in $functions; do printf '                f%d(1000000);\n' "$k"; done
                printf '        }\n        return NULL;\n}\n'
        done
        cat <<'EOS'
int main(void)
{
        static void *(*const runs[])(void *) = { run4, run2, run1, run3, run99999 };
        pthread_t thread;
        for (int i = 0; i < 5; i++)
                if (pthread_create(&thread, NULL, runs[i], NULL) != 0 || pthread_join(thread, NULL) != 0)
                        return 1;
        return 0;
}
EOS
} >"$TMPDIR/names.c"
cc -O1 -g -Iinstrument/client/include -o "$TMPDIR/names" "$TMPDIR/names.c" "$library" -lpthread
record names "$TMPDIR/names"
trace=$TMPDIR/names.hyp

# For `holds`: refused, with both spellings.
is_refused() { # word, command...
        ends_with 2 "$HYPROF" "${@:2}" || return 1
        grep -q "write handle:$1 or name:$1" "$TMPDIR/err" || { cat "$TMPDIR/err"; return 1; }
}

# The handle that something of this name has: of a view and its table's rows.
handle_of() { # option, table, column, name
        "$HYPROF" report "$1" --limit 0 --json "$trace" | jq -r --arg name "$4" ".$2.rows[] | select(.$3 == \$name) | .handle"
}

# The first zone that a thread has, the name of the function that annotate shows.
zone_of() { "$HYPROF" report --zones --thread "$1" --json --limit 0 "$trace" | jq -r '[.zones.rows[] | .name] | join(" ")'; }
count_of() { "$HYPROF" report --zone "$1" --json --limit 0 "$trace" | jq -r .count; }
functions_of() { "$HYPROF" report --function "$1" --json --limit 0 "$trace" | jq -r '[.functions.rows[] | .function] | join(" ")'; }

for i in 2 3; do
        holds "--thread t$i is refused" is_refused "t$i" report --zones --thread "t$i" "$trace"
        holds "--thread name:t$i is the thread of that name" same "z$i" "$(zone_of "name:t$i")"
        holds "--thread handle:t$i is the one with that handle" same \
                "$("$HYPROF" report --threads --limit 0 --json "$trace" | jq -r ".threads.rows[] | select(.handle == \"t$i\") | .name" | tr t z)" "$(zone_of "handle:t$i")"
        holds "--zone z$i is refused" is_refused "z$i" report --zone "z$i" "$trace"
        holds "--zone name:z$i is the zone of that name" same $((10 * i)) "$(count_of "name:z$i")"
        holds "--zone handle:z$i is the one with that handle" same \
                "$("$HYPROF" report --zones --limit 0 --json "$trace" | jq -r ".zones.rows[] | select(.handle == \"z$i\") | .count")" "$(count_of "handle:z$i")"
done
holds "why --zone z2 is refused" is_refused z2 why --zone z2 "$trace"
holds "csv --zone z2 is refused" is_refused z2 csv --zone z2 "$trace"
holds "dump --thread t2 is refused" is_refused t2 dump --thread t2 "$trace"
holds "a zone inside of others is refused" is_refused z2 report --zones --zone 'z9,z2/**' "$trace"

# A name of the program that is another function's handle; the function whose own handle it is would not be refused.
doubtful=$("$HYPROF" report --functions --limit 0 --json "$trace" | jq -r '.functions.rows as $rows |
        [$rows[] | .function as $name | select(.handle != $name and any($rows[]; .handle == $name)) | $name][0] // "none"')
holds "--function with a name that is another's handle is refused" is_refused "$doubtful" report --function "$doubtful" "$trace"
holds "--function name:… is the function of that name" same "$doubtful" "$(functions_of "name:$doubtful")"
holds "annotate with a name that is another's handle is refused" is_refused "$doubtful" annotate "$doubtful" "$trace"
holds "annotate name:… is the function of that name" same "$doubtful" \
        "$("$HYPROF" annotate "name:$doubtful" --json --limit 0 "$trace" | jq -r .function)"
other=$("$HYPROF" report --functions --limit 0 --json "$trace" | jq -r '[.functions.rows[] | select(.function | test("^f[0-9]+$")) | select(.handle != .function)][0] // { function: "none", handle: "none" } | .function + " " + .handle')
holds "annotate handle:… is the one with that handle" same "${other% *}" "$("$HYPROF" annotate "handle:${other#* }" --json --limit 0 "$trace" | jq -r .function)"

# ---- a handle that nothing has stands for no name
is_absent() { # kind, word, command...
        ends_with 1 "$HYPROF" "${@:3}" || return 1
        same "hyprof: error: no $1 '$2' in this trace" "$(head -n 1 "$TMPDIR/err")"
}
holds "--function handle:f99999 is nothing" is_absent function handle:f99999 report --function handle:f99999 "$trace"
holds "annotate handle:f99999 is nothing" is_absent function handle:f99999 annotate handle:f99999 "$trace"
holds "--thread handle:t99999 is nothing" is_absent thread handle:t99999 report --threads --thread handle:t99999 "$trace"
holds "--zone handle:z99999 is nothing" is_absent zone handle:z99999 report --zone handle:z99999 "$trace"
holds "why --zone handle:z99999 is nothing" is_absent zone handle:z99999 why --zone handle:z99999 "$trace"
holds "--function f99999 is a name" same f99999 "$(functions_of f99999)"
holds "annotate f99999 is a name" same f99999 "$("$HYPROF" annotate f99999 --json --limit 0 "$trace" | jq -r .function)"
holds "--thread t99999 is a name" same z99999 "$(zone_of t99999)"
holds "--zone z99999 is a name" same 1 "$(count_of z99999)"

# ---- null cases: nothing is refused that has one meaning
holds "a handle that is no name is a handle" ends_with 0 "$HYPROF" report --threads --thread "$(handle_of --threads threads name t3)" "$trace"
holds "a name that is no handle is a name" ends_with 0 "$HYPROF" report --function run4 "$trace"
# shellcheck disable=SC2016 # the inner shell's
holds "the examples of a report work" sh -c '"$1" report --zones "$2" | sed -n "s/^  hyprof //p" >"$3" && [ -s "$3" ] || exit 1
        while read -r words; do eval "\"\$1\" $words" >/dev/null || exit 1; done <"$3"' - "$HYPROF" "$trace" "$TMPDIR/examples"
