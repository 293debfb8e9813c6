/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/thread_ring.c: in a ring of 4 KiB, whatever is dropped is counted
 * and no zone is ever torn
 */
#include "tests/unit/own_recording.h"

#include "instrument/client/thread_ring.h"
#include "instrument/client/ticks.h"
#include "instrument/client_abi.h"
#include "tests/unit/unit_test.h"

#include <hyprof/hyprof.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define RING_BYTES "4096"
#define N_ZONES    100000
#define DEEP       1000
/* A signal costs ten times as much with a sanitizer. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define N_SIGNALS 200
#else
#define N_SIGNALS 500
#endif

static struct hyprof_location here = HYPROF_NAME("here");

static void record(void)
{
        own_recording_open((uint32_t)getpid(), CLIENT_ABI_FAMILIES);
}

START_TEST(test_drops_are_counted)
{
        for (int i = 0; i < N_ZONES; i++) {
                HYPROF_ZONE("flat");
        }
        own_recording_drain();
        ck_assert_uint_gt(own_recording_drops().n_zones, 0);
        ck_assert_uint_gt(own_recording_count(CLIENT_ABI_EVENT_ZONE_BEGIN), 100);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_BEGIN) + own_recording_drops().n_zones,
                          N_ZONES);
        ck_assert_uint_eq(own_recording_check_nesting(), 0);
}
END_TEST

/*
 * More zones open at once than have room: the ends of those that were recorded all arrive, without a drain.
 */
START_TEST(test_deep_zones_always_end)
{
        hyprof_zone zones[DEEP];

        for (int i = 0; i < DEEP; i++) {
                zones[i] = hyprof_zone_begin(&here);
                HYPROF_MESSAGE("these take room, but never that of the ends");
                HYPROF_PLOT_INT("plot", i);
                HYPROF_FRAME();
        }
        for (int i = DEEP - 1; i >= 0; i--)
                hyprof_zone_end(zones[i]);
        own_recording_drain();
        ck_assert_uint_gt(own_recording_count(CLIENT_ABI_EVENT_ZONE_BEGIN), 0);
        ck_assert_uint_eq(own_recording_check_nesting(), 0);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_BEGIN) + own_recording_drops().n_zones,
                          DEEP);
        ck_assert_int_eq(own_recording_count(CLIENT_ABI_EVENT_MESSAGE_NAMED) > 0,
                         ticks_are_counted(ticks_choose_kind())); /* else with their texts */
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_MESSAGE) +
                                  own_recording_count(CLIENT_ABI_EVENT_MESSAGE_NAMED) +
                                  own_recording_drops().n_messages,
                          DEEP);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_PLOT_I64) + own_recording_drops().n_plots,
                          DEEP);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_FRAME_MARK) + own_recording_drops().n_frames,
                          DEEP);
}
END_TEST

/* Makes the next event say the high half of its time first: it takes as much room as any. */
static void forget_time(void)
{
        thread_ring_self.last_ticks = ~thread_ring_self.last_ticks;
}

/* loop test: with so many events before; a zone is begun only if its end fits as well, at its longest */
START_LOOP_TEST(test_longest_ends_fit, 0, 4)
{
        hyprof_zone zones[DEEP];
        int n = 0;

        for (int i = 0; i < _i; i++)
                hyprof_zone_end(hyprof_zone_begin(&here));
        do {
                forget_time();
                zones[n] = hyprof_zone_begin(&here);
        } while (zones[n] != 0 && ++n < DEEP);
        ck_assert_int_lt(n, DEEP);
        while (n > 0) {
                forget_time();
                hyprof_zone_end(zones[--n]);
        }
        ck_assert_uint_le(thread_ring_self.head_bytes - thread_ring_self.slot->tail_bytes,
                          thread_ring_self.mask + 1);
}
END_TEST

/* As many open zones as fit, ended while a random part of the ring is drained: wraps at every offset. */
START_TEST(test_random_depths)
{
        hyprof_zone zones[300];
        unsigned seed = 1, depth = 0;
        size_t n_begun = 0;

        for (int i = 0; i < 200000; i++) {
                seed = seed * 1103515245 + 12345;
                if (seed >> 16 & 1 && depth < 300) {
                        zones[depth++] = hyprof_zone_begin(&here);
                        n_begun++;
                } else if (depth > 0) {
                        hyprof_zone_end(zones[--depth]);
                }
                if ((seed >> 17 & 0xff) == 0)
                        own_recording_drain();
        }
        while (depth > 0)
                hyprof_zone_end(zones[--depth]);
        own_recording_drain();
        ck_assert_uint_eq(own_recording_check_nesting(), 0);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_BEGIN) + own_recording_drops().n_zones,
                          n_begun);
}
END_TEST

/* Content that is too long for a share of the ring goes elsewhere, up to a limit. */
START_TEST(test_message_larger_than_the_ring)
{
        static char text[5000];

        hyprof_message(text, sizeof(text), HYPROF_SEVERITY_INFO, 0);
        hyprof_message(text, SIZE_MAX, HYPROF_SEVERITY_INFO, 0);
        HYPROF_MESSAGE("this one fits");
        own_recording_drain();
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_MESSAGE), 2);
        ck_assert_uint_eq(own_recording_get(CLIENT_ABI_EVENT_MESSAGE, 0)->prefix.blob_bytes, sizeof(text));
        ck_assert_uint_eq(client_region_blobs_refused(recorded.region), 1);
        ck_assert_uint_eq(own_recording_drops().n_messages, 0);
}
END_TEST

static atomic_uint n_handled;
static atomic_bool stop_interrupted;

static void handle_signal(int signal)
{
        static struct hyprof_location in_handler = HYPROF_LOCATION("handler", 0);
        hyprof_zone zone = hyprof_zone_begin(&in_handler);

        (void)signal;
        hyprof_zone_end(zone);
        atomic_fetch_add(&n_handled, 1);
}

static void *run_interrupted(void *arg)
{
        uint64_t *n_zones = arg;

        while (!atomic_load(&stop_interrupted)) {
                HYPROF_ZONE("interrupted");
                ++*n_zones;
        }
        return NULL;
}

/* A handler comes between any two instructions of an event: its zone is whole, or dropped and counted. */
START_TEST(test_signal_handlers)
{
        struct sigaction action = { .sa_handler = handle_signal };
        uint64_t n_zones = 0;
        pthread_t thread;

        ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
        ck_assert_int_eq(pthread_create(&thread, NULL, run_interrupted, &n_zones), 0);
        for (unsigned i = 0; i < N_SIGNALS; i++) {
                own_recording_drain();
                ck_assert_int_eq(pthread_kill(thread, SIGUSR1), 0);
                while (atomic_load(&n_handled) <= i)
                        (void)sched_yield(); /* the thread may wait for this processor */
        }
        atomic_store(&stop_interrupted, true);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        own_recording_drain();
        ck_assert_uint_eq(own_recording_check_nesting(), 0);
        /* While the thread takes its slot, drops of a handler are counted without one. */
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_BEGIN) + own_recording_drops().n_zones +
                                  client_region_drops_no_ring(recorded.region),
                          n_zones + N_SIGNALS);
}
END_TEST

/* ThreadSanitizer's own code must not be interrupted like this. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define TRAP_FLAG UINT64_C(0x100)

static void *emit_trapped(void *unused)
{
        __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP_FLAG);
        {
                HYPROF_ZONE("trapped");
        }
        __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~TRAP_FLAG);
        return unused;
}

/*
 * The same for certain: the processor calls the handler after each instruction,
 * of a thread's first zone, which takes a slot, and of later ones.
 */
START_TEST(test_handler_after_each_instruction)
{
        struct sigaction action = { .sa_handler = handle_signal };
        unsigned n_before = atomic_load(&n_handled);
        pthread_t thread;

        ck_assert_int_eq(sigaction(SIGTRAP, &action, NULL), 0);
        ck_assert_int_eq(pthread_create(&thread, NULL, emit_trapped, NULL), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        own_recording_drain();
        (void)emit_trapped(NULL);
        for (int i = 0; i < 20; i++) {
                (void)emit_trapped(NULL);
                own_recording_drain();
        }
        ck_assert_uint_gt(atomic_load(&n_handled) - n_before, 1000);
        ck_assert_uint_gt(own_recording_drops().n_zones, 0);
        ck_assert_uint_eq(own_recording_check_nesting(), 0);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_BEGIN) + own_recording_drops().n_zones +
                                  client_region_drops_no_ring(recorded.region),
                          22 + atomic_load(&n_handled) - n_before);
}
END_TEST
#endif

/* The ring's size is read before main(): begin again with it. */
static void begin(int argc, char **argv)
{
        (void)argc;
        own_recording_begin_with_ring(argv, RING_BYTES);
}

UNIT_TEST_PLAN(.begin = begin, .setup = record, .teardown = own_recording_close);
