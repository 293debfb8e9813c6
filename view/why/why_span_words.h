/* SPDX-License-Identifier: MIT */
/*
 * view/why/why_span_words.h - the answer about zones of devices: the sentence, its facts and tables
 *
 * Way of the data:  why -> [why_span_words] -> why_words, why_facts, why_view
 */
#ifndef VIEW_WHY_WHY_SPAN_WORDS_H
#define VIEW_WHY_WHY_SPAN_WORDS_H

#include "view/document/view_column.h"

#include <stdint.h>

struct answer_part;
struct byte_buffer;
struct loaded_trace;
struct view_document;
struct why;

/* Parts of the schema, which only documents about zones of devices have. */
extern const struct answer_part why_span_words_facts_part, why_span_words_delays_part,
        why_span_words_slowest_part;

/* The sentence, where there are instances. */
void why_span_words_answer(const struct why *w, const struct loaded_trace *trace, struct byte_buffer *out);

/* Says which times the durations are. */
void why_span_words_measured(const struct why *w, struct byte_buffer *out);

void why_span_words_add_facts(const struct why *w, struct view_document *d);

/* @limit: rows of a table; 0 = all */
void why_span_words_add_delays(const struct why *w, uint64_t limit, struct view_document *d);
void why_span_words_add_slowest(const struct why *w, const struct loaded_trace *trace,
                                struct view_document *d);

void why_span_words_add_warnings(const struct why *w, struct view_document *d);

#endif /* VIEW_WHY_WHY_SPAN_WORDS_H */
