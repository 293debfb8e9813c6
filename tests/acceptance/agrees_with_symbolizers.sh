#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Functions, lines and chains of inlined calls at random addresses are what llvm-symbolizer or eu-addr2line say
#
# HYPROF_ADDRESSES=100000 for more than 5,000 of each binary, as was measured for docs/understand/symbolization.md.
# Each difference is put into a class; that document says what they are.
set -eu
. tests/tap.sh
plan 48
LLVM_SYMBOLIZER=$(llvm_tool llvm-symbolizer)
export LLVM_SYMBOLIZER
llvm_dwp=$(llvm_tool llvm-dwp)
need gcc g++ clang clang++ ld.lld dwz "$LLVM_SYMBOLIZER" "$llvm_dwp" eu-addr2line c++filt python3 readelf

count=${HYPROF_ADDRESSES:-5000}
# Each start of a sanitized tool takes long.
case $VARIANT in asan | tsan) count=${HYPROF_ADDRESSES:-500} ;; esac
tree=$PWD

# The code that is built: C of this tree, nightly more of it, and C++ of the standard library's templates.
c_files=()
[ -z "${HYPROF_THOROUGH:-}" ] || c_files=("$tree"/format/trace_*.c)
for file in "$tree"/base/*.c; do
        case $file in
        */library_loader_none.c | */user_account_files.c) ;; # of static programs, in the place of others
        *) c_files+=("$file") ;;
        esac
done
cat >"$TMPDIR/templates.cpp" <<'EOS'
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace shapes {
struct point {
        double x, y;
        point operator+(const point &o) const { return { x + o.x, y + o.y }; }
};
struct shape {
        virtual ~shape() = default;
        virtual double area() const = 0;
};
struct circle : shape {
        double r;
        explicit circle(double r) : r(r) {}
        double area() const override { return 3.14159 * r * r; }
};
struct square : shape {
        double a;
        explicit square(double a) : a(a) {}
        double area() const override { return std::pow(a, 2); }
};
} // namespace shapes

namespace {
template <typename T, int N> struct ring {
        T items[N] = {};
        size_t n = 0;
        void add(T item) { items[n++ % N] = std::move(item); }
        template <typename F> void each(F &&f) const
        {
                for (size_t i = 0; i < std::min<size_t>(n, N); i++)
                        f(items[i]);
        }
};
template <int DEPTH> __attribute__((always_inline)) inline double nested(double x)
{
        if constexpr (DEPTH > 0)
                return nested<DEPTH - 1>(x * 0.5 + DEPTH) + 1;
        else
                return std::sqrt(x);
}
} // namespace

template <int K> double work(const std::vector<double> &in)
{
        std::map<std::string, double> by_name;
        std::unordered_map<int, std::vector<double>> by_number;
        ring<std::variant<int, double, std::string>, 16 + K> last;
        std::vector<std::unique_ptr<shapes::shape>> all;

        for (size_t i = 0; i < in.size(); i++) {
                by_name[std::to_string(i * K)] += nested<5>(in[i]);
                by_number[(int)i % (K + 2)].push_back(in[i]);
                if (i % 2)
                        all.push_back(std::make_unique<shapes::circle>(in[i]));
                else
                        all.push_back(std::make_unique<shapes::square>(in[i]));
                last.add(std::string(K, 'x'));
                last.add(in[i]);
        }
        for (auto &[number, values] : by_number)
                std::sort(values.begin(), values.end(), [n = number](double a, double b) { return n % 2 ? a < b : b < a; });
        std::function<double(double)> scale = [&](double x) { return x * (double)by_name.size(); };
        double sum = std::accumulate(in.begin(), in.end(), 0.0, [&](double s, double x) { return s + scale(x); });
        last.each([&](const auto &v) {
                std::visit([&](const auto &x) {
                        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(x)>>)
                                sum += x;
                        else
                                sum += (double)x.size();
                }, v);
        });
        std::ostringstream text;
        for (auto &s : all)
                text << s->area() << ',';
        shapes::point p = shapes::point{ sum, 1 } + shapes::point{ (double)text.str().size(), 2 };
        return p.x * p.y;
}

#define WORK(k) template double work<k>(const std::vector<double> &);
WORK(1) WORK(2) WORK(3)
EOS

c_flags=(-std=gnu11 -D_GNU_SOURCE -I"$tree" '-DHYPROF_VERSION="0"' -fPIC -shared -w)
cxx_flags=(-std=c++17 -fPIC -shared -w "$TMPDIR/templates.cpp")

# In the scratch folder: .dwo files lie where the compiler was started.
build() { # name, command...
        (mkdir -p "$TMPDIR/$1" && cd "$TMPDIR/$1" && "${@:2}" -o "$TMPDIR/$1/code.so") >"$TMPDIR/$1.log" 2>&1 ||
                { echo "# $1 was not built"; head -n 5 "$TMPDIR/$1.log"; return 1; }
}

# Least shares, in percent: functions, lines, chains.
agrees() { # name, file, option...
        local key value out=$TMPDIR/$1.compared
        local -A found=()
        if ! python3 tests/tools/compare_symbolizers.py --ours "$BUILD/tools/symbolize_addresses" --count "$count" \
                --show "${HYPROF_SHOW:-1}" "${@:3}" "$2" >"$out" 2>&1; then
                holds "$1: is compared" tail -n 3 "$out" && return
        fi
        while read -r key value; do
                found[$key]=$value
        done < <(grep -E '^(addresses|functions|lines|chains|peer_)' "$out")
        holds "$1: functions" least "$out" functions "${found[functions]:-0}" 99.9
        holds "$1: lines" least "$out" lines "${found[lines]:-0}" 99
        holds "$1: inline chains" least "$out" chains "${found[chains]:-0}" 99
        figure "$1: functions ${found[functions]:-?} % lines ${found[lines]:-?} % chains ${found[chains]:-?} %;$(
                awk '$1 == "class" { printf " %s %d", $2, $3 }' "$out")"
}
least() { # file, kind, share, least share
        compare "$3" ">=" "$4" || { grep -A 3 "^  $2" "$1" | head -n 40; return 1; }
}

# A few at a time.
build gcc-O0 gcc "${c_flags[@]}" "${c_files[@]}" -O0 -g &
build gcc-dwarf4-gz gcc "${c_flags[@]}" "${c_files[@]}" -O2 -g -gdwarf-4 -gz &
build gcc-split gcc "${c_flags[@]}" "${c_files[@]}" -O2 -g -gsplit-dwarf &
build gcc-O2 gcc "${c_flags[@]}" "${c_files[@]}" -O2 -g &
wait
build gcc-lto gcc "${c_flags[@]}" "${c_files[@]}" -O2 -g -flto=auto &
build clang-O2 clang "${c_flags[@]}" "${c_files[@]}" -O2 -g &
build clang-thin-lto clang "${c_flags[@]}" "${c_files[@]}" -O2 -g -flto=thin -fuse-ld=lld &
wait
build g++-O2 g++ "${cxx_flags[@]}" -O2 -g &
build g++-O0-types g++ "${cxx_flags[@]}" -O0 -g -gdwarf-4 -fdebug-types-section &
build clang++-O1-gz clang++ "${cxx_flags[@]}" -O1 -g -gz &
wait
build clang++-split clang++ "${cxx_flags[@]}" -O2 -g -gdwarf-5 -gsplit-dwarf &
build g++-lto g++ "${cxx_flags[@]}" -O2 -g -flto -fno-fat-lto-objects &
wait
mkdir "$TMPDIR/g++-dwz" "$TMPDIR/clang++-dwp"
dwz -o "$TMPDIR/g++-dwz/code.so" "$TMPDIR/g++-O2/code.so"
cp "$TMPDIR/clang++-split/code.so" "$TMPDIR/clang++-dwp/"
(cd "$TMPDIR/clang++-split" && "$llvm_dwp" -e code.so -o "$TMPDIR/clang++-dwp/code.so.dwp")

for name in gcc-O0 gcc-O2 gcc-dwarf4-gz gcc-lto clang-O2 clang-thin-lto g++-O2 g++-O0-types g++-lto g++-dwz \
        clang++-O1-gz clang++-split; do
        agrees $name "$TMPDIR/$name/code.so"
done
# The peers of Debian 12 read no inlined calls from gcc's split DWARF 5: they are asked about the same code, unsplit.
agrees gcc-split "$TMPDIR/gcc-split/code.so" --peer-file "$TMPDIR/gcc-O2/code.so"
rm -rf "$TMPDIR/clang++-split"
agrees clang++-dwp "$TMPDIR/clang++-dwp/code.so"
if [ "$VARIANT" = release ]; then
        agrees hyprof "$HYPROF"
else
        skips_group hyprof "hardware: it is read with the sanitizers' code in it"
fi
# A large one, where the machine has it.
large=
for python in "$HOME"/.pyenv/versions/3.1*/lib/libpython3.1*.so.1.0 /usr/lib/debug/usr/bin/python3.11; do
        if [ -e "$python" ] && readelf -SW "$python" | grep -q '\.debug_info'; then
                large=$python
                break
        fi
done
if [ -n "$large" ]; then
        agrees "${large##*/}" "$large"
else
        skips_group "a large one" "hardware: no Python with debug information is here"
fi
