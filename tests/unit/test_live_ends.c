/* SPDX-License-Identifier: MIT */
/*
 * analyze/live: each place where threads wait has who ended the most of it, and in which function; what was
 * not recorded says so; the CPUs in use are a mean of the window; any number of ends has bounded memory
 */
#include "analyze/live/live_ends.h"
#include "analyze/live/live_rows.h"
#include "analyze/live/live_stats.h"
#include "base/clock.h"
#include "format/trace_dictionary.h"
#include "format/trace_follow.h"
#include "format/trace_reader.h"
#include "symbolize/process/live_names.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>
#include <string.h>

#define START_NS (UINT64_C(1000) * NS_PER_S)

static struct {
        struct trace_builder b;
        struct trace_follow *follow;
        struct live_stats stats;
        struct live_names names;
        uint32_t waiter, helper, module;
} l;

static void begin(void)
{
        UNIT_TEST_SPOIL(l);
        trace_builder_init(&l.b);
        l.waiter = trace_builder_thread(&l.b, 10, 10);
        l.helper = trace_builder_thread(&l.b, 10, 11);
        l.module = trace_builder_module(&l.b, "/srv/program");
}

static void end(void)
{
        live_stats_deinit(&l.stats);
        live_names_deinit(&l.names);
        trace_follow_close(l.follow);
        trace_builder_deinit(&l.b);
}

static struct live_rows follow(void)
{
        struct trace_follow_options options = { .quiet_ns = UINT64_MAX, .path = l.b.path };
        struct live_names_options naming = { .is_off = true };
        struct trace_item item;
        int r;

        trace_builder_flush(&l.b);
        ck_assert_int_eq(trace_follow_open(&options, &l.follow, NULL), 0);
        naming.dictionary = trace_follow_dictionary(l.follow);
        live_names_init(&l.names, &naming);
        ck_assert_int_eq(live_stats_init(&l.stats, naming.dictionary), 0);
        while ((r = trace_follow_next(l.follow, &item, NULL)) == 1)
                ck_assert_int_eq(live_stats_add(&l.stats, &item, NULL), 0);
        ck_assert_int_eq(r, 0);
        ck_assert_int_ge(live_names_step(&l.names), 0);
        return (struct live_rows){ .stats = &l.stats, .names = &l.names, .all = true };
}

/* A wait of the first thread from its begin on, that lasts; woken in its middle. */
static void wait_for(uint64_t begin_ns, uint64_t ns, uint32_t stack, uint32_t waker, const char *name,
                     uint32_t waker_stack)
{
        TRACE_BUILDER_ADD(&l.b, begin_ns, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING, stack, TRACE_STACK_COMPLETE);
        TRACE_BUILDER_ADD(&l.b, begin_ns + ns / 2, WAKEUP, 0, waker,
                          name ? trace_builder_string(&l.b, name) : 0, waker_stack, TRACE_STACK_COMPLETE);
        TRACE_BUILDER_ADD(&l.b, begin_ns + ns, SWITCH_IN, 0);
}

static bool is_text(struct text_view text, const char *words)
{
        return text_view_is(text, words);
}

static const struct live_wait_row *row_of(const struct live_wait_row *rows, int n, const char *where)
{
        for (int i = 0; i < n; i++)
                if (is_text(live_label_text(&rows[i].where), where))
                        return &rows[i];
        ck_abort_msg("no waits in %s", where);
        return rows;
}

START_TEST(test_who_ended_the_waits_of_a_place)
{
        uint32_t read, push, pop;
        struct live_thread_row *threads;
        struct live_wait_row *waits;
        const struct live_wait_row *row;
        struct live_rows of;
        int n;

        read = trace_builder_push(&l.b, 0, l.module, 0x10, "read_job");
        push = trace_builder_push(&l.b, 0, l.module, 0x20, "push_job");
        pop = trace_builder_push(&l.b, 0, l.module, 0x30, "pop_job");
        trace_builder_begin_run(&l.b, l.waiter);
        TRACE_BUILDER_ADD(&l.b, START_NS, SWITCH_IN, 0);
        wait_for(START_NS + 1000, 400, read, l.helper, "helper", push);
        wait_for(START_NS + 2000, 400, read, l.helper, "helper", push);
        wait_for(START_NS + 3000, 700, read, l.helper, "helper", pop); /* the longest, but not the most */
        wait_for(START_NS + 4000, 300, 0, 0, NULL, 0);
        wait_for(START_NS + 5000, 200, push, 0, "ksoftirqd/1", 0);
        wait_for(START_NS + 6000, 100, pop, 0, "postgres", 0);
        trace_builder_end_run(&l.b);
        of = follow();
        n = live_rows_waits(&of, &waits);
        ck_assert_int_eq(n, 4);
        row = row_of(waits, n, "read_job");
        ck_assert_uint_eq(row->sum_ns, 1500);
        ck_assert_uint_eq(row->ended_by.kind, LIVE_END_THREAD);
        ck_assert(is_text(row->ended_by.name, "helper"));
        ck_assert(is_text(live_label_text(&row->ended_by.function), "push_job"));
        row = row_of(waits, n, "[not recorded]");
        ck_assert_uint_eq(row->ended_by.kind, LIVE_END_INTERRUPT);
        row = row_of(waits, n, "push_job");
        ck_assert_uint_eq(row->ended_by.kind, LIVE_END_INTERRUPT);
        ck_assert_uint_eq(row->ended_by.name.n_bytes, 0);
        row = row_of(waits, n, "pop_job");
        ck_assert_uint_eq(row->ended_by.kind, LIVE_END_PROGRAM);
        ck_assert(is_text(row->ended_by.name, "postgres"));
        ck_assert_uint_eq(row->ended_by.function.name.n_bytes, 0);
        free(waits);
        ck_assert_int_eq(live_rows_threads(&of, &threads), 1);
        ck_assert_uint_eq(threads[0].ended_by.kind, LIVE_END_PROGRAM); /* of its last wait */
        ck_assert(is_text(threads[0].ended_by.name, "postgres"));
        free(threads);
}
END_TEST

START_TEST(test_no_wake_up_is_no_end)
{
        struct live_wait_row *waits;
        struct live_thread_row *threads;
        struct live_rows of;

        trace_builder_begin_run(&l.b, l.waiter);
        TRACE_BUILDER_ADD(&l.b, START_NS, SWITCH_IN, 0);
        TRACE_BUILDER_ADD(&l.b, START_NS + 100, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING);
        TRACE_BUILDER_ADD(&l.b, START_NS + 200, SWITCH_IN, 0);
        TRACE_BUILDER_ADD(&l.b, START_NS + 300, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING);
        trace_builder_end_run(&l.b);
        of = follow();
        ck_assert_int_eq(live_rows_waits(&of, &waits), 1);
        ck_assert_uint_eq(waits[0].ended_by.kind, LIVE_END_NONE);
        ck_assert_int_eq(live_rows_threads(&of, &threads), 1);
        ck_assert_uint_eq(threads[0].ended_by.kind, LIVE_END_NONE);
        ck_assert(is_text(live_label_text(&threads[0].where), "[not recorded]")); /* it waits */
        ck_assert_double_eq_tol(live_rows_load(&of), 200.0 / 300, 0.001);
        free(waits);
        free(threads);
}
END_TEST

START_TEST(test_any_number_of_ends_has_bounded_memory)
{
        struct thread_wait wait = { .is_woken = true, .ended = true, .waker_thread = 2 };
        struct trace_dictionary d;
        struct live_cell *cells;
        struct live_sum others;
        struct live_ends ends;
        int n;

        (void)follow();
        trace_dictionary_init(&d, 0);
        live_ends_init(&ends);
        for (uint32_t i = 0; i < LIVE_ENDS_MAX + 10; i++) {
                wait.out_ns = START_NS + i;
                wait.in_ns = wait.out_ns + 5;
                wait.waker_stack = i;
                ck_assert_int_eq(live_ends_add(&ends, &d, 1, &wait, live_wait_key(1, TRACE_WAIT_SLEEPING)),
                                 0);
        }
        ck_assert_uint_eq(ends.n_anew, 1);
        ck_assert_uint_eq(ends.keys.n_items, 10);
        n = live_window_collect(&ends.window, wait.in_ns, false, &cells, &others);
        ck_assert_int_eq(n, 10);
        for (int i = 0; i < n; i++)
                ck_assert_uint_ge(live_ends_get(&ends, cells[i].key)->end.stack, LIVE_ENDS_MAX);
        ck_assert_uint_eq(live_ends_last(&ends, 1)->stack, LIVE_ENDS_MAX + 9);
        ck_assert_ptr_null(live_ends_last(&ends, 2));
        ck_assert_int_eq(live_ends_add(&ends, &d, LIVE_ENDS_THREADS_MAX + 1, &wait, live_wait_key(1, 2)), 0);
        ck_assert_ptr_null(live_ends_last(&ends, LIVE_ENDS_THREADS_MAX + 1));
        free(cells);
        live_ends_deinit(&ends);
        trace_dictionary_deinit(&d);
}
END_TEST

UNIT_TEST_PLAN(.setup = begin, .teardown = end);
