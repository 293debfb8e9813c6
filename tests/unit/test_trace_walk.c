/* SPDX-License-Identifier: MIT */
/*
 * analyze/walk/loaded_trace.c, trace_walk.c, trace_filter.c, name_list.c: what passes is what was
 * asked for, and is whole
 */
#include "analyze/trace/zone_words.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/walk/zone_stats.h"
#include "base/error.h"
#include "format/trace_event.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdio.h>

struct seen {
        uint32_t n_begun, n_zones, n_with_words, n_samples, n_waits, n_messages;
        uint64_t zone_ns, self_ns, on_cpu_ns, zone_samples, wait_ns;
        uint64_t delay_ns;
        uint32_t last_path;
        char words[64];
};

static struct trace_builder b;

static void setup(void)
{
        trace_builder_init(&b);
}

static void teardown(void)
{
        trace_builder_deinit(&b);
}

static int on_begin(void *context, struct walked_thread *thread, const struct trace_event *event,
                    struct error *err)
{
        (void)thread, (void)event, (void)err;
        ((struct seen *)context)->n_begun++;
        return 0;
}

static int on_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                   struct error *err)
{
        const struct zone_words *words = trace_walk_words(thread, zone);
        struct seen *seen = context;

        (void)err;
        seen->n_zones++;
        seen->n_with_words += words != NULL;
        seen->zone_ns += zone_instance_duration_ns(zone);
        seen->self_ns += zone->self_ns;
        seen->on_cpu_ns += zone->on_cpu_ns;
        seen->zone_samples += zone->n_samples;
        seen->last_path = zone->path;
        if (words)
                (void)snprintf(seen->words, sizeof(seen->words), "%.*s|%.*s", (int)words->name.used_bytes,
                               (const char *)words->name.data, (int)words->text.used_bytes,
                               (const char *)words->text.data);
        return 0;
}

static int on_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                     struct error *err)
{
        (void)thread, (void)event, (void)err;
        ((struct seen *)context)->n_samples++;
        return 0;
}

static int on_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                   struct error *err)
{
        struct seen *seen = context;

        (void)thread, (void)err;
        seen->n_waits++;
        seen->wait_ns += wait->in_ns - wait->out_ns;
        if (wait->is_woken)
                seen->delay_ns += wait->in_ns - wait->woken_ns;
        return 0;
}

static int on_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                    struct error *err)
{
        (void)thread, (void)err;
        ((struct seen *)context)->n_messages += event->op == TRACE_OP_MESSAGE_TEXT;
        return 0;
}

static void add_sample(uint64_t time_ns, uint64_t cpu, uint32_t path, uint32_t stack)
{
        TRACE_BUILDER_ADD(&b, time_ns, SAMPLE, 1, cpu, stack, path);
}

/*
 * Thread 11 "main": a [1000, 9000), in it b [2000, 5000), which waits [3000, 4000) and is woken at 3800;
 * samples at 1500 (a, cpu 0), 2500 (b, cpu 0), 4500 (b, cpu 1), 9500 (outside, cpu 1); a message in b.
 * Thread 12 "worker/1": b [2000, 8000), a sample at 6000 on cpu 1.
 */
static void build(void)
{
        uint32_t main_thread, worker, a, in_a, in_b, alone, hot, cold;

        trace_builder_meta(&b, "start_raw_ns", "1000");
        trace_builder_meta(&b, "end_raw_ns", "10000");
        main_thread = trace_builder_thread(&b, 11, 11);
        worker = trace_builder_thread(&b, 11, 12);
        (void)trace_builder_sample_event(&b, "cycles");
        a = trace_builder_location(&b, "a");
        (void)trace_builder_location(&b, "b");
        in_a = trace_builder_path(&b, 0, a);
        in_b = trace_builder_path(&b, in_a, 2);
        alone = trace_builder_path(&b, 0, 2);
        hot = trace_builder_stack(&b, 0,
                                  trace_builder_frame(&b, trace_builder_module(&b, "/lib/libhot.so"), 1));
        cold = trace_builder_stack(&b, 0, trace_builder_frame(&b, trace_builder_module(&b, "[cold]"), 1));
        trace_builder_begin_run(&b, main_thread);
        TRACE_BUILDER_ADD(&b, 1000, THREAD_NAME, trace_builder_string(&b, "program"));
        TRACE_BUILDER_ADD(&b, 1000, THREAD_NAME, trace_builder_string(&b, "main"));
        trace_builder_begin_zone(&b, 1000, a);
        add_sample(1500, 0, in_a, hot);
        trace_builder_begin_zone(&b, 2000, 2);
        trace_builder_text(&b, 2100, TRACE_OP_ZONE_TEXT, "first");
        trace_builder_text(&b, 2100, TRACE_OP_ZONE_TEXT, "second");
        trace_builder_text(&b, 2100, TRACE_OP_ZONE_NAME, "called");
        trace_builder_text(&b, 2200, TRACE_OP_MESSAGE_TEXT, "hello");
        add_sample(2500, 0, in_b, cold);
        trace_builder_event(&b, 3000, TRACE_OP_SWITCH_OUT);
        trace_builder_event(&b, 3800, TRACE_OP_WAKEUP);
        TRACE_BUILDER_ADD(&b, 4000, SWITCH_IN, 1);
        add_sample(4500, 1, in_b, hot);
        trace_builder_event(&b, 5000, TRACE_OP_ZONE_END);
        trace_builder_event(&b, 9000, TRACE_OP_ZONE_END);
        add_sample(9500, 1, 0, 0);
        trace_builder_end_run(&b);
        trace_builder_begin_run(&b, worker);
        TRACE_BUILDER_ADD(&b, 2000, THREAD_NAME, trace_builder_string(&b, "worker/1"));
        trace_builder_begin_zone(&b, 2000, 2);
        add_sample(6000, 1, alone, hot);
        trace_builder_event(&b, 8000, TRACE_OP_ZONE_END);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
}

/* Walks with what was asked for; returns what the filter's look-up returned. */
static int walk(const struct trace_filter_request *request, struct seen *ret)
{
        struct trace_sink sink = {
                .context = ret,
                .begin_zone = on_begin,
                .zone = on_zone,
                .sample = on_sample,
                .wait = on_wait,
                .event = on_event,
                .wants_zone_paths = true,
                .wants_words = true,
        };
        struct loaded_trace trace;
        struct trace_filter filter;
        struct trace_walk w;
        struct error err = ERROR_NONE;
        int r;

        *ret = (struct seen){ .n_zones = 0 };
        ck_assert_msg(loaded_trace_open(&trace, b.path, &err) == 0, "%s", err.text);
        r = trace_filter_init(&filter, request, &trace, &err);
        ck_assert(r == 0 || err.text[0] != '\0');
        if (r == 0) {
                ck_assert_int_eq(trace_walk_init(&w, &trace, &filter, &sink), 0);
                r = loaded_trace_walk(&trace, &w, &err);
                ck_assert(r == 0 || err.text[0] != '\0');
                ck_assert_int_eq(trace.ending, TRACE_ENDING_WHOLE);
                trace_walk_deinit(&w);
        }
        trace_filter_deinit(&filter);
        loaded_trace_close(&trace);
        return r;
}

static struct thread_wait kept_waits[4];
static size_t n_kept_waits;

static int keep_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                     struct error *err)
{
        (void)context, (void)thread, (void)err;
        ck_assert_uint_lt(n_kept_waits, sizeof(kept_waits) / sizeof(kept_waits[0]));
        kept_waits[n_kept_waits++] = *wait;
        return 0;
}

/*
 * Waits say who ended them, where, in the middle of what, and who got the CPU.  A wake-up on the thread's own
 * CPU ends no wait, and shows that the thread ran.
 */
START_TEST(test_both_ends_of_waits)
{
        const struct trace_sink sink = { .wait = keep_wait };
        uint32_t one = trace_builder_thread(&b, 11, 11), two = trace_builder_thread(&b, 11, 12);
        struct loaded_trace trace;
        struct trace_walk w;

        trace_builder_begin_run(&b, one);
        TRACE_BUILDER_ADD(&b, 500, WAKEUP, 0, 0, 0, 0, 0, one);
        TRACE_BUILDER_ADD(&b, 1000, SWITCH_OUT, 3);
        TRACE_BUILDER_ADD(&b, 1100, WAKEUP, 3, one);
        TRACE_BUILDER_ADD(&b, 1200, WAKEUP, 3, 0, 0, 0, 0, one);
        TRACE_BUILDER_ADD(&b, 1300, WAKEUP, 2, 0, 0, 0, 0, two);
        TRACE_BUILDER_ADD(&b, 1400, WAKEUP, 1, two);
        TRACE_BUILDER_ADD(&b, 1500, SWITCH_IN, 2);
        TRACE_BUILDER_ADD(&b, 1600, SWITCH_OUT, 2, 1, 0, 0, 0, TRACE_SUCCESSOR_OTHER + two);
        TRACE_BUILDER_ADD(&b, 1700, SWITCH_IN, 2);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        n_kept_waits = 0;
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, NULL), 0);
        ck_assert_int_eq(trace_walk_init(&w, &trace, NULL, &sink), 0);
        ck_assert_int_eq(loaded_trace_walk(&trace, &w, NULL), 0);
        ck_assert_uint_eq(w.threads[one - 1].timeline.ran_ns, 500 + 100);
        trace_walk_deinit(&w);
        loaded_trace_close(&trace);
        ck_assert_uint_eq(n_kept_waits, 2);
        ck_assert(kept_waits[0].is_woken);
        ck_assert_uint_eq(kept_waits[0].woken_ns, 1300);
        ck_assert_uint_eq(kept_waits[0].wake_cpu, 2);
        ck_assert_uint_eq(kept_waits[0].below, two);
        ck_assert_uint_eq(kept_waits[0].waker_thread, 0);
        ck_assert(kept_waits[1].preempted && !kept_waits[1].is_woken);
        ck_assert_uint_eq(kept_waits[1].wake_cpu, TRACE_WALK_NO_CPU);
        ck_assert_uint_eq(kept_waits[1].successor, TRACE_SUCCESSOR_OTHER + two);
}
END_TEST

START_TEST(test_everything)
{
        struct seen seen;

        build();
        ck_assert_int_eq(walk(&(struct trace_filter_request){ .zone = NULL }, &seen), 0);
        ck_assert_uint_eq(seen.n_begun, 3);
        ck_assert_uint_eq(seen.n_zones, 3);
        ck_assert_uint_eq(seen.zone_ns, 8000 + 3000 + 6000);
        ck_assert_uint_eq(seen.self_ns, 5000 + 3000 + 6000);
        ck_assert_uint_eq(seen.on_cpu_ns, 7000 + 2000 + 6000);
        ck_assert_uint_eq(seen.n_samples, 5);
        ck_assert_uint_eq(seen.zone_samples, 3 + 2 + 1); /* with those of the zones inside */
        ck_assert_uint_eq(seen.n_waits, 1);
        ck_assert_uint_eq(seen.wait_ns, 1000);
        ck_assert_uint_eq(seen.delay_ns, 200);
        ck_assert_uint_eq(seen.n_messages, 1);
        ck_assert_uint_eq(seen.last_path, 3); /* the trace's own number of b alone */
        ck_assert_str_eq(seen.words, "called|first\nsecond");
}
END_TEST

/* A zone at the depth of one that said something says nothing of that. */
START_TEST(test_words_are_of_one_zone)
{
        struct seen seen;

        trace_builder_begin_run(&b, trace_builder_thread(&b, 11, 11));
        for (uint64_t i = 0; i < 4; i++) {
                trace_builder_begin_zone(&b, 1000 + 100 * i, trace_builder_location(&b, "a"));
                if (i % 2 == 0)
                        trace_builder_text(&b, 1000 + 100 * i, TRACE_OP_ZONE_TEXT,
                                           i == 0 ? "first" : "third");
                trace_builder_event(&b, 1050 + 100 * i, TRACE_OP_ZONE_END);
        }
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        ck_assert_int_eq(walk(&(struct trace_filter_request){ .zone = NULL }, &seen), 0);
        ck_assert_uint_eq(seen.n_zones, 4);
        ck_assert_uint_eq(seen.n_with_words, 2);
        ck_assert_str_eq(seen.words, "|third");
}
END_TEST

static const struct {
        const char *what;
        struct trace_filter_request request;
        uint32_t n_zones, n_samples, n_waits, n_messages;
} cases[] = {
        { "zone", { .zone = "b" }, 2, 3, 1, 1 },
        { "nested zone", { .zone = "a/b" }, 1, 2, 1, 1 },
        { "inside of a", { .zone = "a" }, 2, 3, 1, 1 },
        { "outermost b", { .zone = "/b" }, 1, 1, 0, 0 },
        { "handle", { .zone = "z1" }, 2, 3, 1, 1 },
        { "thread by name", { .thread = "work*" }, 1, 1, 0, 0 },
        { "thread by TID", { .thread = "11" }, 2, 4, 1, 1 },
        { "thread by handle", { .thread = "t2" }, 1, 1, 0, 0 },
        { "threads", { .thread = "main,t2" }, 3, 5, 1, 1 },
        { "process by PID", { .process = "11" }, 3, 5, 1, 1 },
        { "process by name", { .process = "main" }, 3, 5, 1, 1 },
        { "process by the name that the kernel knew first", { .process = "prog*" }, 3, 5, 1, 1 },
        { "CPU", { .cpu = "1" }, 0, 3, 0, 0 },
        { "CPUs", { .cpu = "0-1" }, 1, 5, 1, 1 }, /* zones that began before a CPU was seen: on none */
        { "module", { .module = "libhot.so" }, 3, 3, 0, 1 },
        { "module as it is called, no glob", { .module = "[cold]" }, 3, 1, 0, 1 },
        { "event", { .event = "cycles" }, 3, 5, 1, 1 },
        { "from", { .has_from = true, .from_ns = 3000 }, 0, 3, 0, 0 },
        { "to", { .has_to = true, .to_ns = 1000 }, 1, 1, 0, 0 },
        { "range", { .has_from = true, .from_ns = 1000, .has_to = true, .to_ns = 3000 }, 2, 1, 1, 1 },
        /*
         * what is inside of a zone that began earlier is inside of it all the same; the zone
         * itself is not in the range
         */
        { "zone, from", { .zone = "b", .has_from = true, .from_ns = 1200 }, 0, 3, 1, 1 },
        { "zone and thread", { .zone = "b", .thread = "main" }, 1, 2, 1, 1 },
};

START_LOOP_TEST(test_filters, 0, sizeof(cases) / sizeof(cases[0]))
{
        struct seen seen;

        build();
        ck_assert_int_eq(walk(&cases[_i].request, &seen), 0);
        ck_assert_msg(seen.n_zones == cases[_i].n_zones && seen.n_samples == cases[_i].n_samples &&
                              seen.n_waits == cases[_i].n_waits && seen.n_messages == cases[_i].n_messages,
                      "%s: %u zones, %u samples, %u waits, %u messages", cases[_i].what, seen.n_zones,
                      seen.n_samples, seen.n_waits, seen.n_messages);
        ck_assert_uint_eq(seen.n_begun, seen.n_zones);
}
END_TEST

START_TEST(test_what_is_not_there_is_refused)
{
        static const struct {
                struct trace_filter_request request;
                int code;
        } wrong[] = {
                { { .zone = "nosuch" }, -ENOENT },
                { { .zone = "a//b" }, -EINVAL },
                { { .thread = "nosuch" }, -ENOENT },
                { { .thread = "" }, -EINVAL },
                { { .process = "4711" }, -ENOENT },
                { { .process = "worker/1" }, -ENOENT }, /* not its first thread */
                { { .module = "nosuch" }, -ENOENT },
                { { .event = "nosuch" }, -ENOENT },
                { { .cpu = "x" }, -EINVAL },
                { { .cpu = "3-1" }, -EINVAL },
                { { .cpu = "99999999" }, -EINVAL },
                { { .cpu = "1," }, -EINVAL },
                { { .has_from = true, .from_ns = 20000 }, -ENOENT },
                { { .cpu = "7" }, -ENOENT },
                { { .zone = "b/a" }, -ENOENT },
                { { .has_to = true, .to_ns = 0, .has_from = true }, -EINVAL },
        };

        build();
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                struct seen seen;

                ck_assert_msg(walk(&wrong[i].request, &seen) == wrong[i].code, "case %zu", i);
        }
}
END_TEST

/*
 * Thread 11 ran 1000 to 3000 on CPU 0 and 4000 to 10000 on CPU 1, thread 12 2000 to 10000; on
 * CPU 1 as far as is known.
 */
static const struct {
        const char *what;
        struct trace_filter_request request;
        uint64_t ran_ns[2];
} ran_cases[] = {
        { "everything", { .zone = NULL }, { 8000, 8000 } },
        { "range", { .has_from = true, .from_ns = 1500, .has_to = true, .to_ns = 4000 }, { 1500, 2500 } },
        { "to", { .has_to = true, .to_ns = 500 }, { 500, 0 } },
        { "from", { .has_from = true, .from_ns = 8500 }, { 500, 500 } },
        { "CPU 0", { .cpu = "0" }, { 2000, 0 } },
        { "CPU 1", { .cpu = "1" }, { 6000, 8000 } },
        { "CPU 1, range", { .cpu = "1", .has_to = true, .to_ns = 3500 }, { 500, 2500 } },
        { "zone b", { .zone = "b" }, { 2000, 6000 } },
        { "zone a", { .zone = "a" }, { 7000, 0 } },
        { "zone a, range", { .zone = "a", .has_from = true, .from_ns = 1500 }, { 5500, 0 } },
};

/* Time on a CPU is that in the range, on the CPUs and in the zones, not that of the whole recording. */
START_LOOP_TEST(test_time_on_cpu_is_of_what_is_wanted, 0, sizeof(ran_cases) / sizeof(ran_cases[0]))
{
        struct trace_sink sink = { .context = NULL };
        struct loaded_trace trace;
        struct trace_filter filter;
        struct trace_walk w;

        build();
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, NULL), 0);
        ck_assert_int_eq(trace_filter_init(&filter, &ran_cases[_i].request, &trace, NULL), 0);
        ck_assert_int_eq(trace_walk_init(&w, &trace, &filter, &sink), 0);
        ck_assert_int_eq(loaded_trace_walk(&trace, &w, NULL), 0);
        for (uint32_t i = 0; i < 2; i++)
                ck_assert_msg(trace_walk_ran_ns(&w, &w.threads[i]) == ran_cases[_i].ran_ns[i],
                              "%s, thread %u: %llu ns", ran_cases[_i].what, i,
                              (unsigned long long)trace_walk_ran_ns(&w, &w.threads[i]));
        trace_walk_deinit(&w);
        trace_filter_deinit(&filter);
        loaded_trace_close(&trace);
}
END_TEST

START_TEST(test_a_thread_that_ended_before_the_range_did_not_run_in_it)
{
        struct trace_filter_request request = { .has_from = true, .from_ns = 4000 };
        struct trace_sink sink = { .context = NULL };
        struct loaded_trace trace;
        struct trace_filter filter;
        struct trace_walk w;

        trace_builder_meta(&b, "start_raw_ns", "1000");
        trace_builder_meta(&b, "end_raw_ns", "10000");
        trace_builder_begin_run(&b, trace_builder_thread(&b, 11, 11));
        trace_builder_event(&b, 1000, TRACE_OP_SWITCH_IN);
        trace_builder_event(&b, 2000, TRACE_OP_THREAD_EXIT);
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, NULL), 0);
        ck_assert_int_eq(trace_filter_init(&filter, &request, &trace, NULL), 0);
        ck_assert_int_eq(trace_walk_init(&w, &trace, &filter, &sink), 0);
        ck_assert_int_eq(loaded_trace_walk(&trace, &w, NULL), -ENOENT); /* nor did anything else happen */
        ck_assert_uint_eq(w.threads[0].timeline.ran_ns, 1000);
        ck_assert_uint_eq(trace_walk_ran_ns(&w, &w.threads[0]), 0);
        trace_walk_deinit(&w);
        trace_filter_deinit(&filter);
        loaded_trace_close(&trace);
}
END_TEST

START_TEST(test_a_trace_is_walked_as_often_as_one_likes)
{
        struct loaded_trace trace;

        build();
        ck_assert_int_eq(loaded_trace_open(&trace, b.path, NULL), 0);
        for (int i = 0; i < 3; i++) {
                struct seen seen = { .n_zones = 0 };
                struct trace_sink sink = { .context = &seen, .zone = on_zone };
                struct trace_walk w;

                ck_assert_int_eq(trace_walk_init(&w, &trace, NULL, &sink), 0);
                ck_assert_int_eq(loaded_trace_walk(&trace, &w, NULL), 0);
                ck_assert_uint_eq(seen.n_zones, 3);
                trace_walk_deinit(&w);
                ck_assert_int_eq(loaded_trace_read_names(&trace, NULL), 0);
        }
        ck_assert_uint_eq(trace.start_ns, 1000);
        ck_assert_uint_eq(trace.end_ns, 10000);
        loaded_trace_close(&trace);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
