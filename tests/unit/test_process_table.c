/* SPDX-License-Identifier: MIT */
/* sampler/tracks/process_table.c: a number means who has it now; each who ever had it has a row of its own */
#include "format/trace_dictionary.h"
#include "sampler/pace/pace.h"
#include "sampler/tracks/process_table.h"
#include "tests/unit/unit_test.h"

#include <errno.h>

#define N_THREADS 10000

static struct trace_dictionary d;
static struct process_table table;

static void setup(void)
{
        trace_dictionary_init(&d, 0);
        process_table_init(&table, &d);
}

static void teardown(void)
{
        process_table_deinit(&table);
        trace_dictionary_deinit(&d);
}

static struct thread_track *add(uint32_t pid, uint32_t tid, uint32_t parent_pid, uint64_t now_ns)
{
        struct thread_track *thread = NULL;

        ck_assert_int_eq(process_table_add_thread(&table, pid, tid, parent_pid, now_ns, &thread), 0);
        ck_assert_ptr_nonnull(thread);
        ck_assert_ptr_eq(process_table_find_thread(&table, tid), thread);
        ck_assert_uint_eq(thread->tid, tid);
        return thread;
}

static const struct trace_process *process_row(uint32_t id)
{
        return trace_dictionary_row(table.dictionary, TRACE_TABLE_PROCESSES, id);
}

static const struct trace_thread *thread_row(uint32_t id)
{
        return trace_dictionary_row(table.dictionary, TRACE_TABLE_THREADS, id);
}

START_TEST(test_threads_of_a_process)
{
        struct thread_track *first, *second;

        ck_assert_ptr_null(process_table_find_process(&table, 100));
        ck_assert_ptr_null(process_table_find_thread(&table, 100));

        first = add(100, 100, 0, 5);
        second = add(100, 101, 0, 6);
        ck_assert_ptr_eq(add(100, 100, 0, 7), first);
        ck_assert_ptr_eq(first->process, second->process);
        ck_assert_ptr_eq(process_table_find_process(&table, 100), first->process);
        ck_assert_uint_eq(first->process->n_threads, 2);
        ck_assert_uint_eq(table.n_threads, 2);
        ck_assert_uint_eq(trace_dictionary_count(&d, TRACE_TABLE_PROCESSES), 1);
        ck_assert_uint_eq(process_row(first->process->process)->pid, 100);
        ck_assert_uint_eq(process_row(first->process->process)->start_ns, 5);
        ck_assert_uint_eq(process_row(first->process->process)->parent, 0);
        ck_assert_uint_eq(thread_row(second->thread)->tid, 101);
        ck_assert_uint_eq(thread_row(second->thread)->start_ns, 6);
        ck_assert_uint_eq(thread_row(second->thread)->process, first->process->process);
}
END_TEST

START_TEST(test_fork_copies_maps)
{
        struct address_range code = { .start_avma = 0x1000, .end_avma = 0x2000, .module = 1 };
        struct address_range other = { .start_avma = 0x1000, .end_avma = 0x2000, .module = 2 };
        struct process_track *parent, *child, *stranger;

        parent = add(100, 100, 0, 1)->process;
        ck_assert_int_eq(address_space_add(&parent->space, &code), 0);
        child = add(200, 200, 100, 2)->process;
        ck_assert_uint_eq(address_space_find(&child->space, 0x1500)->module, 1);
        ck_assert_uint_eq(process_row(child->process)->parent, parent->process);

        ck_assert_int_eq(address_space_add(&child->space, &other), 0);
        ck_assert_uint_eq(address_space_find(&parent->space, 0x1500)->module, 1);

        /* An unknown parent, and one that is there already, give nothing. */
        stranger = add(300, 300, 99, 3)->process;
        ck_assert_uint_eq(stranger->space.n_ranges, 0);
        ck_assert_uint_eq(process_row(stranger->process)->parent, 0);
        (void)add(300, 301, 100, 4);
        ck_assert_uint_eq(stranger->space.n_ranges, 0);
}
END_TEST

START_TEST(test_forget_and_reuse)
{
        struct address_range code = { .start_avma = 0x1000, .end_avma = 0x2000, .module = 1 };
        struct thread_track *first, *second, *again;
        uint32_t old_process, old_thread;

        first = add(100, 100, 0, 1);
        second = add(100, 101, 0, 2);
        old_process = first->process->process;
        old_thread = first->thread;
        ck_assert_int_eq(address_space_add(&first->process->space, &code), 0);

        ck_assert_uint_eq(process_table_forget_thread(&table, first), 0); /* the other one lives on */
        ck_assert_ptr_null(process_table_find_thread(&table, 100));
        ck_assert_ptr_nonnull(process_table_find_process(&table, 100));
        ck_assert_uint_eq(process_table_forget_thread(&table, second), 100);
        ck_assert_ptr_null(process_table_find_process(&table, 100));
        ck_assert_uint_eq(table.n_threads, 0);

        again = add(100, 100, 0, 3);
        ck_assert_uint_ne(again->thread, old_thread);
        ck_assert_uint_ne(again->process->process, old_process);
        ck_assert_uint_eq(again->process->space.n_ranges, 0);
        ck_assert_uint_eq(process_row(old_process)->start_ns, 1);
        ck_assert_uint_eq(process_row(again->process->process)->start_ns, 3);
        ck_assert_uint_eq(thread_row(again->thread)->process, again->process->process);
}
END_TEST

/* A thread is listed once, as long as it is not taken off the list. */
/* A creator is of the same process, or of the one that forked: both of its numbers must agree. */
START_TEST(test_creators)
{
        static const struct {
                uint32_t pid, tid, parent_pid, parent_tid, creator;
        } births[] = {
                { 100, 101, 0, 100, 1 },   { 200, 200, 100, 101, 2 }, { 100, 102, 0, 200, 0 },
                { 300, 300, 200, 101, 0 }, { 300, 301, 0, 0, 0 },     { 300, 302, 0, 999, 0 },
        };
        struct thread_track *thread;

        ck_assert_uint_eq(thread_row(add(100, 100, 0, 1)->thread)->creator, 0);
        for (size_t i = 0; i < sizeof(births) / sizeof(births[0]); i++) {
                const struct thread_birth birth = { .pid = births[i].pid,
                                                    .tid = births[i].tid,
                                                    .parent_pid = births[i].parent_pid,
                                                    .parent_tid = births[i].parent_tid,
                                                    .time_ns = 2 };

                ck_assert_int_eq(process_table_add_born(&table, &birth, &thread), 0);
                ck_assert_uint_eq(thread_row(thread->thread)->creator, births[i].creator);
        }
}
END_TEST

/* It wakes its parent a little later: by both of its numbers, and no longer once they mean another thread. */
START_TEST(test_threads_that_ended_a_moment_ago)
{
        struct thread_track *thread = add(100, 101, 0, 1);
        const uint64_t end_ns = 1000, last_ns = end_ns + PACE_WAITS_ENDED_NS;
        uint32_t row = thread->thread;
        const struct ended_thread *ended;

        ck_assert_ptr_null(process_table_find_ended(&table, 100, 101, 1));
        ck_assert_ptr_null(process_table_find_ended(&table, 0, 0, 1));
        thread->last_ns = end_ns;
        thread->name = 7;
        (void)process_table_forget_thread(&table, thread);
        ended = process_table_find_ended(&table, 100, 101, last_ns);
        ck_assert_ptr_nonnull(ended);
        /* on a busy machine it has no CPU for a while */
        ck_assert_ptr_eq(process_table_find_ended(&table, 100, 101, end_ns + NS_PER_S), ended);
        ck_assert_uint_eq(ended->thread, row);
        ck_assert_uint_eq(ended->name, 7);
        ck_assert_ptr_null(process_table_find_ended(&table, 100, 101, last_ns + 1));
        ck_assert_ptr_null(process_table_find_ended(&table, 200, 101, end_ns));
        ck_assert_ptr_null(process_table_find_ended(&table, 100, 101 + PROCESS_TABLE_ENDED, end_ns));
        (void)add(100, 101 + PROCESS_TABLE_ENDED, 0, 2); /* another number with the same low bits */
        ck_assert_ptr_eq(process_table_find_ended(&table, 100, 101, end_ns), ended);
        (void)add(200, 101, 0, end_ns); /* the number again */
        ck_assert_ptr_null(process_table_find_ended(&table, 100, 101, end_ns));
}
END_TEST

START_TEST(test_pending_lists_the_thread)
{
        struct pending_event pending = { .event = { .op = TRACE_OP_SWITCH_IN, .time_ns = 5 } };
        struct thread_track *first = add(100, 100, 0, 1);
        struct thread_track *second = add(100, 101, 0, 2);

        ck_assert_uint_eq(table.n_listed, 0);
        for (int i = 0; i < 3; i++) {
                ck_assert_int_eq(process_table_add_pending(&table, second, &pending), 0);
                ck_assert_int_eq(process_table_add_pending(&table, first, &pending), 0);
        }
        ck_assert_uint_eq(table.n_listed, 2);
        ck_assert_ptr_eq(table.listed[0], second);
        ck_assert_ptr_eq(table.listed[1], first);
        ck_assert(first->listed && second->listed);
        ck_assert_uint_eq(first->n_pending, 3);
}
END_TEST

START_TEST(test_many_threads)
{
        for (uint32_t round = 0; round < 2; round++) {
                for (uint32_t i = 0; i < N_THREADS; i++)
                        (void)add(1 + i / 100, 1000 + i, 0, round);
                ck_assert_uint_eq(table.n_threads, N_THREADS);
                for (uint32_t i = 0; i < N_THREADS; i++) {
                        struct thread_track *thread = process_table_find_thread(&table, 1000 + i);

                        ck_assert_uint_eq(thread->tid, 1000 + i);
                        ck_assert_uint_eq(thread->process->pid, 1 + i / 100);
                        ck_assert_uint_eq(process_table_forget_thread(&table, thread),
                                          i % 100 == 99 ? 1 + i / 100 : 0);
                }
                ck_assert_uint_eq(table.n_threads, 0);
        }
        ck_assert_uint_eq(trace_dictionary_count(&d, TRACE_TABLE_THREADS), 2 * N_THREADS);
        ck_assert_uint_eq(trace_dictionary_count(&d, TRACE_TABLE_PROCESSES), 2 * N_THREADS / 100);
}
END_TEST

START_TEST(test_full_tables)
{
        struct thread_track *thread = NULL;

        trace_dictionary_init(&d, 2);
        (void)add(100, 100, 0, 1);
        (void)add(100, 101, 0, 1);
        ck_assert_int_eq(process_table_add_thread(&table, 100, 102, 0, 2, &thread), -EOVERFLOW);
        ck_assert_int_eq(process_table_add_thread(&table, 200, 200, 0, 2, &thread), -EOVERFLOW);
        ck_assert_int_eq(process_table_add_thread(&table, 300, 300, 0, 2, &thread), -EOVERFLOW);
        ck_assert_ptr_null(thread);
        ck_assert_ptr_null(process_table_find_thread(&table, 102));
        ck_assert_ptr_null(process_table_find_process(&table, 300));
        ck_assert_uint_eq(table.n_threads, 2);
        (void)add(100, 101, 0, 3); /* who is known stays known */
}
END_TEST

/*
 * Numbers of fibers are those of their process; a fiber has a row without a TID, and goes with its process.
 */
START_TEST(test_fibers)
{
        const struct trace_thread *row;
        struct thread_track *one, *two, *fiber, *other, *again;
        struct trace_dictionary dictionary;

        trace_dictionary_init(&dictionary, 0);
        process_table_init(&table, &dictionary);
        one = add(10, 10, 0, 1);
        two = add(20, 20, 0, 1);
        ck_assert_ptr_null(process_table_find_fiber(one->process, 5));
        ck_assert_int_eq(process_table_add_fiber(&table, one->process, 5, 7, &fiber), 0);
        ck_assert_int_eq(process_table_add_fiber(&table, two->process, 5, 7, &other), 0);
        ck_assert_ptr_eq(process_table_find_fiber(one->process, 5), fiber);
        ck_assert_ptr_eq(process_table_find_fiber(two->process, 5), other);
        ck_assert_uint_eq(table.n_fibers, 2);
        row = trace_dictionary_row(&dictionary, TRACE_TABLE_THREADS, fiber->thread);
        ck_assert_uint_eq(row->process, one->process->process);
        ck_assert_uint_eq(row->tid, 0);
        ck_assert_uint_eq(row->start_ns, 7);
        ck_assert_uint_eq(row->kind, TRACE_THREAD_FIBER);
        ck_assert_uint_eq(row->fiber, 5);
        ck_assert_uint_ne(other->thread, fiber->thread);

        process_table_forget_fibers(&table, one->process);
        ck_assert_ptr_null(process_table_find_fiber(one->process, 5));
        ck_assert_int_eq(process_table_add_fiber(&table, one->process, 5, 9, &again), 0);
        ck_assert_uint_ne(again->thread, other->thread);
        table.n_fibers = PROCESS_TABLE_FIBERS_MAX;
        ck_assert_int_eq(process_table_add_fiber(&table, one->process, 6, 9, &again), -EOVERFLOW);
        ck_assert_ptr_null(process_table_find_fiber(one->process, 6));
        table.n_fibers = 2;
        ck_assert_uint_eq(process_table_forget_thread(&table, one), 10);
        ck_assert_uint_eq(table.n_fibers, 1);
        trace_dictionary_deinit(&dictionary);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
