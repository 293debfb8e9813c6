/* SPDX-License-Identifier: MIT */
/*
 * view/why/why_owner_words.h - who had the CPU while slow instances were ready to run, in words
 *
 * Way of the data:  why_cpu_owners -> [why_owner_words] -> why_words, why_view
 */
#ifndef VIEW_WHY_WHY_OWNER_WORDS_H
#define VIEW_WHY_WHY_OWNER_WORDS_H

#include "analyze/why/why_cpu_owners.h"

struct answer_part;
struct byte_buffer;
struct loaded_trace;
struct view_document;
struct why;

/*
 * why_owner_words_add() - names all owners of the CPU that had a part of the extra time
 * @share:  of the extra time: the part that all of them had together
 * @of:     what the first share is of: " of the extra time"
 * "thread t2 'hog' had the CPU for 93% of the extra time; it was throttled by the CPU quota for 7%".
 */
void why_owner_words_add(const struct why *w, const struct loaded_trace *trace, double share, const char *of,
                         struct byte_buffer *out);

/* Names one owner alone: "thread t2 'hog' had the CPU". */
void why_owner_words_add_subject(const struct loaded_trace *trace, const struct why_owner *owner,
                                 struct byte_buffer *out);

/* Whether all owners together had at least half of the extra time of the instances slowest by wall time. */
bool why_owner_words_dominate(const struct why *w);

/* The known owner with which the answer begins; NULL if it begins with something else. */
const struct why_owner *why_owner_words_find_lead(const struct why *w);

/* Adds the table of all owners; no table if it would have no row. */
void why_owner_words_add_table(const struct why *w, const struct loaded_trace *trace,
                               struct view_document *d);
extern const struct answer_part why_owner_words_part;

#endif /* VIEW_WHY_WHY_OWNER_WORDS_H */
