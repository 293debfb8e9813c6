/* SPDX-License-Identifier: MIT */
/*
 * Two devices with zones of known times, in ticks of 1 ns since the first reading, which are handed over when
 * they are long over, core by core:
 *
 *      chip 0  lanes 0..3: ten times "outer", 10 us, with "inner", 8 us, in it; lanes 100..103: "other", 3 us
 *      chip 1  lane 5: ten "step", 5 ms each, each a millisecond after the one before, so that they cross
 *
 * Keys are 1..10 on every lane.
 */
#include "hyprof/hyprof.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static struct hyprof_device cores = HYPROF_DEVICE("chip 0", 1.0, 0), queue = HYPROF_DEVICE("chip 1", 1.0, 0);

static void say_cores(void)
{
        static struct hyprof_location outer = HYPROF_LOCATION("outer", 0);
        static struct hyprof_location inner = HYPROF_LOCATION("inner", 0);
        static struct hyprof_location other = HYPROF_LOCATION("other", 0);

        for (uint32_t core = 0; core < 4; core++) {
                for (uint32_t i = 0; i < 10; i++) {
                        uint64_t at = 2000 + i * UINT64_C(2000000) + core * UINT64_C(100);

                        hyprof_device_span(&cores, &outer, at, at + 10000, core, i + 1);
                        hyprof_device_span(&cores, &inner, at + 700, at + 8700, core, i + 1);
                        hyprof_device_span(&cores, &other, at + 50, at + 3050, 100 + core, i + 1);
                }
        }
}

static void say_queue(void)
{
        static struct hyprof_location step = HYPROF_LOCATION("step", 0);

        for (uint32_t i = 0; i < 10; i++)
                hyprof_device_span(&queue, &step, i * UINT64_C(1000000), i * UINT64_C(1000000) + 5000000, 5,
                                   i + 1);
}

int main(void)
{
        uint64_t now_ns = hyprof_now_ns();

        (void)usleep(50000); /* all is over then */
        hyprof_device_calibrate(&cores, 0, now_ns);
        hyprof_device_calibrate(&queue, 0, now_ns);
        say_cores();
        say_queue();
        return EXIT_SUCCESS;
}
