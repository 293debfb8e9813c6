/* SPDX-License-Identifier: MIT */
/*
 * view/diff/diff_words.h - the sentence that a comparison begins with, and words of its items
 *
 * Way of the data:  diff_comparison -> [diff_words] -> diff_view, view_document
 */
#ifndef VIEW_DIFF_DIFF_WORDS_H
#define VIEW_DIFF_DIFF_WORDS_H

#include "analyze/diff/diff_item.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct diff_comparison;
struct view_document;

void diff_words_set_answer(struct view_document *d, const struct diff_comparison *c);

/* The same in a word: "changed"; static. */
const char *diff_words_verdict(const struct diff_comparison *c);

/* "slower" of a time, "more" of another number. */
const char *diff_words_change(const struct diff_comparison *c, bool is_time, double change);

struct text_view diff_words_name(const struct diff_comparison *c, uint32_t key);

uint64_t diff_words_whole(double value);

/* For qsort() of pointers to items: in which order they are named. */
int diff_words_compare(const void *a, const void *b);

/* Whether it is timed, not sampled. */
static inline bool diff_words_is_time(const struct diff_item *item)
{
        return diff_kind_is_zone(item->kind) || item->kind == DIFF_WAIT;
}

#endif /* VIEW_DIFF_DIFF_WORDS_H */
