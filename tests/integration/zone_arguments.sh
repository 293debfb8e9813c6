#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# record --zone-function 'run(n, name)': the text of each zone is what the program itself has as these arguments, however it
# was compiled; what cannot be read is refused with the reason
set -eu
. tests/tap.sh
plan 39
need jq gcc g++ objcopy python3
need_sampling
[ "$(uname -m)" = x86_64 ] || skip_all "hardware: functions are probed on x86-64"

cat >"$TMPDIR/c.c" <<'C'
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#define KEPT __attribute__((noinline)) int
enum colour { RED = 1, GREEN = 2, BLUE = -7 };
struct inner { short s; unsigned bits : 3; };
struct node { struct node *next; long size; double weight; char tag[16]; const char *name; struct inner in; };
struct big { long a[5]; };
struct pair { int a, b; };
volatile long sink;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define SAY(...) (pthread_mutex_lock(&lock), printf(__VA_ARGS__), pthread_mutex_unlock(&lock), sink++)
static const char *colours(enum colour c) { return c == RED ? "RED" : c == GREEN ? "GREEN" : c == BLUE ? "BLUE" : "5"; }
KEPT numbers(int n, unsigned long u, signed char c, bool b) { return SAY("n=%d, u=%lu, c=%d, b=%s\n", n, u, c, b ? "true" : "false"); }
KEPT words(const char *name, char letter, enum colour col, void *p) { return SAY("name=%s, letter='%c', col=%s, p=0x%lx\n", name, letter, colours(col), (long)p); }
KEPT bad(const char *name) { return (int)(sink += (long)name); }
KEPT behind(const struct node *p) {
        return SAY("p->size=%ld, p->tag=%s, p->next->weight=%g, p->next->in.s=%d\n", p->size, p->tag, p->next->weight, p->next->in.s);
}
KEPT floats(double d, int after, float f) { sink += (long)d + (long)f; return SAY("after=%d\n", after); }
KEPT many(int a, int b, int c, int d, int e, int f, int g, short h) { sink += a + b + c + d + e + f; return SAY("g=%d, h=%d\n", g, h); }
__attribute__((noinline)) struct big gives(int value) { struct big x = { { value } }; SAY("value=%d\n", value); return x; }
KEPT by_value(struct pair p, int after) { return (int)(sink += p.a + p.b + after); }
KEPT deep(int depth) { int r = SAY("depth=%d\n", depth); if (depth > 0) r += deep(depth - 1); return r + (int)sink; }
static void *thread(void *at) { for (int i = 0; i < 100; i++) { numbers(-i, 1000000000000ul + (unsigned long)i, (signed char)-3, i & 1); deep(2); } return at; }
int main(void)
{
        struct node m = { 0, 77, 2.5, "second", "m", { 9, 1 } }, n = { &m, -5, 0.125, "first", "n", { -2, 2 } };
        pthread_t t[3];
        for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, thread, 0);
        for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
        words("hello", 'x', GREEN, &m); words("", 'y', BLUE, &n); words("z", '~', (enum colour)5, 0);
        bad((char *)0x7000000000); bad(0); bad((char *)64); bad("good");
        behind(&n); floats(1.5, 42, 2.5f); many(1, 2, 3, 4, 5, 6, 7, -8); sink += gives(31).a[0]; by_value((struct pair){ 3, 4 }, 5);
        return 0;
}
C
cat >"$TMPDIR/cpp.cpp" <<'C'
#include <cstdio>
#include <string>
#define KEPT __attribute__((noinline))
namespace db
{
enum class mode : unsigned char { read, write };
struct base { int id; virtual ~base() {} };
struct query : base {
        const char *sql;
        KEPT int run(int n, const std::string &s, mode m);
        KEPT int run(const char *word);
        KEPT static int look(const int &r, int after);
};
static volatile int sink;
int query::run(int n, const std::string &s, mode m) { sink += (int)s.size(); return printf("n=%d, this->id=%d, this->sql=%s, m=%s\n", n, id, sql, m == mode::write ? "write" : "read"); }
int query::run(const char *word) { return printf("word=%s\n", word); }
int query::look(const int &r, int after) { return printf("r=%d, after=%d\n", r, after); }
template <class T> KEPT T twice(T x) { if (sizeof(x) == sizeof(int)) printf("x=%d\n", (int)x); return x + x; }
}
int main()
{
        db::query q;
        int k = 12;
        q.id = 7;
        q.sql = "select 1";
        if (*(const volatile char *)q.sql == 0) /* a page that the program has not read yet is not there for a probe either */
                return 1;
        for (int i = 0; i < 20; i++) {
                q.run(i, "text", i % 2 ? db::mode::write : db::mode::read);
                q.run("word");
                db::query::look(k, i);
                db::twice(i);
                db::twice('a');
        }
}
C
options=(--no-sampling --zone-function='numbers(n, u,c, b)' --zone-function='words(name,letter,col,p)' --zone-function='behind(p->size, p->tag,p->next->weight,p->next->in.s)'
        --zone-function='floats(after)' --zone-function='many(g,h)' --zone-function='gives(value)' --zone-function='deep(depth)' --zone-function='bad(name)')
cpp_options=(--no-sampling --zone-function='db::query::run(int, *)(n, this->id, this->sql, m)' --zone-function='db::query::run(char const*)(word)'
        --zone-function='db::query::look(r, after)' --zone-function='*db::twice<int>*(x)')
texts() { "$HYPROF" dump "$TMPDIR/$1.hyp" | sed -n 's/^zone_text .* text="\(.*\)"$/\1/p' | sort; }
refused() { # words, pattern, program
        local status=0
        "$HYPROF" record -q -o "$TMPDIR/refused.hyp" --zone-function="$2" "${3:-$TMPDIR/c_O2}" >"$TMPDIR/refused.out" 2>"$TMPDIR/refused.err" || status=$?
        same 125 "$status" && same "" "$(cat "$TMPDIR/refused.out")" && grep -qF -- "$1" "$TMPDIR/refused.err" &&
                same 1 "$(wc -l <"$TMPDIR/refused.err")"
}
compile() { # compiler, source, program, options...
        "$1" -g -w "${@:4}" "$2" -o "$TMPDIR/$3" -lpthread
}
compile gcc "$TMPDIR/c.c" c_O0 -O0
# The command ran, or nothing can be probed here: then the reason is the one that hyprof gave.
record c_O0 "${options[@]}" "$TMPDIR/c_O0" || {
        grep -q 'BPF' "$TMPDIR/c_O0.err" || { cat "$TMPDIR/c_O0.err" && exit 1; }
        skip_all "hardware: $(grep -m 1 BPF "$TMPDIR/c_O0.err")"
}

# ---- equal to the program's own words
good='name=good'
faults='name=(unreadable)'
equal() { # name: the program's log, but for what it cannot print itself
        same "$({ cat "$TMPDIR/$1.out"; [ "${1#c_}" = "$1" ] || printf '%s\n' "$good" "$faults" "$faults" 'name=(null)'; } | sort)" "$(texts "$1")"
}
holds "C without optimisation" equal c_O0
read_trace c_O0
holds "as many ends as begins, and nothing lost" same "$(n_events c_O0 'kind == "zone_begin"') " "$(n_events c_O0 'kind == "zone_end"') $(lost c_O0)"
holds "recursion: each call has its own" same 900 "$(texts c_O0 | grep -c '^depth=')"
compiled() { # name, compiler, source, options...
        if command -v "$2" >/dev/null && compile "$2" "$TMPDIR/$3" "$1" "${@:4}"; then
                if [ "$3" = c.c ]; then
                        record "$1" "${options[@]}" "$TMPDIR/$1"
                else
                        record "$1" "${cpp_options[@]}" "$TMPDIR/$1"
                fi
                holds "$1: ${*:2}" equal "$1"
        else
                skips "$1: ${*:2}" "tool: no $2 that can do this"
        fi
}
compiled c_O2 gcc c.c -O2
compiled c_Og_packed gcc c.c -Og -gz
compiled c_old gcc c.c -O1 -gdwarf-4
compiled c_clang_O0 clang c.c -O0
compiled c_clang_O2 clang c.c -O2
compiled cpp_O0 g++ cpp.cpp -O0
compiled cpp_O2 g++ cpp.cpp -O2
compiled cpp_clang_O0 clang++ cpp.cpp -O0
compiled cpp_clang_O2 clang++ cpp.cpp -O2

# ---- debug information in a file of its own, beside a program of the user's
mkdir "$TMPDIR/beside"
objcopy --only-keep-debug "$TMPDIR/c_O2" "$TMPDIR/beside/c_O2.debug"
objcopy --strip-all --add-gnu-debuglink="$TMPDIR/beside/c_O2.debug" "$TMPDIR/c_O2" "$TMPDIR/beside/c_beside"
chmod a+rx "$TMPDIR" "$TMPDIR/beside"
[ "$(id -u)" != 0 ] || chown nobody "$TMPDIR/beside/c_beside"
record c_beside "${options[@]}" "$TMPDIR/beside/c_beside"
holds "in a separate file" equal c_beside

# ---- a running program
cat >"$TMPDIR/waits.c" <<'C'
#include <stdio.h>
__attribute__((noinline)) int turn(int number) { return printf("number=%d\n", number); }
int main(void) { while (getchar() != EOF) { } for (int i = 0; i < 30; i++) turn(i * i); return 0; }
C
compile gcc "$TMPDIR/waits.c" waits -O1
mkfifo "$TMPDIR/to"
"$TMPDIR/waits" <"$TMPDIR/to" >"$TMPDIR/joined.out" &
program=$!
exec 4>"$TMPDIR/to"
"$HYPROF" record -q -o "$TMPDIR/joined.hyp" -p "$program" --no-sampling --zone-function='turn(number)' 2>"$TMPDIR/joined.err" 4>&- &
recorder=$!
wait_until "it is joined" "$HYPROF" ctl "$recorder" status
exec 4>&-
wait "$recorder"
cp "$TMPDIR/joined.out" "$TMPDIR/said"
holds "of a running program" same "$(sort "$TMPDIR/said")" "$(texts joined)"

# ---- what cannot be had
strip -g "$TMPDIR/c_O2" -o "$TMPDIR/no_debug"
holds "no debug information" refused "no debug information in no_debug, so no arguments: try -g or its -dbgsym package" 'words(name)' "$TMPDIR/no_debug"
holds "no such argument: those that there are" refused "words: no argument 'nme'; it has: name, letter, col, p" 'words(nme)'
holds "in a floating-point register" refused "floats: argument 'd' is in a floating-point register" 'floats(d)'
holds "a structure by value" refused "by_value: argument 'p' " 'by_value(p)'
holds "after one, without optimisation" refused "comes after a structure that is passed by value" 'by_value(after)' "$TMPDIR/c_O0"
holds "a bit field" refused "argument 'p->in.bits' is a bit field" 'behind(p->in.bits)'
holds "no such member" refused "argument 'p->nn' has no member of this name" 'behind(p->nn)'
holds "a whole structure" refused "argument 'p->in' is a structure: name one of its members" 'behind(p->in)'
holds "too many" refused "at most 4 arguments" 'numbers(n,u,c,b,n)'
holds "several functions, one of which lacks it" refused "behind: no argument 'name'; it has: p" 'b*(name)'
holds "no such function, whatever its arguments" refused "'nosuch(n)': no function has such a name" 'nosuch(n)'
cat >"$TMPDIR/gone.c" <<'C'
#include <stdio.h>
static __attribute__((noinline)) int part(int kept, int gone) { return printf("%d\n", kept) + (gone & 0); }
int main(int argc, char **argv) { (void)argv; return part(argc, argc * 2) + part(argc + 1, 7) < 0; }
C
compile gcc "$TMPDIR/gone.c" gone -O2
holds "optimised out" refused "argument 'gone' was optimised out at its entry" 'part*(gone)' "$TMPDIR/gone"

# ---- a function whose rarely executed part lies elsewhere has a list of ranges
cat >"$TMPDIR/parts.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
__attribute__((cold, noinline)) void bad(int n) { fprintf(stderr, "bad %d\n", n); exit(1); }
__attribute__((noinline)) int part(int n, int m) { if (__builtin_expect(n < 0, 0)) { bad(n); bad(m); } return printf("n=%d, m=%d\n", n, m); }
int main(void) { for (int i = 0; i < 5; i++) part(i, -i); return 0; }
C
compile gcc "$TMPDIR/parts.c" parts -O2
nm "$TMPDIR/parts" | grep -q ' part\.cold$' || echo "# this compiler leaves the function in one part"
record parts --no-sampling --zone-function='part(n, m)' "$TMPDIR/parts" || cat "$TMPDIR/parts.err"
holds "of a function in two parts" same "$(sort "$TMPDIR/parts.out")" "$(texts parts)"

# ---- what debug information says of later, or does not say: refused, or what the program has, but nothing else
cat >"$TMPDIR/later.c" <<'C'
#include <stdio.h>
volatile int sink;
__attribute__((noinline)) int moves(int a, int b, int c) { for (int i = 0; i < 2; i++) { sink++; b += sink - sink; } return printf("a=%d, b=%d, c=%d\n", a, b, c); }
__attribute__((noinline, ms_abi)) int windows(int d, int e) { sink += *(volatile int *)&d; return printf("d=%d, e=%d\n", d, e); }
struct record { char tag[4], next[4], two[2][3]; };
__attribute__((noinline)) int tags(struct record *p) { return printf("p->tag=%.4s, p->next=%s, p->two=%.6s\n", p->tag, p->next, p->two[0]); }
struct record r = { { 'a', 'b', 'c', 'd' }, "xyz", { { '1', '2', '3' }, { '4', '5', '6' } } };
int main(void) { for (int i = 0; i < 5; i++) { tags(&r); moves(i, i + 10, i + 20); windows(i, -i); } return 0; }
C
cat >"$TMPDIR/later.cpp" <<'C'
#include <cstdio>
struct owner { long a[4]; owner(long n) : a{ n } {} owner(const owner &o) : a{ o.a[0] } {} ~owner() { a[0] = 0; } };
enum class sign : int { zero, one };
struct holder { static int shared; int own; sign s; };
int holder::shared = 77;
template <class... T> __attribute__((noinline)) int pack(T... words, int last) { return printf("last=%d\n", last) + (0 + ... + words); }
__attribute__((noinline)) int after(owner o, int n, sign s) { return printf("n=%d, s=%d\n", n, (int)s) + (int)o.a[0]; }
__attribute__((noinline)) int shares(holder *p) { return printf("p->shared=%d\n", p->shared); }
__attribute__((noinline)) int signs(holder *p, sign s) { return printf("p->s=%d, s=%d\n", (int)p->s, (int)s); }
int main() { holder h{ 5, (sign)-3 }; for (int i = 0; i < 5; i++) { pack<int, int>(i, i + 1, i + 50); after(owner(9), i, (sign)-1); shares(&h); signs(&h, (sign)(-i - 1)); } }
C
honest() { # program, pattern, words of its lines
        if "$HYPROF" record -q -o "$TMPDIR/honest.hyp" --no-sampling --zone-function="$2" "$TMPDIR/$1" >"$TMPDIR/honest.out" 2>"$TMPDIR/honest.err"; then
                same "$(grep "^$3" "$TMPDIR/honest.out" | sort)" "$(texts honest)"
        else
                grep -q "argument '" "$TMPDIR/honest.err"
        fi
}
all_honest() { # program, patterns and words
        local program=$1
        shift
        while [ $# -gt 0 ]; do honest "$program" "$1" "$2" || return 1; shift 2; done
}
compile gcc "$TMPDIR/later.c" later_O2 -O2 -fno-var-tracking
compile gcc "$TMPDIR/later.c" later_O0 -O0
holds "registers of later" all_honest later_O2 'moves(a,b,c)' a= 'windows(d,e)' d=
holds "another calling convention" all_honest later_O0 'moves(a,b,c)' a= 'windows(d,e)' d=
exact() { honest "$@" && [ -s "$TMPDIR/honest.out" ]; } # not refused
holds "arrays of characters end where they end" exact later_O0 'tags(p->tag, p->next, p->two)' p-
cpp_honest=('*pack<*(last)' last= 'after(n,s)' n= 'shares(p->shared)' 'p->shared=')
compile g++ "$TMPDIR/later.cpp" later_cpp_O0 -O0 -std=c++17
holds "after structures and packs of C++" all_honest later_cpp_O0 "${cpp_honest[@]}"
holds "negative numbers of an enumeration without names for them" exact later_cpp_O0 'signs(p->s,s)' 'p->s='
if command -v clang++ >/dev/null && compile clang++ "$TMPDIR/later.cpp" later_clang -O0 -std=c++17; then
        holds "static members, by clang" all_honest later_clang "${cpp_honest[@]}"
else
        skips "static members, by clang" "tool: no clang++ that can do this"
fi
compile gcc "$TMPDIR/later.c" later_dwarf_2 -O0 -gdwarf-2
holds "members, by DWARF 2" exact later_dwarf_2 'tags(p->tag, p->next, p->two)' p-

# ---- what is not read is not said to be absent
compile gcc "$TMPDIR/gone.c" split -O0 -gsplit-dwarf -dumpdir "$TMPDIR/"
holds "in a .dwo file" refused "part: its arguments are described in a .dwo file, which is not read" 'part(kept)' "$TMPDIR/split"
printf 'struct s { int n; };\nint part(struct s *p) { return p->n; }\nint main(void) { return 0; }\n' >"$TMPDIR/types.c"
compile gcc "$TMPDIR/types.c" types -O0 -fdebug-types-section
parameters() { # pattern, program
        "$HYPROF" list --json --functions "$1" "$TMPDIR/$2" | jq -r '.functions.rows[].parameters'
}
holds "a type elsewhere is not void" same '(unknown) *p' "$(parameters part types)"
holds "a pointer that is const itself points to what is not" same 'query *this, const char *word' "$(parameters 'db::query::run(char const\*)' cpp_O0)"

# ---- debug information that lies: cyclic types, and damage anywhere; the reader ends, and names what it found
cat >"$TMPDIR/cycle.py" <<'P'
import re, sys
text = open(sys.argv[1]).read()
place = re.search(r'\(DIE \((0x[0-9a-f]+)\) DW_TAG_typedef\)', text)
at = text.index('DW_AT_type', place.end())
line = text.rindex('\n', 0, at)
fixed = re.sub(r'\.long\s+\S+', '.long ' + place.group(1), text[line:at])
open(sys.argv[1], 'w').write(text[:line] + fixed + text[at:])
P
printf 'typedef int loop;\n__attribute__((noinline)) int turns(loop n) { return n * 3; }\nint main(int c, char **v) { (void)v; return turns(c) < 0; }\n' >"$TMPDIR/cycle.c"
gcc -g -O1 -S -dA "$TMPDIR/cycle.c" -o "$TMPDIR/cycle.s"
python3 "$TMPDIR/cycle.py" "$TMPDIR/cycle.s"
gcc "$TMPDIR/cycle.s" -o "$TMPDIR/cycle"
holds "a type that is its own" refused "argument 'n' has a type that cannot be read" 'turns(n)' "$TMPDIR/cycle"
cat >"$TMPDIR/damage.py" <<'P'
import random, subprocess, sys
hyprof, program, folder = sys.argv[1:]
sections = ['.debug_info', '.debug_abbrev', '.debug_loclists', '.debug_str']
whole = {}
for s in sections:
    subprocess.run(['objcopy', '--dump-section', f'{s}={folder}/section', program, folder + '/unused'], check=True)
    whole[s] = open(folder + '/section', 'rb').read()
r = random.Random(7)
for turn in range(30):
    s = sections[turn % len(sections)]
    b = bytearray(whole[s])
    if turn % 5 == 0:
        b = b[:r.randrange(len(b))] or b[:1]
    for _ in range(r.choice([1, 4, 40]) if turn % 5 else 0):
        b[r.randrange(len(b))] = r.choice([0, 0xff, 0x80, r.randrange(256)])
    open(folder + '/section', 'wb').write(b)
    subprocess.run(['objcopy', '--update-section', f'{s}={folder}/section', program, folder + '/damaged'], check=True, stderr=subprocess.DEVNULL)
    done = subprocess.run([hyprof, 'list', '--json', '--functions', '*', folder + '/damaged'], capture_output=True, timeout=60)
    if done.returncode not in (0, 1) or b'signal' in done.stderr:
        sys.exit(f'turn {turn}: {done.returncode} {done.stderr}')
P
holds "damaged debug information is read to its end" python3 "$TMPDIR/damage.py" "$HYPROF" "$TMPDIR/c_O2" "$TMPDIR"
