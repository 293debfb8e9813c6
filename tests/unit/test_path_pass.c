/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/path_pass.c: the instances that were asked for are walked once and wholly, and nothing that is
 * needed for them is forgotten
 */
#include "analyze/path/path.h"
#include "analyze/walk/trace_filter.h"
#include "base/error.h"
#include "format/trace_event.h"
#include "tests/unit/path_lab.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <math.h>

#define MS UINT64_C(1000000)

static uint32_t m, a;  /* threads */
static uint32_t frame; /* zone */
static uint32_t serial, work, other, waits, naps;

static void setup(void)
{
        path_lab_init();
        m = path_lab_thread("main", 0);
        a = path_lab_thread("a", 1);
        frame = trace_builder_location(&path_lab.b, "frame");
        serial = path_lab_function("serial");
        work = path_lab_function("work");
        other = path_lab_function("other");
        waits = path_lab_kernel(path_lab_call(path_lab_function("await"), "read"), "pipe_read");
        naps = path_lab_kernel(path_lab_call(path_lab_function("nap"), "nanosleep"), "do_nanosleep");
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

/* ------------------------------------------------------------------ which instances */

/* Frames of 10, 20, 30 ... ms; the first part is serial() and the last 5 ms other(). */
static void add_growing(int n)
{
        uint64_t t = 10 * MS;

        path_lab_preempt(m, MS, 2 * MS);
        for (int i = 1; i <= n; i++) {
                uint64_t end = t + 10 * MS * (uint64_t)i;

                path_lab_zone(m, t, end, frame);
                path_lab_samples(m, t, end - 5 * MS, MS, serial);
                path_lab_samples(m, end - 5 * MS, end, MS, other);
                t = end + MS;
        }
}

START_TEST(test_slowest)
{
        add_growing(10);
        path_lab_get(&(struct path_request){ .zone = "frame", .slowest = 0.2 });
        ck_assert_uint_eq(path_lab.path.n_instances, 10);
        ck_assert_uint_eq(path_lab.path.n_examined, 2);
        ck_assert_uint_eq(path_lab.path.total_ns, 190 * MS);
        ck_assert_uint_eq(path_lab.path.threshold_ns, 90 * MS);
        PATH_LAB_SHARE(RUN, "main", "other", 10.0 / 190);
        ck_assert_uint_eq(path_lab.path.shown.number, 10);
        ck_assert_int_eq(path_lab.path.confidence, PATH_CONFIDENCE_MEDIUM); /* they are few */
        path_lab_get(&(struct path_request){ .zone = "frame", .slowest = 0.01 });
        ck_assert_uint_eq(path_lab.path.n_examined, 1);
        path_lab_get(&(struct path_request){ .zone = "frame", .slowest = 1 });
        ck_assert_uint_eq(path_lab.path.n_examined, 10);
}
END_TEST

START_TEST(test_slower_than)
{
        struct error err = ERROR_NONE;

        add_growing(10);
        path_lab_get(&(struct path_request){ .zone = "frame", .slower_than_ns = 80 * MS });
        ck_assert_uint_eq(path_lab.path.n_examined, 3);
        ck_assert_int_eq(path_lab_ask(&(struct path_request){ .zone = "frame", .slower_than_ns = 101 * MS },
                                      NULL, &err),
                         -ENOENT);
        ck_assert_str_eq(err.text, "no instance takes as long as that");
}
END_TEST

START_TEST(test_one_instance)
{
        struct error err = ERROR_NONE;

        add_growing(10);
        path_lab_get(&(struct path_request){ .zone = "frame", .instance = 3 });
        ck_assert_uint_eq(path_lab.path.n_examined, 1);
        ck_assert_uint_eq(path_lab.path.n_instances, 10);
        ck_assert_uint_eq(path_lab.path.total_ns, 30 * MS);
        ck_assert_uint_eq(path_lab.path.shown.number, 3);
        ck_assert_int_eq(path_lab_ask(&(struct path_request){ .zone = "frame", .instance = 11 }, NULL, &err),
                         -ENOENT);
        ck_assert_str_eq(err.text, "--instance 11: there are 10");
}
END_TEST

START_TEST(test_none)
{
        struct error err = ERROR_NONE;

        PATH_LAB_EVENT(m, 1000, ZONE_BEGIN, frame);
        path_lab_samples(m, 2000, 3000, 100, serial);
        ck_assert_int_eq(path_lab_ask(&frames, NULL, &err), -ENOENT);
        ck_assert_str_eq(err.text, "no instance of the zone has an end, among those that pass the filters");
        ck_assert_uint_eq(path_lab.path.n_unclosed, 1);
}
END_TEST

START_TEST(test_nothing_at_all)
{
        struct error err = ERROR_NONE;

        ck_assert_int_eq(path_lab_ask(&(struct path_request){ .zone = NULL }, NULL, &err), -ENOENT);
        ck_assert_str_eq(err.text, "the trace has no thread whose path could be followed");
}
END_TEST

/* A trace that has nothing but zones. */
START_TEST(test_zones_alone)
{
        path_lab_zone(m, 1000, 2000, frame);
        path_lab_get(&frames);
        ck_assert_uint_eq(path_lab.path.total_ns, 1000);
        PATH_LAB_SHARE(RUN, "main", "", 1);
        path_lab_get(&(struct path_request){ .zone = NULL });
        ck_assert_uint_eq(path_lab.path.total_ns, 1999);
        PATH_LAB_SHARE(RUN, "main", "", 1);
        ck_assert_int_eq(path_lab.path.confidence, PATH_CONFIDENCE_LOW);
}
END_TEST

/* A zone in itself is one instance. */
START_TEST(test_recursion)
{
        PATH_LAB_EVENT(m, 1000, ZONE_BEGIN, frame);
        PATH_LAB_EVENT(m, 1100, ZONE_BEGIN, frame);
        PATH_LAB_EVENT(m, 1200, ZONE_END, 0);
        PATH_LAB_EVENT(m, 1300, ZONE_END, 0);
        path_lab_get(&frames);
        ck_assert_uint_eq(path_lab.path.n_instances, 1);
        ck_assert_uint_eq(path_lab.path.total_ns, 300);
}
END_TEST

START_TEST(test_filters)
{
        const struct trace_filter_request thread = { .thread = "a" };
        const struct trace_filter_request range = {
                .has_from = true, .from_ns = 35 * MS, .has_to = true, .to_ns = 75 * MS
        };
        struct error err = ERROR_NONE;

        for (uint64_t i = 0; i < 5; i++)
                add_frame(20 * MS * (i + 1));
        path_lab_zone(a, 300 * MS, 301 * MS, frame);
        path_lab_get(&frames);
        ck_assert_uint_eq(path_lab.path.n_examined, 6);
        ck_assert_int_eq(path_lab_ask(&frames, &thread, &err), 0);
        ck_assert_uint_eq(path_lab.path.n_examined, 1);
        ck_assert_uint_eq(path_lab.path.total_ns, MS);
        ck_assert_int_eq(path_lab_ask(&frames, &range, &err), 0);
        ck_assert_uint_eq(path_lab.path.n_examined, 2);
        PATH_LAB_SHARE(RUN, "a", "work", 0.8);
}
END_TEST

/* The instance that is shown is the slowest, with its segments in the order of time. */
START_TEST(test_shown)
{
        const struct path *p = &path_lab.path;

        for (uint64_t i = 0; i < 3; i++)
                add_frame(20 * MS * (i + 1));
        path_lab_zone(m, 100 * MS, 100 * MS + 5000, frame);
        path_lab_get(&frames);
        ck_assert_uint_eq(p->shown.number, 1);
        ck_assert_uint_eq(p->segments.n_items, 3);
        ck_assert_uint_eq(p->segments.items[0].begin_ns, p->shown.begin_ns);
        ck_assert_uint_eq(p->segments.items[2].end_ns, p->shown.end_ns);
        ck_assert_uint_eq(p->segments.items[1].begin_ns, p->segments.items[0].end_ns);
        ck_assert_uint_eq(p->segments.items[1].thread, a);
        ck_assert_uint_eq(p->segments.items[1].depth, 1);
        ck_assert_uint_eq(p->segments.items[1].stack, work);
        ck_assert_uint_eq(p->segments.items[1].kind, PATH_RUN);
}
END_TEST

struct taken {
        uint64_t ns, n, instances;
};

static int take(void *context, const struct path_instance *instance, const struct path_segment *segment)
{
        struct taken *taken = context;

        taken->ns += segment->end_ns - segment->begin_ns;
        taken->n++;
        taken->instances |= UINT64_C(1) << instance->number;
        return 0;
}

START_TEST(test_taken)
{
        struct taken taken = { .ns = 0 };

        for (uint64_t i = 0; i < 3; i++)
                add_frame(20 * MS * (i + 1));
        path_lab_get(&(struct path_request){ .zone = "frame", .take = take, .context = &taken });
        ck_assert_uint_eq(taken.ns, 30 * MS);
        ck_assert_uint_eq(taken.n, 9);
        ck_assert_uint_eq(taken.n, path_lab.path.n_segments);
        ck_assert_uint_eq(taken.instances, 2 + 4 + 8);
}
END_TEST

/* ------------------------------------------------------------------ whole runs */

START_TEST(test_whole_run)
{
        path_lab_samples(m, 1, 20 * MS, MS, serial);
        path_lab_wait(m, 20 * MS, 100 * MS, 100 * MS, a, waits);
        path_lab_samples(a, 1, 100 * MS, MS, work);
        PATH_LAB_EVENT(m, 100 * MS + 1, THREAD_EXIT, 0);
        PATH_LAB_EVENT(a, 150 * MS, THREAD_EXIT, 0); /* does not count any more */
        path_lab_get(&(struct path_request){ .zone = NULL });
        ck_assert_uint_eq(path_lab.path.total_ns, 100 * MS);
        ck_assert_uint_eq(path_lab.path.n_examined, 1);
        PATH_LAB_SHARE(RUN, "main", "serial", 0.2);
        PATH_LAB_SHARE(RUN, "a", "work", 0.8);
        path_lab_whole();
        ck_assert_int_eq(path_lab.path.confidence, PATH_CONFIDENCE_HIGH);
}
END_TEST

/* A process that another one started is on that one's path, and none of its own. */
START_TEST(test_child_processes)
{
        uint32_t child = path_lab_new_thread("child", 1, 20, 1, 30 * MS);

        path_lab_samples(m, 1, 40 * MS, MS, serial);
        path_lab_in(child, 30 * MS);
        path_lab_samples(child, 30 * MS, 100 * MS, MS, work);
        path_lab_wait(m, 40 * MS, 100 * MS, 100 * MS, child, waits);
        PATH_LAB_EVENT(child, 100 * MS, THREAD_EXIT, 0);
        PATH_LAB_EVENT(m, 100 * MS + 1, THREAD_EXIT, 0);
        path_lab_get(&(struct path_request){ .zone = NULL });
        ck_assert_uint_eq(path_lab.path.n_examined, 1);
        PATH_LAB_SHARE(RUN, "main", "serial", 0.4);
        PATH_LAB_SHARE(RUN, "child", "work", 0.6);
}
END_TEST

/* Programs that were all recorded, each for itself. */
START_TEST(test_several_processes)
{
        uint32_t second = path_lab_new_thread("second", 1, 20, 0, 0);

        path_lab_samples(m, 1, 40 * MS, MS, serial);
        path_lab_samples(second, 1, 40 * MS, MS, work);
        PATH_LAB_EVENT(m, 40 * MS + 1, THREAD_EXIT, 0);
        PATH_LAB_EVENT(second, 60 * MS + 1, THREAD_EXIT, 0);
        path_lab_get(&(struct path_request){ .zone = NULL });
        ck_assert_uint_eq(path_lab.path.n_examined, 2);
        ck_assert_uint_eq(path_lab.path.total_ns, 100 * MS);
        ck_assert(path_lab.path.sums.are_several);
        path_lab_whole();
}
END_TEST

/* Threads of one name are one row; its thread is one that is on the path, not the first one of that name. */
START_LOOP_TEST(test_threads_of_one_name, 0, 2)
{
        uint32_t row;

        for (uint64_t i = 0; i < 2; i++) {
                uint32_t helper = path_lab_thread("main", (uint32_t)i + 4);

                path_lab_wait(m, 20 * MS * i + 10 * MS, 20 * MS * i + 20 * MS, 20 * MS * i + 20 * MS, helper,
                              waits);
                path_lab_preempt(helper, 20 * MS * i + 1, 20 * MS * i + 2);
                if (_i == 0)
                        path_lab_samples(helper, 20 * MS * i + 10 * MS, 20 * MS * i + 20 * MS, MS, work);
        }
        PATH_LAB_EVENT(m, 40 * MS + 1, THREAD_EXIT, 0);
        path_lab_get(&(struct path_request){ .zone = NULL });
        for (row = path_lab.path.sums.keys.n_items; row > 0; row--) {
                const struct path_row_key *key = path_sums_key(&path_lab.path.sums, row);

                if (key->kind == PATH_ROW_RUN && !key->is_first && path_lab.path.sums.rows[row - 1].ns > 0)
                        break;
        }
        ck_assert_uint_ne(row, 0);
        ck_assert_uint_ne(path_lab.path.sums.rows[row - 1].thread, 0);
        ck_assert_uint_ne(path_lab.path.sums.rows[row - 1].thread, m);
}
END_TEST

/* main waits to the end, as that of a server does: --thread and --process take another one. */
START_LOOP_TEST(test_chosen_threads, 0, 3)
{
        static const struct trace_filter_request filters[] = { { .thread = NULL },
                                                               { .thread = "a" },
                                                               { .process = "20" } };
        uint32_t child = path_lab_new_thread("child", 1, 20, 1, 30 * MS);
        struct error err = ERROR_NONE;

        path_lab_out(m, 1, waits);
        path_lab_samples(a, 1, 40 * MS, MS, serial);
        path_lab_wait(a, 40 * MS, 80 * MS, 80 * MS, child, waits);
        path_lab_in(child, 30 * MS);
        path_lab_samples(child, 30 * MS, 80 * MS, MS, work);
        PATH_LAB_EVENT(child, 80 * MS + 1, THREAD_EXIT, 0);
        PATH_LAB_EVENT(a, 80 * MS + 1, THREAD_EXIT, 0);
        ck_assert_msg(path_lab_ask(&(struct path_request){ .zone = NULL }, &filters[_i], &err) == 0, "%s",
                      err.text);
        ck_assert_uint_eq(path_lab.path.n_examined, 1);
        PATH_LAB_SHARE(RUN, "a", "serial", _i == 1 ? 0.5 : 0);
        PATH_LAB_SHARE(RUN, "child", "work", _i == 1 ? 0.5 : _i == 2 ? 1 : 0);
        path_lab_whole();
}
END_TEST

START_TEST(test_whole_run_in_a_range)
{
        const struct trace_filter_request range = {
                .has_from = true, .from_ns = 10 * MS, .has_to = true, .to_ns = 40 * MS
        };
        struct error err = ERROR_NONE;

        path_lab_samples(m, 1, 20 * MS, MS, serial);
        path_lab_wait(m, 20 * MS, 90 * MS, 90 * MS, a, waits);
        path_lab_samples(a, 1, 90 * MS, MS, work);
        ck_assert_int_eq(path_lab_ask(&(struct path_request){ .zone = NULL }, &range, &err), 0);
        ck_assert_uint_eq(path_lab.path.total_ns, 30 * MS);
        PATH_LAB_SHARE(RUN, "main", "serial", 1.0 / 3);
        PATH_LAB_SHARE(RUN, "a", "work", 2.0 / 3);
}
END_TEST

/* ------------------------------------------------------------------ more than there is room for */

#define MANY 20000

/* Waits for a in turns with own work, for @n milliseconds; each half of it. */
static void add_turns(uint64_t begin_ns, uint64_t n)
{
        for (uint64_t t = begin_ns; t < begin_ns + n * MS; t += MS) {
                path_lab_samples(m, t, t + 1, MS / 2, serial);
                path_lab_wait(m, t + MS / 2, t + MS, t + MS, a, waits);
                path_lab_wait(a, t, t + MS / 2, t + MS / 2, m, naps); /* m asks: no join */
                path_lab_samples(a, t + MS / 2, t + MS / 2 + 1, MS / 2, work);
        }
}

/* A long instance, or run, is walked in parts: nothing is lost. */
START_LOOP_TEST(test_settled, 0, 2)
{
        const struct path_request request = { .zone = _i == 0 ? "frame" : NULL, .past_bytes_max = 2000000 };

        path_lab_zone(m, MS, (MANY + 1) * MS, frame);
        add_turns(MS, MANY);
        path_lab_get(&request);
        ck_assert_uint_eq(path_lab.path.past.n_forgotten, 0);
        ck_assert_uint_eq(path_lab.path.n_examined, 1);
        PATH_LAB_SHARE(RUN, "main", "serial", 0.5);
        PATH_LAB_SHARE(RUN, "a", "work", 0.5);
        PATH_LAB_SHARE(CUT, "main", "", 0);
}
END_TEST

/* Where the slowest are chosen, it is not known yet whether the open one is among them: its begin is cut. */
START_TEST(test_not_settled)
{
        const struct path_request request = { .zone = "frame",
                                              .slower_than_ns = 1,
                                              .past_bytes_max = 2000000 };
        double cut;

        path_lab_zone(m, MS, (MANY + 1) * MS, frame);
        add_turns(MS, MANY);
        path_lab_get(&request);
        ck_assert_uint_gt(path_lab.path.past.n_forgotten, 0);
        cut = path_lab_share(PATH_ROW_CUT, "main", "");
        ck_assert(cut > 0.5 && cut < 0.95);
        ck_assert(fabs(path_lab_share(PATH_ROW_RUN, "a", "work") - (1 - cut) / 2) < 0.01);
        ck_assert_int_eq(path_lab.path.confidence, PATH_CONFIDENCE_LOW);
        path_lab_whole();
}
END_TEST

/* An instance that has no end counts as far as it was walked, so that the sums are those of the instances. */
START_TEST(test_settled_without_an_end)
{
        PATH_LAB_EVENT(m, MS, ZONE_BEGIN, frame);
        add_turns(MS, MANY);
        path_lab_get(&(struct path_request){ .zone = "frame", .past_bytes_max = 2000000 });
        ck_assert_uint_eq(path_lab.path.n_unclosed, 0);
        ck_assert_uint_gt(path_lab.path.total_ns, MANY / 2 * MS);
        ck_assert_uint_lt(path_lab.path.total_ns, MANY * MS);
        path_lab_whole();
}
END_TEST

/* Instances after each other need little, however long the recording. */
START_TEST(test_forgets)
{
        for (uint64_t i = 0; i < 400; i++) {
                path_lab_zone(m, MS + 50 * MS * i, MS + 50 * MS * i + 49 * MS, frame);
                add_turns(MS + 50 * MS * i, 50);
        }
        path_lab_get(
                &(struct path_request){ .zone = "frame", .slower_than_ns = 1, .past_bytes_max = 2000000 });
        ck_assert_uint_eq(path_lab.path.past.n_forgotten, 0);
        ck_assert_uint_eq(path_lab.path.n_examined, 400);
        PATH_LAB_SHARE(CUT, "main", "", 0);
        PATH_LAB_SHARE(RUN, "a", "work", 0.5);
}
END_TEST

/* Samples alone, without any switch, are dropped as well. */
START_TEST(test_forgets_samples)
{
        for (uint64_t i = 0; i < 1000; i++)
                path_lab_zone(m, MS + 100 * MS * i, MS + 100 * MS * i + MS, frame);
        path_lab_samples(m, MS, 100000 * MS, MS, serial);
        path_lab_get(&frames);
        ck_assert_uint_lt(path_lab.path.past.used_bytes, 2000000);
        ck_assert_uint_gt(path_lab.path.past.kept_ns, 50000 * MS);
}
END_TEST
