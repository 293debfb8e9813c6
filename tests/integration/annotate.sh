#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hyprof annotate shows the hot loop: its instructions have the samples, its jump an arrow, its lines their text
set -eu
. tests/tap.sh
plan 105
need cc jq script
need_sampling

mkdir "$TMPDIR/src"
cat >"$TMPDIR/src/hot.c" <<'EOS'
#include <stdint.h>
#include <stdlib.h>

static inline uint64_t mix(uint64_t x)
{
        x ^= x >> 13;
        return x * 0x9e3779b97f4a7c15u;
}

__attribute__((noinline)) uint64_t hot_loop(uint64_t n);
uint64_t hot_loop(uint64_t n)
{
        uint64_t sum = 1;

        while (n-- > 0)
                sum = mix(sum + n); /* hot */
        return sum;
}

__attribute__((noinline)) uint64_t warm_loop(uint64_t n);
uint64_t warm_loop(uint64_t n)
{
        uint64_t sum = 3;

        while (n-- > 0)
                sum = mix(sum ^ n);
        return sum;
}

int main(int argc, char **argv)
{
        uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;

        return hot_loop(n) + warm_loop(n / 4) == 42;
}
EOS
program=$TMPDIR/src/hot
cc -O1 -g -o "$program" "$TMPDIR/src/hot.c"
n_rounds=1000000000
[ "$VARIANT" = release ] || n_rounds=300000000
holds "the program is recorded" record hot --embed-source "$program" $n_rounds
trace=$TMPDIR/hot.hyp

annotate() { # name, options and operands
        "$HYPROF" annotate "${@:2}" >"$TMPDIR/$1.out" 2>"$TMPDIR/$1.err"
}
value() { # name, jq's expression
        jq -r "$2" "$TMPDIR/$1.out"
}
has() { # file, pattern
        grep -qE -- "$2" "$1" || { cat "$1" && return 1; }
}

# ---- instructions
holds "as JSON" annotate json --json --limit 0 "$trace" hot_loop
holds "its schema is named" same hyprof.annotation/2 "$(value json .schema)"
holds "the function and its file are named" same "hot_loop $program" "$(value json '.function + " " + .module')"
holds "there is code" same true "$(value json '.code == "file" or .code == "trace"')"
# The loop: from the target of the jump back to that jump.
# shellcheck disable=SC2016 # variables of jq
loop='def number: ltrimstr("0x") | explode | reduce .[] as $c (0; . * 16 + ($c | if . >= 97 then . - 87 else . - 48 end));
        [.instructions.rows[] | . + {at: (.address | number)}] as $all |
        ([$all[] | select(.branch == "conditional" and (.target_address | number) < .at)] | max_by(.at)) as $back |
        ($back.target_address | number) as $start'
holds "more than 90% of the samples are in the loop" compare \
        "$(value json "$loop | [\$all[] | select(.at >= \$start and .at <= \$back.at) | .share] | add")" ">" 0.9
holds "shares add up to 1" compare "$(value json '[.instructions.rows[].share] | add')" "<=" 1.0001
holds "samples add up" same "$(value json .n_samples)" "$(value json '[.instructions.rows[].n_samples] | add')"
holds "and so they do over the lines" same "$(value json .n_samples)" "$(value json '[.lines.rows[].n_samples] | add')"
holds "the inlined function is known at its instructions" same mix \
        "$(value json '[.instructions.rows[] | .function | select(. != "hot_loop")] | unique | .[]')"

holds "--limit 3" annotate limited --json --limit 3 "$trace" hot_loop
holds "has the three with the most samples" same "$(value json '[.instructions.rows[].n_samples] | sort | .[-3:] | add')" \
        "$(value limited '[.instructions.rows[].n_samples] | add')"
holds "and how many are left out" same "$(value json '.instructions.rows | length')" \
        "$(value limited '(.instructions.rows | length) + .instructions.left_out')"
holds "its handle is that of reports" same "$("$HYPROF" report --function hot_loop --json --limit 0 "$trace" | jq -r '.functions.rows[0].handle')" "$(value json .handle)"
holds "none named" annotate hot --json --limit 10 "$trace"
holds "the ten hottest are listed, this one first" same "$(value hot .handle) true" "$(value hot '.functions.rows[0].handle + " " + (.functions.rows | length <= 10 | tostring)')"

holds "as text" annotate text "$trace" hot_loop
holds "the hottest is marked" has "$TMPDIR/text.out" '^ +[0-9.]+% +[0-9,]+\* +0x[0-9a-f]+:'
holds "the loop begins at an arrow's head" has "$TMPDIR/text.out" ': ([|+] )*,-*> '
holds "and ends at its tail" has "$TMPDIR/text.out" ": ([|+] )*'-+ j"
holds "lines stand between the instructions" has "$TMPDIR/text.out" 'hot\.c:[0-9]+ .*sum = mix\(sum \+ n\); /\* hot \*/'
holds "inlined functions are marked" has "$TMPDIR/text.out" '> inlined: mix hot\.c:16'
holds "it says what a percentage is of" has "$TMPDIR/text.out" "of the function's samples"
holds "no colours in a file" same "" "$(grep -c "$(printf '\033')" "$TMPDIR/text.out" | grep -v '^0$')"
holds "--asm: no lines between" annotate asm --asm "$trace" hot_loop
holds "none" same 0 "$(grep -c '/\* hot \*/' "$TMPDIR/asm.out")"
holds "-M intel" annotate intel -M intel "$trace" hot_loop
case $(uname -m) in
x86_64) holds "has no percent signs before registers" same 0 "$(grep -cE '^ .*: .* %r[a-z0-9]+' "$TMPDIR/intel.out")" ;;
esac
holds "--context 0 leaves cold instructions out" annotate context --context 0 "$trace" hot_loop
holds "and says so" has "$TMPDIR/context.out" '^ +\.\.\. [0-9]+ instructions?$'
holds "and how to see them" has "$TMPDIR/context.out" '--context all'

# ---- which function
cd "$TMPDIR"
cp "$trace" hyprof.hyp
holds "one operand is the function, of the default trace" annotate default hot_loop
holds "it is the same" cmp "$TMPDIR/default.out" "$TMPDIR/text.out"
holds "-i names the trace" annotate input -i "$trace" hot_loop
cd - >/dev/null
# Most of the recording is in this loop, which is the first one, however late the program begins.
half_ns=$(($("$HYPROF" report --json --limit 0 "$trace" | jq .duration_ns) / 2))
holds "half of the time" annotate early --json --limit 0 --to "${half_ns}ns" "$trace" hot_loop
holds "has fewer samples" compare "$(value early .n_samples)" "<" "$(value json .n_samples)"
holds "and says so" same "to $(printf '%d.%09d' $((half_ns / 1000000000)) $((half_ns % 1000000000))) s" "$(value early .filter)"
holds "all of them are of no part" same null "$(value json .filter)"
holds "a zone that is not there: status 1" ends_with 1 "$HYPROF" annotate --zone nosuch "$trace" hot_loop
holds "a part of the name will do" annotate part "$trace" warm
holds "it is the other one" has "$TMPDIR/part.out" '^warm_loop in '
holds "what was inlined leads to its places" annotate inlined "$trace" mix
holds "in both functions" same "hot_loop warm_loop" \
        "$(grep -oE '^(hot|warm)_loop: ' "$TMPDIR/inlined.out" | tr -d ':\n' | sed 's/ $//')"
"$HYPROF" report --functions --json --limit 0 "$trace" >"$TMPDIR/functions.out"
row() { # function, key
        jq -r --arg name "$1" ".functions.rows[] | select(.function == \$name) | .$2" "$TMPDIR/functions.out"
}
holds "as JSON" annotate inlined_json --json --limit 0 "$trace" mix
holds "with the samples that reports have" same "$(row mix self_samples)" "$(value inlined_json .n_samples)"
holds "what a function has of its own is what reports have" same "$(row hot_loop self_samples)" "$(value json .self_samples)"
holds "a handle" annotate handle "$trace" "$(row hot_loop handle)"
holds "is the function" cmp "$TMPDIR/handle.out" "$TMPDIR/text.out"
holds "the function may come first" annotate swapped hot_loop "$trace"
holds "and is the same" cmp "$TMPDIR/swapped.out" "$TMPDIR/text.out"
holds "report --function takes a part of a name as well" ends_with 0 "$HYPROF" report --function _loo --json --limit 0 "$trace"
holds "of both" same "hot_loop warm_loop" "$(jq -r --arg of "$program" '[.functions.rows[] | select(.module == $of).function | select(endswith("_loop"))] | sort | join(" ")' "$TMPDIR/out")"
holds "which is said" has "$TMPDIR/inlined.err" "'mix' has no samples in code of its own"
holds "no function of that name: status 1" ends_with 1 "$HYPROF" annotate "$trace" nosuch
holds "with the way to those that there are" has "$TMPDIR/err" 'hyprof report'
holds "several: status 1" ends_with 1 "$HYPROF" annotate "$trace" _loop
holds "they are listed, the hottest first" has "$TMPDIR/err" 'samples  hot_loop  in'
holds "--module that has it" annotate module --module src/hot "$trace" hot_loop
holds "--module that has not" ends_with 1 "$HYPROF" annotate --module nosuch.so "$trace" hot_loop
holds "none named: the hottest" annotate hottest "$trace"
holds "three operands: status 2" ends_with 2 "$HYPROF" annotate "$trace" hot_loop more
holds "--percent-limit x: status 2" ends_with 2 "$HYPROF" annotate --percent-limit x "$trace" hot_loop
holds "--help" ends_with 0 "$HYPROF" annotate --help
holds "an event that is not there: status 1" ends_with 1 "$HYPROF" annotate -e nosuch "$trace" hot_loop

# ---- a terminal
screen() { # columns, variables
        script -qec "stty cols $1; $2 '$HYPROF' annotate '$trace' hot_loop" /dev/null </dev/null | tr -d '\r' >"$TMPDIR/screen"
}
screen 60 'TERM=xterm NO_COLOR='
holds "a terminal has colours" has "$TMPDIR/screen" "$(printf '\033')\\[31m"
screen 60 'NO_COLOR=1'
holds "not with NO_COLOR" same 0 "$(grep -c "$(printf '\033')" "$TMPDIR/screen")"
screen 60 'TERM=dumb NO_COLOR='
holds "nor with TERM=dumb" same 0 "$(grep -c "$(printf '\033')" "$TMPDIR/screen")"
apart() { # redirection
        script -qec "env -u NO_COLOR TERM=xterm '$HYPROF' annotate '$trace' hot_loop $1" /dev/null </dev/null >"$TMPDIR/screen"
}
apart ">'$TMPDIR/apart'"
holds "standard error is a terminal, standard output is none: no colours" same 0 "$(grep -c "$(printf '\033')" "$TMPDIR/apart")"
apart "2>'$TMPDIR/apart'"
holds "the other way round there are" has "$TMPDIR/screen" "$(printf '\033')\\[31m"
holds "--json --limit 0 --color=always" annotate json_always --json --limit 0 --color=always "$trace" hot_loop
holds "JSON has none" same 0 "$(grep -c "$(printf '\033')" "$TMPDIR/json_always.out")"
screen 60 'NO_COLOR=1'
holds "its lines of code are no longer than it is wide" same 0 "$(grep -E ' [0-9a-f]+: ' "$TMPDIR/screen" | awk 'length > 60' | wc -l)"
holds "--color=always wins" annotate always --color=always "$trace" hot_loop
holds "in a file, too" has "$TMPDIR/always.out" "$(printf '\033')\\[31m"

# ---- sources, and a machine that has neither program nor source
holds "--source alone" annotate source --source "$trace" hot_loop
holds "has the hot line" has "$TMPDIR/source.out" '^ .*% .* (6|7|15|16)  .*(x|sum)'
holds "and no instructions" same 0 "$(grep -c '0x[0-9a-f]*: ' "$TMPDIR/source.out")"
mv "$TMPDIR/src" "$TMPDIR/gone"
holds "with everything gone" annotate gone --json --limit 0 "$trace" hot_loop
holds "the source is the trace's" same trace "$(value gone '[.lines.rows[] | select(.line != null) | .source] | unique | .[]')"
holds "with its text" has "$TMPDIR/gone.out" '"text": ".*(x ^= x >> 13|while \(n-- > 0\))'
holds "the counts are the same" same "$(value json .n_samples)" "$(value gone .n_samples)"
if "$HYPROF" dump "$trace" | grep -q "^module_image .*KEPT\|^module_image .*state=1"; then
        holds "and the code, too" same trace "$(value gone .code)"
else
        holds "without code it says why" has "$TMPDIR/gone.err" 'no instructions: '
        holds "and shows the sampled addresses" compare "$(value gone '[.instructions.rows[]] | length')" ">" 0
fi
mv "$TMPDIR/gone" "$TMPDIR/src"
cc -O2 -g -DOTHER -o "$program" "$TMPDIR/src/hot.c"
holds "a program that was built anew is not believed" annotate anew --json --limit 0 "$trace" hot_loop
holds "its code is not shown" same false "$(value anew '.code == "file"')"

# ---- where there is no build-id, and in other folders
nameless=$TMPDIR/src/nameless
cc -O1 -g -Wl,--build-id=none -o "$nameless" "$TMPDIR/src/hot.c"
cc -O2 -g -Wl,--build-id=none -o "$TMPDIR/src/nameless.other" "$TMPDIR/src/hot.c"
holds "a program without a build-id is recorded" record nameless --embed=none "$nameless" 300000000
holds "it is believed" annotate nameless --json --limit 0 "$TMPDIR/nameless.hyp" hot_loop
holds "its code is the file's" same file "$(value nameless .code)"
cat "$TMPDIR/src/nameless.other" >"$nameless"
holds "written over in its place" annotate rewritten --json --limit 0 "$TMPDIR/nameless.hyp" hot_loop
holds "it is not" same none "$(value rewritten .code)"
holds "which is said" has "$TMPDIR/rewritten.err" 'not the file that was recorded'
cc -O1 -g -Wl,--build-id=sha1 -o "$TMPDIR/src/moved" "$TMPDIR/src/hot.c"
holds "a program is recorded without its code" record moved --embed=none "$TMPDIR/src/moved" 300000000
mkdir "$TMPDIR/elsewhere"
mv "$TMPDIR/src/moved" "$TMPDIR/elsewhere/moved"
holds "gone: shown" annotate gone_file --json --limit 0 "$TMPDIR/moved.hyp" hot_loop
holds "without code" same none "$(value gone_file .code)"
holds "--debug-dir" annotate debug_dir --json --limit 0 --debug-dir "$TMPDIR/elsewhere" "$TMPDIR/moved.hyp" hot_loop
holds "has its code" same file "$(value debug_dir .code)"
holds "a folder that is not there: status 2" ends_with 2 "$HYPROF" annotate --debug-dir "$TMPDIR/nosuch" "$trace" hot_loop
holds "--sysroot that is not there: status 2" ends_with 2 "$HYPROF" annotate --sysroot "$TMPDIR/nosuch" "$trace" hot_loop

# ---- traces that have less
head -c 60 "$trace" >"$TMPDIR/cut.hyp"
holds "a trace without samples: status 1" ends_with 1 "$HYPROF" annotate "$TMPDIR/cut.hyp" hot_loop
holds "no trace: status 1" ends_with 1 "$HYPROF" annotate "$TMPDIR/absent.hyp" hot_loop
holds "garbage: status 1" ends_with 1 "$HYPROF" annotate -i "$TMPDIR/src/hot.c" hot_loop
head -c "$(($(stat -c %s "$trace") - 5))" "$trace" >"$TMPDIR/cut.hyp"
holds "a trace that is cut off is shown" ends_with 0 "$HYPROF" annotate "$TMPDIR/cut.hyp" hot_loop
holds "with a warning" has "$TMPDIR/err" 'warning: .*cut'
holds "recorded without names" record bare --no-symbolize "$program" 100000000
holds "which is said: status 1" ends_with 1 "$HYPROF" annotate "$TMPDIR/bare.hyp" hot_loop
holds "with the remedy" has "$TMPDIR/err" 'hyprof symbolize'
