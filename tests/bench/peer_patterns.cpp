// SPDX-License-Identifier: MIT
/*
 * tests/bench/peer_patterns.cpp - the three patterns by which the size of a trace is compared
 *
 * In the macros that hyprof and Tracy share; built twice, see peer_costs.cpp.
 *
 *      peer_patterns tight  N [ZONES_PER_S]    one location, one after the other
 *      peer_patterns nested N [ZONES_PER_S]    eight locations, each within the one before
 *      peer_patterns random N [ZONES_PER_S]    64 locations, random durations, 3% with a text
 *
 * Emits N zones, at most ZONES_PER_S (whole millions; 4,000,000) in each second: as fast as
 * possible in stretches of a few microseconds.  Prints N and the seconds.
 */
#include <tracy/Tracy.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <time.h>
#include <utility>

namespace
{
const uint64_t N_TOGETHER = 256; /* zones between two looks at the clock */

uint64_t now_ns()
{
        struct timespec t;

        clock_gettime(CLOCK_MONOTONIC, &t);
        return uint64_t(t.tv_sec) * 1000000000 + uint64_t(t.tv_nsec);
}

uint64_t next_random(uint64_t &state)
{
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return state * UINT64_C(0x2545f4914f6cdd1d);
}

void tight()
{
        ZoneScopedN("tight");
}

template <int left> struct nested {
        static void run()
        {
                ZoneScopedN("nested");
                nested<left - 1>::run();
        }
};
template <> struct nested<0> {
        static void run()
        {
        }
};

/* Each instance of the template is a location of its own. */
template <int location> void random_zone(uint64_t random)
{
        ZoneScopedN("random");
        if (random % 100 < 3) {
                char text[32];
                int n = snprintf(text, sizeof(text), "item %u", unsigned(random >> 40 & 0xfff));

                ZoneText(text, size_t(n));
        }
        for (uint64_t left = random >> 20 & 0x1ff; left > 0; left--)
                __asm__ volatile("");
}

using random_function = void (*)(uint64_t);

template <int... locations> random_function pick(int which, std::integer_sequence<int, locations...>)
{
        static const random_function all[] = { random_zone<locations>... };

        return all[which];
}
} // namespace

int main(int argc, char **argv)
{
        const char *pattern = argc > 1 ? argv[1] : "tight";
        uint64_t n = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1000000;
        uint64_t rate = argc > 3 ? strtoull(argv[3], nullptr, 10) : 4000000;
        uint64_t random = 1, done = 0;
        uint64_t begin_ns = now_ns();

        while (done < n) {
                uint64_t due_ns = begin_ns + done * 1000 / (rate / 1000000 > 0 ? rate / 1000000 : 1);

                while (now_ns() < due_ns)
                        ;
                for (uint64_t i = 0; i < N_TOGETHER; i++) {
                        if (strcmp(pattern, "nested") == 0) {
                                nested<8>::run();
                                done += 8;
                        } else if (strcmp(pattern, "random") == 0) {
                                uint64_t r = next_random(random);

                                pick(int(r >> 58), std::make_integer_sequence<int, 64>())(r);
                                done++;
                        } else {
                                tight();
                                done++;
                        }
                }
        }
        printf("%llu %.3f\n", (unsigned long long)done, double(now_ns() - begin_ns) / 1e9);
        return 0;
}
