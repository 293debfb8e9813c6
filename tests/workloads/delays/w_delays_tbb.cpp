/* SPDX-License-Identifier: MIT */
/*
 * w_delays_tbb tbb [COUNT]
 *
 * Tasks of oneTBB: main gives a task of 6 ms to the pool, whose thread is 'pool', runs 1 ms itself and waits
 * for the group.  Truth: truth.tsv.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <cstdio>
#include <cstring>
#include <sys/prctl.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <tbb/task_scheduler_observer.h>

BURN_FUNCTION(big_task);
BURN_FUNCTION(small_task);

static uint64_t rounds_of_100_us;

static void burn_for(void (*burn)(uint64_t n_rounds), int64_t us)
{
        const int64_t end_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) + us * 1000;

        while (burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
                burn(rounds_of_100_us);
}

class thread_namer : public tbb::task_scheduler_observer
{
      public:
        thread_namer()
        {
                observe(true);
        }
        void on_scheduler_entry(bool is_worker) override
        {
                prctl(PR_SET_NAME, is_worker ? "pool" : "main");
        }
};

static void run_request(tbb::task_group &group)
{
        HYPROF_ZONE("request");
        group.run([] { burn_for(big_task, 6000); });
        burn_for(small_task, 1000);
        group.wait();
}

int main(int argc, char **argv)
{
        const tbb::global_control two(tbb::global_control::max_allowed_parallelism, 2);
        const int n = static_cast<int>(burn_argument(argc, argv, 2, 180));
        thread_namer namer;
        tbb::task_group group;

        if (argc < 2 || std::strcmp(argv[1], "tbb") != 0) {
                std::fprintf(stderr, "usage: w_delays_tbb tbb [COUNT]\n");
                return 2;
        }
        rounds_of_100_us = burn_rounds_of(100000);
        for (int i = 0; i < n; i++)
                run_request(group);
        namer.observe(false);
        return 0;
}
