/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/unnamed_modules.c: a file that is the heap of a program, with code, has no unstripped file,
 * so that another advice is given; other files may have one
 */
#include "analyze/report/report.h"
#include "base/error.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <string.h>

/* loop test */
static const struct {
        const char *path, *words;
} heaps[] = {
        { "/usr/lib/sbcl/sbcl.core", "(sb-perf:write-perfmap)" },
        { "/opt/my/sbcl.core", "(sb-perf:write-perfmap)" },
        { "/opt/my/other.core", "--debug-dir" },
        { "/opt/sbcl.core/libother.so", "--debug-dir" },
};

static const char *advice_of(const struct report *report)
{
        for (uint32_t i = 0; i < report->gaps.n_rows; i++)
                if (strcmp(report->gaps.rows[i].code, "NO_SYMBOLS") == 0)
                        return report->gaps.rows[i].advice;
        ck_abort_msg("nothing lacks symbols");
}

START_LOOP_TEST(test_advice_by_file, 0, sizeof(heaps) / sizeof(heaps[0]))
{
        struct error err = ERROR_NONE;
        struct trace_builder b;
        struct report *report;
        uint32_t event, main, heap;

        trace_builder_init(&b);
        event = trace_builder_sample_event(&b, "cpu-clock");
        main = trace_builder_frame(&b, trace_builder_module(&b, "/opt/my/main"), 0x100);
        heap = trace_builder_frame(&b, trace_builder_module(&b, heaps[_i].path), 0x200);
        trace_builder_begin_run(&b, trace_builder_thread(&b, 10, 11));
        trace_builder_sample(&b, 1000, event, 0, trace_builder_stack(&b, 0, main));
        trace_builder_sample(&b, 2000, event, 0, trace_builder_stack(&b, 0, heap));
        trace_builder_end_run(&b);
        trace_builder_symbol(&b, main, "main", 0);
        trace_builder_finish(&b);
        ck_assert_msg(report_load(b.path, NULL, &report, &err) == 0, "%s", err.text);
        ck_assert_ptr_nonnull(strstr(advice_of(report), heaps[_i].words));
        report_free(report);
        trace_builder_deinit(&b);
}
END_TEST
