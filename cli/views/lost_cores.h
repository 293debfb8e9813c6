/* SPDX-License-Identifier: MIT */
/*
 * cli/views/lost_cores.h - what `report --idle` and `--wall` say, for the overview, where it matters
 *
 * Way of the data:  report, idle_cores, wall_shares -> [lost_cores] -> overview_view
 *
 * They take passes of their own, which cost several times as much as the overview.  If a recording is large,
 * they look at a part that costs a fifth of the overview at most, in the middle if it can be read from there
 * on, and the words name it; where that would be less than half a second, they say nothing.
 */
#ifndef CLI_VIEWS_LOST_CORES_H
#define CLI_VIEWS_LOST_CORES_H

#include "view/shared/answer_words.h"

#include <stdbool.h>

struct report;

struct lost_cores {
        struct answer_words idle, wall; /* empty = it does not matter, or is not known */
};

/* @report: of the overview, loaded. */
void lost_cores_take(struct lost_cores *l, struct report *report, bool shows_native);

#endif /* CLI_VIEWS_LOST_CORES_H */
