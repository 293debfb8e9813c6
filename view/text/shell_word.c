/* SPDX-License-Identifier: MIT */
#include "view/text/shell_word.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_plain(const char *bytes, size_t n_bytes)
{
        static const char plain[] =
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+,:@%=-";

        for (size_t i = 0; i < n_bytes; i++)
                if (!memchr(plain, bytes[i], sizeof(plain) - 1))
                        return false;
        return n_bytes != 0;
}

/* Appends to the word, in quotes if necessary. */
static void add_bytes(struct shell_word *word, const char *bytes, size_t n_bytes)
{
        const char *mark = is_plain(bytes, n_bytes) ? "" : "'";
        size_t n = strlen(word->text);

        n += (size_t)snprintf(word->text + n, sizeof(word->text) - n, "%s", mark);
        for (size_t i = 0; i < n_bytes && n + 8 < sizeof(word->text); i++) {
                word->text[n++] = bytes[i];
                if (bytes[i] != '\'')
                        continue;
                /*
                 * At a quote, the quotation ends, a quote follows after a backslash, and the next quotation
                 * begins.
                 */
                word->text[n++] = '\\';
                word->text[n++] = '\'';
                word->text[n++] = '\'';
        }
        (void)snprintf(word->text + n, sizeof(word->text) - n, "%s", mark);
}

struct shell_word shell_word_of_name(struct text_view name)
{
        struct shell_word word = { .text = "" };

        add_bytes(&word, name.bytes, name.n_bytes);
        return word;
}

struct shell_word shell_word_of(const char *path)
{
        struct shell_word word = { .text = "" };

        if (path[0] == '-' && path[1] != '\0')
                (void)snprintf(word.text, sizeof(word.text), "-- ");
        add_bytes(&word, path, strlen(path));
        return word;
}
