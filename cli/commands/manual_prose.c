/* SPDX-License-Identifier: MIT */
#include "cli/commands/manual_prose.h"

#include <stdint.h>
#include <string.h>

/* All files, each behind a line of this character and its name.  The Makefile says where they lie. */
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

const char *manual_prose_find(const char *name, size_t *ret_n_bytes)
{
        const char *all_end = manual_prose + manual_prose_bytes;
        size_t n_name = strlen(name);

        for (const char *mark = memchr(manual_prose, FILE_MARK, manual_prose_bytes); mark;) {
                const char *start = mark + 1;
                const char *next = memchr(start, FILE_MARK, (size_t)(all_end - start));
                const char *end = next ? next : all_end;

                if ((size_t)(end - start) > n_name && memcmp(start, name, n_name) == 0 &&
                    start[n_name] == '\n') {
                        *ret_n_bytes = (size_t)(end - start) - n_name - 1;
                        return start + n_name + 1;
                }
                mark = next;
        }
        return NULL;
}
