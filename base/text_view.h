/* SPDX-License-Identifier: MIT */
/*
 * base/text_view.h - bytes that are to be shown to people
 *
 * Way of the data:  trace_dictionary_text() -> [text_view] in analyze -> view, export
 *
 * Hostile: of any length and encoding, with control characters, not ended by
 * NUL.  Only code that knows how to escape it (view/, export/) writes it anywhere.
 */
#ifndef BASE_TEXT_VIEW_H
#define BASE_TEXT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct text_view {
        const char *bytes; /* borrowed, mostly from a trace; NULL only if n_bytes is 0 */
        size_t n_bytes;
};

/* For names of files and the like, which end with NUL. */
static inline bool text_ends_with(const char *text, const char *ending)
{
        size_t n = strlen(text), n_ending = strlen(ending);

        return n >= n_ending && strcmp(text + n - n_ending, ending) == 0;
}

/* Whether the text is this word. */
static inline bool text_view_is(struct text_view text, const char *word)
{
        return text.n_bytes == strlen(word) &&
               (text.n_bytes == 0 || memcmp(text.bytes, word, text.n_bytes) == 0);
}

static inline bool text_view_equal(struct text_view a, struct text_view b)
{
        return a.n_bytes == b.n_bytes && (a.n_bytes == 0 || memcmp(a.bytes, b.bytes, a.n_bytes) == 0);
}

static inline bool text_view_begins_with(struct text_view text, const char *prefix)
{
        size_t n = strlen(prefix);

        return text.n_bytes >= n && (n == 0 || memcmp(text.bytes, prefix, n) == 0);
}

/* @prefixes: NULL after the last. */
static inline bool text_view_begins_with_any(struct text_view text, const char *const *prefixes)
{
        for (; *prefixes; prefixes++)
                if (text_view_begins_with(text, *prefixes))
                        return true;
        return false;
}

#endif /* BASE_TEXT_VIEW_H */
