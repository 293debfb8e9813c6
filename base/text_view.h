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

#include <stddef.h>

struct text_view {
        const char *bytes; /* borrowed, mostly from a trace; NULL only if n_bytes is 0 */
        size_t n_bytes;
};

#endif /* BASE_TEXT_VIEW_H */
