/* SPDX-License-Identifier: MIT */
/*
 * Hands 400 kernels to a device, one after another; each 20th takes 3 ms more, as the argument says:
 *
 *      longer  the kernel "gemm" itself takes longer
 *      queue   "copy" is before it on its lane
 *      host    the thread is in "fetch" before it hands the kernel over
 *
 * The device's clock is the host's.  A kernel takes 200 us and begins 20 us after the thread has handed it
 * over in "launch", which says its key, or after the work before it on its lane.
 */
#include "hyprof/hyprof.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_KERNELS  400
#define SLOW_EVERY 20
#define US         UINT64_C(1000)
#define EXTRA_US   3000

static struct hyprof_device gpu = HYPROF_DEVICE("gpu", 1.0, 0);
static struct hyprof_location submission = HYPROF_NAME("submission");
static struct hyprof_location gemm = HYPROF_NAME("gemm");
static struct hyprof_location copy = HYPROF_NAME("copy");

static void fetch(void)
{
        HYPROF_ZONE_BEGIN(zone, "fetch");

        (void)usleep(EXTRA_US);
        HYPROF_ZONE_END(zone);
}

/* Returns when the thread handed it over. */
static uint64_t launch(uint64_t key, int is_late)
{
        uint64_t now_ns;
        HYPROF_ZONE_BEGIN(zone, "launch");

        hyprof_zone_key(zone, &submission, key);
        if (is_late)
                fetch();
        now_ns = hyprof_now_ns();
        HYPROF_ZONE_END(zone);
        return now_ns;
}

int main(int argc, char **argv)
{
        const char *reason = argc == 2 ? argv[1] : "";

        hyprof_device_calibrate(&gpu, hyprof_now_ns(), hyprof_now_ns());
        for (uint64_t i = 1; i <= N_KERNELS; i++) {
                int is_slow = i % SLOW_EVERY == 0;
                int is_queued = is_slow && strcmp(reason, "queue") == 0;
                uint64_t copy_ns = hyprof_now_ns(), begin_ns, end_ns;

                begin_ns = launch(i, is_slow && strcmp(reason, "host") == 0) + 20 * US;
                if (is_queued) {
                        begin_ns = copy_ns + EXTRA_US * US;
                        hyprof_device_span(&gpu, &copy, copy_ns, begin_ns, 1, 0);
                }
                end_ns = begin_ns + 200 * US;
                if (is_slow && strcmp(reason, "longer") == 0)
                        end_ns += EXTRA_US * US;
                hyprof_device_keyed_span(&gpu, &gemm, begin_ns, end_ns, 1, &submission, i);
                while (hyprof_now_ns() < end_ns)
                        (void)usleep(100);
        }
        return EXIT_SUCCESS;
}
