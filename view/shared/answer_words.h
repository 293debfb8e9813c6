/* SPDX-License-Identifier: MIT */
/*
 * view/shared/answer_words.h - the sentence that a document begins with, and its parts
 * that several answers say
 *
 * Way of the data:  report -> [answer_words] -> view_document
 *
 * All zero is an empty sentence.  Words beyond its room are left out.
 */
#ifndef VIEW_SHARED_ANSWER_WORDS_H
#define VIEW_SHARED_ANSWER_WORDS_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report;
struct report_function;
struct report_zone;
struct view_document;
struct waited_calls;

#define ANSWER_WORDS_BYTES 1024

struct answer_words {
        char text[ANSWER_WORDS_BYTES];
        size_t used_bytes;
};

void answer_words_add(struct answer_words *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a name, shortened to at most 80 columns by name_short(): JSON has the whole name elsewhere. */
void answer_words_add_name(struct answer_words *a, struct text_view name);

/* Adds "flush()": the name of a function, shortened as above; one with parameters, or in brackets, stays. */
void answer_words_add_function(struct answer_words *a, struct text_view name);

/* Adds ", the most of 12 modules"; nothing if @count is less than 2. */
void answer_words_add_most(struct answer_words *a, uint64_t count, const char *things);

/*
 * Adds "12 samples: too few to say where the time went" and returns true, if there are so few samples.  Else,
 * and without samples, returns false and adds nothing.
 */
bool answer_words_add_too_few(struct answer_words *a, const struct report *report);

/*
 * Adds "95.2% of the samples are in parse itself", or that there are too few to say so.  Without samples, it
 * adds "no samples" if a reason is known, else nothing.
 */
void answer_words_add_hottest(struct answer_words *a, const struct report *report);

/*
 * The same for programs that wait, "waited 865 ms of 1.41 s: 93.4% of it in fdatasync from commit", or are
 * mostly in the kernel, "83.0% of the samples are in the kernel, 57.6% in write from dump".
 */
void answer_words_add_first(struct answer_words *a, const struct report *report);

/*
 * Ends a sentence about samples: "; 51.0% of the time has no samples"; also says that programs were not
 * recorded.
 */
void answer_words_add_missing(struct answer_words *a, const struct report *report);

/* Adds "93.4% of it in fdatasync from commit", and the share of waits with a call stack if it is small. */
void answer_words_add_waited(struct answer_words *a, const struct waited_calls *calls);

/* "zone parse took 12.3 ms in all, 40.0% of it on a CPU" */
void answer_words_add_zone(struct answer_words *a, const struct report *report,
                           const struct report_zone *zone);

/* The sentence becomes the document's answer. */
void answer_words_set(const struct answer_words *a, struct view_document *d);

#endif /* VIEW_SHARED_ANSWER_WORDS_H */
