/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/path_walk.c: where a thread of the path ran: a fiber's functions are those that its thread was
 * sampled in; a thread that spins for a lock waits for the thread that holds it
 */
#include "analyze/path/path.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "base/error.h"
#include "base/text_view.h"
#include "format/trace_event.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <string.h>

#define MS UINT64_C(1000000)

static struct trace_builder b;
static struct loaded_trace trace;
static struct path path;
static uint32_t worker, other, request, event, working, flushing, zone_path;

static void setup(void)
{
        uint32_t module;

        trace_builder_init(&b);
        worker = trace_builder_thread(&b, 10, 11);
        other = trace_builder_thread(&b, 10, 12);
        request = trace_builder_location(&b, "request");
        zone_path = trace_builder_path(&b, 0, request);
        event = trace_builder_sample_event(&b, "cpu-clock");
        module = trace_builder_module(&b, "/bin/program");
        working = trace_builder_push(&b, 0, module, 0x1000, "work");
        flushing = trace_builder_push(&b, 0, module, 0x2000, "flush");
}

static void teardown(void)
{
        path_deinit(&path);
        loaded_trace_close(&trace);
        trace_builder_deinit(&b);
}

static void ask(void)
{
        const struct path_request wanted = { .zone = "request" };
        struct trace_filter_request all = { .has_from = false };
        struct trace_filter filter;
        struct error err = ERROR_NONE;

        trace_builder_finish(&b);
        ck_assert_msg(loaded_trace_open(&trace, b.path, &err) == 0, "%s", err.text);
        ck_assert_int_eq(loaded_trace_read_names(&trace, &err), 0);
        ck_assert_int_eq(trace_filter_init(&filter, &all, &trace, &err), 0);
        ck_assert_msg(path_init(&path, &trace, &filter, &wanted, &err) == 0, "%s", err.text);
        trace_filter_deinit(&filter);
        ck_assert_uint_eq(path.segments_ns, path.total_ns);
}

/* How long threads with this name of the process ran the function, on the path; in ms. */
static double ran_ms(bool is_first, const char *function)
{
        double ns = 0;

        for (uint32_t row = 1; row <= path.sums.keys.n_items; row++) {
                const struct path_row_key *key = path_sums_key(&path.sums, row);
                enum function_kind kind;

                if (key->kind == PATH_ROW_RUN && key->is_first == is_first &&
                    text_view_is(path_names_function(&path.names, key->own, &kind), function))
                        ns += path.sums.rows[row - 1].ns;
        }
        return ns / (double)MS;
}

static void run_in(uint64_t from_ms, uint64_t to_ms, uint32_t stack)
{
        for (uint64_t at_ms = from_ms; at_ms < to_ms; at_ms++)
                TRACE_BUILDER_ADD(&b, at_ms * MS + MS / 2, SAMPLE, event, 0, stack, zone_path, MS);
}

/* The zone is a fiber's; the worker runs it from 10 to 16 ms, and from 20 to 22; for it or as itself. */
START_TEST(test_fibers_have_the_samples_of_their_threads)
{
        uint32_t fiber = trace_builder_fiber(&b, 10, 1);

        trace_builder_begin_run(&b, fiber);
        trace_builder_begin_zone(&b, 10 * MS, request);
        trace_builder_event(&b, 22 * MS, TRACE_OP_ZONE_END);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, worker);
        TRACE_BUILDER_ADD(&b, 1 * MS, SWITCH_IN, 0);
        TRACE_BUILDER_ADD(&b, 10 * MS, FIBER_ENTER, fiber);
        run_in(10, 16, working);
        TRACE_BUILDER_ADD(&b, 16 * MS, FIBER_LEAVE, 0);
        run_in(16, 20, flushing);
        TRACE_BUILDER_ADD(&b, 20 * MS, FIBER_ENTER, fiber);
        run_in(20, 22, working);
        TRACE_BUILDER_ADD(&b, 22 * MS, FIBER_LEAVE, 0);
        TRACE_BUILDER_ADD(&b, 30 * MS, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING);
        trace_builder_end_run(&b);
        ask();
        ck_assert_double_eq_tol(ran_ms(true, "work"), 8, 0.01);
        ck_assert_double_eq_tol(ran_ms(false, "flush"), 4, 0.01);
}
END_TEST

static uint32_t add_lock(const char *name)
{
        const struct trace_thread *thread = trace_dictionary_row(&b.dictionary, TRACE_TABLE_THREADS, worker);
        struct trace_lock row = { .process = thread->process };

        row.location = trace_builder_location(&b, name);
        row.number = row.location;
        return trace_builder_row(&b, TRACE_TABLE_LOCKS, &row);
}

enum lock_end { OBTAINS, TAKES_ANOTHER, RELEASES_ANOTHER, GIVES_UP };

/*
 * The worker asks for a lock at 12 ms of its zone from 10 to 20 ms, and has it from 18 to 19 ms, or gives up.
 * Another thread has the lock until 17 ms.  With switches, the worker ran all the time.
 */
START_LOOP_TEST(test_waits_for_locks_without_switches, 0, 2 * (GIVES_UP + 1))
{
        uint32_t lock = add_lock("queue"), second = add_lock("another");
        bool has_switches = _i % 2 != 0, is_waiting;
        enum lock_end end = (enum lock_end)(_i / 2);

        trace_builder_begin_run(&b, worker);
        if (has_switches)
                TRACE_BUILDER_ADD(&b, 1 * MS, SWITCH_IN, 0);
        if (end == RELEASES_ANOTHER)
                TRACE_BUILDER_ADD(&b, 2 * MS, LOCK_OBTAIN, second);
        trace_builder_begin_zone(&b, 10 * MS, request);
        run_in(10, 12, working);
        TRACE_BUILDER_ADD(&b, 12 * MS, LOCK_WAIT, lock);
        run_in(12, 18, working);
        if (end == OBTAINS)
                TRACE_BUILDER_ADD(&b, 18 * MS, LOCK_OBTAIN, lock);
        else if (end == TAKES_ANOTHER)
                TRACE_BUILDER_ADD(&b, 18 * MS, LOCK_OBTAIN, second);
        run_in(18, 19, working);
        if (end != GIVES_UP)
                TRACE_BUILDER_ADD(&b, 19 * MS, LOCK_RELEASE, end == OBTAINS ? lock : second);
        run_in(19, 20, working);
        trace_builder_event(&b, 20 * MS, TRACE_OP_ZONE_END);
        if (has_switches)
                TRACE_BUILDER_ADD(&b, 30 * MS, SWITCH_OUT, 0, 0, TRACE_WAIT_SLEEPING);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, other);
        if (has_switches)
                TRACE_BUILDER_ADD(&b, 1 * MS, SWITCH_IN, 1);
        TRACE_BUILDER_ADD(&b, 5 * MS, LOCK_OBTAIN, lock);
        run_in(5, 17, flushing);
        TRACE_BUILDER_ADD(&b, 17 * MS, LOCK_RELEASE, lock);
        trace_builder_end_run(&b);
        ask();
        is_waiting = end == OBTAINS && !has_switches;
        ck_assert_double_eq_tol(ran_ms(false, "flush"), is_waiting ? 5 : 0, 0.01);
        ck_assert_double_eq_tol(ran_ms(true, "work"), is_waiting ? 5 : 10, 0.01);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
