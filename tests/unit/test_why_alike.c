/* SPDX-License-Identifier: MIT */
/*
 * view/why/why_words.c: where instances cannot be compared, because they are alike or too few, the answer
 * says so and points to `hyprof path`; where there is a slow one to explain, or none at all, it does not
 */
#include "base/byte_buffer.h"
#include "format/trace_event.h"
#include "format/trace_rows.h"
#include "tests/unit/asked_why.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/why/why_view.h"

#include <string.h>

#define USUAL_NS   UINT64_C(100000)
#define SLOW_EVERY 40

static struct trace_builder b;
static struct asked_why a;

static void setup(void)
{
        trace_builder_init(&b);
}

static void teardown(void)
{
        asked_why_deinit(&a);
        trace_builder_deinit(&b);
}

/* A clock of 10 MHz. */
static void add_coarse_clock(void)
{
        for (uint64_t i = 0; i < 2; i++) {
                const struct trace_clock row = { .ticks = 1 + i * 1000,
                                                 .raw_ns = 1 + i * 100000,
                                                 .kind = TRACE_CLOCK_CNTVCT };

                (void)trace_builder_row(&b, TRACE_TABLE_CLOCKS, &row);
        }
}

static const struct {
        uint32_t n;            /* instances */
        uint64_t step_ns;      /* by which each of 40 takes longer than the one before */
        uint64_t extra_ns;     /* by which the slow ones take longer */
        uint64_t slower_than;  /* 0 = the slowest 2.5 % */
        bool has_coarse_clock; /* of 100 ns */
        const char *answer;    /* NULL = does not point to `hyprof path` */
} cases[] = {
        { .n = 400,
          .answer =
                  "the instances are alike (none takes longer than the others): hyprof path --zone 'a request' "
                  "says where their time goes" },
        { .n = 400,
          .step_ns = 10,
          .answer =
                  "the instances are alike (the slow ones take as long as the others): hyprof path --zone 'a "
                  "request' says where their time goes" },
        { .n = 400,
          .step_ns = 1,
          .extra_ns = 120,
          .has_coarse_clock = true,
          .answer =
                  "the instances are alike (the slow ones take longer by less than two steps of the clock, of "
                  "100 ns each): hyprof path --zone 'a request' says where their time goes" },
        { .n = 80,
          .step_ns = 10,
          .extra_ns = USUAL_NS,
          .answer =
                  "not enough instances: 2 slow and 78 others, at least 8 of each are needed; record for longer; "
                  "hyprof path --zone 'a request' says where their time goes" },
        { .n = 400,
          .slower_than = 10 * USUAL_NS,
          .answer =
                  "not enough instances: 0 slow and 400 others, at least 8 of each are needed; record for longer; "
                  "hyprof path --zone 'a request' says where their time goes" },
        { .n = 400, .step_ns = 10, .extra_ns = USUAL_NS },
        { .n = 0 },
};

static void build(int _i)
{
        uint32_t worker = trace_builder_thread(&b, 10, 11), request = trace_builder_location(&b, "a request");
        uint64_t now_ns = 1000;

        if (cases[_i].has_coarse_clock)
                add_coarse_clock();
        trace_builder_begin_run(&b, worker);
        TRACE_BUILDER_ADD(&b, 10, SWITCH_IN, 0);
        for (uint32_t i = 0; i < cases[_i].n; i++) {
                trace_builder_begin_zone(&b, now_ns, request);
                now_ns += USUAL_NS + i % SLOW_EVERY * cases[_i].step_ns;
                now_ns += i % SLOW_EVERY == SLOW_EVERY - 1 ? cases[_i].extra_ns : 0;
                trace_builder_event(&b, now_ns, TRACE_OP_ZONE_END);
                now_ns += 1000;
        }
        trace_builder_end_run(&b);
        trace_builder_finish(&b);
}

START_LOOP_TEST(test_it_points_to_the_path, 0, sizeof(cases) / sizeof(cases[0]))
{
        struct why_request request = { .zone = "a request", .slowest = 0.025, .by = WHY_BY_AUTOMATIC };
        struct why_view_options options = { .path = "alike.hyp" };
        struct view_document document;
        bool has_hint;

        request.slower_than_ns = cases[_i].slower_than;
        build(_i);
        asked_why_ask(&a, b.path, &request);
        view_document_init(&document, why_view_schema.name);
        why_view_fill(&document, &a.why, &a.trace, &options);
        byte_buffer_add_u8(&document.hints, 0);
        has_hint = strstr((const char *)document.hints.data, "hyprof path --zone 'a request' alike.hyp\n") !=
                   NULL;
        view_document_deinit(&document);
        if (cases[_i].answer)
                ck_assert_str_eq(a.answer, cases[_i].answer);
        else
                ck_assert_msg(!strstr(a.answer, "hyprof path"), "%s", a.answer);
        ck_assert(has_hint == (cases[_i].answer != NULL));
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
