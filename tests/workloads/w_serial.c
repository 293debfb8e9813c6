/* SPDX-License-Identifier: MIT */
/*
 * w_serial [FRAMES=60]
 *
 * Truth: in each zone "frame", main runs serial() alone while the thread "helper" waits for it, in
 * helper_waits(); then both run shared(), side by side, for a third as long each.  On two idle CPUs three
 * quarters of the wall time belong to serial(), though it has 6 of 10 samples.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

BURN_FUNCTION(serial);
BURN_FUNCTION(shared);

static int go[2], done[2]; /* pipes */
static uint64_t n_shared;

static void check(int good)
{
        if (!good)
                abort();
}

static __attribute__((noinline)) int helper_waits(void)
{
        char byte;

        return read(go[0], &byte, 1) == 1;
}

static void *help(void *unused)
{
        (void)prctl(PR_SET_NAME, "helper");
        while (helper_waits()) {
                shared(n_shared);
                check(write(done[1], "x", 1) == 1);
        }
        return unused;
}

int main(int argc, char **argv)
{
        int n_frames = (int)burn_argument(argc, argv, 1, 60);
        pthread_t helper;
        char byte;

        n_shared = burn_rounds_of(2000000);
        check(pipe(go) == 0 && pipe(done) == 0 && pthread_create(&helper, NULL, help, NULL) == 0);
        for (int i = 0; i < n_frames; i++) {
                HYPROF_ZONE("frame");
                serial(3 * n_shared);
                check(write(go[1], "x", 1) == 1);
                shared(n_shared);
                check(read(done[0], &byte, 1) == 1);
        }
        check(close(go[1]) == 0 && pthread_join(helper, NULL) == 0);
        return EXIT_SUCCESS;
}
