/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/path_sums.c, path.c, path_chains.c: the paths of many instances are shares of their time
 */
#include "analyze/path/path.h"
#include "format/trace_event.h"
#include "tests/unit/path_lab.h"
#include "tests/unit/unit_test.h"

#include <math.h>

#define MS UINT64_C(1000000)

static uint32_t m, a, b; /* threads */
static uint32_t frame;   /* zone */
static uint32_t serial, work, other, waits, naps, takes;

static void setup(void)
{
        path_lab_init();
        m = path_lab_thread("main", 0);
        a = path_lab_thread("a", 1);
        b = path_lab_thread("b", 1);
        frame = trace_builder_location(&path_lab.b, "frame");
        serial = path_lab_function("serial");
        work = path_lab_function("work");
        other = path_lab_function("other");
        waits = path_lab_kernel(path_lab_call(path_lab_function("await"), "read"), "pipe_read");
        naps = path_lab_kernel(path_lab_call(path_lab_function("nap"), "nanosleep"), "do_nanosleep");
        takes = path_lab_kernel(path_lab_call(path_lab_function("take"), "pthread_mutex_lock"), "futex_wait");
}

UNIT_TEST_PLAN(.setup = setup, .teardown = path_lab_deinit);

static const struct path_request frames = { .zone = "frame" };

/* An instance of 10 ms: 2 of serial(), 8 of work() of a, for which main waits. */
static void add_frame(uint64_t begin_ns)
{
        path_lab_zone(m, begin_ns, begin_ns + 10 * MS, frame);
        path_lab_samples(m, begin_ns, begin_ns + 2 * MS, MS / 2, serial);
        path_lab_wait(m, begin_ns + 2 * MS, begin_ns + 10 * MS - 1, begin_ns + 10 * MS - 1, a, waits);
        path_lab_samples(a, begin_ns + 2 * MS, begin_ns + 10 * MS - 1, MS / 2, work);
}

START_TEST(test_shares)
{
        for (uint64_t i = 0; i < 20; i++)
                add_frame(20 * MS * (i + 1));
        path_lab_get(&frames);
        PATH_LAB_SHARE(RUN, "main", "serial", 0.2);
        PATH_LAB_SHARE(RUN, "a", "work", 0.8);
        path_lab_whole();
        ck_assert_uint_eq(path_lab.path.n_instances, 20);
        ck_assert_uint_eq(path_lab.path.n_examined, 20);
        ck_assert_uint_eq(path_lab.path.total_ns, 200 * MS);
        ck_assert_int_eq(path_lab.path.confidence, PATH_CONFIDENCE_HIGH);
        ck_assert(path_lab.path.machine_share < 1e-9);
        ck_assert(path_lab.path.has_wakeups && path_lab.path.has_switches);
        ck_assert_uint_eq(path_sums_key(&path_lab.path.sums, path_lab.path.order[0])->is_first, 0);
        ck_assert_uint_eq(path_lab.path.sums.rows[path_lab.path.order[0] - 1].n_instances, 20);
}
END_TEST

/* Instances that are shorter than the distance of two samples: they are pooled. */
START_TEST(test_pooled_samples)
{
        for (uint64_t i = 0; i < 300; i++) {
                uint64_t t = MS + 20000 * i;

                path_lab_zone(m, t, t + 10000, frame);
                path_lab_wait(m, t + 3000, t + 10000, t + 10000, a, waits);
                if (i % 3 == 0)
                        path_lab_samples(m, t + 1000, t + 1001, 1000, i % 2 == 0 ? serial : other);
                if (i % 7 == 0)
                        path_lab_samples(a, t + 5000, t + 5001, 1000, work);
        }
        path_lab_get(&frames);
        PATH_LAB_SHARE(RUN, "main", "serial", 0.15);
        PATH_LAB_SHARE(RUN, "main", "other", 0.15);
        PATH_LAB_SHARE(RUN, "a", "work", 0.7);
        path_lab_whole();
}
END_TEST

/* A thread without samples on the path ran something. */
START_TEST(test_no_samples)
{
        for (uint64_t i = 1; i <= 10; i++) {
                path_lab_zone(m, MS * i, MS * i + 10000, frame);
                path_lab_wait(m, MS * i + 3000, MS * i + 10000, MS * i + 10000, a, waits);
        }
        path_lab_get(&frames);
        PATH_LAB_SHARE(RUN, "main", "", 0.3);
        PATH_LAB_SHARE(RUN, "a", "", 0.7);
        path_lab_whole();
        ck_assert_uint_eq(path_lab.path.sums.rows[path_lab.path.order[0] - 1].n_samples, 0);
        ck_assert_int_eq(path_lab.path.confidence, PATH_CONFIDENCE_LOW);
}
END_TEST

/* ------------------------------------------------------------------ several first threads */

/* A zone on the threads of a pool, which have names of their own: their own rows are one. */
START_TEST(test_several_first_threads)
{
        for (uint64_t i = 0; i < 10; i++) {
                uint64_t t = 20 * MS * (i + 1);
                uint32_t thread = i % 2 == 0 ? a : b;

                path_lab_zone(thread, t, t + 10 * MS, frame);
                path_lab_samples(thread, t, t + 4 * MS, MS / 2, work);
                path_lab_wait(thread, t + 4 * MS, t + 10 * MS, t + 10 * MS, m, waits);
                path_lab_samples(m, t + 4 * MS, t + 10 * MS, MS / 2, serial);
        }
        path_lab_get(&frames);
        ck_assert(path_lab.path.sums.are_several);
        PATH_LAB_SHARE(RUN, "main", "serial", 0.6);
        ck_assert(fabs(path_lab_share(PATH_ROW_RUN, "a", "work") + path_lab_share(PATH_ROW_RUN, "b", "work") -
                       0.4) < 0.001);
        ck_assert(path_lab_row(PATH_ROW_RUN, "a", "work") == 0 ||
                  path_lab_row(PATH_ROW_RUN, "b", "work") == 0);
        ck_assert_uint_eq(path_lab.path.n_rows, 2);
        path_lab_whole();
}
END_TEST

/* ------------------------------------------------------------------ the machine */

/* main is ready for @n of 10 ms; the CPU has what the case says. */
static void add_ready_for(uint64_t t, uint64_t n)
{
        path_lab_zone(m, t, t + 10 * MS, frame);
        path_lab_samples(m, t, t + (10 - n) * MS, MS / 4, serial);
        path_lab_preempt(m, t + (10 - n) * MS, t + 10 * MS - 1);
}

static void add_ready(uint64_t t)
{
        add_ready_for(t, 6);
}

static const struct others_case {
        uint64_t ms; /* of 10 */
        enum path_confidence confidence;
} others_cases[] = { { 1, PATH_CONFIDENCE_HIGH }, { 3, PATH_CONFIDENCE_MEDIUM }, { 6, PATH_CONFIDENCE_LOW } };

START_LOOP_TEST(test_others, 0, sizeof(others_cases) / sizeof(others_cases[0]))
{
        const struct others_case *c = &others_cases[_i];

        for (uint64_t i = 0; i < 10; i++)
                add_ready_for(20 * MS * (i + 1), c->ms);
        path_lab_get(&frames);
        PATH_LAB_SHARE(RUN, "main", "serial", 1);               /* of the rest */
        PATH_LAB_SHARE(OTHERS, "main", "", (double)c->ms / 10); /* of all */
        path_lab_whole();
        ck_assert(fabs(path_lab.path.machine_share - (double)c->ms / 10) < 0.001);
        ck_assert_int_eq(path_lab.path.confidence, c->confidence);
        ck_assert_uint_eq(path_sums_key(&path_lab.path.sums, path_lab.path.order[0])->kind, PATH_ROW_RUN);
}
END_TEST

/* At a barrier: what a runs in main's wait makes up for what other programs took from it before. */
START_TEST(test_late_is_others)
{
        for (uint64_t i = 0; i < 10; i++) {
                uint64_t t = 20 * MS * (i + 1);

                path_lab_zone(m, t, t + 10 * MS, frame);
                path_lab_samples(m, t, t + 7 * MS, MS / 4, serial);
                path_lab_wait(m, t + 7 * MS, t + 10 * MS - 1, t + 10 * MS - 1, a, waits);
                path_lab_samples(a, t, t + 10 * MS, MS / 4, work);
                path_lab_preempt(a, t + MS, t + 3 * MS);
        }
        path_lab_get(&frames);
        PATH_LAB_SHARE(RUN, "main", "serial", 0.875);
        PATH_LAB_SHARE(RUN, "a", "work", 0.125);
        path_lab_whole();
        ck_assert(fabs(path_lab.path.machine_share - 0.2) < 0.001);
}
END_TEST

START_TEST(test_own_threads)
{
        uint32_t c = path_lab_thread("c", 0), row;
        struct path_meanwhile did;
        struct path_top owner;

        path_lab_out(c, MS, 0);
        for (uint64_t i = 0; i < 10; i++) {
                uint64_t t = 20 * MS * (i + 1);

                add_ready(t);
                path_lab_in(c, t + 4 * MS);
                path_lab_samples(c, t + 4 * MS, t + 8 * MS, MS / 2, work);
                path_lab_out(c, t + 8 * MS, 0);
        }
        path_lab_get(&frames);
        PATH_LAB_SHARE(RUN, "main", "serial", 0.5);
        PATH_LAB_SHARE(OWN, "main", "", 0.5);
        PATH_LAB_SHARE(OTHERS, "main", "", 0.2);
        row = path_lab_row(PATH_ROW_OWN, "main", "");
        owner = path_sums_top(&path_lab.path.sums, row, PATH_DETAIL_OWNER);
        ck_assert_uint_eq(owner.key->a, path_names_group(&path_lab.path.names, c));
        ck_assert(owner.share > 0.999);
        did = path_row_meanwhile(&path_lab.path, row);
        ck_assert_uint_eq(did.group, path_names_group(&path_lab.path.names, c));
        ck_assert(path_lab_is(did.label, "work"));
        ck_assert(fabs(did.share - 1) < 0.01);
}
END_TEST

START_TEST(test_recorded_programs)
{
        uint32_t c = path_lab_new_thread("c", 0, 20, 0, 0);

        path_lab_out(c, MS, 0);
        for (uint64_t i = 0; i < 10; i++) {
                uint64_t t = 20 * MS * (i + 1);

                add_ready(t);
                path_lab_in(c, t + 4 * MS);
                path_lab_out(c, t + 10 * MS - 1, 0);
        }
        path_lab_get(&frames);
        PATH_LAB_SHARE(RUN, "main", "serial", 1);
        PATH_LAB_SHARE(PROGRAM, "main", "", 0.6);
        PATH_LAB_SHARE(OTHERS, "main", "", 0);
        ck_assert(fabs(path_lab.path.machine_share - 0.6) < 0.001);
        path_lab_whole();
}
END_TEST

/* Half of the time without a CPU lies in a throttled span, and half of that was throttled. */
START_TEST(test_throttled)
{
        trace_builder_meta(&path_lab.b, "cpu_throttled", "0+115000=15000;1000000+1000=1000;");
        for (uint64_t i = 0; i < 10; i++)
                add_ready(20 * MS * (i + 1));
        path_lab_get(&frames);
        PATH_LAB_SHARE(RUN, "main", "serial", 40.0 / 55);
        PATH_LAB_SHARE(THROTTLED, "main", "", 15.0 / 55);
        PATH_LAB_SHARE(OTHERS, "main", "", 0.45);
        path_lab_whole();
}
END_TEST

/* More cannot be throttled than there was. */
START_TEST(test_throttled_wholly)
{
        trace_builder_meta(&path_lab.b, "cpu_throttled", "0+1000000=900000;");
        for (uint64_t i = 0; i < 10; i++)
                add_ready(20 * MS * (i + 1));
        path_lab_get(&frames);
        PATH_LAB_SHARE(RUN, "main", "serial", 0.4);
        PATH_LAB_SHARE(THROTTLED, "main", "", 0.6);
        PATH_LAB_SHARE(OTHERS, "main", "", 0);
        ck_assert(path_lab.path.machine_share < 1e-9);
        path_lab_whole();
}
END_TEST

/* ------------------------------------------------------------------ waits */

START_TEST(test_sleep)
{
        uint32_t row;
        struct path_meanwhile did;

        for (uint64_t i = 0; i < 10; i++) {
                uint64_t t = 20 * MS * (i + 1);

                path_lab_zone(m, t, t + 10 * MS, frame);
                path_lab_wait(m, t, t + 10 * MS, t + 10 * MS, 0, naps);
                path_lab_samples(a, t, t + 7 * MS, MS / 2, work);
        }
        path_lab_get(&frames);
        PATH_LAB_SHARE(WAIT, "main", "nap", 1);
        row = path_lab_row(PATH_ROW_WAIT, "main", "nap");
        ck_assert_uint_eq(path_sums_key(&path_lab.path.sums, row)->end, WAIT_END_TIMER);
        ck_assert(path_lab_is(path_sums_key(&path_lab.path.sums, row)->call, "nanosleep"));
        did = path_row_meanwhile(&path_lab.path, row);
        ck_assert_uint_eq(did.group, path_names_group(&path_lab.path.names, a));
        ck_assert(path_lab_is(did.label, "work"));
        ck_assert_msg(fabs(did.share - 0.7) < 0.01, "%f", did.share);
}
END_TEST

START_TEST(test_spin)
{
        uint32_t spins = path_lab_function("spin_wait"), row;
        struct path_meanwhile did;

        for (uint64_t i = 0; i < 10; i++) {
                uint64_t t = 20 * MS * (i + 1);

                path_lab_zone(m, t, t + 10 * MS, frame);
                path_lab_samples(m, t, t + 8 * MS, MS / 2, spins);
                path_lab_samples(m, t + 8 * MS, t + 10 * MS, MS / 2, serial);
                path_lab_samples(a, t, t + 5 * MS, MS / 2, work);
        }
        path_lab_get(&frames);
        PATH_LAB_SHARE(SPIN, "main", "spin_wait", 0.8);
        PATH_LAB_SHARE(RUN, "main", "serial", 0.2);
        row = path_lab_row(PATH_ROW_SPIN, "main", "spin_wait");
        did = path_row_meanwhile(&path_lab.path, row);
        ck_assert(path_lab_is(did.label, "work"));
        ck_assert_msg(fabs(did.share - 5.0 / 8) < 0.05, "%f", did.share); /* of the time that it spins */
}
END_TEST

START_TEST(test_unrecorded_program)
{
        uint32_t row;

        for (uint64_t i = 0; i < 10; i++) {
                uint64_t t = 20 * MS * (i + 1);

                path_lab_zone(m, t, t + 10 * MS, frame);
                path_lab_out(m, t, waits);
                path_lab_wake_by(m, t + 10 * MS, "server");
                path_lab_in(m, t + 10 * MS);
        }
        path_lab_get(&frames);
        row = path_lab_row(PATH_ROW_WAIT, "main", "await");
        ck_assert_uint_ne(row, 0);
        ck_assert_uint_eq(path_sums_key(&path_lab.path.sums, row)->end, WAIT_END_PROGRAM);
        ck_assert(text_view_is(
                trace_dictionary_text(path_lab.trace.dictionary, path_sums_key(&path_lab.path.sums, row)->by),
                "server"));
}
END_TEST

/* ------------------------------------------------------------------ chains */

/* main waits for a, which waits for b: the row's chain, and the table's. */
START_TEST(test_chains)
{
        struct path_top top;
        uint32_t threads[4];

        for (uint64_t i = 0; i < 10; i++) {
                uint64_t t = 20 * MS * (i + 1);

                path_lab_zone(m, t, t + 10 * MS, frame);
                path_lab_wait(m, t + MS, t + 10 * MS, t + 10 * MS, a, takes);
                path_lab_wait(a, t, t + 9 * MS, t + 9 * MS, b, waits);
                path_lab_samples(b, t, t + 9 * MS, MS / 2, work);
                path_lab_samples(a, t + 9 * MS, t + 10 * MS, MS / 2, other);
                path_lab_samples(m, t, t + MS, MS / 2, serial);
        }
        path_lab_get(&frames);
        PATH_LAB_SHARE(RUN, "b", "work", 0.8);
        PATH_LAB_SHARE(RUN, "a", "other", 0.1);
        top = path_sums_top(&path_lab.path.sums, path_lab_row(PATH_ROW_RUN, "b", "work"), PATH_DETAIL_CHAIN);
        ck_assert_uint_eq(path_chains_threads(&path_lab.path.walk, top.key->a, threads), 2);
        ck_assert_uint_eq(threads[0], a);
        ck_assert_uint_eq(threads[1], m);
        ck_assert_uint_eq(path_lab.path.chains.n, 2);
        ck_assert_uint_eq(path_lab.path.chains.items[0].key.n, 2);
        ck_assert_uint_eq(path_lab.path.chains.items[0].key.groups[0],
                          path_names_group(&path_lab.path.names, a));
        ck_assert(fabs(path_lab.path.chains.items[0].ns - 80e6) < 1);
        top = path_sums_top(&path_lab.path.sums, path_lab_row(PATH_ROW_RUN, "b", "work"), PATH_DETAIL_OWNER);
        ck_assert_ptr_null(top.key);
}
END_TEST

/* ------------------------------------------------------------------ nothing is planted */

/* Two threads of equal work that wait for nothing: none delays the other. */
START_TEST(test_null_constant)
{
        for (uint64_t i = 0; i < 50; i++) {
                uint64_t t = 20 * MS * (i + 1);

                path_lab_zone(m, t, t + 10 * MS, frame);
                path_lab_samples(m, t, t + 20 * MS, MS / 2, serial);
                path_lab_samples(a, t, t + 20 * MS, MS / 2, work);
        }
        path_lab_get(&frames);
        ck_assert_uint_eq(path_lab.path.n_rows, 1);
        PATH_LAB_SHARE(RUN, "main", "serial", 1);
        ck_assert_uint_eq(path_lab.path.chains.n, 0);
}
END_TEST

/* Four threads with equal parts meet at a barrier: the last one comes by chance, and hardly later. */
START_TEST(test_null_balanced)
{
        for (uint64_t i = 0; i < 50; i++) {
                uint64_t t = 20 * MS * (i + 1), late = i % 3 == 0 ? 100000 : 0;

                path_lab_zone(m, t, t + 10 * MS + late, frame);
                path_lab_samples(m, t, t + 10 * MS, MS / 2, serial);
                path_lab_samples(a, t, t + 10 * MS, MS / 2, work);
                if (late != 0)
                        path_lab_wait(m, t + 10 * MS, t + 10 * MS + late, t + 10 * MS + late, a, waits);
        }
        path_lab_get(&frames);
        for (uint32_t i = 0; i < path_lab.path.n_rows; i++)
                if (!path_sums_key(&path_lab.path.sums, path_lab.path.order[i])->is_first)
                        ck_assert(path_row_share(&path_lab.path, path_lab.path.order[i]) < 0.05);
        ck_assert(path_lab_share(PATH_ROW_RUN, "main", "serial") > 0.95);
}
END_TEST

/* ------------------------------------------------------------------ doubt */

/* Half of the instances wait, the others do not: the interval is that of a coin. */
START_TEST(test_doubt)
{
        double doubt;

        for (uint64_t i = 0; i < 100; i++) {
                uint64_t t = 20 * MS * (i + 1);

                path_lab_zone(m, t, t + 10 * MS, frame);
                if (i % 2 == 0)
                        path_lab_wait(m, t, t + 10 * MS, t + 10 * MS, 0, naps);
                else
                        path_lab_samples(m, t, t + 10 * MS, MS / 2, serial);
        }
        path_lab_get(&frames);
        doubt = path_row_doubt(&path_lab.path, path_lab_row(PATH_ROW_WAIT, "main", "nap"));
        ck_assert_msg(doubt > 0.09 && doubt < 0.12, "%f", doubt);
        path_lab_get(&(struct path_request){ .zone = "frame", .instance = 1 });
        ck_assert(path_row_doubt(&path_lab.path, path_lab.path.order[0]) < 1e-9);
}
END_TEST

START_TEST(test_confidence_of_a_loaded_machine)
{
        for (uint64_t i = 0; i < 20; i++) {
                uint64_t t = 20 * MS * (i + 1);

                path_lab_zone(m, t, t + 10 * MS, frame);
                path_lab_samples(m, t, t + MS, MS / 20, serial);
                path_lab_preempt(m, t + MS, t + 10 * MS - 1);
        }
        path_lab_get(&frames);
        ck_assert(path_lab.path.machine_share > 0.8);
        ck_assert_int_eq(path_lab.path.confidence, PATH_CONFIDENCE_LOW);
}
END_TEST

START_TEST(test_confidence_without_switches)
{
        for (uint64_t i = 0; i < 20; i++) {
                path_lab_zone(m, 20 * MS * (i + 1), 20 * MS * (i + 1) + 10 * MS, frame);
                path_lab_samples(m, 20 * MS * (i + 1), 20 * MS * (i + 1) + 10 * MS, MS / 2, serial);
        }
        path_lab_get(&frames);
        ck_assert(!path_lab.path.has_switches && !path_lab.path.has_wakeups);
        ck_assert_int_eq(path_lab.path.confidence, PATH_CONFIDENCE_LOW);
}
END_TEST
