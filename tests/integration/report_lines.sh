#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof report --lines: the lines of all functions with the samples that annotate has at them, of C and of Python, also
# filtered; the first line names the hottest, or says that none is known
set -eu
. tests/tap.sh
plan 20
need cc jq
need_sampling
python=${PYTHON:-/usr/bin/python3}

cat >"$TMPDIR/mix.h" <<'END'
static inline unsigned long mix(unsigned long x)
{
        x ^= x >> 13;
        return x * 0x9e3779b97f4a7c15u;
}
END
cat >"$TMPDIR/two.c" <<'END'
#include "mix.h"
#include <pthread.h>
#include <stdlib.h>
static volatile unsigned long sink;
static unsigned long n_rounds;
__attribute__((noinline)) static unsigned long hot_loop(unsigned long n)
{
        unsigned long sum = 1;
        while (n-- > 0)
                sum = mix(sum + n);
        return sum;
}
__attribute__((noinline)) static unsigned long warm_loop(unsigned long n)
{
        unsigned long sum = 3;
        while (n-- > 0) {
                sum = mix(sum ^ n);
                if (sum % 7 == 0)
                        sum++;
        }
        return sum;
}
static void *other(void *arg)
{
        sink += warm_loop(n_rounds / 8);
        return arg;
}
int main(int argc, char **argv)
{
        pthread_t thread;
        n_rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
        pthread_create(&thread, NULL, other, NULL);
        pthread_setname_np(thread, "other");
        sink += hot_loop(n_rounds) + warm_loop(n_rounds / 8);
        pthread_join(thread, NULL);
        return 0;
}
END
cc -O1 -g -D_GNU_SOURCE -pthread -o "$TMPDIR/two" "$TMPDIR/two.c"
cc -O1 -D_GNU_SOURCE -pthread -o "$TMPDIR/bare" "$TMPDIR/two.c"
rounds=400000000
[ "$VARIANT" = release ] || rounds=100000000
holds 'a program in C is recorded' record two --embed-source "$TMPDIR/two" $rounds
holds 'the same without lines is recorded' record bare "$TMPDIR/bare" $rounds

# The body of a module is left out: no name tells it from that of another.
lines() { # trace, options; a line "FILE:LINE samples" for each line of the module's file
        "$HYPROF" report --lines --json --limit 0 "${@:2}" "$TMPDIR/$1.hyp" | jq -r '.lines.rows[] | select(.place and .function != "<module>")
                | select(.place | test("two.c|mix.h|two.py")) | "\(.place) \(.self_samples)"' | sum_up
}
annotated() { # trace, functions separated by commas, options; the same
        local function
        for function in ${2//,/ }; do
                "$HYPROF" annotate --json --limit 0 --context all "${@:3}" "$TMPDIR/$1.hyp" "$function" 2>/dev/null |
                        jq -r '.lines.rows[] | select(.n_samples > 0) | "\(.file):\(.line) \(.n_samples)"'
        done | sum_up
}
sum_up() { awk '{ n[$1] += $2 } END { for (i in n) print i, n[i] }' | sort; }
equal() { # trace, functions, options
        lines "$1" "${@:3}" >"$TMPDIR/lines" && annotated "$1" "$2" "${@:3}" >"$TMPDIR/annotated"
        [ "$(wc -l <"$TMPDIR/lines")" -ge 2 ] && diff "$TMPDIR/lines" "$TMPDIR/annotated"
}

# ---- C
holds 'each line has the samples that annotate has there' equal two hot_loop,warm_loop
holds 'and of one thread' equal two warm_loop --thread other
duration_ns=$("$HYPROF" report --json --limit 0 "$TMPDIR/two.hyp" | jq .duration_ns) # the program may begin late in it
holds 'and of a part of the time' equal two hot_loop,warm_loop --from $((duration_ns / 2))ns --to $((duration_ns * 4 / 5))ns
hottest=$("$HYPROF" report --lines --json --limit 0 "$TMPDIR/two.hyp" | jq -r '[.lines.rows[] | select(.place)][0].place')
holds 'the hottest is one of the loops' grep -qE '/(two.c:(9|10)|mix.h:[34])$' <<<"$hottest"
first() { "$HYPROF" report --lines "${@:2}" "$TMPDIR/$1.hyp" | head -n 1; }
holds 'the first line names it' grep -qE "of the samples are at ${hottest##*/} in (mix|hot_loop)" <<<"$(first two)"
holds 'inlined code is of the inlined function' jq -e '[.lines.rows[] | select(.place // "" | test("mix.h"))] |
        length > 0 and all(.function == "mix")' <("$HYPROF" report --lines --json --limit 0 "$TMPDIR/two.hyp")
all_of_it() { "$HYPROF" report --lines --json --limit 0 "$TMPDIR/$1.hyp" | jq -e '([.lines.rows[].self_samples] | add) == .n_samples and
        ([.lines.rows[].self_share] | add | . > 0.9999 and . < 1.0001)'; }
holds 'the rows are all samples' all_of_it two
csv_rows() { "$HYPROF" report --lines --csv "$TMPDIR/two.hyp" | tail -n +2 | wc -l; }
holds 'CSV has the same rows' same "$("$HYPROF" report --lines --json --limit 0 "$TMPDIR/two.hyp" | jq '.lines.rows | length')" "$(csv_rows)"
holds 'and its header' grep -q '^handle,self_share,place,function,self_samples,self_weight,module$' <<<"$("$HYPROF" report --lines --csv "$TMPDIR/two.hyp" | head -n 1)"
holds 'Markdown has its file and line' grep -q "${hottest##*/}" <<<"$("$HYPROF" report --lines --format md "$TMPDIR/two.hyp")"
# shellcheck disable=SC2016 # the inner shell expands it
hint() { bash -c "$("$HYPROF" report --lines "$TMPDIR/two.hyp" | sed -n 's/^ *hyprof \(annotate .*\)/"$HYPROF" \1/p' | head -n 1)" >/dev/null; }
export HYPROF
holds 'the command that it offers works' hint

# ---- none known
holds 'without debug information functions are named' jq -e '.lines.rows[] | select(.function == "hot_loop") | .place == null' \
        <("$HYPROF" report --lines --json --limit 0 "$TMPDIR/bare.hyp")
holds 'and the first line says so' grep -qE 'no known line|no sample has a known line' <<<"$(first bare)"
holds 'all samples are there' all_of_it bare

# ---- Python
cat >"$TMPDIR/two.py" <<'END'
import hashlib
data = bytes(range(256)) * 400
def digest(n):
    for _ in range(n):
        hashlib.sha256(data)
        hashlib.md5(data)
def count(n):
    total = 0
    while total < n: total += 1
digest(2500)
count(6000000)
END
holds 'a script is recorded' record script -F 1999 "$python" "$TMPDIR/two.py"
if ! "$HYPROF" report --json --limit 0 "$TMPDIR/script.hyp" | grep -q '"digest"'; then
        skips_group 'lines of Python' 'hardware: its frames cannot be read here'
        exit 0
fi
holds 'lines of Python have what annotate has' equal script digest,count
holds 'C code is at the line that called it' jq -e '[.lines.rows[] | select(.place // "" | test("two.py:[56]$"))] |
        length == 2 and all(.native_share > 0.8 * .self_share)' <("$HYPROF" report --lines --json --limit 0 "$TMPDIR/script.hyp")
holds 'with --native it is at no line of Python' jq -e '[.lines.rows[] | select(.place // "" | test("two.py:[56]$")) | .self_share] | (add // 0) < 0.1' \
        <("$HYPROF" report --lines --native --json --limit 0 "$TMPDIR/script.hyp")
