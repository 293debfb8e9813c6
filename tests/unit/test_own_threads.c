/* SPDX-License-Identifier: MIT */
/*
 * sampler/zones/own_threads.c: whom a program in a PID namespace means is found by what BPF and /proc tell;
 * /proc is asked once for each thread, and for so many in a cycle
 */
#include "format/trace_dictionary.h"
#include "instrument/client_region.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/thread_track.h"
#include "sampler/zones/zone_merge.h"
#include "sampler/zones/zone_region.h"
#include "tests/unit/fake_program.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define OWN_PID   1
#define N_LIVING  3
#define NO_TID    0x7ffffff0 /* no thread of this machine: pid_max is 2^22 */
#define OWN_OTHER 4000000

/* A program that calls itself OWN_PID; its threads are those of this process, which calls them as we do. */
struct fixture {
        struct trace_dictionary dictionary;
        struct process_table table;
        struct fake_program program;
        struct zone_region region;
        pthread_t living[N_LIVING];
        uint32_t tids[N_LIVING];
        pthread_barrier_t begun, over;
};

static struct fixture f;

static void *live(void *argument)
{
        uint32_t *tid = argument;

        *tid = (uint32_t)gettid();
        (void)pthread_barrier_wait(&f.begun);
        (void)pthread_barrier_wait(&f.over);
        return NULL;
}

static struct thread_track *add_thread(uint32_t tid)
{
        struct thread_track *thread = NULL;

        ck_assert_int_eq(process_table_add_thread(&f.table, (uint32_t)getpid(), tid, 0, 0, &thread), 0);
        return thread;
}

static void set_up(uint32_t own_pid)
{
        struct client_region *region;

        memset(&f, 0, sizeof(f));
        trace_dictionary_init(&f.dictionary, 0);
        process_table_init(&f.table, &f.dictionary);
        ck_assert_int_eq(pthread_barrier_init(&f.begun, NULL, N_LIVING + 1), 0);
        ck_assert_int_eq(pthread_barrier_init(&f.over, NULL, N_LIVING + 1), 0);
        for (size_t i = 0; i < N_LIVING; i++)
                ck_assert_int_eq(pthread_create(&f.living[i], NULL, live, &f.tids[i]), 0);
        (void)pthread_barrier_wait(&f.begun);
        (void)add_thread((uint32_t)getpid());
        for (size_t i = 0; i < N_LIVING; i++)
                (void)add_thread(f.tids[i]);
        fake_program_start(&f.program, own_pid);
        ck_assert_int_eq(client_region_open(fake_program_fd(&f.program), &region, NULL), 0);
        zone_region_init(&f.region, region, (uint32_t)getpid(),
                         process_table_find_process(&f.table, (uint32_t)getpid())->process);
}

static void tear_down(void)
{
        (void)pthread_barrier_wait(&f.over);
        for (size_t i = 0; i < N_LIVING; i++)
                ck_assert_int_eq(pthread_join(f.living[i], NULL), 0);
        (void)pthread_barrier_destroy(&f.begun);
        (void)pthread_barrier_destroy(&f.over);
        zone_region_deinit(&f.region);
        fake_program_end(&f.program);
        process_table_deinit(&f.table);
        trace_dictionary_deinit(&f.dictionary);
}

static void expect(uint32_t own_tid, unsigned *n_left, int code, uint32_t tid)
{
        uint32_t found = 1;

        ck_assert_int_eq(own_threads_find(&f.table, &f.region, own_tid, n_left, &found), code);
        ck_assert_uint_eq(found, tid);
}

START_TEST(test_same_namespace)
{
        unsigned n_left = 0;

        set_up((uint32_t)getpid());
        expect(NO_TID, &n_left, 0, NO_TID);
        tear_down();
}
END_TEST

START_TEST(test_proc_is_asked_once)
{
        unsigned n_left = 2;

        set_up(OWN_PID);
        expect(OWN_PID, &n_left, 0, (uint32_t)getpid());
        ck_assert_uint_eq(n_left, 2);
        /* There are four threads, and two are asked for in each cycle. */
        expect(OWN_OTHER, &n_left, -EAGAIN, 0);
        ck_assert_uint_eq(n_left, 0);
        n_left = 3;
        expect(f.tids[N_LIVING - 1], &n_left, 0, f.tids[N_LIVING - 1]);
        expect(f.tids[0], &n_left, 0, f.tids[0]);
        expect(OWN_OTHER, &n_left, 0, 0);
        expect(OWN_OTHER, &n_left, 0, 0);
        ck_assert_uint_eq(n_left, 1);
        /* A new one is asked for, though it has ended. */
        (void)add_thread(NO_TID);
        expect(OWN_OTHER, &n_left, 0, 0);
        ck_assert_uint_eq(n_left, 0);
        expect(OWN_OTHER, &n_left, 0, 0);
        tear_down();
}
END_TEST

START_TEST(test_told_by_bpf)
{
        struct thread_track *first, *second;
        unsigned n_left = 0;

        set_up(OWN_PID);
        first = add_thread(NO_TID);
        ck_assert_int_eq(process_table_number_thread(first, OWN_OTHER), 0);
        expect(OWN_OTHER, &n_left, 0, NO_TID);
        /* The number goes on to another thread, and means that one also after the end of the first. */
        second = add_thread(NO_TID + 1);
        ck_assert_int_eq(process_table_number_thread(second, OWN_OTHER), 0);
        expect(OWN_OTHER, &n_left, 0, NO_TID + 1);
        ck_assert_uint_eq(process_table_forget_thread(&f.table, first), 0);
        expect(OWN_OTHER, &n_left, 0, NO_TID + 1);
        ck_assert_uint_eq(process_table_forget_thread(&f.table, second), 0);
        n_left = 100;
        expect(OWN_OTHER, &n_left, 0, 0);
        tear_down();
}
END_TEST
