/* SPDX-License-Identifier: MIT */
/*
 * The smallest instrumented program.  Try: hyprof record --
 * build/release/examples/hello_zones && hyprof report
 */
#include <hyprof/hyprof.h>
#include <stdint.h>
#include <stdio.h>

static uint64_t count_primes(uint64_t limit)
{
        uint64_t n_primes = 0;

        HYPROF_ZONE("count_primes"); /* ends with the function */
        for (uint64_t n = 2; n < limit; n++) {
                uint64_t divisor = 2;

                while (divisor * divisor <= n && n % divisor != 0)
                        divisor++;
                n_primes += divisor * divisor > n;
        }
        return n_primes;
}

int main(void)
{
        hyprof_thread_name("main");
        for (uint64_t frame = 1; frame <= 20; frame++) {
                HYPROF_ZONE_BEGIN(work, "frame");
                printf("%llu\n", (unsigned long long)count_primes(frame * 20000));
                HYPROF_PLOT_INT("limit", (int64_t)frame * 20000);
                HYPROF_ZONE_END(work);
                HYPROF_FRAME();
        }
        HYPROF_MESSAGE("all frames are done");
        return 0;
}
