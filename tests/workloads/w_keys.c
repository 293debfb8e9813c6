/* SPDX-License-Identifier: MIT */
/*
 * A thread that hands work to a device, and says the key of each piece; the device's clock is the host's.
 *
 * Twenty times: "prepare", 4 ms at least, then "submit" with the keys i of "submission" and 1000 + i of
 * "ticket"; "kernel" begins a millisecond after that and lasts for another.  So the device waits for
 * "prepare".  Three times more, "submit" with keys of which no work comes.  Another thread reports the work,
 * with keys of "submission"; likewise, on lane 9, "copy" with the keys 1000 + i of "frame", which no zone
 * says.
 *
 * With an argument, no key is said.
 */
#include "hyprof/hyprof.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define N_PIECES  20
#define N_MISSING 3
#define MS        UINT64_C(1000000)

static struct hyprof_device queue = HYPROF_DEVICE("queue", 1.0, 0);
static struct hyprof_location submission = HYPROF_NAME("submission");
static struct hyprof_location ticket = HYPROF_NAME("ticket");
static struct hyprof_location frame = HYPROF_NAME("frame");
static uint64_t submitted_ns[N_PIECES + N_MISSING];
static int says_keys;

/* Ticks of the device are nanoseconds since the first one. */
static uint64_t ticks(uint64_t time_ns)
{
        return time_ns - submitted_ns[0] + MS;
}

static void submit(uint32_t i)
{
        HYPROF_ZONE_BEGIN(zone, "submit");

        submitted_ns[i] = hyprof_now_ns();
        if (says_keys) {
                hyprof_zone_key(zone, &submission, i + 1);
                hyprof_zone_key(zone, &ticket, 1000 + i);
        }
        HYPROF_ZONE_END(zone);
}

static void prepare(void)
{
        HYPROF_ZONE_BEGIN(zone, "prepare");

        (void)usleep(4000);
        HYPROF_ZONE_END(zone);
}

static void *report(void *argument)
{
        static struct hyprof_location kernel = HYPROF_LOCATION("kernel", 0);
        static struct hyprof_location copy = HYPROF_LOCATION("copy", 0);

        hyprof_device_calibrate(&queue, ticks(submitted_ns[0]), submitted_ns[0]);
        for (uint32_t i = 0; i < N_PIECES; i++) {
                uint64_t begin = ticks(submitted_ns[i]) + MS;

                hyprof_device_keyed_span(&queue, &kernel, begin, begin + MS, 0,
                                         says_keys ? &submission : NULL, says_keys ? i + 1 : 0);
                hyprof_device_keyed_span(&queue, &copy, begin, begin + MS / 2, 9, says_keys ? &frame : NULL,
                                         says_keys ? 1000 + i : 0);
        }
        return argument;
}

int main(int argc, char **argv)
{
        pthread_t reporter;

        (void)argv;
        says_keys = argc == 1;
        for (uint32_t i = 0; i < N_PIECES + N_MISSING; i++) {
                prepare();
                submit(i);
        }
        (void)usleep(5000);
        if (pthread_create(&reporter, NULL, report, NULL) != 0)
                return EXIT_FAILURE;
        (void)pthread_join(reporter, NULL);
        return EXIT_SUCCESS;
}
