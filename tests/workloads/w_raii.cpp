// SPDX-License-Identifier: MIT
//
// w_raii [TURNS=100]
//
// Truth: TURNS zones "outer", in each one zone "thrower" that an exception
// leaves and one zone "after", both directly inside "outer".  All zones end.
// All time is burnt by the method shapes::circle::area(uint64_t) const.
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <stdexcept>

namespace shapes
{

struct circle {
        void area(uint64_t n_rounds) const;
};

__attribute__((noinline)) void circle::area(uint64_t n_rounds) const
{
        while (n_rounds > 0) {
                n_rounds--;
                __asm__ volatile("# circle" : "+r"(n_rounds));
        }
}

} // namespace shapes

static void throw_in_zone(const shapes::circle &circle)
{
        HYPROF_ZONE("thrower");
        circle.area(20000);
        throw std::runtime_error("on purpose");
}

int main(int argc, char **argv)
{
        const shapes::circle circle = {};
        int n_turns = static_cast<int>(burn_argument(argc, argv, 1, 100));

        for (int i = 0; i < n_turns; i++) {
                HYPROF_ZONE("outer");
                try {
                        throw_in_zone(circle);
                } catch (const std::runtime_error &) {
                        HYPROF_ZONE("after");
                        circle.area(20000);
                }
        }
        return EXIT_SUCCESS;
}
