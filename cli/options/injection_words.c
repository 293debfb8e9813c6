/* SPDX-License-Identifier: MIT */
#include "cli/options/record_options.h"
#include "cli/terminal/complaint.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const part_names[] = { "itt", "ompt", "nvtx" };

#define N_NAMES (sizeof(part_names) / sizeof(part_names[0]))

/* The bit of a name of @n bytes; 0 = there is none. */
static uint32_t find(const char *word, size_t n)
{
        for (size_t i = 0; i < N_NAMES; i++)
                if (strlen(part_names[i]) == n && memcmp(part_names[i], word, n) == 0)
                        return UINT32_C(1) << i;
        return 0;
}

int injection_parse(const char *words, uint32_t *ret_parts)
{
        uint32_t parts = 0, part;

        if (strcmp(words, "auto") == 0 || strcmp(words, "none") == 0) {
                *ret_parts = words[0] == 'a' ? INJECTION_AUTO : 0;
                return 0;
        }
        for (const char *at = words;; at++) {
                size_t n = strcspn(at, ",");

                part = find(at, n);
                if (part == 0) {
                        complain("error: --inject %s: expected auto, none, or a list of itt, ompt and nvtx",
                                 words);
                        return -EINVAL;
                }
                parts |= part;
                at += n;
                if (*at == '\0')
                        break;
        }
        *ret_parts = parts;
        return 0;
}

void injection_print(uint32_t parts, char words[INJECTION_WORDS_BYTES])
{
        size_t n = 0;

        words[0] = '\0';
        for (size_t i = 0; i < N_NAMES; i++)
                if (parts & UINT32_C(1) << i)
                        n += (size_t)snprintf(words + n, INJECTION_WORDS_BYTES - n, "%s%s", n > 0 ? "," : "",
                                              part_names[i]);
}
