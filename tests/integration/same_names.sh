#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Different functions of one name in one module are told apart in every output, and one function with several names is one
set -eu
. tests/tap.sh
plan 62
need cc c++ jq sqlite3
need_sampling

src=$TMPDIR/src
mkdir "$src" "$TMPDIR/one" "$TMPDIR/two"
# Each function runs for some milliseconds of its own.
cat >"$src/burn.h" <<'EOS'
extern volatile unsigned long sink;
#define BURN(n, k) for (long i_ = 0; i_ < (n) * 100000L; i_++) sink = sink * 3 + (k)
#define APART __attribute__((noinline, noclone))
EOS
for unit in a b; do
        cat >"$src/$unit.c" <<EOS
#include "burn.h"
static APART void step(long n) { BURN(n, __LINE__); }
void run_step_$unit(long n) { step(n); sink++; }
EOS
        cat >"$src/hidden_$unit.cc" <<EOS
#include "burn.h"
namespace { APART void work(long n) { BURN(n, __LINE__); } }
void run_work_$unit(long n) { work(n); sink++; }
EOS
done
cat >"$src/folded.c" <<'EOS'
#include "burn.h"
APART void folded_one(long n) { BURN(n, 7); }
void alias_of_one(long n) __attribute__((alias("folded_one")));
EOS
cat >"$src/plugin.c" <<'EOS'
#include "burn.h"
static APART void plugin_step(long n) { BURN(n, 9); }
void plugin_run(long n) { plugin_step(n); sink++; }
EOS
cat >"$src/main.cc" <<'EOS'
#include "burn.h"
#include <dlfcn.h>
#include <hyprof/hyprof.hpp>
volatile unsigned long sink, own;
/* Long enough that samples fall within it, not only behind it. */
#define WORK(x, k) x = x * 3 + (unsigned long)k, x = x * 5 + (unsigned long)k, x = x * 7 + (unsigned long)k, x = x * 9 + (unsigned long)k
extern "C" void run_step_a(long), run_step_b(long), folded_one(long), alias_of_one(long);
void run_work_a(long), run_work_b(long);
template <class F> static inline __attribute__((always_inline)) void each(long n, F f) { for (long i = 0; i < n * 25000L; i++) f(i), WORK(own, i); }
static APART void lambdas(long n)
{
        each(n, [](long k) { WORK(sink, k); });
        each(n, [](long k) { WORK(sink, -k); });
}
static void plugin(const char *path, long n)
{
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        ((void (*)(long))dlsym(library, "plugin_run"))(n);
}
int main(int argc, char **argv)
{
        long slow = argc > 3 ? 120 : 30;
        for (int i = 0; i < 1000; i++) {
                HYPROF_ZONE("request");
                run_step_a(2);
                if (i % 50 == 7)
                        run_step_b(slow);
        }
        run_work_a(400), run_work_b(400);
        lambdas(400);
        folded_one(200), alias_of_one(200);
        plugin(argv[1], 400), plugin(argv[2], 400);
        return 0;
}
EOS
build() { # program, options of the compiler...
        local unit objects=()
        for unit in a b folded plugin; do
                cc -O2 -fPIC "${@:2}" -c "$src/$unit.c" -o "$src/$unit.o"
        done
        for unit in hidden_a hidden_b main; do
                c++ -O2 -Iinstrument/client/include "${@:2}" -c "$src/$unit.cc" -o "$src/$unit.o"
        done
        for unit in a b folded hidden_a hidden_b main; do
                objects+=("$src/$unit.o")
        done
        c++ -rdynamic "${objects[@]}" "$BUILD/libhyprof.a" -lpthread -ldl -o "$1"
        cc -shared "$src/plugin.o" -o "$TMPDIR/one/libplugin.so"
        cp "$TMPDIR/one/libplugin.so" "$TMPDIR/two/libplugin.so"
}
program=$TMPDIR/prog
arguments=("$TMPDIR/one/libplugin.so" "$TMPDIR/two/libplugin.so")

holds "it is built" build "$program" -g
holds "it is recorded" record all -F 1999 "$program" "${arguments[@]}"
trace=$TMPDIR/all.hyp
"$HYPROF" report --functions --json --limit 0 "$trace" >"$TMPDIR/functions.json" 2>/dev/null
names_of() { jq -r '.functions.rows[] | select(.self_samples > 0) | .function' "$TMPDIR/functions.json"; }
n_of() { names_of | grep -cFx -- "$1"; }

# ---- each kind: as many rows as there are functions
lambda_lines=$(grep -n 'each(n, \[\]' "$src/main.cc" | cut -d : -f 1 | xargs)
each_line=$(grep -n 'template' "$src/main.cc" | cut -d : -f 1)
for name in 'step (a.c)' 'step (b.c)' '(anonymous namespace)::work(long) (hidden_a.cc)' '(anonymous namespace)::work(long) (hidden_b.cc)'; do
        holds "report: $name" same 1 "$(n_of "$name")"
done
for line in $lambda_lines; do
        holds "report: the lambda of line $line" same 1 "$(n_of "operator() (main.cc:$line)")"
done
holds "report: both instances of a template" same 2 "$(names_of | grep -c "^each<.*> (main.cc:$each_line #[12])\$")"
holds "report: no row has a name alone" same 0 "$(names_of | grep -cxE 'step|operator\(\)|each<.*>|\(anonymous namespace\)::work\(long\)')"
holds "an alias is one row" same 1 "$(names_of | grep -cxE 'folded_one|alias_of_one')"
holds "its other name is in JSON" same '["alias_of_one"]' "$(jq -c '.functions.rows[] | select(.function == "folded_one") | .aliases' "$TMPDIR/functions.json")"
holds "a library of two folders is two" same "$TMPDIR/one/libplugin.so $TMPDIR/two/libplugin.so" \
        "$(jq -r '.functions.rows[] | select(.function | startswith("plugin_step (")) | .module' "$TMPDIR/functions.json" | sort | xargs)"
for folder in one two; do
        holds "told apart by its folder: $folder" same 1 "$(n_of "plugin_step ($folder/libplugin.so)")"
done
holds "JSON: where a function is declared" same "$src/a.c:2" \
        "$(jq -r '.functions.rows[] | select(.function == "step (a.c)") | .declared' "$TMPDIR/functions.json")"
holds "other names stay" same 1 "$("$HYPROF" report --functions --json --limit 0 "$trace" 2>/dev/null | jq -r '.functions.rows[].function' | grep -cx main)"

# ---- views
view_has() { # options of report...
        "$HYPROF" report "$@" --limit 0 "$trace" >"$TMPDIR/out" 2>"$TMPDIR/err" && grep -qF 'step (a.c)' "$TMPDIR/out" &&
                grep -qF 'step (b.c)' "$TMPDIR/out"
}
holds "--top-down" view_has --top-down
holds "--bottom-up" view_has --bottom-up
holds "--zone" view_has --zone request
holds "a narrow terminal keeps what tells them apart" sh -c "COLUMNS=60 \"$HYPROF\" report --functions --limit 0 \"$trace\" | grep -q 'step (a.c)'"
holds "top" sh -c "\"$HYPROF\" top --all-time --limit 0 \"$trace\" >\"$TMPDIR/out\" && grep -qF 'step (a.c)' \"$TMPDIR/out\" && grep -qF 'step (b.c)' \"$TMPDIR/out\""
chosen() { "$HYPROF" report --json --limit 0 --function "$1" "$trace" 2>/dev/null | jq '.functions.rows | length'; }
holds "--function NAME is all of the name" same 2 "$(chosen step)"
holds "--function with the file is one" same 1 "$(chosen 'step (b.c)')"
holds "--function of lambdas" same 2 "$(chosen 'operator()')"

# ---- why
"$HYPROF" why --zone request --json --limit 0 "$trace" >"$TMPDIR/why.json" 2>/dev/null || true
holds "why names the function of the right file" jq -e '.answer | contains("step (b.c)")' "$TMPDIR/why.json"
holds "why does not name the other" jq -e '.answer | contains("step (a.c)") | not' "$TMPDIR/why.json"

# ---- annotate
holds "annotate NAME is refused where several have it" ends_with 1 "$HYPROF" annotate step "$trace"
holds "it lists them" grep -q 'step (a.c)' "$TMPDIR/err"
holds "both" grep -q 'step (b.c)' "$TMPDIR/err"
holds "it says how to choose" grep -q "try: hyprof annotate 'step (" "$TMPDIR/err"
for unit in a b; do
        holds "annotate 'step ($unit.c)'" ends_with 0 "$HYPROF" annotate --json --limit 0 "step ($unit.c)" "$trace"
        holds "annotate: its file alone" same "$src/$unit.c" "$(jq -r '[.lines.rows[].file] | unique | .[]' "$TMPDIR/out" | xargs)"
done
read -r first_lambda second_lambda <<<"$lambda_lines"
holds "annotate of a lambda that was inlined" ends_with 0 "$HYPROF" annotate --json --limit 0 "operator() (main.cc:$second_lambda)" "$trace"
lambda_samples() { jq --argjson line "$1" '[.lines.rows[] | select(.line == $line) | .n_samples] | add // 0' "$TMPDIR/out"; } # line
holds "its line has samples" compare "$(lambda_samples "$second_lambda")" ">" 0
holds "the other's line has none" same 0 "$(lambda_samples "$first_lambda")"

# ---- exports and SQL
exported() { # format
        "$HYPROF" export "$1" -o "$TMPDIR/out.$1" "$trace" >/dev/null 2>&1
        case $1 in
        pprof) gzip -dc "$TMPDIR/out.$1" 2>/dev/null || cat "$TMPDIR/out.$1" ;;
        firefox) gzip -dc "$TMPDIR/out.$1" 2>/dev/null || cat "$TMPDIR/out.$1" ;;
        *) cat "$TMPDIR/out.$1" ;;
        esac >"$TMPDIR/text.$1"
        grep -aqF 'step (a.c)' "$TMPDIR/text.$1" && grep -aqF 'step (b.c)' "$TMPDIR/text.$1"
}
for format in folded speedscope firefox pprof callgrind perfetto; do
        holds "export $format" exported $format
done
self_of() { jq -r --arg name "$1" '.functions.rows[] | select(.function == $name) | .self_samples' "$TMPDIR/functions.json"; }
folded_self() { awk -v name="$1" '{ n = $NF; sub(/ [0-9]+$/, ""); count = split($0, frames, ";"); if (frames[count] == name) sum += n } END { print sum + 0 }' "$TMPDIR/text.folded"; }
for name in 'step (a.c)' 'step (b.c)'; do
        holds "folded: as many samples in $name" same "$(self_of "$name")" "$(folded_self "$name")"
done
"$HYPROF" query --sqlite "$TMPDIR/all.db" "$trace" >/dev/null 2>&1
for name in 'step (a.c)' 'step (b.c)' "operator() (main.cc:$first_lambda)" "operator() (main.cc:$second_lambda)"; do
        holds "SQL: as many samples in $name" same "$(self_of "$name")" \
                "$(sqlite3 "$TMPDIR/all.db" "SELECT sum(samples) FROM function_self WHERE function = '$name'")"
done

# ---- diff
sed -i '1i /* a line more */' "$src/b.c"
holds "another build, lines moved" build "$TMPDIR/prog2" -g
mkdir "$TMPDIR/new"
mv "$TMPDIR/prog2" "$TMPDIR/new/prog"
for run in 1 2 3; do
        record before$run -F 1999 "$program" "${arguments[@]}"
        record after$run -F 1999 "$TMPDIR/new/prog" "${arguments[@]}" slow
done
holds "diff" ends_with 0 "$HYPROF" diff --json --anyway --threshold 0 --limit 0 --before "$TMPDIR/before*.hyp" --after "$TMPDIR/after*.hyp"
verdict() { jq -r --arg name "$1" '.functions.rows[] | select(.name == $name) | .verdict' "$TMPDIR/out"; }
holds "diff: the one is slower" same slower "$(verdict 'step (b.c)')"
is_judged_but_not() { grep -vxE "$2" <<<"$1" | grep .; } # verdict, pattern
holds "diff: the other is not" is_judged_but_not "$(verdict 'step (a.c)')" 'slower|new|gone'
holds "diff: no function is new or gone" same 0 "$(jq '[.functions.rows[] | select((.name | startswith("step")) and (.verdict == "new" or .verdict == "gone"))] | length' "$TMPDIR/out")"

# ---- without debug information
holds "it is built without -g" build "$program" -g0
holds "it is recorded" record bare -F 1999 "$program" "${arguments[@]}"
bare_steps=$("$HYPROF" report --functions --json --limit 0 "$TMPDIR/bare.hyp" 2>/dev/null | jq -r '.functions.rows[].function' | grep -cE '^step \(0x[0-9a-f]+\)$')
holds "functions are told apart by address" same 2 "$bare_steps"

# ---- code that the linker folded into one
cat >"$src/equal.c" <<'EOS'
#include "burn.h"
volatile unsigned long sink;
APART long equal_one(long n) { BURN(n, 7); return 3; }
APART long equal_two(long n) { BURN(n, 7); return 3; }
int main(void) { return equal_one(400) + equal_two(400) == 7; }
EOS
if command -v ld.lld >/dev/null; then
        holds "equal functions are folded" cc -O2 -g -fno-ipa-icf -ffunction-sections -fuse-ld=lld -Wl,--icf=all "$src/equal.c" -o "$TMPDIR/equal"
        holds "they are recorded" record equal -F 1999 "$TMPDIR/equal"
        "$HYPROF" report --functions --json --limit 0 "$TMPDIR/equal.hyp" >"$TMPDIR/equal.json" 2>/dev/null
        holds "one function" same 1 "$(jq '[.functions.rows[] | select(.self_samples > 0 and (.function | startswith("equal_")))] | length' "$TMPDIR/equal.json")"
        holds "with both names" same '["equal_one","equal_two"]' \
                "$(jq -c '[.functions.rows[] | select(.self_samples > 0 and (.function | startswith("equal_"))) | .function, .aliases[]] | sort' "$TMPDIR/equal.json")"
else
        for name in "equal functions are folded" "they are recorded" "one function" "with both names"; do
                skips "$name" "no ld.lld"
        done
fi
