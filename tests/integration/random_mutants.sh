#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/random_mutants.py: a mutant that no test can notice has survived, one that a test notices is killed, one that never
# ends is killed, one that is no C does not build; untested files are left alone, and a seed says which are drawn
set -u
export HYPROF_LIMIT_S=3
script=$PWD/tests/random_mutants.py
tree=$TMPDIR/tree
n=0
echo "1..16"
mkdir -p "$tree/base" "$tree/tests/unit"
cd "$tree" || exit 1

cat >Makefile <<'EOS'
B := build/release
LIB := $(B)/obj/base/known.o $(B)/obj/base/untested.o
.PRECIOUS: $(B)/obj/%.o
$(B)/tests/%: $(B)/obj/tests/unit/%.o $(LIB)
	@mkdir -p $(@D) && rm -f $(B)/lib.a && ar rcs $(B)/lib.a $(LIB)
	gcc $(B)/obj/tests/unit/$*.o $(B)/lib.a -o $@
$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	gcc -I. -MMD -MP -c $< -o $@
compile_commands.json:
	@echo '[{"file": "base/known.c", "command": "gcc -I. -MMD -MP -c base/known.c -o $(B)/obj/base/known.o"},' >$@
	@echo ' {"file": "base/untested.c", "command": "gcc -I. -MMD -MP -c base/untested.c -o $(B)/obj/base/untested.o"}]' >>$@
EOS
cat >base/known.h <<'EOS'
int known_max(int a, int b);
int known_sum(int a, int b);
long known_count(long n);
const char *known_after(const char *words, int n);
void known_note(int *at);
EOS
cat >base/known.c <<'EOS'
#include "base/known.h"
/* a comment with a > b, and "words" */
int known_max(int a, int b)
{
        return a > b ? a : b;
}
int known_sum(int a, int b)
{
        return a + b;
}
long known_count(long n)
{
        long i;

        for (i = 3; i != n;)
                i += 2;
        return i;
}
const char *known_after(const char *words, int n)
{
        return n + words;
}
void known_note(int *at)
{
        *at = 5;
        known_sum(2, 3);
}
EOS
printf 'int untested(int a)\n{\n        return a == 5;\n}\n' >base/untested.c
write_test() { # what known_sum(2, 3) should be
        cat >tests/unit/test_known.c <<EOS
#include "base/known.h"
int main(void)
{
        int at = 0;

        known_note(&at);
        return known_max(2, 3) != 3 || known_max(3, 2) != 3 || known_sum(2, 3) != $1 || known_count(9) != 9 || at != 5 ||
               *known_after("abc", 1) != 'b';
}
EOS
}

verdict() { # name, status
        n=$((n + 1))
        if [ "$2" -eq 0 ]; then
                echo "ok $n - $1"
        else
                echo "not ok $n - $1"
                printf '%s\n' "$out" | sed 's/^/    /'
        fi
}

says() { # name, line
        grep -qxF -- "$2" <<<"$out"
        verdict "$1" $?
}

draw() { # n, seed
        out=$("$script" "$@" 2>&1)
        status=$?
}

write_test 5
draw 99 1
verdict "one survived: exit status 1" $((status != 1))
says "all are drawn where fewer are there than were asked for" "seed 1: 7 of 7 mutants in 1 files"
says "an equivalent one has survived" "SURVIVED  base/known.c:5:18: > -> >= in: return a > b ? a : b;  (1 tests)"
says "so has a statement that does nothing" "SURVIVED  base/known.c:26:9: known_sum(2, 3); -> ;  (1 tests)"
says "one that a test notices is killed" "killed    base/known.c:9:18: + -> - in: return a + b;  (test_known)"
says "one that never ends is killed" "killed    base/known.c:16:19: += -> -= in: i += 2;  (test_known)"
says "one that is no C does not build" "unbuilt   base/known.c:21:18: + -> - in: return n + words;"
verdict "all are counted" $(($(grep -c '^7 mutants, 4 killed, 2 survived, 1 do not build, ' <<<"$out") != 1))
verdict "a file without a unit test is left alone" "$(grep -c untested <<<"$out")"
verdict "the source is as it was" $(($(grep -c 'a > b ?\|a + b;' base/known.c) != 2))
all=$(grep base <<<"$out")
draw 2 7
first=$(grep base <<<"$out")
draw 2 7
verdict "the same seed draws the same" "$([ "$first" = "$(grep base <<<"$out")" ]; echo $?)"
verdict "and as many as asked for" $(($(wc -l <<<"$first") != 2))
draw 99 8
verdict "another seed draws in another order" "$([ "$all" != "$(grep base <<<"$out")" ]; echo $?)"
draw 99 1 nothing_like_it
verdict "a part of a path that no file has: exit status 2" $((status != 2))
write_test 6
draw 1 1
verdict "a test that fails without a mutant kills none: exit status 2" $((status != 2 || $(grep -c '^killed' <<<"$out") != 0))
echo 'int broken' >>base/known.c
draw 1 1
verdict "a tree that does not build: exit status 2" $((status != 2))
