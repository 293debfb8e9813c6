/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/fiber_events.c: zones go where their fiber goes, and a lost enter
 * loses nothing else for good
 */
#include "tests/unit/fixed_random.h"
#include "tests/unit/own_recording.h"

#include "instrument/client/client.h"
#include "instrument/client_abi.h"
#include "tests/unit/unit_test.h"

#include <hyprof/hyprof.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RING_BYTES  "4096"
#define N_FIBERS    7
#define N_STEPS     100000
#define N_OPEN_MAX  100 /* a ring of that size has room for so many ends */
#define N_LOCATIONS 64
#define N_SLOTS     8

static struct hyprof_location here = HYPROF_NAME("here");
static char fiber[] = "fiber"; /* its address counts */

static void record(void)
{
        own_recording_open((uint32_t)getpid(), CLIENT_ABI_FAMILIES);
}

static uint32_t kind_of(size_t i)
{
        ck_assert_uint_lt(i, recorded.n_events);
        return recorded.events[i].event.kind;
}

/* Until nothing more fits. */
static void fill_ring(void)
{
        uint64_t n_before = own_recording_drops().n_plots;

        while (own_recording_drops().n_plots == n_before)
                HYPROF_PLOT_INT("filling", 1);
}

static int compare_times(const void *a, const void *b)
{
        const struct own_event *x = a, *y = b;

        return x->event.ticks < y->event.ticks ? -1 : x->event.ticks > y->event.ticks;
}

/*
 * A recorder understands it so: zones are the fiber's or the slot's own, and enters tell how many are left of
 * the fiber's.  Fails on anything that cannot be.  Returns how many zones are open at the end.
 */
static size_t replay(void)
{
        size_t of_fibers[N_LOCATIONS] = { 0 }, of_slots[N_SLOTS] = { 0 }, open = 0;
        uint32_t on_fiber[N_SLOTS] = { 0 };

        /* Each thread's events are in order, and a hand-over from one to another takes time. */
        for (size_t i = 1; i < recorded.n_events; i++)
                for (size_t j = i; j > 0 && compare_times(&recorded.events[j - 1], &recorded.events[j]) > 0;
                     j--) {
                        struct own_event e = recorded.events[j];

                        recorded.events[j] = recorded.events[j - 1];
                        recorded.events[j - 1] = e;
                }
        for (size_t i = 0; i < recorded.n_events; i++) {
                const struct client_event *e = &recorded.events[i].event;
                uint32_t slot = recorded.events[i].slot;
                size_t *zones;

                ck_assert_uint_lt(slot, N_SLOTS);
                zones = on_fiber[slot] ? &of_fibers[on_fiber[slot]] : &of_slots[slot];
                switch (e->kind) {
                case CLIENT_ABI_EVENT_THREAD:
                        on_fiber[slot] = 0;
                        of_slots[slot] = 0;
                        break;
                case CLIENT_ABI_EVENT_ZONE_BEGIN:
                        ++*zones;
                        break;
                case CLIENT_ABI_EVENT_ZONE_END:
                        ck_assert_uint_gt(*zones, 0);
                        --*zones;
                        break;
                case CLIENT_ABI_EVENT_FIBER_ENTER:
                        ck_assert_uint_gt(e->argument, 0);
                        ck_assert_uint_lt(e->argument, N_LOCATIONS);
                        on_fiber[slot] = e->argument;
                        ck_assert_uint_le(e->value[0], of_fibers[e->argument]);
                        of_fibers[e->argument] = e->value[0];
                        break;
                case CLIENT_ABI_EVENT_FIBER_LEAVE:
                        ck_assert_uint_ne(on_fiber[slot], 0);
                        on_fiber[slot] = 0;
                        break;
                default:
                        break;
                }
        }
        for (size_t i = 0; i < N_LOCATIONS; i++)
                open += of_fibers[i];
        for (size_t i = 0; i < N_SLOTS; i++)
                open += of_slots[i];
        return open;
}

static hyprof_zone zone_of_fiber;

static void *begin_on_fiber(void *name)
{
        hyprof_fiber_enter(name);
        zone_of_fiber = hyprof_zone_begin(&here);
        hyprof_fiber_leave();
        return NULL;
}

/* A zone that begins on one thread and ends on another; the other one's own zone waits. */
START_TEST(test_zones_follow)
{
        static const uint32_t expected[] = {
                CLIENT_ABI_EVENT_THREAD,      CLIENT_ABI_EVENT_ZONE_BEGIN, CLIENT_ABI_EVENT_FIBER_ENTER,
                CLIENT_ABI_EVENT_ZONE_BEGIN,  CLIENT_ABI_EVENT_ZONE_END,   CLIENT_ABI_EVENT_ZONE_END,
                CLIENT_ABI_EVENT_FIBER_LEAVE, CLIENT_ABI_EVENT_ZONE_END,   CLIENT_ABI_EVENT_THREAD,
                CLIENT_ABI_EVENT_FIBER_ENTER, CLIENT_ABI_EVENT_ZONE_BEGIN, CLIENT_ABI_EVENT_FIBER_LEAVE,
        };
        hyprof_zone own, inner;
        pthread_t thread;

        own = hyprof_zone_begin(&here);
        ck_assert_int_eq(pthread_create(&thread, NULL, begin_on_fiber, fiber), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        hyprof_zone_end(zone_of_fiber); /* not entered: nothing */
        hyprof_fiber_enter(fiber);
        hyprof_zone_end(own); /* waits: nothing */
        inner = hyprof_zone_begin(&here);
        hyprof_zone_end(inner);
        hyprof_zone_end(zone_of_fiber);
        hyprof_zone_end(zone_of_fiber);
        hyprof_fiber_leave();
        hyprof_fiber_leave(); /* one too many */
        hyprof_zone_end(own);
        own_recording_drain();

        ck_assert_uint_eq(recorded.n_events, sizeof(expected) / sizeof(expected[0]));
        for (size_t i = 0; i < recorded.n_events; i++)
                ck_assert_uint_eq(kind_of(i), expected[i]);
        ck_assert_uint_eq(recorded.events[2].event.argument, recorded.events[9].event.argument);
        ck_assert(own_recording_is_named(recorded.events[2].event.argument, "fiber"));
        ck_assert_uint_eq(recorded.events[2].event.value[0], 1);
        ck_assert_uint_eq(recorded.events[9].event.value[0], 0);
        ck_assert_uint_eq(replay(), 0);
}
END_TEST

START_TEST(test_one_after_the_other)
{
        static const char first[] = "fiber", second[] = "fiber";
        hyprof_zone a, b;

        hyprof_fiber_enter(NULL);
        hyprof_fiber_enter(first);
        a = hyprof_zone_begin(&here);
        hyprof_fiber_enter(second);
        b = hyprof_zone_begin(&here);
        hyprof_fiber_enter(first);
        hyprof_zone_end(b);
        hyprof_zone_end(a);
        hyprof_fiber_enter(second);
        hyprof_zone_end(b);
        hyprof_fiber_leave();
        own_recording_drain();
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_FIBER_ENTER), 4);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_FIBER_LEAVE), 1);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_END), 2);
        ck_assert_uint_ne(own_recording_get(CLIENT_ABI_EVENT_FIBER_ENTER, 0)->argument,
                          own_recording_get(CLIENT_ABI_EVENT_FIBER_ENTER, 1)->argument);
        ck_assert_uint_eq(own_recording_get(CLIENT_ABI_EVENT_FIBER_ENTER, 0)->argument,
                          own_recording_get(CLIENT_ABI_EVENT_FIBER_ENTER, 2)->argument);
        ck_assert_uint_eq(own_recording_get(CLIENT_ABI_EVENT_FIBER_ENTER, 2)->value[0], 1);
        ck_assert_uint_eq(replay(), 0);
}
END_TEST

/* A program may put another name where the last fiber's was, longer, shorter or different in one byte. */
START_TEST(test_other_name_at_the_same_place)
{
        static const char *const names[] = { "fiber 1", "fiber 1", "fiber 2", "fiber 22",
                                             "fiber",   "",        "fiber 1" };
        static char name[16];

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                strcpy(name, names[i]); /* NOLINT(clang-analyzer-security.insecureAPI.strcpy): of our own */
                hyprof_fiber_enter(name);
                hyprof_zone_end(hyprof_zone_begin(&here));
                hyprof_fiber_leave();
        }
        own_recording_drain();
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                ck_assert(own_recording_is_named(own_recording_get(CLIENT_ABI_EVENT_FIBER_ENTER, i)->argument,
                                                 names[i]));
        ck_assert_uint_eq(own_recording_get(CLIENT_ABI_EVENT_FIBER_ENTER, 0)->argument,
                          own_recording_get(CLIENT_ABI_EVENT_FIBER_ENTER, 6)->argument);
}
END_TEST

/* No room to say which fiber: nothing of it is recorded until there is, and then what is open is told. */
START_TEST(test_lost_enter)
{
        hyprof_zone outer, inner, later;

        hyprof_fiber_enter(fiber);
        outer = hyprof_zone_begin(&here);
        inner = hyprof_zone_begin(&here);
        hyprof_fiber_leave();
        fill_ring();
        hyprof_fiber_enter(fiber);
        ck_assert_uint_eq(own_recording_drops().n_other, 1);
        HYPROF_MESSAGE("lost");
        ck_assert_uint_eq(own_recording_drops().n_messages, 1);
        hyprof_zone_end(inner);
        ck_assert_uint_eq(hyprof_zone_begin(&here), 0);
        ck_assert_uint_eq(own_recording_drops().n_zones, 1);
        own_recording_drain();
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_END), 0);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_FIBER_ENTER), 1);

        later = hyprof_zone_begin(&here);
        ck_assert_uint_eq(later, inner); /* the same place on the fiber */
        own_recording_drain();
        ck_assert_uint_eq(kind_of(recorded.n_events - 2), CLIENT_ABI_EVENT_FIBER_ENTER);
        ck_assert_uint_eq(recorded.events[recorded.n_events - 2].event.value[0], 1);
        ck_assert_uint_eq(kind_of(recorded.n_events - 1), CLIENT_ABI_EVENT_ZONE_BEGIN);
        hyprof_zone_end(later);
        hyprof_zone_end(outer);
        hyprof_fiber_leave();
        own_recording_drain();
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_FIBER_LEAVE), 2);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_END), 2);
        ck_assert_uint_eq(replay(), 0);
}
END_TEST

/*
 * No number is left for a fiber: what it does is lost and counted, and not taken for what
 * another such one does.
 */
START_TEST(test_no_number_left)
{
        static const char lost[] = "lost", too[] = "lost too";
        struct client_abi_header *header = client_self.region.header;
        hyprof_zone own;
        uint32_t n;

        own = hyprof_zone_begin(&here);
        (void)hyprof_name_of("makes the entry for all that come too late");
        n = header->n_locations;
        header->n_locations = REGION_MEMORY_LOCATIONS_MAX;
        hyprof_fiber_enter(lost);
        ck_assert_uint_eq(own_recording_drops().n_other, 1);
        ck_assert_uint_eq(hyprof_zone_begin(&here), 0);
        hyprof_fiber_enter(too);
        ck_assert_uint_eq(hyprof_zone_begin(&here), 0);
        ck_assert_uint_eq(own_recording_drops().n_zones, 2);
        hyprof_fiber_leave();
        header->n_locations = n;
        hyprof_zone_end(own);
        hyprof_fiber_enter(lost);
        hyprof_fiber_leave();
        own_recording_drain();
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_FIBER_ENTER), 1);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_FIBER_LEAVE), 1);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_END), 1);
        ck_assert_uint_eq(replay(), 0);
}
END_TEST

/*
 * The change to a fiber is lost: what follows is not taken for the one before it.  And an
 * astray thread comes back.
 */
START_TEST(test_lost_change)
{
        static const char first[] = "first", second[] = "second";
        hyprof_zone own = hyprof_zone_begin(&here), zone;

        hyprof_fiber_enter(second);
        for (int i = 0; i < 10; i++) /* more than the first one, whose room is free when it is left */
                (void)hyprof_zone_begin(&here);
        hyprof_fiber_enter(first);
        zone = hyprof_zone_begin(&here);
        fill_ring();
        hyprof_fiber_enter(second);
        hyprof_fiber_leave(); /* of a fiber that was never told: nothing */
        hyprof_zone_end(own);
        own_recording_drain();
        ck_assert_uint_eq(kind_of(recorded.n_events - 2), CLIENT_ABI_EVENT_FIBER_LEAVE);
        ck_assert_uint_eq(kind_of(recorded.n_events - 1), CLIENT_ABI_EVENT_ZONE_END);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_FIBER_LEAVE), 1);
        hyprof_fiber_enter(first);
        hyprof_zone_end(zone);
        hyprof_fiber_leave();
        own_recording_drain();
        ck_assert_uint_eq(replay(), 10);
}
END_TEST

START_TEST(test_new_session)
{
        hyprof_zone zone;

        hyprof_fiber_enter(fiber);
        zone = hyprof_zone_begin(&here);
        own_recording_close();

        record();
        hyprof_zone_end(hyprof_zone_begin(&here)); /* the thread's own: no enter in this session */
        hyprof_fiber_leave();
        hyprof_fiber_enter(fiber);
        hyprof_zone_end(zone);
        own_recording_drain();
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_FIBER_LEAVE), 0);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_END), 1);
        ck_assert_uint_eq(own_recording_get(CLIENT_ABI_EVENT_FIBER_ENTER, 0)->value[0], 0);
        ck_assert_uint_eq(kind_of(recorded.n_events - 1), CLIENT_ABI_EVENT_FIBER_ENTER);
}
END_TEST

static void *end_on_fiber(void *unused)
{
        hyprof_fiber_enter(fiber);
        zone_of_fiber = hyprof_zone_begin(&here);
        return unused;
}

START_TEST(test_thread_ends_on_a_fiber)
{
        pthread_t thread;

        ck_assert_int_eq(pthread_create(&thread, NULL, end_on_fiber, NULL), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        hyprof_fiber_enter(fiber);
        hyprof_zone_end(zone_of_fiber);
        hyprof_fiber_leave();
        own_recording_drain();
        ck_assert_uint_eq(replay(), 0);
        ck_assert_uint_eq(own_recording_get(CLIENT_ABI_EVENT_FIBER_ENTER, 1)->value[0], 1);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_END), 1);
}
END_TEST

/*
 * The child's exit status: 0 if it is on no fiber, and may enter the parent's, on which
 * nothing is open for it.
 */
static int use_fiber_in_child(hyprof_zone parents)
{
        int status = 0;

        record();
        hyprof_zone_end(parents);
        hyprof_fiber_leave();
        hyprof_zone_end(hyprof_zone_begin(&here));
        hyprof_fiber_enter(fiber);
        hyprof_zone_end(parents);
        own_recording_drain();
        if (own_recording_count(CLIENT_ABI_EVENT_ZONE_END) != 1 ||
            own_recording_count(CLIENT_ABI_EVENT_FIBER_LEAVE) != 0)
                status = 1;
        else if (own_recording_get(CLIENT_ABI_EVENT_FIBER_ENTER, 0)->value[0] != 0)
                status = 2;
        own_recording_close();
        return status;
}

START_TEST(test_fork)
{
        hyprof_zone zone;
        pid_t child;
        int status;

        hyprof_fiber_enter(fiber);
        zone = hyprof_zone_begin(&here);
        child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0)
                _exit(use_fiber_in_child(zone));
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
        hyprof_zone_end(zone);
        hyprof_fiber_leave();
        own_recording_drain();
        ck_assert_uint_eq(replay(), 0);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_FIBER_LEAVE), 1);
}
END_TEST

/* Random programs on two threads that hand fibers to each other, in rings that are mostly full. */
struct walk {
        uint64_t random;                             /* state */
        hyprof_zone zones[N_FIBERS + 2][N_OPEN_MAX]; /* of the fibers, of two threads */
        size_t n_open[N_FIBERS + 2];
        size_t n_begun;
        pthread_barrier_t turn;
};

static const char *const names[N_FIBERS] = { "0", "1", "2", "3", "4", "5", "6" };

static void take_steps(struct walk *w, size_t of_thread)
{
        size_t at = of_thread;

        for (uint64_t n = fixed_random_next(&w->random) % 200; n > 0; n--) {
                uint64_t what = fixed_random_next(&w->random) % 100;

                if (what < 45 && w->n_open[at] < N_OPEN_MAX) {
                        w->zones[at][w->n_open[at]++] = hyprof_zone_begin(&here);
                        w->n_begun++;
                } else if (what < 85 && w->n_open[at] > 0) {
                        hyprof_zone_end(w->zones[at][--w->n_open[at]]);
                } else if (what < 95) {
                        at = fixed_random_next(&w->random) % N_FIBERS;
                        hyprof_fiber_enter(names[at]);
                } else if (what < 98) {
                        hyprof_fiber_leave();
                        at = of_thread;
                } else if (what == 98) {
                        own_recording_drain();
                }
        }
        hyprof_fiber_leave();
}

static void end_all(struct walk *w, size_t of_thread)
{
        for (size_t at = 0; at < N_FIBERS + 2; at++) {
                if (at >= N_FIBERS && at != of_thread)
                        continue;
                own_recording_drain();
                if (at < N_FIBERS)
                        hyprof_fiber_enter(names[at]);
                while (w->n_open[at] > 0)
                        hyprof_zone_end(w->zones[at][--w->n_open[at]]);
                if (at < N_FIBERS)
                        hyprof_fiber_leave();
        }
        own_recording_drain();
}

static void *walk_in_turns(void *arg)
{
        struct walk *w = arg;

        for (int i = 0; i < N_STEPS / 200; i++) {
                (void)pthread_barrier_wait(&w->turn);
                if (i % 2)
                        take_steps(w, N_FIBERS + 1);
        }
        (void)pthread_barrier_wait(&w->turn); /* the other one ends its zones */
        (void)pthread_barrier_wait(&w->turn);
        end_all(w, N_FIBERS + 1);
        return NULL;
}

START_LOOP_TEST(test_random_walk, 0, 3)
{
        static struct walk w;
        pthread_t thread;

        w = (struct walk){ .random = (uint64_t)_i + 1 };
        ck_assert_int_eq(pthread_barrier_init(&w.turn, NULL, 2), 0);
        ck_assert_int_eq(pthread_create(&thread, NULL, walk_in_turns, &w), 0);
        for (int i = 0; i < N_STEPS / 200; i++) {
                (void)pthread_barrier_wait(&w.turn);
                if (i % 2 == 0)
                        take_steps(&w, N_FIBERS);
        }
        (void)pthread_barrier_wait(&w.turn);
        end_all(&w, N_FIBERS);
        (void)pthread_barrier_wait(&w.turn);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        (void)pthread_barrier_destroy(&w.turn);
        ck_assert_uint_gt(own_recording_drops().n_zones, 0);
        ck_assert_uint_gt(own_recording_drops().n_other, 0);
        ck_assert_uint_gt(own_recording_count(CLIENT_ABI_EVENT_FIBER_ENTER), 1000);
        ck_assert_uint_eq(replay(), 0);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_BEGIN) + own_recording_drops().n_zones,
                          w.n_begun);
}
END_TEST

/* The ring's size is read before main(): begin again with it. */
static void begin(int argc, char **argv)
{
        (void)argc;
        own_recording_begin_with_ring(argv, RING_BYTES);
}

UNIT_TEST_PLAN(.begin = begin, .setup = record, .teardown = own_recording_close);
