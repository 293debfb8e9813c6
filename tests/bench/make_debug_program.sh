#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes a large C++ program with debug information.  Usage: make_debug_program.sh FOLDER N_UNITS [FLAGS...]
#
# Each unit instantiates containers, algorithms and regular expressions of the standard library with types of its own, as
# large programs do: about two MB of .debug_info each.  FOLDER/program is the result; existing files are kept.
set -eu
folder=${1:?Usage: make_debug_program.sh FOLDER N_UNITS [FLAGS...]}
n_units=${2:?Usage: make_debug_program.sh FOLDER N_UNITS [FLAGS...]}
shift 2
[ $# -gt 0 ] || set -- -O2 -g
mkdir -p "$folder"
cd "$folder"
[ ! -x program ] || exit 0

write_unit() { # number
        cat <<END
#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace unit$1 {
template <int N> struct key {
        int value;
        std::string text;
        bool operator<(const key &other) const { return value != other.value ? value < other.value : text < other.text; }
        bool operator==(const key &other) const { return value == other.value && text == other.text; }
};
template <int N> struct key_hash {
        size_t operator()(const key<N> &k) const { return std::hash<std::string>()(k.text) ^ size_t(k.value); }
};
template <int N> struct shape {
        virtual ~shape() = default;
        virtual double area() const { return N; }
};
template <int N> struct square : shape<N> {
        double side = N;
        double area() const override { return side * side; }
};
template <int N> static long work(int seed)
{
        std::map<key<N>, std::vector<std::string>> ordered;
        std::unordered_map<key<N>, std::deque<double>, key_hash<N>> hashed;
        std::set<key<N>> names;
        std::list<std::variant<int, double, std::string, key<N>>> mixed;
        std::vector<std::unique_ptr<shape<N>>> shapes;
        std::optional<key<N>> best;
        long sum = 0;

        for (int i = 0; i < seed % 100; i++) {
                key<N> k{ (i * 7919) % 31, std::to_string(i) };

                ordered[k].push_back(k.text + "x");
                hashed[k].push_back(i * 0.5);
                names.insert(k);
                mixed.emplace_back(k);
                mixed.emplace_back(i);
                shapes.push_back(i % 2 ? std::make_unique<shape<N>>() : std::make_unique<square<N>>());
                if (!best || k < *best)
                        best = k;
        }
        std::vector<key<N>> all(names.begin(), names.end());
        std::sort(all.begin(), all.end(), [](const key<N> &a, const key<N> &b) { return b < a; });
        std::stable_sort(all.begin(), all.end());
        std::function<long(const key<N> &)> score = [&](const key<N> &k) { return k.value + long(k.text.size()); };
        sum += std::accumulate(all.begin(), all.end(), 0L, [&](long s, const key<N> &k) { return s + score(k); });
        for (auto &m : mixed)
                sum += std::visit([](auto &v) -> long { return sizeof(v); }, m);
        for (auto &s : shapes)
                sum += long(s->area());
        for (auto &[k, v] : hashed)
                sum += long(v.size()) + k.value;
        for (auto it = ordered.begin(); it != ordered.end();)
                it = it->first.value % 2 ? ordered.erase(it) : std::next(it);
        return sum + long(ordered.size());
}
struct word_count {
        std::map<std::string, int> counts;
        void add(const std::string &text)
        {
                static const std::regex word("[a-z]+[0-9]*");

                for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at)
                        counts[at->str()]++;
        }
};
} // namespace unit$1

long run_unit$1(int seed)
{
        unit$1::word_count words;
        std::ostringstream text;
        long sum = 0;

        sum += unit$1::work<1>(seed) + unit$1::work<2>(seed) + unit$1::work<3>(seed) + unit$1::work<4>(seed);
        sum += unit$1::work<5>(seed) + unit$1::work<6>(seed) + unit$1::work<7>(seed) + unit$1::work<8>(seed);
        text << "some words " << seed;
        words.add(text.str());
        return sum + long(words.counts.size());
}
END
}

declarations="" calls=""
for i in $(seq "$n_units"); do
        write_unit "$i" >"unit$i.cpp"
        declarations+="long run_unit$i(int seed);"$'\n'
        calls+="        sum += run_unit$i(argc * 40);"$'\n'
done
printf '%sint main(int argc, char **)\n{\n        long sum = 0;\n%s        return sum == 0;\n}\n' "$declarations" "$calls" >main.cpp
compiler=${CXX:-g++}
printf '%s\n' main.cpp unit*.cpp | xargs -P "$(nproc)" -I{} "$compiler" -std=c++17 "$@" -c {} -o {}.o 2>make.log || {
        cat make.log >&2
        exit 1
}
"$compiler" "$@" ./*.o -o program 2>>make.log || {
        cat make.log >&2
        exit 1
}
