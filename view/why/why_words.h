/* SPDX-License-Identifier: MIT */
/*
 * view/why/why_words.h - what a cause is called, and the answer as a sentence
 *
 * Way of the data:  why -> [why_words] -> why_view
 */
#ifndef VIEW_WHY_WHY_WORDS_H
#define VIEW_WHY_WHY_WORDS_H

#include "analyze/why/why.h"
#include "base/text_view.h"

#include <stdbool.h>

struct byte_buffer;
struct loaded_trace;

/* "lock", as in JSON; static. */
const char *why_words_key(enum why_cause_kind kind);

/* "waiting for the lock", what it is in the text; static. */
const char *why_words_kind(enum why_cause_kind kind);

/* "high"; static. */
const char *why_words_confidence(enum why_confidence confidence);

/* The function, lock, place or zone that a cause is about; empty if it is about none. */
struct text_view why_words_name(const struct why *w, enum why_cause_kind kind, uint32_t id);

/* A function's name, or in brackets why it has none; empty for label 0. */
struct text_view why_words_function(const struct why *w, uint32_t label);

/* Where a wait is: the function of the kernel that says what for; empty if unknown. */
struct text_view why_words_kernel(const struct why *w, uint32_t id);

/* What a thread did while another one waited for it: "ran"; empty of a device; static. */
const char *why_words_doing(enum why_doing doing);

/* By what instances are ranked: "wall time"; static. */
const char *why_words_by(enum why_by by);

/* "flush()"; a name with parameters, or a text that is no name, stays as it is. */
void why_words_add_function(struct byte_buffer *out, struct text_view name);

/* "'w2'"; "93%", of 0 to 1. */
void why_words_add_quoted(struct byte_buffer *out, struct text_view name);
void why_words_add_share(struct byte_buffer *out, double share);

/* The answer, a sentence without a line break.  @trace: with threads' names. */
void why_words_answer(const struct why *w, const struct loaded_trace *trace, struct byte_buffer *out);

/* Whether slow instances take as long as the others: the answer says so, unless others had the CPU. */
bool why_words_are_alike(const struct why *w);

/*
 * Adds "others had the CPU for 60% of the extra time of the slowest instances" if the answer names a cause
 * and ranks instances by their own time.  Else adds nothing.
 */
void why_words_ranked_without(const struct why *w, const struct loaded_trace *trace, struct byte_buffer *out);

#endif /* VIEW_WHY_WHY_WORDS_H */
