/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/ring_chunks.c: what a ring has no room for goes into chunks, in order, up to
 * the bound, and comes back
 */
#include "tests/unit/own_recording.h"

#include "base/clock.h"
#include "instrument/client/client.h"
#include "instrument/client_abi.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <hyprof/hyprof.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RING_BYTES  "4096"
#define N_CHUNKS    8
#define CHUNK_ZONES (REGION_MEMORY_CHUNK_BYTES / 16)
#define N_THREADS   4

static struct hyprof_location here = HYPROF_NAME("here");

static void record(unsigned n_chunks)
{
        own_recording_open((uint32_t)getpid(), CLIENT_ABI_FAMILIES);
        client_region_allow_spare(recorded.region, (uint64_t)n_chunks * REGION_MEMORY_CHUNK_BYTES);
}

static void emit_zones(size_t n)
{
        for (size_t i = 0; i < n; i++)
                hyprof_zone_end(hyprof_zone_begin(&here));
}

static unsigned count_free(void)
{
        unsigned n = 0;

        for (unsigned i = 0; i < CLIENT_ABI_CHUNKS_MAX / 64; i++)
                n += (unsigned)__builtin_popcountll(client_self.region.free_chunks[i]);
        return n;
}

/* Bytes of memory that the region takes. */
static uint64_t count_memory(void)
{
        struct stat st;

        ck_assert_int_eq(fstat(client_self.region.fd, &st), 0);
        return (uint64_t)st.st_blocks * 512;
}

START_TEST(test_fills_the_bound_and_counts_the_rest)
{
        size_t n_zones = (N_CHUNKS + 1) * CHUNK_ZONES, n_recorded;

        record(N_CHUNKS);
        emit_zones(n_zones);
        ck_assert_uint_eq(count_free(), CLIENT_ABI_CHUNKS_MAX - N_CHUNKS);
        own_recording_drain();
        n_recorded = own_recording_count(CLIENT_ABI_EVENT_ZONE_BEGIN);
        ck_assert_uint_gt(n_recorded, (size_t)N_CHUNKS * CHUNK_ZONES);
        ck_assert_uint_lt(n_recorded, n_zones);
        ck_assert_uint_eq(n_recorded + own_recording_drops().n_zones, n_zones);
        ck_assert_uint_eq(own_recording_check_nesting(), 0);
}
END_TEST

/* Without permission, a client does as those of ABI 1.0 did. */
START_TEST(test_none_are_allowed)
{
        record(0);
        emit_zones(CHUNK_ZONES);
        ck_assert_uint_eq(count_free(), CLIENT_ABI_CHUNKS_MAX);
        ck_assert_uint_gt(own_recording_drops().n_zones, 0);
}
END_TEST

static void check_order(int64_t n_values)
{
        int64_t next = 0;

        for (size_t i = 0; i < recorded.n_events; i++)
                if (recorded.events[i].event.kind == CLIENT_ABI_EVENT_PLOT_I64)
                        ck_assert_int_eq((int64_t)recorded.events[i].event.value[0], next++);
        ck_assert_int_eq(next, n_values);
}

/*
 * Bursts and drains at random, with zones that stay open from one chunk to the next: all
 * is there, in its order.
 */
START_LOOP_TEST(test_order_over_chunks, 0, 2)
{
        hyprof_zone zones[200];
        unsigned seed = (unsigned)_i + 1, depth = 0;
        int64_t n_values = 0;

        record(N_CHUNKS);
        for (int round = 0; round < 8; round++) {
                seed = seed * 1103515245 + 12345;
                for (unsigned n = (seed >> 16) % 40000; n > 0; n--) {
                        seed = seed * 1103515245 + 12345;
                        HYPROF_PLOT_INT("value", n_values);
                        n_values++;
                        if (seed >> 16 & 1 && depth < 200)
                                zones[depth++] = hyprof_zone_begin(&here);
                        else if (depth > 0)
                                hyprof_zone_end(zones[--depth]);
                }
                own_recording_drain();
        }
        while (depth > 0)
                hyprof_zone_end(zones[--depth]);
        own_recording_drain();
        check_order(n_values);
        ck_assert_uint_eq(own_recording_check_nesting(), 0);
        ck_assert_uint_eq(own_recording_drops().n_zones, 0);
}
END_TEST

/* Once it is read, a thread uses its ring again, and the chunks' memory is the machine's again. */
START_TEST(test_goes_back)
{
        uint64_t before;

        record(N_CHUNKS);
        emit_zones(16);
        before = count_memory();
        emit_zones((size_t)(N_CHUNKS - 1) * CHUNK_ZONES);
        ck_assert_uint_ge(count_memory() - before, (N_CHUNKS - 1) * (uint64_t)REGION_MEMORY_CHUNK_BYTES);
        own_recording_drain();
        emit_zones(CHUNK_ZONES + 16); /* to the end of the chunk that it is in, and into the ring */
        own_recording_drain();
        ck_assert_uint_eq(count_free(), CLIENT_ABI_CHUNKS_MAX);
        ck_assert_uint_eq(own_recording_drops().n_zones, 0);
        client_region_beat(recorded.region, clock_raw_ns() + NS_PER_S);
        ck_assert_uint_lt(count_memory() - before, REGION_MEMORY_CHUNK_BYTES);

        emit_zones(2 * (size_t)CHUNK_ZONES); /* they can be used again */
        own_recording_drain();
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_BEGIN),
                          (size_t)(N_CHUNKS + 2) * CHUNK_ZONES + 32);
        ck_assert_uint_eq(own_recording_check_nesting(), 0);
}
END_TEST

/* A recorder that was killed leaves chunks that were not read: the next one gives them back. */
START_TEST(test_next_recorder)
{
        struct own_recording killed;

        record(N_CHUNKS);
        emit_zones((size_t)4 * CHUNK_ZONES);
        ck_assert_uint_eq(count_free(), CLIENT_ABI_CHUNKS_MAX - 4);
        killed = recorded;
        record(N_CHUNKS);
        ck_assert_uint_ge(count_free(), CLIENT_ABI_CHUNKS_MAX - 1);
        emit_zones(3 * (size_t)CHUNK_ZONES);
        own_recording_drain();
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_BEGIN), 3 * (size_t)CHUNK_ZONES);
        ck_assert_uint_eq(own_recording_drops().n_zones, 0);
        own_recording_close();
        recorded = killed;
}
END_TEST

/* Reads, but does not say so. */
static void drain_silently(struct client_region *region)
{
        struct byte_buffer bytes = { .data = NULL };

        for (uint32_t slot = 0; slot < client_region_count_slots(region); slot++)
                ck_assert_int_ge(client_region_drain(region, slot, SIZE_MAX, &bytes, NULL), 0);
        byte_buffer_deinit(&bytes);
}

/* A recorder that says nothing for two seconds gets no more of the program's memory, until it does. */
START_TEST(test_silent_recorder)
{
        uint64_t begin_ns = clock_raw_ns();
        uint64_t n_dropped;

        record(1000);
        client_region_beat(recorded.region, 0);
        while (own_recording_drops().n_zones == 0) {
                emit_zones((size_t)2 * CHUNK_ZONES);
                drain_silently(recorded.region);
        }
        ck_assert_uint_ge(clock_raw_ns() - begin_ns, 2 * NS_PER_S);
        ck_assert_uint_gt(count_free(), CLIENT_ABI_CHUNKS_MAX - 1000);
        client_region_beat(recorded.region, 0);
        n_dropped = own_recording_drops().n_zones;
        emit_zones((size_t)2 * CHUNK_ZONES);
        ck_assert_uint_eq(own_recording_drops().n_zones, n_dropped);
}
END_TEST

static atomic_uint n_running;

static void *run_thread(void *unused)
{
        for (int64_t i = 0; i < 40000; i++)
                HYPROF_PLOT_INT("value", i);
        atomic_fetch_sub(&n_running, 1);
        return unused;
}

/*
 * Several threads take chunks and return to their rings, while another thread reads: no chunk belongs to two.
 */
START_TEST(test_threads)
{
        pthread_t threads[N_THREADS];
        int64_t next[N_THREADS + 1] = { 0 };

        record(1000);
        atomic_store(&n_running, N_THREADS);
        for (int i = 0; i < N_THREADS; i++)
                ck_assert_int_eq(pthread_create(&threads[i], NULL, run_thread, NULL), 0);
        while (atomic_load(&n_running) > 0)
                own_recording_drain();
        for (int i = 0; i < N_THREADS; i++)
                ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        own_recording_drain();
        ck_assert_uint_eq(own_recording_drops().n_plots, 0);
        for (size_t i = 0; i < recorded.n_events; i++) {
                const struct own_event *e = &recorded.events[i];

                ck_assert_uint_le(e->slot, N_THREADS);
                if (e->event.kind == CLIENT_ABI_EVENT_THREAD)
                        next[e->slot] = 0;
                else if (e->event.kind == CLIENT_ABI_EVENT_PLOT_I64)
                        ck_assert_int_eq((int64_t)e->event.value[0], next[e->slot]++);
        }
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_PLOT_I64), N_THREADS * (size_t)40000);
}
END_TEST

struct waiter {
        uint32_t *word;
        uint32_t value;
        atomic_int tid;
};

/* NULL if the word has changed, and this thread was told so. */
static void *wait_for_word(void *context)
{
        const struct timespec long_time = { .tv_sec = 20 };
        struct waiter *w = context;
        long r;

        atomic_store(&w->tid, (int)syscall(SYS_gettid));
        r = syscall(SYS_futex, w->word, FUTEX_WAIT, w->value, &long_time, NULL, 0);
        return r == 0 || errno == EAGAIN ? NULL : w;
}

/* Until the thread sleeps, in the call that it makes next. */
static void await_sleep(const struct waiter *w)
{
        char path[64], line[128] = "";

        while (atomic_load(&w->tid) == 0)
                (void)sched_yield();
        (void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", atomic_load(&w->tid));
        while (!strstr(line, ") S ")) {
                FILE *file = fopen(path, "re");

                ck_assert_ptr_nonnull(file);
                ck_assert_ptr_nonnull(fgets(line, sizeof(line), file));
                ck_assert_int_eq(fclose(file), 0);
        }
}

START_TEST(test_wakes_a_thread)
{
        struct waiter w = { .value = 0 };
        bool rearmed = false;
        pthread_t thread;
        void *failed = &w;

        record(N_CHUNKS);
        w.word = client_region_arm(recorded.region, &w.value, &rearmed);
        ck_assert_ptr_nonnull(w.word);
        ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_word, &w), 0);
        await_sleep(&w);
        emit_zones(N_CHUNKS * CHUNK_ZONES);
        ck_assert_int_eq(pthread_join(thread, &failed), 0);
        ck_assert_ptr_null(failed);
}
END_TEST

/* The recorder is woken by the chunk from which on it wants that, once, and only if it asked. */
START_TEST(test_wakes_the_recorder)
{
        size_t below = (N_CHUNKS / 2 - 1) * CHUNK_ZONES;
        uint32_t value = 0, other = 0;
        uint32_t *word;
        bool rearmed = false;

        record(N_CHUNKS);
        emit_zones(CHUNK_ZONES * 2);
        own_recording_drain();
        word = client_region_arm(recorded.region, &value, &rearmed);
        ck_assert_ptr_nonnull(word);
        ck_assert_uint_eq(value, N_CHUNKS / 2);
        ck_assert(rearmed);
        emit_zones(below);
        ck_assert_uint_eq(*word, value);
        emit_zones(CHUNK_ZONES * 3);
        ck_assert_uint_eq(*word, 0);
        ck_assert_uint_eq(own_recording_drops().n_zones, 0);
        own_recording_drain();
        rearmed = false;
        ck_assert_ptr_eq(client_region_arm(recorded.region, &other, &rearmed), word);
        ck_assert(rearmed && *word == value && other == value);
        rearmed = false;
        (void)client_region_arm(recorded.region, &other, &rearmed);
        ck_assert(!rearmed);
        client_region_allow_spare(recorded.region, 0); /* no chunk is ever taken */
        ck_assert_ptr_null(client_region_arm(recorded.region, &other, &rearmed));
        client_region_allow_spare(recorded.region, UINT64_C(1) << 28);
        ck_assert_ptr_eq(client_region_arm(recorded.region, &other, &rearmed), word);
        ck_assert_uint_eq((uint64_t)other * REGION_MEMORY_CHUNK_BYTES, UINT64_C(8) << 20);
}
END_TEST

/* The ring's size is read before main(): begin again with it. */
static void begin(int argc, char **argv)
{
        (void)argc;
        own_recording_begin_with_ring(argv, RING_BYTES);
}

UNIT_TEST_PLAN(.begin = begin, .teardown = own_recording_close, .always_forks = true);
