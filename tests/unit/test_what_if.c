/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/what_if.c, replay.c: what instances gain at most if a function takes less time: as much as
 * what is the last one then allows, over joins, barriers, queues, CPUs, fibers; the new path is a partition
 */
#include "analyze/path/path.h"
#include "analyze/path/what_if.h"
#include "base/error.h"
#include "format/trace_event.h"
#include "tests/unit/path_lab.h"
#include "tests/unit/unit_test.h"
#include "view/path/what_if_words.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define N  40 /* instances */

static uint32_t m, a, b; /* threads, each on a CPU of its own */
static uint32_t frame;   /* zone */
static uint32_t serial, work, other, waits, naps, meets;

static void setup(void)
{
        path_lab_init();
        m = path_lab_thread("main", 0);
        a = path_lab_thread("a", 1);
        b = path_lab_thread("b", 2);
        frame = trace_builder_location(&path_lab.b, "frame");
        serial = path_lab_function("serial");
        work = path_lab_function("work");
        other = path_lab_function("other");
        waits = path_lab_kernel(path_lab_call(path_lab_function("await"), "read"), "pipe_read");
        naps = path_lab_kernel(path_lab_call(path_lab_function("nap"), "nanosleep"), "do_nanosleep");
        meets = path_lab_kernel(path_lab_call(path_lab_function("turn"), "pthread_barrier_wait"),
                                "futex_wait");
}

UNIT_TEST_PLAN(.setup = setup, .teardown = path_lab_deinit);

static const struct what_if *found(void)
{
        return &path_lab.path.what_if;
}

/* Asks, and checks what holds always; then gains are those of an instance in the mean. */
static void ask(const char *text)
{
        struct path_request request = { .zone = "frame" };
        struct error err = ERROR_NONE;
        uint64_t then_ns;

        ck_assert_msg(what_if_parse(&request.what_if, text, &err) == 0, "%s", err.text);
        path_lab_get(&request);
        then_ns = path_lab.path.total_ns - (uint64_t)found()->gain_ns;
        ck_assert_msg(fabs((double)then_ns - (double)found()->then_ns) <= 1e-6 * (double)then_ns + 100,
                      "%" PRIu64 " ns, but segments of %" PRIu64, then_ns, found()->then_ns);
        ck_assert_msg(fabs(found()->then.total_ns - (double)then_ns) <= 1e-6 * (double)then_ns + 100,
                      "%" PRIu64 " ns, but rows of %f", then_ns, found()->then.total_ns);
}

static double gain_ms(void)
{
        return (double)found()->gain_ns / (double)path_lab.path.n_examined / (double)MS;
}

#define GAINS(text, ms)                                                                     \
        do {                                                                                \
                ask(text);                                                                  \
                ck_assert_msg(fabs(gain_ms() - (ms)) < 0.05, "%s: %f ms", text, gain_ms()); \
        } while (0)

/* The thread and the function that are waited for then: "a work"; "" = none. */
static const char *cap(void)
{
        static char text[64];
        const struct what_if_row *row;
        enum function_kind kind;
        struct text_view name, function;

        text[0] = '\0';
        if (found()->cap == 0)
                return text;
        row = &found()->rows[found()->cap - 1];
        name = trace_dictionary_text(path_lab.trace.dictionary,
                                     path_lab.path.names.groups[row->key.group - 1].name);
        function = path_names_function(&path_lab.path.names, row->key.own, &kind);
        (void)snprintf(text, sizeof(text), "%.*s %.*s", (int)name.n_bytes, name.bytes, (int)function.n_bytes,
                       function.bytes);
        return text;
}

/* ------------------------------------------------------------------ what is asked */

static int parse(const char *text, struct what_if_request *ret)
{
        struct error err = ERROR_NONE;
        int r = what_if_parse(ret, text, &err);

        ck_assert_int_eq(r < 0, err.text[0] != '\0');
        return r;
}

START_TEST(test_requests)
{
        struct what_if_request r;

        ck_assert_int_eq(parse("serial=0.5", &r), 0);
        ck_assert_uint_eq(r.n, 1);
        ck_assert(text_view_is(r.changes[0].function, "serial"));
        ck_assert_double_eq(r.changes[0].factor, 0.5);
        ck_assert_int_eq(parse("a=0,b=25%,c=1", &r), 0);
        ck_assert_uint_eq(r.n, 3);
        ck_assert_double_eq(r.changes[0].factor, 0);
        ck_assert_double_eq(r.changes[1].factor, 0.25);
        ck_assert_int_eq(parse("operator==(int, T<1, 2>)=50%,b=0", &r), 0);
        ck_assert_uint_eq(r.n, 2);
        ck_assert(text_view_is(r.changes[0].function, "operator==(int, T<1, 2>)"));
}
END_TEST

START_TEST(test_refused_requests)
{
        static const char *const wrong[] = { "",
                                             "a",
                                             "a=",
                                             "=0.5",
                                             "a=2",
                                             "a=-1",
                                             "a=0.5,",
                                             "a=x",
                                             "a=101%",
                                             ",a=0.5",
                                             "a=0.5,b",
                                             "a=nan",
                                             "a= 0.5",
                                             "a=0.5 ",
                                             "a=0,b=1,a=0.5",
                                             "a=0.00000000000000000000000000000000001",
                                             "a=0,b=0,c=0,d=0,e=0,f=0,g=0,h=0,i=0" };
        struct what_if_request r;

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                ck_assert_msg(parse(wrong[i], &r) == -EINVAL, "%s", wrong[i]);
                ck_assert_uint_eq(r.n, 0);
        }
}
END_TEST

START_TEST(test_unknown_function)
{
        struct path_request request = { .zone = "frame" };
        struct error err = ERROR_NONE;

        path_lab_zone(m, MS, 2 * MS, frame);
        ck_assert_int_eq(what_if_parse(&request.what_if, "serail=0.5", &err), 0);
        ck_assert_int_eq(path_lab_ask(&request, NULL, &err), -ESRCH);
        ck_assert_ptr_nonnull(strstr(err.text, "did you mean 'serial'?"));
}
END_TEST

/* ------------------------------------------------------------------ one after the other */

/* 2 ms of serial(), then 8 of work() of a, which main wakes and waits for; then 10 ms outside. */
static void add_turns(void)
{
        for (uint64_t i = 1; i <= N; i++) {
                uint64_t t = 20 * MS * i;

                path_lab_zone(m, t, t + 10 * MS, frame);
                path_lab_samples(m, t, t + 2 * MS, MS / 2, serial);
                path_lab_wait(a, t - 10 * MS, t + 2 * MS, t + 2 * MS, m, waits);
                path_lab_samples(a, t + 2 * MS, t + 10 * MS, MS / 2, work);
                path_lab_wait(m, t + 2 * MS + 1, t + 10 * MS - 1, t + 10 * MS - 1, a, waits);
        }
}

START_TEST(test_turns)
{
        add_turns();
        GAINS("work=0.5", 4);
        ck_assert_str_eq(cap(), "");
        GAINS("work=0", 8);
        GAINS("serial=50%", 1);
        GAINS("serial=0,work=0.25", 8);
        /* callers count for what they called */
        GAINS("main=0", 10);
        /* not on the path, and nothing saved */
        GAINS("other=0", 0);
        GAINS("work=1", 0);
}
END_TEST

/* A bound is never more than what is, though the replay may leave less time to other programs. */
START_TEST(test_no_bound_above_what_is)
{
        add_turns();
        GAINS("other=0", 0);
        path_lab.path.what_if.then.total_ns += N * MS;
        ck_assert_double_eq(what_if_words_then_ns(&path_lab.path), what_if_words_before_ns(&path_lab.path));
        ck_assert_double_eq(what_if_words_gain(&path_lab.path), 0);
}
END_TEST

/* A handle is one function, which the answer names. */
START_TEST(test_handles)
{
        char text[32];
        uint32_t label = 0;

        add_turns();
        GAINS("work=0.5", 4);
        for (uint32_t i = 1; i <= path_lab.path.names.places.functions.functions.n_items; i++)
                if (text_view_is(trace_dictionary_text(
                                         path_lab.trace.dictionary,
                                         function_table_get(&path_lab.path.names.places.functions, i)->name),
                                 "work"))
                        label = i;
        (void)snprintf(text, sizeof(text), "f%" PRIu32 "=0.5", label);
        GAINS(text, 4);
        ck_assert(text_view_is(found()->request.changes[0].function, "work"));
}
END_TEST

/* One thread alone, that of the zone; samples are 7 ms apart, and instances have 1 ms. */
START_TEST(test_pooled_samples)
{
        for (uint64_t i = 1; i <= 400; i++)
                path_lab_zone(m, 2 * MS * i, 2 * MS * i + MS, frame);
        for (uint64_t i = 1; i <= 400; i += 4)
                path_lab_samples(m, 2 * MS * i + 1000, 2 * MS * i + 1001, 7 * MS,
                                 i % 8 == 1 ? serial : other);
        GAINS("serial=0", 0.5);
}
END_TEST

/* ------------------------------------------------------------------ who is the last one */

/* main waits for a, 6 ms of work(), and for b, 4 ms of other(). */
static void add_joins(void)
{
        for (uint64_t i = 1; i <= N; i++) {
                uint64_t t = 20 * MS * i;

                path_lab_zone(m, t, t + 6 * MS + 10, frame);
                path_lab_wait(a, t - 12 * MS, t + 1, t + 1, m, waits);
                path_lab_wait(b, t - 12 * MS, t + 2, t + 2, m, waits);
                path_lab_samples(a, t + 2, t + 6 * MS, MS / 2, work);
                path_lab_samples(b, t + 2, t + 4 * MS, MS / 2, other);
                path_lab_wait(m, t + 3, t + 4 * MS, t + 4 * MS, b, waits);
                path_lab_wait(m, t + 4 * MS + 1, t + 6 * MS, t + 6 * MS, a, waits);
        }
}

START_TEST(test_joins)
{
        add_joins();
        GAINS("work=0.75", 1.5);
        ck_assert_str_eq(cap(), "");
        GAINS("work=0.1", 2);
        ck_assert_str_eq(cap(), "b other");
        GAINS("other=0", 0);
        GAINS("work=0.5,other=0.5", 3);
}
END_TEST

/* All three meet after 1 ms of main, 3 of a, and 5 of b, which wakes the others. */
static void add_barriers(uint32_t place, uint32_t zoned)
{
        for (uint64_t i = 1; i <= N; i++) {
                uint64_t t = 5 * MS * i;

                path_lab_zone(zoned, t + 1, t + 5 * MS, frame);
                path_lab_samples(m, t, t + 1 * MS, MS / 4, serial);
                path_lab_samples(a, t, t + 3 * MS, MS / 4, other);
                path_lab_samples(b, t + 2, t + 5 * MS, MS / 4, work);
                path_lab_wait(m, t + 1 * MS, t + 5 * MS - 20, t + 5 * MS - 20, b, place);
                path_lab_wait(a, t + 3 * MS, t + 5 * MS - 10, t + 5 * MS - 10, b, place);
        }
}

START_TEST(test_barriers)
{
        add_barriers(meets, m);
        GAINS("work=0.8", 1);
        GAINS("work=0.1", 2);
        ck_assert_str_eq(cap(), "a other");
        GAINS("work=0.1,other=0", 4);
        ck_assert_str_eq(cap(), "main serial");
}
END_TEST

/* The thread that came last, and did not wait, waits then. */
START_TEST(test_last_of_a_barrier)
{
        add_barriers(meets, b);
        GAINS("work=0.8", 1);
        GAINS("work=0.1", 2);
        ck_assert_str_eq(cap(), "a other");
}
END_TEST

/* Elsewhere, those that a thread wakes do not wait for each other. */
START_TEST(test_broadcasts)
{
        add_barriers(waits, m);
        GAINS("work=0.1", 4);
}
END_TEST

/* ------------------------------------------------------------------ from one instance to the next */

/* a works 3 ms for an item, without a pause; main uses it for 0.5 ms. */
START_TEST(test_queues)
{
        for (uint64_t i = 1; i <= 4 * N; i++) {
                uint64_t t = 3 * MS * i;

                path_lab_zone(m, t + MS / 2, t + 3 * MS + MS / 2 - 1, frame);
                path_lab_wait(m, t + MS / 2 + 1, t + 3 * MS, t + 3 * MS, a, waits);
                path_lab_samples(m, t + 3 * MS, t + 3 * MS + MS / 2, MS / 8, serial);
                path_lab_samples(a, t, t + 3 * MS, MS / 4, work);
        }
        GAINS("work=0.5", 1.5);
        GAINS("work=0.1", 2.5);
        ck_assert_str_eq(cap(), "main serial");
}
END_TEST

/* a is woken for work() and for other() in turns, in the same way: each gains by its own. */
START_TEST(test_unlike_stretches)
{
        for (uint64_t i = 1; i <= 4 * N; i++) {
                uint64_t t = 10 * MS * i;

                if (i % 2 == 0)
                        path_lab_zone(m, t, t + 4 * MS, frame);
                path_lab_wait(a, t - 5 * MS, t + 1, t + 1, m, waits);
                path_lab_wait(m, t + 2, t + 4 * MS - 1, t + 4 * MS - 1, a, waits);
                path_lab_samples(a, t + 2, t + 4 * MS, MS / 2, i % 2 == 0 ? work : other);
        }
        GAINS("work=0.5", 2);
        GAINS("other=0.5", 0);
}
END_TEST

/* ------------------------------------------------------------------ what stays as it is */

START_TEST(test_timers_stay)
{
        for (uint64_t i = 1; i <= N; i++) {
                uint64_t t = 10 * MS * i;

                path_lab_zone(m, t, t + 6 * MS, frame);
                path_lab_wait(m, t + 1, t + 5 * MS, t + 5 * MS, 0, naps);
                path_lab_samples(m, t + 5 * MS, t + 6 * MS, MS / 4, serial);
                path_lab_samples(a, t, t + 5 * MS, MS / 4, work);
        }
        GAINS("work=0", 0);
        GAINS("serial=0.5", 0.5);
}
END_TEST

/*
 * main waits for a with a timeout of 2 ms, again and again.  Each time it looks for 10 us whether a is done:
 * those waits are one, and it is over when a is done; if a never ends it, it lasts as long as it did.
 */
START_LOOP_TEST(test_timeouts, 0, 2)
{
        uint64_t looks_ns = 10000;

        for (uint64_t i = 1; i <= N; i++) {
                uint64_t t = 20 * MS * i;

                path_lab_zone(m, t, t + 10 * MS, frame);
                path_lab_samples(m, t, t + 2 * MS, MS / 4, serial);
                path_lab_wait(a, t - 10 * MS, t + 2 * MS, t + 2 * MS, _i == 0 ? m : 0, waits);
                for (uint64_t k = 1; k < 4; k++)
                        path_lab_wait(m, t + 2 * MS * k + looks_ns, t + 2 * MS * (k + 1),
                                      t + 2 * MS * (k + 1), 0, naps);
                path_lab_samples(a, t + 2 * MS, t + 9 * MS, MS / 4, work);
                path_lab_wait(m, t + 8 * MS + looks_ns, t + 9 * MS, t + 9 * MS, _i == 0 ? a : 0, naps);
        }
        GAINS("work=0.5", _i == 0 ? 3.5 : 0);
        GAINS("work=0", _i == 0 ? 7 : 0);
        GAINS("serial=0.5", 1);
        GAINS("work=0.5,serial=0.5", _i == 0 ? 4.5 : 1);
}
END_TEST

/* A thread that does not wait any more needs no CPU; one that still waits gets it as late as it did. */
START_TEST(test_ready_after_a_wait)
{
        for (uint64_t i = 1; i <= N; i++) {
                uint64_t t = 20 * MS * i;

                path_lab_zone(m, t, t + 10 * MS, frame);
                path_lab_samples(m, t, t + 2 * MS, MS / 4, serial);
                path_lab_samples(a, t, t + 5 * MS, MS / 4, work);
                path_lab_wait(a, t - 10 * MS, t, t, m, waits);
                path_lab_wait(m, t + 2 * MS, t + 5 * MS, t + 9 * MS, a, waits);
        }
        GAINS("work=0.8", 1);
        GAINS("work=0.2", 7);
}
END_TEST

/* main could run from 1 ms on, and b had its CPU, with work(), until 6 ms. */
START_TEST(test_cpu_of_another_thread)
{
        path_lab.cpus[b - 1] = 0;
        for (uint64_t i = 1; i <= N; i++) {
                uint64_t t = 20 * MS * i;

                path_lab_zone(m, t, t + 7 * MS, frame);
                path_lab_out(m, t + 3000, naps);
                path_lab_wake(m, t + MS, 0);
                path_lab_in(m, t + 6 * MS);
                path_lab_wait(b, t - 10 * MS, t + 2000, t + 3010, m, waits);
                path_lab_samples(b, t + 3010, t + 6 * MS, MS / 4, work);
                path_lab_wait(b, t + 6 * MS - 100, t + 7 * MS, t + 8 * MS, 0, naps);
        }
        GAINS("work=0.5", 3);
        GAINS("work=0", 5);
}
END_TEST

/* A new thread is as far as the one that made it. */
START_TEST(test_birth)
{
        uint32_t child;

        path_lab_zone(m, 10 * MS, 20 * MS, frame);
        path_lab_samples(m, 10 * MS, 14 * MS, MS / 4, serial);
        child = path_lab_new_thread("child", 1, 11, 1, 14 * MS);
        path_lab_in(child, 14 * MS);
        path_lab_samples(child, 14 * MS, 19 * MS, MS / 4, other);
        path_lab_wait(m, 14 * MS + 10, 19 * MS, 19 * MS, child, waits);
        path_lab_out(child, 19 * MS + 10, waits);
        GAINS("serial=0.5", 2);
        GAINS("other=0", 5);
}
END_TEST

/* The zone of a fiber that a runs for 4 of 6 ms; a's own 2 ms between are other(). */
START_TEST(test_fibers)
{
        uint32_t fiber = path_lab_fiber("fiber");

        for (uint64_t i = 1; i <= N; i++) {
                uint64_t t = 10 * MS * i;

                path_lab_zone(fiber, t + 1, t + 6 * MS - 1, frame);
                PATH_LAB_EVENT(a, t, FIBER_ENTER, fiber);
                path_lab_samples(a, t + 2, t + 2 * MS, MS / 4, work);
                PATH_LAB_EVENT(a, t + 2 * MS, FIBER_LEAVE, 0);
                path_lab_samples(a, t + 2 * MS, t + 4 * MS, MS / 4, other);
                PATH_LAB_EVENT(a, t + 4 * MS, FIBER_ENTER, fiber);
                path_lab_samples(a, t + 4 * MS, t + 6 * MS, MS / 4, work);
                PATH_LAB_EVENT(a, t + 6 * MS, FIBER_LEAVE, 0);
        }
        GAINS("work=0.5", 2);
        GAINS("other=0.5", 1);
}
END_TEST

/* The acts of a thread are known all the same if its events come much later than those of others. */
START_TEST(test_thread_by_thread)
{
        path_lab.by_thread = true;
        add_turns();
        GAINS("work=0.5", 4);
}
END_TEST

/* Zones alone: nothing is known of what ran. */
START_TEST(test_zones_alone)
{
        struct path_request request = { .zone = "frame" };
        struct error err = ERROR_NONE;

        path_lab_zone(m, MS, 2 * MS, frame);
        ck_assert_int_eq(what_if_parse(&request.what_if, "serial=0.5", &err), 0);
        path_lab_get(&request);
        ck_assert_int_eq(found()->gain_ns, 0);
        ck_assert_str_eq(cap(), "");
}
END_TEST

/* In the middle of serial(), no recorded thread had the CPU for 3 ms. */
START_TEST(test_other_programs)
{
        for (uint64_t i = 1; i <= N; i++) {
                uint64_t t = 10 * MS * i;

                path_lab_zone(m, t, t + 5 * MS, frame);
                path_lab_samples(m, t, t + MS, MS / 4, serial);
                path_lab_preempt(m, t + MS, t + 4 * MS);
                path_lab_samples(m, t + 4 * MS, t + 5 * MS, MS / 4, serial);
        }
        GAINS("serial=0.5", 1);
        ck_assert_double_eq_tol(path_sums_rest_ns(&found()->then), (double)(N * MS), 0.05 * N * MS);
        ck_assert_uint_gt(found()->n_rows, 0);
        for (size_t i = 0; i < found()->n_rows; i++)
                ck_assert(!path_row_is_foreign(&found()->rows[i].key));
}
END_TEST
