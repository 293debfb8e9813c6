/* SPDX-License-Identifier: MIT */
#include "view/shared/gap_advice.h"

#include "analyze/report/report.h"
#include "view/text/shell_word.h"

#include <stdbool.h>
#include <string.h>

/* Appends up to @n_bytes; what does not fit is cut. */
static void append(struct gap_advice *a, size_t *used, const char *text, size_t n_bytes)
{
        size_t room = sizeof(a->text) - 1 - *used;

        if (n_bytes > room)
                n_bytes = room;
        memcpy(a->text + *used, text, n_bytes);
        *used += n_bytes;
        a->text[*used] = '\0';
}

/* The file of standard input is unknown. */
static bool has_path(const struct report *report)
{
        return report->path && strcmp(report->path, "-") != 0;
}

struct gap_advice gap_advice_of(const struct report *report, const struct report_gap *gap)
{
        static const char trace[] = "TRACE", module[] = "MODULE";
        struct gap_advice advice = { .text = "" };
        const char *at = gap->advice ? gap->advice : "";
        size_t used = 0;

        while (*at != '\0') {
                struct shell_word word;

                if (strncmp(at, trace, sizeof(trace) - 1) == 0 && has_path(report)) {
                        word = shell_word_of(report->path);
                        at += sizeof(trace) - 1;
                } else if (strncmp(at, module, sizeof(module) - 1) == 0) {
                        word = shell_word_of_name(gap->detail);
                        at += sizeof(module) - 1;
                } else {
                        append(&advice, &used, at++, 1);
                        continue;
                }
                append(&advice, &used, word.text, strlen(word.text));
        }
        return advice;
}
