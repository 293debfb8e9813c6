/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_item.h - one function or zone before and after, and the facts about its change
 *
 * Way of the data:  diff_run -> [diff_item] in diff_comparison -> diff_test, diff_view
 *
 * Changes are kept as natural logarithms of after / before: those add up, and up and down weigh the same.
 */
#ifndef ANALYZE_DIFF_DIFF_ITEM_H
#define ANALYZE_DIFF_DIFF_ITEM_H

#include "analyze/diff/diff_names.h"
#include "analyze/diff/diff_test.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diff_run;

/* Why an item is not judged. */
enum diff_doubt {
        DIFF_JUDGED = 0,
        DIFF_TOO_FEW,   /* samples or zones, before or after */
        DIFF_TOO_SMALL, /* a share that does not matter */
        DIFF_ONE_SIDED, /* new or gone */
        DIFF_TOO_MANY,  /* zones of a run: DIFF_RUN_ZONES_MAX */
        DIFF_OF_KERNEL, /* in a pair: its time depends on what else the machine did */
};

struct diff_item {
        uint32_t key_before, key_after; /* 0 = absent; differ if it was renamed */
        enum diff_kind kind;
        enum diff_doubt doubt;
        bool is_outer; /* a zone most of whose time is in zones inside: what it says, those say as well */
        bool is_kernel, is_asked;         /* not asked for: not judged, and not shown */
        uint64_t n_before, n_after;       /* samples, zones; of all runs */
        double value_before, value_after; /* the compared number, a mean of the runs */
        double share_before, share_after; /* of the samples' weight; of zones of the recording's time */
        struct diff_verdict verdict;      /* if it is judged */
        bool is_significant;              /* after the correction for looking at many */
};

/* The compared number, for each kind. */
struct diff_basis {
        bool per_unit; /* of the unit of work; else functions per run, zones per zone */
        bool wall;     /* zones by their wall-clock time, not by that on a CPU */
};

/* The value of an item in a run: @before says by which of its keys.  Not above 0 if it is unknown. */
double diff_item_value(const struct diff_item *item, const struct diff_run *run,
                       const struct diff_basis *basis, bool before);

/*
 * Variance of the logarithm of that value by counts alone, as if samples and zones were independent;
 * HUGE_VAL if it is unknown.
 */
double diff_item_count_variance(const struct diff_item *item, const struct diff_run *run,
                                const struct diff_basis *basis, bool before);

#endif /* ANALYZE_DIFF_DIFF_ITEM_H */
