/* SPDX-License-Identifier: MIT */
/*
 * sampler/zones/zone_merge.c: threads that the kernel did not report are found in /proc; a program that names
 * threads that are none costs the recorder a bounded search
 */
#include "sampler/pace/pace.h"
#include "tests/unit/merged_program.h"
#include "tests/unit/unit_test.h"

#include <pthread.h>
#include <unistd.h>

#define NO_TID ((uint32_t)MERGED_PROGRAM_PID + 100)

/* A thread of this process, which lives until it is told. */
struct living_thread {
        pthread_t thread;
        pthread_barrier_t named, read;
        uint32_t tid;
};

static void *live(void *argument)
{
        struct living_thread *t = argument;

        t->tid = (uint32_t)gettid();
        ck_assert_int_eq(pthread_setname_np(pthread_self(), "living"), 0);
        (void)pthread_barrier_wait(&t->named);
        (void)pthread_barrier_wait(&t->read);
        return NULL;
}

static void begin_living(struct living_thread *t)
{
        ck_assert_int_eq(pthread_barrier_init(&t->named, NULL, 2), 0);
        ck_assert_int_eq(pthread_barrier_init(&t->read, NULL, 2), 0);
        ck_assert_int_eq(pthread_create(&t->thread, NULL, live, t), 0);
        (void)pthread_barrier_wait(&t->named);
}

static void end_living(struct living_thread *t)
{
        (void)pthread_barrier_wait(&t->read);
        ck_assert_int_eq(pthread_join(t->thread, NULL), 0);
        (void)pthread_barrier_destroy(&t->named);
        (void)pthread_barrier_destroy(&t->read);
}

static uint64_t count_unknown(const struct merged_program *f)
{
        return f->losses.totals[TRACE_LOSS_THREAD_UNKNOWN];
}

/* The record of a new thread is lost when the kernel's ring is full: its zones are not. */
START_TEST(test_record_was_lost)
{
        static struct merged_program f;
        const struct trace_thread *row;
        struct living_thread t;
        uint32_t zone, thread;

        merged_program_set_up_as(&f, (uint32_t)getpid());
        zone = fake_program_name(&f.program, "zone");
        begin_living(&t);
        fake_program_thread(&f.program, 0, f.start_ns + 10, t.tid);
        fake_program_begin(&f.program, 0, f.start_ns + 11, zone);
        fake_program_finish(&f.program, 0, f.start_ns + 12);
        merged_program_finish(&f);
        end_living(&t);

        thread = trace_dictionary_count(&f.dictionary, TRACE_TABLE_THREADS);
        ck_assert_uint_eq(thread, MERGED_PROGRAM_THREADS + 1);
        row = merged_program_row(&f, TRACE_TABLE_THREADS, thread);
        ck_assert_uint_eq(row->tid, t.tid);
        ck_assert_uint_eq(row->process, f.threads[0]->process->process);
        merged_program_expect_string(
                &f, merged_program_get(&f, thread, 0, TRACE_OP_THREAD_NAME)->thread_name.name, "living");
        ck_assert_uint_eq(merged_program_get(&f, thread, 1, TRACE_OP_ZONE_BEGIN)->time_ns, f.start_ns + 11);
        (void)merged_program_get(&f, thread, 2, TRACE_OP_ZONE_END);
        merged_program_expect_no_more(&f, 0, 3);
        merged_program_expect_no_loss(&f);
        merged_program_tear_down(&f);
}
END_TEST

/* A thread of another process is not the program's, nor is one whose end the kernel reported. */
START_TEST(test_not_a_thread_of_the_program)
{
        static struct merged_program f;
        struct thread_track *thread;
        struct living_thread t;
        uint32_t zone;

        begin_living(&t);
        for (int ends = 0; ends < 2; ends++) {
                merged_program_set_up_as(&f, ends ? (uint32_t)getpid() : MERGED_PROGRAM_PID);
                zone = fake_program_name(&f.program, "zone");
                if (ends) {
                        ck_assert_int_eq(process_table_add_thread(&f.processes, (uint32_t)getpid(), t.tid, 0,
                                                                  f.start_ns, &thread),
                                         0);
                        (void)process_table_forget_thread(&f.processes, thread);
                }
                fake_program_thread(&f.program, 0, f.start_ns + 10, t.tid);
                fake_program_begin(&f.program, 0, f.start_ns + 11, zone);
                merged_program_finish(&f);
                merged_program_expect_no_more(&f, 0, 0);
                ck_assert_uint_eq(count_unknown(&f), 1);
                merged_program_tear_down(&f);
        }
        end_living(&t);
}
END_TEST

/* A slow machine ends a cycle in the middle otherwise, and the number of searches is the subject. */
static void give_time(struct merged_program *f)
{
        f->pace.region_max_ns = UINT64_MAX / 4;
        f->pace.zones_max_ns = UINT64_MAX / 4;
}

/* A program may name any number of threads: each is sought once, and so many of a program in a cycle. */
START_TEST(test_searches_are_bounded)
{
        const uint32_t n_many = PACE_ZONES_SEARCHES + 50;
        static struct merged_program f;
        const struct zone_region *region;
        uint32_t zone;

        merged_program_set_up(&f);
        give_time(&f);
        region = &f.zones.regions[0];
        zone = fake_program_name(&f.program, "zone");
        fake_program_thread(&f.program, 0, f.start_ns + 1, NO_TID);
        for (uint32_t i = 0; i < 100; i++)
                fake_program_begin(&f.program, 0, f.start_ns + 1, zone);
        merged_program_cycle(&f, UINT64_MAX, false);
        ck_assert_uint_eq(region->n_searches_left, PACE_ZONES_SEARCHES - 1);
        fake_program_begin(&f.program, 0, f.start_ns + 2, zone);
        merged_program_cycle(&f, UINT64_MAX, false);
        ck_assert_uint_eq(region->n_searches_left, PACE_ZONES_SEARCHES);
        for (uint32_t i = 0; i < n_many; i++) {
                fake_program_thread(&f.program, i % MERGED_PROGRAM_THREADS, f.start_ns + 3, NO_TID + i);
                fake_program_begin(&f.program, i % MERGED_PROGRAM_THREADS, f.start_ns + 3, zone);
        }
        merged_program_cycle(&f, UINT64_MAX, false);
        ck_assert_uint_eq(region->n_searches_left, 0);
        ck_assert_uint_eq(count_unknown(&f), 101 + n_many);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_GARBAGE], 0);
        ck_assert_uint_eq(f.merge.n_zones, 0);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_THREADS), MERGED_PROGRAM_THREADS);
        merged_program_tear_down(&f);
}
END_TEST

/* More new threads than are sought in a cycle: the next cycle finds the rest. */
START_TEST(test_next_cycle_finds_it)
{
        static struct merged_program f;
        struct living_thread t;
        uint32_t zone;

        merged_program_set_up_as(&f, (uint32_t)getpid());
        give_time(&f);
        zone = fake_program_name(&f.program, "zone");
        begin_living(&t);
        for (uint32_t i = 0; i < PACE_ZONES_SEARCHES; i++)
                fake_program_thread(&f.program, i % 2, f.start_ns + 1, NO_TID + i);
        fake_program_thread(&f.program, 2, f.start_ns + 2, t.tid);
        fake_program_begin(&f.program, 2, f.start_ns + 3, zone);
        merged_program_cycle(&f, UINT64_MAX, false);
        ck_assert_uint_eq(count_unknown(&f), 1);
        fake_program_begin(&f.program, 2, f.start_ns + 4, zone);
        merged_program_finish(&f);
        end_living(&t);
        ck_assert_uint_eq(count_unknown(&f), 1);
        ck_assert_uint_eq(f.merge.n_zones, 1);
        merged_program_tear_down(&f);
}
END_TEST
