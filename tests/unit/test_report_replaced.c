/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report_gaps.c, unnamed_modules.c: beside the number of times that code was replaced stands
 * what that may have cost
 */
#include "analyze/report/report.h"
#include "base/error.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <string.h>

static const struct report_gap *find_gap(const struct report *report, const char *code)
{
        for (uint32_t i = 0; i < report->gaps.n_rows; i++)
                if (strcmp(report->gaps.rows[i].code, code) == 0)
                        return &report->gaps.rows[i];
        return NULL;
}

/* How many samples may have lost their names, beside the number of replacements; nothing where none has. */
/* loop test */
START_LOOP_TEST(test_replaced_code, 0, 2)
{
        static const struct trace_loss loss = { .reason = TRACE_LOSS_CODE_REPLACED, .count = 40 };
        const bool has_names = _i == 1;
        struct trace_builder b;
        struct error err = ERROR_NONE;
        struct report *report;
        const struct report_gap *gap;
        uint32_t event, memory, stack;

        trace_builder_init(&b);
        event = trace_builder_sample_event(&b, "cpu-clock");
        memory = trace_builder_row(&b, TRACE_TABLE_MODULES,
                                   &(struct trace_module){ .kind = TRACE_MODULE_ANONYMOUS,
                                                           .path = trace_builder_string(&b, "//anon") });
        trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 11));
        stack = trace_builder_stack(&b, 0, trace_builder_frame(&b, memory, 0x200));
        for (uint32_t i = 0; i < 3; i++)
                trace_builder_sample(&b, 1000 + i, event, 0, stack);
        trace_builder_sample(&b, 2000, event, 0,
                             trace_builder_stack(&b, 0, trace_builder_frame(&b, memory, 0x300)));
        trace_builder_end_run(&b);
        (void)trace_builder_row(&b, TRACE_TABLE_LOSSES, &loss);
        if (has_names)
                trace_builder_symbol(&b, 1, "first", 0);
        trace_builder_symbol(&b, 2, "second", 0);
        trace_builder_finish(&b);
        report = NULL;
        ck_assert_msg(report_load(b.path, NULL, &report, &err) == 0, "%s", err.text);

        gap = find_gap(report, "CODE_REPLACED");
        ck_assert_ptr_nonnull(gap);
        ck_assert_uint_eq(gap->count, 40);
        gap = find_gap(report, "REPLACED_CODE");
        ck_assert_int_eq(gap == NULL, has_names);
        if (gap)
                ck_assert_uint_eq(gap->count, 3);
        report_free(report);
        trace_builder_deinit(&b);
}
END_TEST
