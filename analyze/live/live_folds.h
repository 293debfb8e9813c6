/* SPDX-License-Identifier: MIT */
/*
 * analyze/live/live_folds.h - whether native code counts for Python functions in the last seconds of a trace
 *
 * Way of the data:  live_stats -> [live_folds] (python_stacks) -> live_rows, top_view
 *
 * Made for each list: the dictionary grows, and the window moves.
 */
#ifndef ANALYZE_LIVE_LIVE_FOLDS_H
#define ANALYZE_LIVE_LIVE_FOLDS_H

#include "analyze/samples/python_stacks.h"

#include <stdbool.h>

struct live_rows;

struct live_folds {
        struct python_stacks python;
        const struct python_stacks *folds; /* NULL = call stacks are as they are */
};

/*
 * live_folds_init() - decide by the rule of python_stacks.h, from the samples of the window, whether to fold
 * @of_waits: fold also if the rule holds for the waits with a call stack
 * Returns 0 or -ENOMEM; to be deinitialised in any case.
 */
int live_folds_init(struct live_folds *f, const struct live_rows *of, bool of_waits);
void live_folds_deinit(struct live_folds *f);

#endif /* ANALYZE_LIVE_LIVE_FOLDS_H */
