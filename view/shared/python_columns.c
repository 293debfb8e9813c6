/* SPDX-License-Identifier: MIT */
#include "view/shared/python_columns.h"

#include "analyze/report/report.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"
#include "view/text/text_number.h"

#include <string.h>

static const struct view_column python_columns[PYTHON_COLUMNS] = {
        { .key = "python_share", .title = "Python", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "native_share", .title = "native", .type = VIEW_SHARE, .n_columns_max = 7 },
        { .key = "kernel_share", .title = "kernel", .type = VIEW_SHARE, .n_columns_max = 7 },
};

uint32_t python_columns_insert(const struct report *report, const struct view_column *columns,
                               uint32_t n_columns, uint32_t at, struct view_column *ret_columns)
{
        uint32_t n = report->samples.is_folded ? PYTHON_COLUMNS : 0;

        memcpy(ret_columns, columns, at * sizeof(*columns));
        memcpy(ret_columns + at, python_columns, n * sizeof(*columns));
        memcpy(ret_columns + at + n, columns + at, (n_columns - at) * sizeof(*columns));
        return n_columns + n;
}

void python_columns_put(struct view_document *d, struct view_table *t, const struct report *report,
                        const struct python_parts *parts)
{
        uint64_t whole = report->event ? report->event->sum.weight : 0;
        bool is_known = python_parts_below(parts) != 0;

        if (!report->samples.is_folded)
                return;
        report_heading_put_share(d, t, parts->python, whole, is_known);
        report_heading_put_share(d, t, parts->native, whole, is_known);
        report_heading_put_share(d, t, parts->kernel, whole, is_known);
}

void python_columns_say_parts(struct answer_words *a, const struct python_parts *parts, uint64_t whole)
{
        answer_words_add(a, "%s Python, %s native code, %s kernel",
                         text_number_share(report_share(parts->python, whole)).text,
                         text_number_share(report_share(parts->native, whole)).text,
                         text_number_share(report_share(parts->kernel, whole)).text);
}

void python_columns_say(struct answer_words *a, const struct report *report, const struct python_parts *parts)
{
        python_columns_say_parts(a, parts, report->event ? report->event->sum.weight : 0);
}

void python_columns_add_facts(struct view_document *d, const struct report *report)
{
        const struct python_parts *parts = &report->samples.parts;
        struct answer_words a = { .used_bytes = 0 };

        if (!report->samples.is_folded)
                return;
        python_columns_say(&a, report, parts);
        answer_words_add(&a, "; native code counts for the Python line that called it (--native: apart)");
        view_document_add_string(d, NULL, "python", (struct text_view){ a.text, a.used_bytes });
        view_document_add_string(d, "view", NULL, report_names_words("python"));
        view_document_add_real(d, "python_share", NULL, VIEW_SHARE, report_share(parts->python, parts->all));
        view_document_add_real(d, "native_share", NULL, VIEW_SHARE, report_share(parts->native, parts->all));
        view_document_add_real(d, "kernel_share", NULL, VIEW_SHARE, report_share(parts->kernel, parts->all));
}

const char *python_columns_about(const struct report *report)
{
        return report->samples.is_folded
                       ? "; self is with native code and the kernel below, as far as the next "
                         "Python function: Python, native and kernel are its parts"
                       : "";
}
