# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Real programs, most of them built without frame pointers, and something for them to do.  Scripts source it.
#
# program_of NAME FOLDER SCALE sets the array `command`, and writes into FOLDER what it needs; it lasts about SCALE
# seconds on a usual machine.  It fails if the program is not installed here.

# shellcheck disable=SC2034 # of those who source it
real_programs="python3 cc1plus git sqlite3 clang node perl bash deep"

write_cpp() { # file, how many functions
        cat >"$1" <<'END'
#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <vector>
template <int N> struct fold { static int of(int x) { return fold<N - 1>::of(x) * N + x % (N + 1); } };
template <> struct fold<0> { static int of(int x) { return x; } };
END
        awk -v n="$2" 'BEGIN {
                for (i = 0; i < n; i++)
                        printf "int f%d(std::map<std::string, std::vector<int>> &m, int n) { int s = %d; " \
                                "for (auto &e : m) { std::sort(e.second.begin(), e.second.end(), " \
                                "[n](int a, int b) { return a %% %d + n < b; }); for (int x : e.second) { " \
                                "switch ((s ^ x) & 7) { case 1: s += x / 3; break; case 3: s *= x; break; " \
                                "case 5: s -= n; } s += fold<%d>::of(x); } } " \
                                "std::regex r(\"(a|b)*c%d\"); return std::regex_match(\"abc\", r) ? s : -s; }\n", \
                                i, i, i % 13 + 2, 20 + i % 20, i }' >>"$1"
}

write_scripts() { # folder
        cat >"$1/work.py" <<'END'
import json, re, sys
def f(n): return 1 if n < 2 else f(n - 1) + f(n - 2)
def deep(n): return f(12) if n == 0 else deep(n - 1)
for i in range(int(sys.argv[1])):
    for k in range(100):
        json.loads(json.dumps([{str(k): k} for k in range(300)]))
        sorted(range(1000), key=lambda x: -x)
        re.sub(r'(a|b)+c', lambda m: m.group(0).upper(), 'abcab' * 50)
        deep(20)
END
        cat >"$1/work.js" <<'END'
function f(n) { return n < 2 ? 1 : f(n - 1) + f(n - 2); }
for (let i = 0; i < 400 * Number(process.argv[2]); i++) {
        f(22);
        for (let k = 0; k < 60; k++) {
                JSON.parse(JSON.stringify([...Array(300).keys()].sort()));
                'abcab'.repeat(50).replace(/(a|b)+c/g, x => x.toUpperCase());
        }
}
END
        cat >"$1/work.pl" <<'END'
sub f { my $n = shift; return $n < 2 ? 1 : f($n - 1) + f($n - 2); }
for my $i (1 .. 240 * $ARGV[0]) {
        f(18);
        my @a = sort { $b <=> $a or $a cmp $b } map { $_ * 7 % 1013 } 1 .. 5000;
        for my $k (1 .. 200) { my $s = "abcab" x 50; $s =~ s/(a|b)+c/uc($&)/ge; }
}
END
        cat >"$1/work.bash" <<'END'
f() { if (($1 < 2)); then r=1; else local n=$1 a; f $((n - 1)); a=$r; f $((n - 2)); r=$((a + r)); fi; }
for ((i = 0; i < 200 * $1; i++)); do
        f 12
        s=; for ((k = 0; k < 300; k++)); do s=${s/x/y}$k; [[ $s =~ (1|2)+3 ]]; done
done
END
}

first_of() { # paths; the first that is there
        local path
        for path; do
                [ ! -x "$path" ] || { echo "$path" && return 0; }
        done
        return 1
}

program_of() { # name, folder, scale
        local folder=$2 scale=$3 found
        mkdir -p "$folder"
        [ -f "$folder/work.py" ] || write_scripts "$folder"
        case $1 in
        # The distribution's first: others are built in other ways.
        python3) found=$(first_of /usr/bin/python3) && command=("$found" "$folder/work.py" "$((scale * 50))") ;;
        node)    found=$(first_of /usr/bin/node /usr/bin/nodejs "$(command -v node)") && command=("$found" "$folder/work.js" "$scale") ;;
        perl)    found=$(first_of /usr/bin/perl) && command=("$found" "$folder/work.pl" "$scale") ;;
        bash)    found=$(first_of /bin/bash) && command=("$found" "$folder/work.bash" "$scale") ;;
        deep)    command=("$WORKLOADS/w_deep" "$((scale * 30000))") ;;
        sqlite3)
                found=$(first_of /usr/bin/sqlite3) || return 1
                echo "WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<$((scale * 3000000)))
                        SELECT sum(length(printf('%d', x % 97))), count(DISTINCT x % 1000) FROM c;" >"$folder/work.sql"
                command=("$found" -init "$folder/work.sql" :memory: .quit)
                ;;
        git)
                found=$(first_of /usr/bin/git) || return 1
                awk -v n=$((scale * 300000)) 'BEGIN { for (i = 0; i < n; i++) print i * 7919 % 10007 }' >"$folder/old"
                awk -v n=$((scale * 300000)) 'BEGIN { for (i = 0; i < n; i++) print i % 11 ? i * 7919 % 10007 : i * 31 % 997 }' >"$folder/new"
                command=("$found" --no-pager diff --no-index --minimal --word-diff --stat "$folder/old" "$folder/new")
                ;;
        cc1plus)
                found=$(first_of "$(g++ -print-prog-name=cc1plus 2>/dev/null)") || return 1
                write_cpp "$folder/gcc.cpp" $((scale * 4))
                g++ -std=c++17 -E "$folder/gcc.cpp" -o "$folder/gcc.ii" || return 1
                command=("$found" -quiet -std=c++17 -O2 -fpreprocessed "$folder/gcc.ii" -o /dev/null)
                ;;
        clang)
                found=$(first_of /usr/bin/clang) || return 1
                write_cpp "$folder/clang.cpp" $((scale * 5))
                command=("$found" -std=c++17 -O2 -c "$folder/clang.cpp" -o /dev/null)
                ;;
        # Code that is hard for unwinders: the kinds of w_unwind.
        w_unwind:*) command=("$WORKLOADS/w_unwind" "${1#*:}" "$((scale * 15000))") ;;
        *) return 1 ;;
        esac
}
