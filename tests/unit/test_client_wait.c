/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/thread_ring.c: with HYPROF_FULL=wait nothing is dropped, and no thread
 * waits for a dead recorder
 */
#include "tests/unit/own_recording.h"

#include "instrument/client_abi.h"
#include "tests/unit/unit_test.h"

#include <hyprof/hyprof.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_ZONES 100000
#define DEEP    1000

static void emit_zones(void)
{
        for (int i = 0; i < N_ZONES; i++) {
                HYPROF_ZONE("patient");
        }
}

/* A process that records its parent until it has @n_zones of its zones.  Returns its PID once it records. */
static pid_t start_recorder(size_t n_zones)
{
        int ready[2];
        char byte = 0;
        pid_t program = getpid();
        pid_t recorder;

        ck_assert_int_eq(pipe(ready), 0);
        recorder = fork();
        ck_assert_int_ge(recorder, 0);
        if (recorder != 0) {
                ck_assert_int_eq(read(ready[0], &byte, 1), 1);
                (void)close(ready[0]);
                (void)close(ready[1]);
                return recorder;
        }

        own_recording_open((uint32_t)program, CLIENT_ABI_FAMILIES);
        if (write(ready[1], &byte, 1) != 1)
                _exit(1);
        while (own_recording_count(CLIENT_ABI_EVENT_ZONE_END) < n_zones)
                own_recording_drain();
        if (own_recording_drops().n_zones != 0 || own_recording_check_nesting() != 0)
                _exit(2);
        _exit(0); /* without a goodbye to the program, as when it is killed */
}

START_TEST(test_nothing_is_dropped)
{
        int status;
        pid_t recorder = start_recorder(N_ZONES);

        emit_zones();
        ck_assert_int_eq(waitpid(recorder, &status, 0), recorder);
        ck_assert_int_eq(status, 0);
}
END_TEST

/* Ends at all: that is the test. */
START_TEST(test_recorder_died)
{
        pid_t recorder = start_recorder(0);

        ck_assert_int_eq(waitpid(recorder, NULL, 0), recorder);
        ck_assert_int_eq(hyprof_is_recording(), 1);
        emit_zones();
}
END_TEST

/*
 * More open zones than the ring has room for their ends: waiting would never help.  Ends at
 * all: that is the test.
 */
START_TEST(test_never_enough_room)
{
        static struct hyprof_location here = HYPROF_NAME("here");
        hyprof_zone zones[DEEP];
        pid_t recorder = start_recorder(DEEP);

        for (int i = 0; i < DEEP; i++)
                zones[i] = hyprof_zone_begin(&here);
        ck_assert_uint_ne(zones[0], 0);
        ck_assert_uint_eq(zones[DEEP - 1], 0);
        hyprof_zone_end(zones[0]);
        ck_assert_int_eq(kill(recorder, SIGKILL), 0);
        ck_assert_int_eq(waitpid(recorder, NULL, 0), recorder);
}
END_TEST

/* Both are read before main(): begin again with them. */
static void begin(int argc, char **argv)
{
        (void)argc;
        if (!getenv("HYPROF_FULL")) {
                (void)setenv("HYPROF_RING", "4096", 1);
                (void)setenv("HYPROF_FULL", "wait", 1);
                (void)execv("/proc/self/exe", argv);
                exit(EXIT_FAILURE);
        }
}

UNIT_TEST_PLAN(.begin = begin);
