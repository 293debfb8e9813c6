/* SPDX-License-Identifier: MIT */
#include "sampler/rights/priority_guard.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/helper_thread.h"
#include "base/io.h"
#include "sampler/pace/pace.h"
#include "sampler/proc/running_process.h"
#include "sampler/rights/privileges.h"
#include "sampler/rights/thread_priority.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/*
 * The highest but one of 99: the kernel uses 99 for its own threads, which move others between processors.
 */
#define GUARD_PRIORITY_MAX 98

struct priority_guard {
        pid_t tid; /* whom it guards */
        clockid_t clock;
        int stat_fd, timer_fd, stop_fd;
        atomic_bool raised;
        struct priority_state state;
        pthread_t thread;
        pthread_mutex_t lock;
        pthread_cond_t changed;
        /* by `lock`: the guard's own, one above that of the guarded thread; -errno; 0 = not set yet */
        int priority;
};

/* ---- deciding ------------------------------------------------------------------------------------------ */

enum priority_step priority_guard_decide(struct priority_state *state, const struct priority_look *look)
{
        /* The thread was ready to run at both looks, and got no processor time in between. */
        bool starves = look->ready && state->last.ready && look->cpu_ns == state->last.cpu_ns &&
                       look->now_ns >= state->rest_until_ns;
        uint64_t window_ns = look->now_ns - state->window_ns;
        enum priority_step step = PRIORITY_STAYS;

        if (!state->raised && starves) {
                step = PRIORITY_RISES;
        } else if (state->raised && window_ns >= PACE_GUARD_WINDOW_NS &&
                   look->cpu_ns - state->window_cpu_ns >= window_ns / 10 * 9) {
                step = PRIORITY_FALLS;
                state->rest_until_ns = look->now_ns + PACE_GUARD_REST_NS;
        }
        if (!state->raised || window_ns >= PACE_GUARD_WINDOW_NS) {
                state->window_ns = look->now_ns;
                state->window_cpu_ns = look->cpu_ns;
        }
        if (step != PRIORITY_STAYS)
                state->raised = step == PRIORITY_RISES;
        state->last = *look;
        return step;
}

/* ---- the thread ---------------------------------------------------------------------------------------- */

static void arm(const struct priority_guard *g, uint64_t after_ns)
{
        const struct itimerspec when = { .it_value = { .tv_sec = (time_t)(after_ns / NS_PER_S),
                                                       .tv_nsec = (long)(after_ns % NS_PER_S) } };

        (void)timerfd_settime(g->timer_fd, 0, &when, NULL);
}

static bool wants_processor(const struct priority_guard *g)
{
        struct running_process thread;
        char text[256]; /* the rest is not needed */
        ssize_t n = pread(g->stat_fd, text, sizeof(text) - 1, 0);

        if (n <= 0)
                return false;
        text[n] = '\0';
        return running_process_parse(text, &thread) == 0 && !thread.is_waiting;
}

/* The kernel demands CAP_SYS_NICE if the guarded thread has capabilities that the guard lacks. */
static void lower(const struct priority_guard *g)
{
        (void)privileges_raise(CAP_SYS_NICE);
        thread_priority_end_real_time(g->tid);
        privileges_lower(CAP_SYS_NICE);
}

static void look_once(struct priority_guard *g)
{
        struct priority_look look = { .now_ns = clock_raw_ns(), .ready = wants_processor(g) };
        struct timespec cpu = { .tv_sec = 0 };

        (void)clock_gettime(g->clock, &cpu);
        look.cpu_ns = (uint64_t)cpu.tv_sec * NS_PER_S + (uint64_t)cpu.tv_nsec;
        switch (priority_guard_decide(&g->state, &look)) {
        case PRIORITY_RISES:
                (void)privileges_raise(CAP_SYS_NICE); /* or it is permitted without: see take_priority() */
                if (thread_priority_set_real_time(g->tid, g->priority - 1) < 0)
                        g->state.raised = false;
                privileges_lower(CAP_SYS_NICE);
                break;
        case PRIORITY_FALLS:
                lower(g);
                break;
        case PRIORITY_STAYS:
                break;
        }
        atomic_store(&g->raised, g->state.raised);
        arm(g, g->state.raised ? PACE_GUARD_RAISED_LOOK_NS : PACE_GUARD_LATE_LOOK_NS);
}

/* A process without the right to any priority may have one up to a limit (ulimit -r). */
static int take_priority(void)
{
        struct rlimit limit = { .rlim_cur = 0 };
        int priority = GUARD_PRIORITY_MAX;
        int r = thread_priority_set_real_time(0, priority);

        if (r < 0 && getrlimit(RLIMIT_RTPRIO, &limit) == 0 && limit.rlim_cur >= 2) {
                if (limit.rlim_cur < (rlim_t)priority)
                        priority = (int)limit.rlim_cur;
                r = thread_priority_set_real_time(0, priority);
        }
        return r < 0 ? r : priority;
}

static void *run(void *context)
{
        struct priority_guard *g = context;
        struct pollfd wakes[2] = { { .fd = g->stop_fd, .events = POLLIN },
                                   { .fd = g->timer_fd, .events = POLLIN } };
        int priority = take_priority();

        if (priority > 0 && privileges_drop_all_but(CAP_SYS_NICE, NULL) < 0)
                priority = -EPERM;
        (void)pthread_mutex_lock(&g->lock);
        g->priority = priority;
        (void)pthread_cond_signal(&g->changed);
        (void)pthread_mutex_unlock(&g->lock);
        while (priority > 0) {
                uint64_t n_expired;

                if (poll(wakes, 2, -1) < 0 && errno != EINTR)
                        break;
                if (wakes[0].revents != 0)
                        break;
                /* The timer has nothing to read if the collector has just set it anew. */
                if (read(g->timer_fd, &n_expired, sizeof(n_expired)) > 0)
                        look_once(g);
        }
        if (g->state.raised)
                lower(g);
        return NULL;
}

/* ---- life ---------------------------------------------------------------------------------------------- */

static void free_guard(struct priority_guard *g)
{
        io_close(&g->stat_fd);
        io_close(&g->timer_fd);
        io_close(&g->stop_fd);
        (void)pthread_cond_destroy(&g->changed);
        (void)pthread_mutex_destroy(&g->lock);
        free(g);
}

static int open_guard(struct priority_guard *g)
{
        char name[64];
        int r = pthread_getcpuclockid(pthread_self(), &g->clock);

        if (r != 0)
                return -r;
        (void)snprintf(name, sizeof(name), "/proc/self/task/%d/stat", (int)g->tid);
        g->stat_fd = open(name, O_RDONLY | O_CLOEXEC);
        g->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        g->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        return g->stat_fd < 0 || g->timer_fd < 0 || g->stop_fd < 0 ? -errno : 0;
}

static int start_thread(struct priority_guard *g)
{
        int code = helper_thread_start(&g->thread, "hyprof-guard", run, g);

        if (code < 0)
                return code;
        (void)pthread_mutex_lock(&g->lock);
        while (g->priority == 0)
                (void)pthread_cond_wait(&g->changed, &g->lock);
        code = g->priority;
        (void)pthread_mutex_unlock(&g->lock);
        if (code < 0)
                (void)pthread_join(g->thread, NULL);
        return code < 0 ? code : 0;
}

int priority_guard_start(struct priority_guard **ret_guard, struct error *err)
{
        struct priority_guard *g = calloc(1, sizeof(*g));
        int r;

        if (!g)
                return error_set(err, -ENOMEM, "no memory to guard a priority");
        g->stat_fd = g->timer_fd = g->stop_fd = -1;
        g->tid = (pid_t)syscall(SYS_gettid);
        (void)pthread_mutex_init(&g->lock, NULL);
        (void)pthread_cond_init(&g->changed, NULL);
        r = open_guard(g);
        if (r == 0) {
                arm(g, PACE_GUARD_LATE_LOOK_NS);
                r = start_thread(g);
        }
        if (r < 0) {
                free_guard(g);
                return error_set(err, r, "cannot guard a priority");
        }
        *ret_guard = g;
        return 0;
}

void priority_guard_expect(struct priority_guard *g, int ms)
{
        if (g && !atomic_load(&g->raised))
                arm(g, (uint64_t)(ms > 0 ? ms : 0) * NS_PER_MS + PACE_GUARD_LATE_LOOK_NS);
}

void priority_guard_release(struct priority_guard *g)
{
        static const uint64_t one = 1;

        if (g)
                (void)io_write_all(g->stop_fd, &one, sizeof(one), NULL);
}

void priority_guard_stop(struct priority_guard *g)
{
        if (!g)
                return;
        priority_guard_release(g);
        (void)pthread_join(g->thread, NULL);
        free_guard(g);
}
