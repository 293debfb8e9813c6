/* SPDX-License-Identifier: MIT */
/*
 * sampler/recording/syscall_sums.c: each sum that BPF kept is a row of the thread that made the calls, also
 * where a thread has the number of an earlier one; a sum of 0 calls makes no row
 */
#include "sampler/recording/syscall_sums.h"

#include "base/error.h"
#include "format/trace_dictionary.h"
#include "sampler/bpf/syscall_layout.h"
#include "sampler/switches/switch_source.h"
#include "tests/unit/unit_test.h"

#include <linux/types.h>
#include <sys/syscall.h>

struct said_sum {
        uint32_t thread; /* of BPF; 0 = no thread of its own */
        uint32_t number, pid, tid;
        uint64_t n_calls;
        uint32_t row; /* the thread of the trace; 0 = none */
};

/* In no order.  Thread 14 of BPF called execve(2), and has had the number of its process since. */
static const struct said_sum said[] = {
        { 7, SYS_write, 10, 12, 5, 4 },   { 3, SYS_read, 10, 11, 1, 2 },   { 3, SYS_write, 10, 11, 2, 2 },
        { 5, SYS_read, 10, 12, 3, 3 },    { 0, SYS_read, 0, 0, 4, 0 },     { 9, SYS_read, 20, 12, 6, 5 },
        { 8, SYS_close, 10, 5, 7, 0 },    { 11, SYS_read, 10, 13, 0, 0 },  { 12, SYS_close, 30, 11, 8, 0 },
        { 13, SYS_close, 10, 13, 9, 6 },  { 5, SYS_write, 10, 12, 10, 3 }, { 14, SYS_read, 30, 31, 11, 7 },
        { 14, SYS_write, 30, 30, 12, 8 },
};

/* Stands for the maps of BPF. */
int switch_source_read_syscalls(const struct switch_source *s, switch_source_sum_taker *take, void *context,
                                uint64_t *ret_n_missed)
{
        (void)s;
        for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
                struct syscall_key key = { .thread = said[i].thread, .number = said[i].number };
                struct syscall_sum sum = { .n_calls = said[i].n_calls,
                                           .n_errors = 1,
                                           .time_ns = 100,
                                           .longest_ns = 60,
                                           .n_bytes = 1000,
                                           .pid = said[i].pid,
                                           .tid = said[i].tid };

                ck_assert_int_eq(take(context, &key, &sum), 0);
        }
        *ret_n_missed = 2;
        return 0;
}

static uint32_t add_thread(struct trace_dictionary *d, uint32_t process, uint32_t tid, uint64_t start_ns)
{
        struct trace_thread row = { .process = process, .tid = tid, .start_ns = start_ns };
        uint32_t id = 0;

        row.kind = TRACE_THREAD_KERNEL;
        ck_assert_int_ge(trace_dictionary_add(d, TRACE_TABLE_THREADS, &row, &id), 0);
        return id;
}

static uint32_t add_process(struct trace_dictionary *d, uint32_t pid)
{
        struct trace_process row = { .pid = pid };
        uint32_t id = 0;

        ck_assert_int_ge(trace_dictionary_add(d, TRACE_TABLE_PROCESSES, &row, &id), 0);
        return id;
}

/* A fiber makes no calls of its own; the earlier one of two threads of one number is asked for first. */
static void add_threads(struct trace_dictionary *d)
{
        struct trace_thread fiber = { .kind = TRACE_THREAD_FIBER };
        uint32_t first, second, third, id = 0;

        first = add_process(d, 10);
        second = add_process(d, 20);
        third = add_process(d, 30);
        fiber.process = first;
        ck_assert_int_ge(trace_dictionary_add(d, TRACE_TABLE_THREADS, &fiber, &id), 0);
        ck_assert_uint_eq(add_thread(d, first, 11, 1), 2);
        ck_assert_uint_eq(add_thread(d, first, 12, 1), 3);
        ck_assert_uint_eq(add_thread(d, first, 12, 9), 4);
        ck_assert_uint_eq(add_thread(d, second, 12, 1), 5);
        ck_assert_uint_eq(add_thread(d, first, 13, 1), 6);
        ck_assert_uint_eq(add_thread(d, third, 31, 1), 7);
        ck_assert_uint_eq(add_thread(d, third, 30, 1), 8);
}

static bool is_row_of(const struct trace_syscall *row, const struct said_sum *sum)
{
        bool is_transfer = sum->number != SYS_close;

        return row->n_calls == sum->n_calls && row->thread == sum->row && row->n_errors == 1 &&
               row->time_ns == 100 && row->longest_ns == 60 && row->n_bytes == (is_transfer ? 1000U : 0U);
}

START_TEST(test_rows)
{
        struct error err = ERROR_NONE;
        struct trace_dictionary d;
        uint64_t n_missed = 0;
        uint32_t n;

        trace_dictionary_init(&d, 0);
        add_threads(&d);
        ck_assert_int_eq(syscall_sums_write(NULL, &d, &n_missed, &err), 0);
        ck_assert_uint_eq(n_missed, 2);
        n = trace_dictionary_count(&d, TRACE_TABLE_SYSCALLS);
        ck_assert_uint_eq(n, sizeof(said) / sizeof(said[0]) - 1);
        for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
                uint32_t n_found = 0;

                for (uint32_t id = 1; id <= n; id++)
                        n_found += is_row_of(trace_dictionary_row(&d, TRACE_TABLE_SYSCALLS, id), &said[i]);
                ck_assert_msg(n_found == (said[i].n_calls != 0), "sum %zu has %u rows", i, n_found);
        }
        trace_dictionary_deinit(&d);
}
END_TEST
