/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/zone_words.h - a program's words about one zone: texts, another name, a value, a color
 *
 * Way of the data:  event_decoder -> trace_walk -> [zone_words] -> csv, exports
 */
#ifndef ANALYZE_TRACE_ZONE_WORDS_H
#define ANALYZE_TRACE_ZONE_WORDS_H

#include "base/byte_buffer.h"

#include <stdbool.h>
#include <stdint.h>

struct trace_event;

/* Longer texts of one zone are cut: a program may add any number of lines. */
#define ZONE_WORDS_TEXT_MAX (UINT32_C(1) << 20)

struct zone_words {
        struct byte_buffer name; /* replaces the name of the zone; empty = none was given */
        struct byte_buffer text; /* lines, '\n' between them */
        int64_t value;           /* the last one, if has_value */
        uint32_t color;          /* 0xRRGGBB, if has_color */
        bool has_value, has_color;
        bool any;
};

void zone_words_deinit(struct zone_words *w);

/* Forgets all words, before the next zone; keeps the memory. */
void zone_words_clear(struct zone_words *w);

/* Takes in an event of the ops ZONE_TEXT, _NAME, _VALUE, _COLOR.  Returns 0 or -ENOMEM. */
int zone_words_add(struct zone_words *w, const struct trace_event *event);

#endif /* ANALYZE_TRACE_ZONE_WORDS_H */
