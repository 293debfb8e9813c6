/* SPDX-License-Identifier: MIT */
#include "view/answers/answer_words.h"

#include "analyze/report/report.h"
#include "view/answers/report_names.h"
#include "view/document/view_document.h"
#include "view/text/text_number.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#define NAME_BYTES_MAX 80
#define SAMPLES_MIN    20 /* with fewer, a share is within 20 points or more of the truth */

void answer_words_add(struct answer_words *a, const char *format, ...)
{
        size_t room = sizeof(a->text) - a->used_bytes;
        va_list args;
        int n;

        va_start(args, format);
        n = vsnprintf(a->text + a->used_bytes, room, format, args);
        va_end(args);
        if (n > 0)
                a->used_bytes += (size_t)n < room ? (size_t)n : room - 1;
}

/* Not cut within a character of UTF-8. */
void answer_words_add_name(struct answer_words *a, struct text_view name)
{
        bool is_cut = name.n_bytes > NAME_BYTES_MAX;

        if (is_cut)
                name.n_bytes = NAME_BYTES_MAX;
        while (is_cut && name.n_bytes > 0 && ((unsigned char)name.bytes[name.n_bytes] & 0xc0) == 0x80)
                name.n_bytes--;
        answer_words_add(a, "%.*s%s", (int)name.n_bytes, name.n_bytes != 0 ? name.bytes : "",
                         is_cut ? "…" : "");
}

void answer_words_add_most(struct answer_words *a, uint64_t count, const char *things)
{
        if (count > 1)
                answer_words_add(a, ", the most of %s", text_number_counted(count, things).text);
}

/* The hottest function itself: marks stand for callers that are missing. */
static const struct report_function *answer_words_hottest(const struct report *report)
{
        for (uint32_t i = 0; i < report->functions.n_rows; i++)
                if (report->functions.rows[i].kind != FUNCTION_MARK)
                        return &report->functions.rows[i];
        return NULL;
}

void answer_words_add_hottest(struct answer_words *a, const struct report *report)
{
        const struct report_function *function = answer_words_hottest(report);

        if (!function || !report->event)
                return;
        if (report->event->sum.n_samples < SAMPLES_MIN) {
                answer_words_add(a, "%s: too few to say where the time went",
                                 text_number_counted(report->event->sum.n_samples, "samples").text);
                return;
        }
        answer_words_add(
                a, "%s of the samples are in ",
                text_number_share(report_share(function->self.weight, report->event->sum.weight)).text);
        answer_words_add_name(a, report_names_function(function->name, function->kind));
        answer_words_add(a, " itself");
}

void answer_words_add_zone(struct answer_words *a, const struct report *report,
                           const struct report_zone *zone)
{
        answer_words_add(a, "zone ");
        answer_words_add_name(a, zone->name);
        answer_words_add(a, " took %s%s in all", report->lost.n_lost != 0 ? "at least " : "",
                         text_number_duration(zone->total_ns).text);
        if (report->on_cpu_known && zone->total_ns != 0)
                answer_words_add(a, ", %s of it on a CPU",
                                 text_number_share(report_share(zone->on_cpu_ns, zone->total_ns)).text);
}

void answer_words_set(const struct answer_words *a, struct view_document *d)
{
        view_document_set_answer(d, (struct text_view){ a->text, a->used_bytes });
}
