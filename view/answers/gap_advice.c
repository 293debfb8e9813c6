/* SPDX-License-Identifier: MIT */
#include "view/answers/gap_advice.h"

#include "analyze/report/report.h"
#include "view/answers/debian_package.h"
#include "view/text/shell_word.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Appends up to @n_bytes; what does not fit is cut. */
static void gap_advice_append(struct gap_advice *a, size_t *used, const char *text, size_t n_bytes)
{
        size_t room = sizeof(a->text) - 1 - *used;

        if (n_bytes > room)
                n_bytes = room;
        memcpy(a->text + *used, text, n_bytes);
        *used += n_bytes;
        a->text[*used] = '\0';
}

/* The file of standard input is unknown. */
static bool gap_advice_has_path(const struct report *report)
{
        return report->path && strcmp(report->path, "-") != 0;
}

/* Nearly every package has one of debug information that is called after it. */
static void gap_advice_append_package(struct gap_advice *a, size_t *used, struct text_view module)
{
        static const char before[] = "the -dbgsym package of the one that dpkg -S ";
        char name[DEBIAN_PACKAGE_NAME_BYTES], text[DEBIAN_PACKAGE_NAME_BYTES + 16];
        struct shell_word word;

        if (debian_package_find(DEBIAN_PACKAGE_LISTS, module, name)) {
                (void)snprintf(text, sizeof(text), "%s%s", name,
                               strcmp(name, "libc6") == 0 ? "-dbg" : "-dbgsym");
                gap_advice_append(a, used, text, strlen(text));
                return;
        }
        word = shell_word_of_name(module);
        gap_advice_append(a, used, before, sizeof(before) - 1);
        gap_advice_append(a, used, word.text, strlen(word.text));
        gap_advice_append(a, used, " names", strlen(" names"));
}

struct gap_advice gap_advice_of(const struct report *report, const struct report_gap *gap)
{
        static const char trace[] = "TRACE", module[] = "MODULE", package[] = "PACKAGE";
        struct gap_advice advice = { .text = "" };
        const char *at = gap->advice ? gap->advice : "";
        size_t used = 0;

        while (*at != '\0') {
                struct shell_word word;

                if (strncmp(at, trace, sizeof(trace) - 1) == 0 && gap_advice_has_path(report)) {
                        word = shell_word_of(report->path);
                        at += sizeof(trace) - 1;
                } else if (strncmp(at, module, sizeof(module) - 1) == 0) {
                        word = shell_word_of_name(gap->detail);
                        at += sizeof(module) - 1;
                } else if (strncmp(at, package, sizeof(package) - 1) == 0) {
                        gap_advice_append_package(&advice, &used, gap->detail);
                        at += sizeof(package) - 1;
                        continue;
                } else {
                        gap_advice_append(&advice, &used, at++, 1);
                        continue;
                }
                gap_advice_append(&advice, &used, word.text, strlen(word.text));
        }
        return advice;
}
