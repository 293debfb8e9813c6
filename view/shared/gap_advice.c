/* SPDX-License-Identifier: MIT */
#include "view/shared/gap_advice.h"

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
static bool has_path(const char *path)
{
        return path && strcmp(path, "-") != 0;
}

struct gap_advice gap_advice_make(const char *path, struct text_view module, const char *advice)
{
        static const char trace_word[] = "TRACE", module_word[] = "MODULE";
        struct gap_advice made = { .text = "" };
        const char *at = advice ? advice : "";
        size_t used = 0;

        while (*at != '\0') {
                struct shell_word word;

                if (strncmp(at, trace_word, sizeof(trace_word) - 1) == 0 && has_path(path)) {
                        word = shell_word_of(path);
                        at += sizeof(trace_word) - 1;
                } else if (strncmp(at, module_word, sizeof(module_word) - 1) == 0) {
                        word = shell_word_of_name(module);
                        at += sizeof(module_word) - 1;
                } else {
                        append(&made, &used, at++, 1);
                        continue;
                }
                append(&made, &used, word.text, strlen(word.text));
        }
        return made;
}
