/* SPDX-License-Identifier: MIT */
/*
 * view/path/what_if_words.h - what the instances would gain if functions took less time, as a sentence
 *
 * Way of the data:  path, what_if -> [what_if_words] -> path_view
 */
#ifndef VIEW_PATH_WHAT_IF_WORDS_H
#define VIEW_PATH_WHAT_IF_WORDS_H

struct answer_words;
struct path;

/* The mean time of the examined instances without that of other programs, in ns: now, and at least then. */
double what_if_words_before_ns(const struct path *p);
double what_if_words_then_ns(const struct path *p);

/* The share of the former that is gained at most. */
double what_if_words_gain(const struct path *p);

/* So much the path would gain beside, in the mean, if nothing else were the last one then. */
double what_if_words_lost_ns(const struct path *p);

/* The answer of `hyprof path --what-if`, a sentence without a line break. */
void what_if_words_answer(const struct path *p, struct answer_words *out);

#endif /* VIEW_PATH_WHAT_IF_WORDS_H */
