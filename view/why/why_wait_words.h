/* SPDX-License-Identifier: MIT */
/*
 * view/why/why_wait_words.h - where slow instances wait, and what those did for whom they waited, in words
 *
 * Way of the data:  why -> [why_wait_words] -> why_words
 */
#ifndef VIEW_WHY_WHY_WAIT_WORDS_H
#define VIEW_WHY_WHY_WAIT_WORDS_H

#include "analyze/why/why.h"

struct byte_buffer;
struct loaded_trace;

/* "wait in take_queue(), mostly in pop() (pthread_cond_wait, futex_do_wait)". */
void why_wait_words_add(const struct why *w, uint32_t place, struct byte_buffer *out);

/* After the share: the thread that held the lock meanwhile, and what it did.  @trace: with threads' names. */
void why_wait_words_add_holder(const struct why *w, const struct loaded_trace *trace, uint32_t lock,
                               struct byte_buffer *out);

/* After the share of a wait: " for matmul on gpu", or the thread that ended it and what it did. */
void why_wait_words_add_waker(const struct why *w, const struct loaded_trace *trace,
                              const struct why_cause *cause, struct byte_buffer *out);

/* The name of a device; that of its work, empty if several have the time. */
struct text_view why_wait_words_device(const struct why *w, const struct why_step *step);
struct text_view why_wait_words_work(const struct why *w, const struct why_step *step);

#endif /* VIEW_WHY_WHY_WAIT_WORDS_H */
