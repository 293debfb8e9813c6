/* SPDX-License-Identifier: MIT */
/*
 * w_pausing [FRAMES=60]
 *
 * Truth, in each zone "frame" of the thread "main": thread "w" runs first_work(), and main waits for it in
 * await_first(), a loop that pauses; "w" runs second_work(), and main waits for it in await_second(), a loop
 * that does not pause; main runs add_under_lock(), a small loop of work that could pause, and never does so,
 * as no thread wants its lock.  Each lasts 4 ms of processor time.  No name contains "spin", and no thread
 * sleeps but for the locks of the C library.
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>

#if defined(__x86_64__) || defined(__i386__)
#define PAUSE() __asm__ volatile("pause")
#elif defined(__aarch64__)
#define PAUSE() __asm__ volatile("yield")
#elif defined(__riscv)
#define PAUSE() __asm__ volatile(".word 0x0100000f")
#else
#define PAUSE() __asm__ volatile("")
#endif

BURN_FUNCTION(first_work);
BURN_FUNCTION(second_work);

static atomic_int asked, first_done, second_done, lock;
static uint64_t n_rounds;
static volatile uint64_t sum;

static void *work(void *unused)
{
        int turn = 0;

        (void)prctl(PR_SET_NAME, "w");
        while (turn >= 0) {
                int now = atomic_load(&asked);

                if (now == turn)
                        continue;
                turn = now;
                first_work(turn > 0 ? n_rounds : 0);
                atomic_store(&first_done, turn);
                second_work(turn > 0 ? n_rounds : 0);
                atomic_store(&second_done, turn);
        }
        return unused;
}

static __attribute__((noinline)) void await_first(int turn)
{
        while (atomic_load_explicit(&first_done, memory_order_acquire) != turn)
                PAUSE();
}

static __attribute__((noinline)) void await_second(int turn)
{
        while (atomic_load_explicit(&second_done, memory_order_acquire) != turn) {
        }
}

static __attribute__((noinline)) void add_under_lock(uint64_t n)
{
        for (uint64_t i = 0; i < n; i++) {
                while (atomic_exchange_explicit(&lock, 1, memory_order_acquire) != 0)
                        PAUSE();
                sum += i;
                atomic_store_explicit(&lock, 0, memory_order_release);
        }
}

/* How often add_under_lock() goes round in 4 ms. */
static uint64_t find_additions(void)
{
        int64_t begin_ns = burn_clock_ns(CLOCK_THREAD_CPUTIME_ID);

        add_under_lock(1000000);
        return (uint64_t)(4e6 * 1e6 / (double)(burn_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns));
}

int main(int argc, char **argv)
{
        int n_frames = (int)burn_argument(argc, argv, 1, 60);
        uint64_t n_additions = find_additions();
        pthread_t worker;

        (void)prctl(PR_SET_NAME, "main");
        n_rounds = burn_rounds_of(4000000);
        if (pthread_create(&worker, NULL, work, NULL) != 0)
                return 1;
        for (int turn = 1; turn <= n_frames; turn++) {
                HYPROF_ZONE_BEGIN(frame, "frame");
                atomic_store(&asked, turn);
                await_first(turn);
                await_second(turn);
                add_under_lock(n_additions);
                HYPROF_ZONE_END(frame);
        }
        atomic_store(&asked, -1);
        return pthread_join(worker, NULL) != 0;
}
