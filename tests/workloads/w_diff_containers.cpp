/* SPDX-License-Identifier: MIT */
/*
 * w_diff_containers [UNITS=2800] [SLOWER_PERCENT=0]
 *
 * Truth: the same work in every run, UNITS times the zone "batch": containers of the C++ library are filled,
 * sorted and searched ("fill", "sort", "index"), and score_rows() takes a bit less than half of the time
 * ("score").  With SLOWER_PERCENT score_rows() does that much more in each batch, and nothing else changes.
 *
 * Many functions take 0.5 to 5 % of the time.  How fast they are depends on where memory lies, and on what
 * else the machine does: these are the ones that differ between any two runs.  A line of output for each of
 * the four zones inside: its name, and the ns that this program saw it take in all.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace
{

const std::size_t n_rows = 4000;

struct random_numbers {
        std::uint64_t state;

        std::uint64_t next()
        {
                state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                return state >> 33;
        }
};

typedef std::vector<std::uint64_t> rows;

enum step { STEP_FILL, STEP_SORT, STEP_INDEX, STEP_SCORE, STEP_COUNT };

const char *const step_names[STEP_COUNT] = { "fill", "sort", "index", "score" };
std::int64_t step_ns[STEP_COUNT];

/* Adds the time of its scope to that of a step. */
class timed
{
      public:
        explicit timed(step s) : of(s), began_ns(burn_clock_ns(CLOCK_MONOTONIC))
        {
        }
        ~timed()
        {
                step_ns[of] += burn_clock_ns(CLOCK_MONOTONIC) - began_ns;
        }

      private:
        const step of;
        const std::int64_t began_ns;
};

__attribute__((noinline)) void fill_rows(rows &r, random_numbers &random, std::size_t n)
{
        r.clear();
        for (std::size_t i = 0; i < n; i++)
                r.push_back(random.next());
}

__attribute__((noinline)) std::uint64_t score_rows(const rows &r, std::uint64_t n_steps)
{
        std::uint64_t x = 1;
        std::size_t at = 0;

        for (std::uint64_t i = 0; i < n_steps; i++) {
                x = (x ^ r[at]) * UINT64_C(0x9e3779b97f4a7c15);
                x ^= x >> 29;
                at = at + 1 < r.size() ? at + 1 : 0;
        }
        return x;
}

__attribute__((noinline)) std::size_t count_words(const rows &r)
{
        std::map<std::string, std::size_t> words;

        for (std::size_t i = 0; i < r.size() / 8; i++)
                words["a word of some length " + std::to_string(r[i] % 500)]++;
        return words.size();
}

__attribute__((noinline)) std::size_t join(const rows &r)
{
        std::unordered_map<std::uint64_t, std::uint64_t> by_key;
        std::size_t n = 0;

        for (std::size_t i = 0; i < r.size(); i++)
                by_key[r[i] % 3000] += i;
        for (std::size_t i = 0; i < r.size(); i++)
                n += by_key.count(r[i] % 5000);
        return n;
}

std::size_t do_batch(rows &r, random_numbers &random, double slower)
{
        HYPROF_ZONE("batch");
        std::size_t n = n_rows / 2 + random.next() % n_rows, found = 0;

        {
                timed t(STEP_FILL);
                HYPROF_ZONE("fill");
                fill_rows(r, random, n);
        }
        {
                timed t(STEP_SORT);
                HYPROF_ZONE("sort");
                rows copy(r);

                std::sort(copy.begin(), copy.end());
                found += copy[n / 2] & 1;
        }
        {
                timed t(STEP_INDEX);
                HYPROF_ZONE("index");
                found += count_words(r) + join(r);
        }
        {
                timed t(STEP_SCORE);
                HYPROF_ZONE("score");
                found += score_rows(r, static_cast<std::uint64_t>(80.0 * static_cast<double>(n) * slower)) &
                         1;
        }
        return found;
}

} // namespace

int main(int argc, char **argv)
{
        const long n_units = static_cast<long>(burn_argument(argc, argv, 1, 2800));
        const double slower = 1 + burn_argument(argc, argv, 2, 0) / 100;
        random_numbers random = { 1 };
        std::size_t found = 0;
        rows r;

        for (long i = 0; i < n_units; i++)
                found += do_batch(r, random, slower);
        for (int i = 0; i < STEP_COUNT; i++)
                std::printf("%s %lld\n", step_names[i], static_cast<long long>(step_ns[i]));
        return found == 1; /* so that none of it is left out */
}
