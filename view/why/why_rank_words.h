/* SPDX-License-Identifier: MIT */
/*
 * view/why/why_rank_words.h - the process that the others waited for at a barrier, in words
 *
 * Way of the data:  zone_ranks -> [why_rank_words] -> why_facts
 */
#ifndef VIEW_WHY_WHY_RANK_WORDS_H
#define VIEW_WHY_WHY_RANK_WORDS_H

struct byte_buffer;
struct loaded_trace;
struct why;

/*
 * why_rank_words() - "app@rank2 (PID 4711): last into an instance in 95 of 100, by 12 ms in the median"
 * Adds nothing if no process was late.
 */
void why_rank_words(const struct why *w, const struct loaded_trace *trace, struct byte_buffer *out);

#endif /* VIEW_WHY_WHY_RANK_WORDS_H */
