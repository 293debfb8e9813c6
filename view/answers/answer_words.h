/* SPDX-License-Identifier: MIT */
/*
 * view/answers/answer_words.h - the sentence that a document begins with, and its parts
 * that several answers say
 *
 * Way of the data:  report -> [answer_words] -> view_document
 *
 * All zero is an empty sentence.  Words beyond its room are left out.
 */
#ifndef VIEW_ANSWERS_ANSWER_WORDS_H
#define VIEW_ANSWERS_ANSWER_WORDS_H

#include "base/text_view.h"

#include <stddef.h>
#include <stdint.h>

struct report;
struct report_function;
struct report_zone;
struct view_document;

#define ANSWER_WORDS_BYTES 512

struct answer_words {
        char text[ANSWER_WORDS_BYTES];
        size_t used_bytes;
};

void answer_words_add(struct answer_words *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* At most 80 bytes of the name, and an ellipsis: tables have names whole. */
void answer_words_add_name(struct answer_words *a, struct text_view name);

/* "the most of 12 modules", after a comma; nothing of one. */
void answer_words_add_most(struct answer_words *a, uint64_t count, const char *things);

/*
 * "95.2% of the samples are in parse itself", or that there are too few to say so; nothing without samples.
 */
void answer_words_add_hottest(struct answer_words *a, const struct report *report);

/* "zone parse took 12.3 ms in all, 40.0% of it on a CPU" */
void answer_words_add_zone(struct answer_words *a, const struct report *report,
                           const struct report_zone *zone);

/* The sentence becomes the document's answer. */
void answer_words_set(const struct answer_words *a, struct view_document *d);

#endif /* VIEW_ANSWERS_ANSWER_WORDS_H */
