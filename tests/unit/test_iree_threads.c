/* SPDX-License-Identifier: MIT */
/*
 * No two locks of IREE have one number at a time, whatever threads make and destroy them;
 * numbers are used again.
 */
#include <hyprof/compat/iree/iree_calls.h>

#include <pthread.h>

#include "tests/unit/unit_test.h"

#define N_THREADS 4
#define N_ROUNDS  20000
#define N_HELD    16
#define LOCKS_MAX 65536

static const iree_tracing_location_t sites[] = {
        { NULL, "a", "a.c", 1, 0 },
        { NULL, "b", "a.c", 2, 0 },
        { NULL, "c", "b.c", 1, 0 },
};

static uint32_t owners[LOCKS_MAX + 1]; /* atomic; 0 = no owner */

/* Returns how often a number belonged to another owner. */
static void *make_and_destroy(void *argument)
{
        uint32_t self = (uint32_t)(uintptr_t)argument;
        uint32_t held[N_HELD] = { 0 };
        uintptr_t n_bad = 0;

        for (uint32_t i = 0; i < N_ROUNDS; i++) {
                uint32_t *id = &held[i * 7 % N_HELD];

                if (*id != 0) {
                        n_bad += __atomic_exchange_n(&owners[*id], 0, __ATOMIC_RELAXED) != self;
                        iree_tracing_mutex_terminate(*id);
                }
                iree_tracing_mutex_announce(&sites[i % 3], id);
                ck_assert_uint_ne(*id, 0);
                n_bad += __atomic_exchange_n(&owners[*id], self, __ATOMIC_RELAXED) != 0;
        }
        for (uint32_t i = 0; i < N_HELD; i++) {
                n_bad += __atomic_exchange_n(&owners[held[i]], 0, __ATOMIC_RELAXED) != self;
                iree_tracing_mutex_terminate(held[i]);
        }
        return (void *)n_bad;
}

START_TEST(test_numbers_belong_to_one_thread)
{
        pthread_t threads[N_THREADS];
        uint32_t id = 0;
        void *n_bad;

        for (uintptr_t i = 0; i < N_THREADS; i++)
                ck_assert_int_eq(pthread_create(&threads[i], NULL, make_and_destroy, (void *)(i + 1)), 0);
        for (uint32_t i = 0; i < N_THREADS; i++) {
                ck_assert_int_eq(pthread_join(threads[i], &n_bad), 0);
                ck_assert_ptr_null(n_bad);
        }
        /* Three sites, all held by all threads, and in between one that was taken. */
        iree_tracing_mutex_announce(&sites[0], &id);
        ck_assert_uint_le(id, 3 * N_THREADS * N_HELD);
        iree_tracing_mutex_terminate(id);
}
END_TEST

START_TEST(test_what_is_too_much_is_no_lock)
{
        uint32_t id = 0, last = 0, again = 0, n = 0;

        for (;; n++) {
                iree_tracing_mutex_announce(&sites[0], &id);
                if (id == 0)
                        break;
                last = id;
        }
        /* The places that the test before left to other sites are theirs. */
        ck_assert_uint_le(n, LOCKS_MAX);
        ck_assert_uint_ge(n, LOCKS_MAX - 3 * N_THREADS * N_HELD);
        iree_tracing_mutex_before_lock(0);
        iree_tracing_mutex_after_lock(LOCKS_MAX + 1);
        iree_tracing_mutex_after_try_lock(UINT32_MAX, true);
        iree_tracing_mutex_after_unlock(0);
        iree_tracing_mutex_terminate(0);
        iree_tracing_mutex_announce(&sites[0], &id);
        ck_assert_uint_eq(id, 0);
        iree_tracing_mutex_terminate(last);
        iree_tracing_mutex_announce(&sites[0], &again);
        ck_assert_uint_eq(again, last);
}
END_TEST

START_TEST(test_contexts_end_at_255)
{
        for (unsigned i = 1; i <= 256; i++) {
                uint8_t context = iree_tracing_gpu_context_allocate(IREE_TRACING_GPU_CONTEXT_TYPE_VULKAN,
                                                                    "queue", 5, false, 1, 1, 1.0f);

                ck_assert_uint_eq(context, i <= 255 ? i : 0);
        }
        iree_tracing_gpu_zone_begin(0, 1, &sites[0]);
        iree_tracing_gpu_zone_end(0, 1);
        iree_tracing_gpu_zone_notify(0, 1, 1);
        iree_tracing_gpu_context_calibrate(0, 1, 1, 1);
}
END_TEST
