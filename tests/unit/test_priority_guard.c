/* SPDX-License-Identifier: MIT */
/*
 * sampler/rights/priority_guard.c: who is ready and gets no processor is raised, and has nine tenths of it at
 * most
 */
#include "base/clock.h"
#include "sampler/rights/priority_guard.h"
#include "tests/unit/unit_test.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define GUARD_PRIORITY 98
#define SLEEP_MS       60000

#define LOOK_NS (10 * NS_PER_MS)

static enum priority_step look(struct priority_state *state, uint64_t now_ns, uint64_t cpu_ns, bool ready)
{
        const struct priority_look one = { .now_ns = now_ns, .cpu_ns = cpu_ns, .ready = ready };

        return priority_guard_decide(state, &one);
}

START_TEST(test_who_starves_rises)
{
        struct priority_state state = { .raised = false };

        ck_assert_int_eq(look(&state, LOOK_NS, 5, true), PRIORITY_STAYS);
        ck_assert_int_eq(look(&state, 2 * LOOK_NS, 5, true), PRIORITY_RISES);
        ck_assert(state.raised);
        ck_assert_int_eq(look(&state, 3 * LOOK_NS, 5, true), PRIORITY_STAYS);
}
END_TEST

/* Sleeping, working, and being ready only now. */
START_TEST(test_others_stay)
{
        static const bool sleeps[] = { false, false, true, false, true };
        struct priority_state state = { .raised = false };

        for (uint64_t i = 0; i < 5; i++)
                ck_assert_int_eq(look(&state, i * LOOK_NS, 5, sleeps[i]), PRIORITY_STAYS);
        for (uint64_t i = 5; i < 100; i++)
                ck_assert_int_eq(look(&state, i * LOOK_NS, 5 + i, true), PRIORITY_STAYS);
        ck_assert(!state.raised);
}
END_TEST

START_TEST(test_share_is_bounded)
{
        struct priority_state state = { .raised = false };
        uint64_t now_ns = 2 * LOOK_NS, cpu_ns = 5;

        (void)look(&state, LOOK_NS, cpu_ns, true);
        ck_assert_int_eq(look(&state, now_ns, cpu_ns, true), PRIORITY_RISES);
        now_ns += NS_PER_S;
        cpu_ns += NS_PER_S / 10 * 8;
        ck_assert_int_eq(look(&state, now_ns, cpu_ns, true), PRIORITY_STAYS);
        cpu_ns += NS_PER_S / 10 * 9;
        ck_assert_int_eq(look(&state, now_ns + NS_PER_S - 1, cpu_ns, true), PRIORITY_STAYS);
        now_ns += NS_PER_S;
        ck_assert_int_eq(look(&state, now_ns, cpu_ns, true), PRIORITY_FALLS);
        /* Others have their turn before it may rise again. */
        ck_assert_int_eq(look(&state, now_ns + LOOK_NS, cpu_ns, true), PRIORITY_STAYS);
        ck_assert_int_eq(look(&state, now_ns + 9 * LOOK_NS, cpu_ns, true), PRIORITY_STAYS);
        ck_assert_int_eq(look(&state, now_ns + 10 * LOOK_NS, cpu_ns, true), PRIORITY_RISES);
}
END_TEST

/* Tried by a child, so that this process keeps its class. */
static bool is_permitted(void)
{
        const struct sched_param first = { .sched_priority = GUARD_PRIORITY };
        int status = 1;
        pid_t child = fork();

        if (child == 0)
                _exit(sched_setscheduler(0, SCHED_FIFO, &first) == 0 ? 0 : 1);
        return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* The priority of the guard's thread; 0 without one. */
static int find_guard_priority(void)
{
        DIR *tasks = opendir("/proc/self/task");
        int priority = 0;

        ck_assert_ptr_nonnull(tasks);
        for (const struct dirent *task; (task = readdir(tasks));) {
                pid_t tid = (pid_t)strtol(task->d_name, NULL, 10);
                char path[64], name[32] = "";
                struct sched_param param;
                FILE *file;

                (void)snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int)tid);
                file = tid > 0 ? fopen(path, "r") : NULL;
                if (!file)
                        continue;
                if (fgets(name, sizeof(name), file) && strcmp(name, "hyprof-guard\n") == 0 &&
                    (sched_getscheduler(tid) & ~SCHED_RESET_ON_FORK) == SCHED_FIFO &&
                    sched_getparam(tid, &param) == 0)
                        priority = param.sched_priority;
                (void)fclose(file);
        }
        (void)closedir(tasks);
        return priority;
}

/*
 * It comes before almost everything; a thread that is on time keeps its class, also afterwards.  On a busy
 * machine this thread may starve between two lines and is raised, rightly: then that is tried again.
 */
START_TEST_IF(is_permitted(), test_life)
{
        const struct sched_param usual = { .sched_priority = 0 };
        bool kept = false;

        for (int i = 0; i < 100 && !kept; i++) {
                struct priority_guard *guard = NULL;

                ck_assert_int_eq(priority_guard_start(&guard, NULL), 0);
                priority_guard_expect(guard, SLEEP_MS);
                ck_assert_int_eq(find_guard_priority(), GUARD_PRIORITY);
                kept = sched_getscheduler(0) == SCHED_OTHER;
                priority_guard_release(guard);
                priority_guard_stop(guard);
                ck_assert_int_eq(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, SCHED_OTHER);
                (void)sched_setscheduler(0, SCHED_OTHER, &usual); /* taking back the flag needs a right */
                /* A thread that was joined may be listed for a moment more. */
                while (find_guard_priority() != 0)
                        (void)sched_yield();
        }
        ck_assert(kept);
}
END_TEST

/* A user that may not have any real-time priority has no guard, and no thread is left. */
START_TEST_IF(geteuid() == 0, test_without_the_right)
{
        const struct rlimit none = { .rlim_cur = 0, .rlim_max = 0 };
        struct priority_guard *guard = NULL;

        ck_assert_int_eq(setrlimit(RLIMIT_RTPRIO, &none), 0);
        ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
        ck_assert_int_eq(priority_guard_start(&guard, NULL), -EPERM);
        ck_assert_ptr_null(guard);
        ck_assert_int_eq(find_guard_priority(), 0);
}
END_TEST

START_TEST(test_nothing)
{
        priority_guard_expect(NULL, 1);
        priority_guard_release(NULL);
        priority_guard_stop(NULL);
}
END_TEST
