/* SPDX-License-Identifier: MIT */
/*
 * analyze/live/live_waits.h - the places where threads wait, and who ended that, by their present names
 *
 * Way of the data:  live_stats, live_ends, live_labels -> [live_waits] -> live_rows
 *
 * live_rows_waits() is here as well.  Not thread-safe.
 */
#ifndef ANALYZE_LIVE_LIVE_WAITS_H
#define ANALYZE_LIVE_LIVE_WAITS_H

#include <stdint.h>

struct live_end_row;
struct live_folds;
struct live_label;
struct live_labels;
struct live_rows;

/*
 * live_waits_describe_place() - the function in which a thread waits: of the program, else of the kernel
 * @stack:  0 = not recorded, which the label says
 * Returns 0, -ENOMEM, -EOVERFLOW.
 */
int live_waits_describe_place(struct live_labels *l, const struct live_folds *folds, uint32_t stack,
                              struct live_label *ret);

/* Who ended the last wait of a thread.  Returns as the above. */
int live_waits_describe_end(const struct live_rows *of, struct live_labels *l, uint32_t thread,
                            struct live_end_row *ret);

#endif /* ANALYZE_LIVE_LIVE_WAITS_H */
