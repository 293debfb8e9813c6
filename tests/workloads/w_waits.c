/* SPDX-License-Identifier: MIT */
/*
 * w_waits [ROUNDS=10]
 *
 * Truth: the thread "waiter" waits ROUNDS times at each of four places, and is woken by a
 * thread of a known name.
 *
 *   place         for                              ended by
 *   wait_sleep    20 ms                            no thread: a timer
 *   wait_mutex    25 ms, a pthread mutex           "holder"
 *   wait_futex    30 ms, a futex(2) of its own     "futexer"
 *   wait_pipe     35 ms, a byte in a pipe          "piper"
 *
 * Before that it sleeps for 100 ms in settle().  Then "burner-a" and "burner-b" share a CPU and burn 200 ms
 * each in burn_together(): they are preempted, and wait for nothing.  The time of each place is measured here
 * too and printed: "wait PLACE NS WAKER", all rounds together; and for each wait "span PLACE BEGIN_NS END_NS"
 * of CLOCK_MONOTONIC_RAW.
 */
#include "tests/workloads/burn.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NS_PER_MS 1000000

/* Shared by the waiter and one of the wakers. */
struct meeting {
        pthread_mutex_t mutex;
        uint32_t futex;
        int pipe[2];
        int ready[2], again[2]; /* pipes: the waker is where it should be; the waiter has been woken */
        int n_rounds;
};

BURN_FUNCTION(burn_together);

static void check(int good)
{
        if (!good)
                abort();
}

static void rest(int ms)
{
        struct timespec pause = { .tv_nsec = (long)ms * NS_PER_MS };

        while (clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, &pause) != 0)
                continue;
}

static void send_byte(int fd)
{
        check(write(fd, "x", 1) == 1);
}

static void take_byte(int fd)
{
        char byte;

        check(read(fd, &byte, 1) == 1);
}

/* ---- wakers -------------------------------------------------------------------------------------------- */

static void *hold(void *context)
{
        struct meeting *m = context;

        check(pthread_setname_np(pthread_self(), "holder") == 0);
        for (int i = 0; i < m->n_rounds; i++) {
                check(pthread_mutex_lock(&m->mutex) == 0);
                send_byte(m->ready[1]);
                rest(25);
                check(pthread_mutex_unlock(&m->mutex) == 0);
                take_byte(m->again[0]);
        }
        return NULL;
}

static void *wake_futex(void *context)
{
        struct meeting *m = context;

        check(pthread_setname_np(pthread_self(), "futexer") == 0);
        for (int i = 0; i < m->n_rounds; i++) {
                send_byte(m->ready[1]);
                rest(30);
                __atomic_store_n(&m->futex, 1, __ATOMIC_RELEASE);
                (void)syscall(SYS_futex, &m->futex, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
                take_byte(m->again[0]);
        }
        return NULL;
}

static void *fill_pipe(void *context)
{
        struct meeting *m = context;

        check(pthread_setname_np(pthread_self(), "piper") == 0);
        for (int i = 0; i < m->n_rounds; i++) {
                send_byte(m->ready[1]);
                rest(35);
                send_byte(m->pipe[1]);
                take_byte(m->again[0]);
        }
        return NULL;
}

/* ---- the waiter ---------------------------------------------------------------------------------------- */

/* Before all else: the recorder has time to read the code of the call stacks. */
static __attribute__((noinline)) void settle(void)
{
        rest(100);
}

static __attribute__((noinline)) void wait_sleep(struct meeting *m)
{
        (void)m;
        rest(20);
}

static __attribute__((noinline)) void wait_mutex(struct meeting *m)
{
        check(pthread_mutex_lock(&m->mutex) == 0);
        check(pthread_mutex_unlock(&m->mutex) == 0);
}

static __attribute__((noinline)) void wait_futex(struct meeting *m)
{
        while (__atomic_load_n(&m->futex, __ATOMIC_ACQUIRE) == 0)
                (void)syscall(SYS_futex, &m->futex, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
        m->futex = 0;
}

static __attribute__((noinline)) void wait_pipe(struct meeting *m)
{
        take_byte(m->pipe[0]);
}

/* All rounds at one place.  @waker: NULL = none is needed. */
static void meet(const char *place, void (*wait)(struct meeting *), void *(*waker)(void *),
                 const char *waker_name, int n_rounds)
{
        struct meeting m = { .mutex = PTHREAD_MUTEX_INITIALIZER, .n_rounds = n_rounds };
        int64_t total_ns = 0;
        pthread_t thread;

        check(pipe(m.pipe) == 0 && pipe(m.ready) == 0 && pipe(m.again) == 0);
        if (waker)
                check(pthread_create(&thread, NULL, waker, &m) == 0);
        for (int i = 0; i < n_rounds; i++) {
                int64_t begin_ns, end_ns;

                if (waker)
                        take_byte(m.ready[0]);
                begin_ns = burn_clock_ns(CLOCK_MONOTONIC_RAW);
                wait(&m);
                end_ns = burn_clock_ns(CLOCK_MONOTONIC_RAW);
                total_ns += end_ns - begin_ns;
                (void)printf("span %s %lld %lld\n", place, (long long)begin_ns, (long long)end_ns);
                if (waker)
                        send_byte(m.again[1]);
        }
        if (waker)
                check(pthread_join(thread, NULL) == 0);
        (void)printf("wait %s %lld %s\n", place, (long long)total_ns, waker_name);
}

/* ---- preemption ---------------------------------------------------------------------------------------- */

static void *burn(void *context)
{
        cpu_set_t one;

        CPU_ZERO(&one);
        CPU_SET(0, &one);
        check(sched_setaffinity(0, sizeof(one), &one) == 0);
        check(pthread_setname_np(pthread_self(), context) == 0);
        burn_together(burn_rounds_of(200 * NS_PER_MS));
        return NULL;
}

int main(int argc, char **argv)
{
        int n_rounds = (int)burn_argument(argc, argv, 1, 10);
        char names[2][16] = { "burner-a", "burner-b" };
        pthread_t burners[2];

        check(pthread_setname_np(pthread_self(), "waiter") == 0);
        settle();
        meet("wait_sleep", wait_sleep, NULL, "-", n_rounds);
        meet("wait_mutex", wait_mutex, hold, "holder", n_rounds);
        meet("wait_futex", wait_futex, wake_futex, "futexer", n_rounds);
        meet("wait_pipe", wait_pipe, fill_pipe, "piper", n_rounds);
        for (int i = 0; i < 2; i++)
                check(pthread_create(&burners[i], NULL, burn, names[i]) == 0);
        for (int i = 0; i < 2; i++)
                check(pthread_join(burners[i], NULL) == 0);
        return EXIT_SUCCESS;
}
