/* SPDX-License-Identifier: MIT */
/*
 * analyze/walk/filter_miss.c, trace_filter.c: what passes nothing is refused, with the condition
 * and what there is instead
 */
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "base/error.h"
#include "format/trace_event.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void add_sample(struct trace_builder *b, uint64_t time_ns, uint32_t cpu, uint32_t path, uint32_t stack)
{
        event_encoder_add(
                &b->encoder,
                &(struct trace_event){
                        .time_ns = time_ns,
                        .op = TRACE_OP_SAMPLE,
                        .sample = { .event = 1, .cpu = cpu, .stack = stack, .path = path, .weight = 1 } });
}

static void name(struct trace_builder *b, const char *text)
{
        event_encoder_add(&b->encoder, &(struct trace_event){ .time_ns = 1000000,
                                                              .op = TRACE_OP_THREAD_NAME,
                                                              .operand = { trace_builder_string(b, text) } });
}

/* load with parse in it from 1 to 3 ms, idle until 9 ms; parse on another thread, on CPU 4. */
static void build_with(struct trace_builder *b, const struct trace_loss *loss)
{
        uint32_t load, parse, inside, alone, stack, main_thread, worker, silent;

        trace_builder_init(b);
        trace_builder_meta(b, "start_raw_ns", "1000000");
        trace_builder_meta(b, "end_raw_ns", "10000000");
        main_thread = trace_builder_thread(b, 11, 11);
        worker = trace_builder_thread(b, 11, 12);
        silent = trace_builder_thread(b, 11, 13);
        ck_assert_uint_eq(silent, 3);
        ck_assert_uint_eq(trace_builder_sample_event(b, "cycles"), 1);
        (void)trace_builder_sample_event(b, "page-faults");
        load = trace_builder_location(b, "load");
        parse = trace_builder_location(b, "parse");
        (void)trace_builder_location(b, "never");
        inside = trace_builder_path(b, trace_builder_path(b, 0, load), parse);
        alone = trace_builder_path(b, 0, parse);
        stack = trace_builder_stack(b, 0,
                                    trace_builder_frame(b, trace_builder_module(b, "/lib/libhot.so"), 1));
        (void)trace_builder_module(b, "/lib/libidle.so");
        trace_builder_begin_run(b, main_thread);
        name(b, "main");
        trace_builder_begin_zone(b, 1000000, load);
        trace_builder_begin_zone(b, 1500000, parse);
        add_sample(b, 2000000, 1, inside, stack);
        trace_builder_event(b, 3000000, TRACE_OP_ZONE_END);
        trace_builder_event(b, 3000000, TRACE_OP_ZONE_END);
        add_sample(b, 9000000, 1, 0, stack);
        trace_builder_end_run(b);
        trace_builder_begin_run(b, worker);
        name(b, "worker/1");
        trace_builder_begin_zone(b, 2000000, parse);
        add_sample(b, 2500000, 4, alone, stack);
        trace_builder_event(b, 2800000, TRACE_OP_ZONE_END);
        trace_builder_end_run(b);
        if (loss)
                (void)trace_builder_row(b, TRACE_TABLE_LOSSES, loss);
        trace_builder_finish(b);
}

static void build(struct trace_builder *b)
{
        build_with(b, NULL);
}

static int look(struct trace_builder *b, const struct trace_filter_request *request, struct error *err)
{
        const struct trace_sink sink = { .context = NULL };
        struct trace_filter filter = { .is_empty = true };
        struct trace_walk walk = { .n_threads = 0 };
        struct loaded_trace trace;
        int r = loaded_trace_open(&trace, b->path, err);

        ck_assert_int_eq(r, 0);
        r = trace_filter_init(&filter, request, &trace, err);
        if (r == 0) {
                ck_assert_int_eq(trace_walk_init(&walk, &trace, &filter, &sink), 0);
                r = loaded_trace_walk(&trace, &walk, err);
        }
        trace_walk_deinit(&walk);
        trace_filter_deinit(&filter);
        loaded_trace_close(&trace);
        return r;
}

static const struct {
        struct trace_filter_request request;
        const char *words; /* NULL = something passes */
} cases[] = {
        { { .cpu = "4" }, NULL },
        { { .cpu = "0,2-3,99" }, "CPU 0,2-3,99; there are: 1,4" },
        { { .zone = "load/parse" }, NULL },
        { { .zone = "parse/load" }, "'parse/load' in this trace is nested this way; it occurs as load" },
        { { .zone = "/load/*/parse" }, "it occurs as load/parse, parse" },
        { { .zone = "never" }, "no zone 'never' in this trace ever began" },
        { { .zone = "prase" }, "no zone 'prase' in this trace; did you mean 'parse'?" },
        { { .zone = "load/prase" }, "no zone 'prase' in this trace; did you mean 'parse'?" },
        { { .zone = "loat/parse" }, "no zone 'loat' in this trace; did you mean 'load'?" },
        { { .zone = "nothing,load" }, NULL },
        { { .thread = "wroker/1" }, "no thread 'wroker/1' in this trace; did you mean 'worker/1'?" },
        { { .thread = "4711" }, "no thread '4711' in this trace" },
        { { .thread = "t3" }, "nothing was recorded of the chosen threads" },
        { { .process = "mian" }, "did you mean 'main'?" },
        { { .module = "libhto.so" }, "no module 'libhto.so' in this trace; did you mean 'libhot.so'?" },
        { { .module = "libidle.so" }, "innermost function in 'libidle.so'" },
        { { .event = "page-faults" }, "no samples of 'page-faults'" },
        { { .event = "page-faults", .module = "libhot.so" }, "no samples of 'page-faults'" },
        { { .has_from = true, .from_ns = 4000000, .has_to = true, .to_ns = 5000000 },
          "events are from 0.000000000 s to 0.008000000 s" },
        { { .has_from = true, .from_ns = 8000000, .thread = "worker*" }, "passes all filters at once" },
        { { .zone = "load", .cpu = "4" }, "passes all filters at once" },
        { { .zone = "parse@worker/1" }, NULL },
        { { .zone = "load/parse@main" }, NULL },
        { { .zone = "parse@t2" }, NULL },
        { { .zone = "load@worker/1" }, "passes all filters at once" },
        { { .zone = "parse@wroker/1" }, "no thread 'wroker/1' in this trace; did you mean 'worker/1'?" },
        { { .zone = "prase@worker/1" }, "no zone 'prase' in this trace; did you mean 'parse'?" },
        { { .zone = "parse@" }, "no zone 'parse@' in this trace" },
        { { .zone = "@main" }, "no zone '@main' in this trace" },
};

START_TEST(threads_named_twice)
{
        const struct trace_filter_request request = { .zone = "parse@main", .thread = "t1" };
        struct error err = ERROR_NONE;
        struct trace_builder b;

        trace_builder_init(&b);
        build(&b);
        ck_assert_int_eq(look(&b, &request, &err), -EINVAL);
        ck_assert_ptr_nonnull(strstr(err.text, "--zone parse@main names threads, and so does --thread"));
        trace_builder_deinit(&b);
}
END_TEST

/* Which part of the words is a zone, and which threads; no part: they are a zone, or nothing at all. */
static const struct {
        const char *words, *zone, *thread;
} parts[] = {
        { "load", NULL, NULL },
        { "load@main", "load", "main" },
        { "lo*@main,worker/1", "lo*", "main,worker/1" },
        { "mail@host", NULL, NULL },
        { "mail@host@main", "mail@host", "main" },
        { "load@worker@5", "load", "worker@5" },
        { "none@worker@5", "none@worker", "5" },
        { "none@main@", "none", "main@" },
        { "load@", NULL, NULL },
        { "load@main@", "load", "main@" },
        { "@main", NULL, NULL },
        { "@", NULL, NULL },
        { "handle:z1@main", "handle:z1", "main" },
};

START_LOOP_TEST(zones_of_threads, 0, sizeof(parts) / sizeof(parts[0]))
{
        struct trace_builder b;
        const char *thread;
        char *zone;

        trace_builder_init(&b);
        (void)trace_builder_location(&b, "load");
        (void)trace_builder_location(&b, "mail@host");
        ck_assert_int_eq(trace_filter_split_zone(&b.dictionary, parts[_i].words, &zone, &thread), 0);
        ck_assert_pstr_eq(zone, parts[_i].zone);
        ck_assert_pstr_eq(thread, parts[_i].thread);
        free(zone);
        trace_builder_deinit(&b);
}
END_TEST

/* Zones that another recorder had are said to be with it; in a trace without such a loss nothing is added. */
START_TEST(test_zones_of_another_recorder)
{
        static const struct trace_loss losses[] = { { .reason = TRACE_LOSS_CLIENT_REFUSED, .count = 1 },
                                                    { .reason = TRACE_LOSS_CLIENT_BUSY, .count = 1 } };
        static const char *const words[] = {
                "no zone 'elsewhere' in this trace",
                "no zone 'elsewhere' in this trace; another hyprof was recording a "
                "program here, and has its zones"
        };
        static const char *const never[] = { "no zone 'never' in this trace ever began",
                                             "no zone 'never' in this trace ever began; another hyprof was "
                                             "recording a program here, and has its zones" };

        for (size_t i = 0; i < 2; i++) {
                struct error err = ERROR_NONE;
                struct trace_builder b;

                build_with(&b, &losses[i]);
                ck_assert_int_eq(look(&b, &(struct trace_filter_request){ .zone = "elsewhere" }, &err),
                                 -ENOENT);
                ck_assert_str_eq(err.text, words[i]);
                ck_assert_int_eq(look(&b, &(struct trace_filter_request){ .zone = "never" }, &err), -ENOENT);
                ck_assert_str_eq(err.text, never[i]);
                trace_builder_deinit(&b);
        }
}
END_TEST

/* loop test */
START_LOOP_TEST(test_words, 0, sizeof(cases) / sizeof(cases[0]))
{
        struct error err = ERROR_NONE;
        struct trace_builder b;
        int r;

        build(&b);
        r = look(&b, &cases[_i].request, &err);
        if (cases[_i].words)
                ck_assert_msg(r == -ENOENT && strstr(err.text, cases[_i].words), "%d: %s", r, err.text);
        else
                ck_assert_msg(r == 0, "%d: %s", r, err.text);
        trace_builder_deinit(&b);
}
END_TEST

/* An empty trace is no miss unless something was asked for. */
START_TEST(test_empty_trace)
{
        struct error err = ERROR_NONE;
        struct trace_builder b;

        trace_builder_init(&b);
        trace_builder_finish(&b);
        ck_assert_int_eq(look(&b, &(struct trace_filter_request){ .zone = NULL }, &err), 0);
        ck_assert_int_eq(look(&b, &(struct trace_filter_request){ .cpu = "0" }, &err), -ENOENT);
        ck_assert_str_eq(err.text, "there are no events in this trace");
        trace_builder_deinit(&b);
}
END_TEST
