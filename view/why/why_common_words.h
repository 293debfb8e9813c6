/* SPDX-License-Identifier: MIT */
/*
 * view/why/why_common_words.h - what slow instances have in common, in words and as a table
 *
 * Way of the data:  why_common -> [why_common_words] -> why_words, why_view
 */
#ifndef VIEW_WHY_WHY_COMMON_WORDS_H
#define VIEW_WHY_WHY_COMMON_WORDS_H

#include <stdint.h>

struct answer_part;
struct byte_buffer;
struct loaded_trace;
struct view_document;
struct why_common;

/*
 * Adds "all 30 slow ones are of thread t3 'w2', and 25.0% of the others" for each of the first @n_rows_max
 * rows, with "; " between them; nothing if there are no rows.
 */
void why_common_words(const struct why_common *c, const struct loaded_trace *trace, uint32_t n_rows_max,
                      struct byte_buffer *out);

/* The table of all rows; none without a row.  @limit: of rows; 0 = all. */
void why_common_words_add_table(const struct why_common *c, const struct loaded_trace *trace, uint64_t limit,
                                struct view_document *d);
extern const struct answer_part why_common_words_part;

#endif /* VIEW_WHY_WHY_COMMON_WORDS_H */
