/* SPDX-License-Identifier: MIT */
#include "view/shell_word.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_plain(const char *word)
{
        return word[0] != '\0' &&
               strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+,:@%=-") ==
                       strlen(word);
}

struct shell_word shell_word_of(const char *word)
{
        const char *before = word[0] == '-' && word[1] != '\0' ? "-- " : "";
        struct shell_word quoted;
        size_t n;

        if (is_plain(word)) {
                (void)snprintf(quoted.text, sizeof(quoted.text), "%s%s", before, word);
                return quoted;
        }
        n = (size_t)snprintf(quoted.text, sizeof(quoted.text), "%s'", before);
        /* What ends a quotation is put behind a backslash, and the next one begun. */
        for (const char *at = word; *at != '\0' && n + 8 < sizeof(quoted.text); at++) {
                quoted.text[n++] = *at;
                if (*at != '\'')
                        continue;
                quoted.text[n++] = '\\';
                quoted.text[n++] = '\'';
                quoted.text[n++] = '\'';
        }
        quoted.text[n++] = '\'';
        quoted.text[n] = '\0';
        return quoted;
}
