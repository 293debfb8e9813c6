/* SPDX-License-Identifier: MIT */
/*
 * analyze/report/report_lines.c: the samples of one event by function and line, those with most first; a line
 * is known with its file alone, and is a function's main one with more than half of its samples
 */
#include "analyze/report/report.h"
#include "base/error.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

struct made {
        struct trace_builder b;
        struct report *report;
        uint32_t event, other, n_frames;
        uint64_t now_ns;
};

static struct made m;

static void setup(void)
{
        m = (struct made){ .now_ns = 100 };
        trace_builder_init(&m.b);
        m.event = trace_builder_sample_event(&m.b, "cpu-clock");
        m.other = trace_builder_sample_event(&m.b, "page-faults");
        trace_builder_begin_run(&m.b, trace_builder_thread(&m.b, 1, 1));
}

/* @file NULL = unknown. */
static uint32_t push(uint32_t stack, uint32_t module, const char *function, const char *file, uint32_t line)
{
        struct trace_symbol symbol = { .line = line };

        symbol.frame = trace_builder_frame(&m.b, module, 16 * ++m.n_frames);
        symbol.function = trace_builder_string(&m.b, function);
        symbol.file = file ? trace_builder_string(&m.b, file) : 0;
        (void)trace_builder_row(&m.b, TRACE_TABLE_SYMBOLS, &symbol);
        return trace_builder_stack(&m.b, stack, symbol.frame);
}

static void sample(uint32_t event, uint32_t stack, uint32_t n)
{
        while (n-- > 0)
                trace_builder_sample(&m.b, m.now_ns++, event, 0, stack);
}

static void load(void)
{
        const struct report_options options = { .wants_lines = true };
        struct error err = ERROR_NONE;

        trace_builder_end_run(&m.b);
        trace_builder_finish(&m.b);
        ck_assert_msg(report_load(m.b.path, &options, &m.report, &err) == 0, "%s", err.text);
}

static void teardown(void)
{
        report_free(m.report);
        trace_builder_deinit(&m.b);
}

static void check_line(const struct report_lines *l, uint32_t i, uint32_t line, uint64_t n_samples)
{
        ck_assert_uint_eq(l->rows[i].line, line);
        ck_assert_uint_eq(l->rows[i].self.n_samples, n_samples);
}

/* @_i: in the first case the main line has 6 of 11 samples, else 5 of 10. */
START_LOOP_TEST(lines_are_those_of_the_event, 0, 2)
{
        const struct report_lines *l;
        const struct report_line *at;
        struct sample_sum self = { .n_samples = 0 };
        uint32_t module, middle;

        module = trace_builder_module(&m.b, "/bin/program");
        middle = push(0, module, "work", "work.c", 6);
        sample(m.event, middle, 3);
        sample(m.event, push(0, module, "work", "work.c", 0), 2);
        sample(m.event, push(0, module, "work", "work.c", 5), _i == 0 ? 6 : 5);
        sample(m.event, push(0, module, "other", NULL, 7), 4);
        sample(m.event, push(0, module, "third", "third.c", 0), 1);
        sample(m.other, middle, 10);
        load();
        l = &m.report->lines;
        ck_assert_uint_eq(l->n_rows, 5);
        check_line(l, 0, 5, _i == 0 ? 6 : 5);
        check_line(l, 1, 0, 4);
        check_line(l, 2, 6, 3);
        check_line(l, 3, 0, 2);
        check_line(l, 4, 0, 1);
        ck_assert_uint_eq(l->rows[1].file.n_bytes, 0);
        ck_assert_uint_eq(l->rows[3].file.n_bytes, 0);
        ck_assert_uint_eq(l->unknown.n_samples, 7);
        for (uint32_t i = 0; i < l->n_rows; i++)
                if (l->rows[i].label == l->rows[0].label)
                        sample_sum_add(&self, &l->rows[i].self);
        at = report_lines_main(l, l->rows[0].label, &self);
        ck_assert(at == (_i == 0 ? &l->rows[0] : NULL));
        ck_assert_ptr_null(report_lines_main(l, l->rows[1].label, &l->rows[1].self));
}
END_TEST

/* Native code below a Python function counts at the line that called it. */
START_TEST(python_has_its_own_lines)
{
        struct trace_module python = { .kind = TRACE_MODULE_PYTHON };
        uint32_t module, stack;

        python.path = trace_builder_string(&m.b, "/srv/work.py");
        module = trace_builder_row(&m.b, TRACE_TABLE_MODULES, &python);
        stack = push(0, module, "build", "/srv/work.py", 5);
        sample(m.event, push(stack, trace_builder_module(&m.b, "/bin/python"), "copy", "copy.c", 20), 3);
        sample(m.event, stack, 2);
        load();
        ck_assert_uint_eq(m.report->lines.n_rows, 1);
        check_line(&m.report->lines, 0, 5, 5);
        ck_assert_uint_gt(m.report->lines.rows[0].parts.native, m.report->lines.rows[0].parts.python);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
