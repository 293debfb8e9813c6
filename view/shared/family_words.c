/* SPDX-License-Identifier: MIT */
#include "view/shared/family_words.h"

#include "analyze/trace/meta_value.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const family_names[] = { "zones",  "frames", "messages", "plots",
                                            "memory", "locks",  "devices" };
#define N_FAMILIES (sizeof(family_names) / sizeof(family_names[0]))

/* A list with commas. */
static bool names_family(struct text_view list, const char *name)
{
        size_t n = strlen(name);

        for (size_t i = 0; i + n <= list.n_bytes; i++) {
                bool begins = i == 0 || list.bytes[i - 1] == ',';
                bool ends = i + n == list.n_bytes || list.bytes[i + n] == ',';

                if (begins && ends && memcmp(list.bytes + i, name, n) == 0)
                        return true;
        }
        return false;
}

struct family_words family_words_none(const struct trace_dictionary *d, const char *family,
                                      const char *otherwise)
{
        struct text_view list = meta_value_find(d, "families");
        struct family_words words;
        const char *separator = "";
        size_t used;

        (void)snprintf(words.text, sizeof(words.text), "%s", otherwise);
        if (list.n_bytes == 0 || names_family(list, family))
                return words;
        used = (size_t)snprintf(words.text, sizeof(words.text), "not recorded: ");
        for (size_t i = 0; i < N_FAMILIES; i++) {
                if (!names_family(list, family_names[i]))
                        continue;
                used += (size_t)snprintf(words.text + used, sizeof(words.text) - used, "%s--%s", separator,
                                         family_names[i]);
                separator = ", ";
        }
        (void)snprintf(words.text + used, sizeof(words.text) - used, "%s",
                       separator[0] != '\0' ? " alone" : "by the options of the recording");
        return words;
}
