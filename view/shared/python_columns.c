/* SPDX-License-Identifier: MIT */
#include "view/shared/python_columns.h"

#include "analyze/report/report.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/report_heading.h"
#include "view/text/text_number.h"

struct view_value python_columns_share(const struct report *report, const struct python_parts *parts,
                                       uint64_t part)
{
        bool is_known = report->event && python_parts_below(parts) != 0;

        return is_known ? report_heading_share(part, report->event->sum.weight) : view_unknown();
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

/* clang-format off */
#define PYTHON_FACTS(FACT)                                                                                    \
        FACT(STRING, NULL, "python", view_text(words), NULL)                                                  \
        FACT(STRING, "view", NULL, view_words("python"),                                                      \
             "native code counts for the Python function that called it", .one_of = "python")                 \
        FACT(SHARE, "python_share", NULL, view_real(report_share(parts->python, parts->all)),                 \
             "of all samples: in Python itself")                                                              \
        FACT(SHARE, "native_share", NULL, view_real(report_share(parts->native, parts->all)),                 \
             "of all samples: in native code below Python functions")                                         \
        FACT(SHARE, "kernel_share", NULL, view_real(report_share(parts->kernel, parts->all)),                 \
             "of all samples: in the kernel below Python functions")
/* clang-format on */

static const struct view_column fact_columns[] = { PYTHON_FACTS(VIEW_MEMBER) };
const struct answer_part python_columns_facts_part = ANSWER_FACTS_ABSENT(fact_columns);

void python_columns_add_facts(struct view_document *d, const struct report *report)
{
        const struct python_parts *parts = &report->samples.parts;
        struct answer_words a = { .used_bytes = 0 };
        struct text_view words;

        if (!report->samples.is_folded)
                return;
        python_columns_say(&a, report, parts);
        answer_words_add(&a, "; native code counts for the Python line that called it (--native: apart)");
        words = (struct text_view){ a.text, a.used_bytes };
        PYTHON_FACTS(VIEW_FACT)
}

const char *python_columns_about(const struct report *report)
{
        return report->samples.is_folded
                       ? "; self is with native code and the kernel below, as far as the next "
                         "Python function: Python, native and kernel are its parts"
                       : "";
}
