/* SPDX-License-Identifier: MIT */
#include "cli/manual/manual_prose.h"

#include <stdint.h>
#include <string.h>

/* All files, each after a line of this character and its name.  The Makefile says where they lie. */
#define FILE_MARK '\001'

__asm__(".pushsection .rodata\n"
        ".global manual_prose, manual_prose_bytes\n"
        ".hidden manual_prose, manual_prose_bytes\n"
        "manual_prose:\n"
        ".incbin \"" MANUAL_PROSE_FILE "\"\n"
        "1: .balign 8\n"
        "manual_prose_bytes:\n"
        ".quad 1b - manual_prose\n"
        ".popsection\n");

extern const char manual_prose[];
extern const uint64_t manual_prose_bytes;

int manual_prose_next(struct manual_text *text)
{
        const char *end = manual_prose + manual_prose_bytes;
        const char *mark = text->text ? text->text + text->n_bytes : manual_prose;
        const char *line, *next;

        if (mark == end)
                return 0;
        line = memchr(mark, '\n', (size_t)(end - mark));
        next = memchr(mark + 1, FILE_MARK, (size_t)(end - mark) - 1);
        *text = (struct manual_text){ .name = mark + 1,
                                      .n_name_bytes = (size_t)(line - mark) - 1,
                                      .text = line + 1,
                                      .n_bytes = (size_t)((next ? next : end) - line) - 1 };
        return 1;
}

const char *manual_prose_find(const char *name, size_t *ret_n_bytes)
{
        struct manual_text text = { .text = NULL };
        size_t n_name = strlen(name);

        while (manual_prose_next(&text) == 1) {
                if (text.n_name_bytes != n_name || memcmp(text.name, name, n_name) != 0)
                        continue;
                *ret_n_bytes = text.n_bytes;
                return text.text;
        }
        return NULL;
}
