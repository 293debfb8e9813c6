/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff_item.h - one function or zone before and after, and what is known of its change
 *
 * Way of the data:  diff_run -> [diff_item] in diff_comparison -> diff_pair, diff_sets -> diff_view
 *
 * Changes are kept as natural logarithms of after / before: those add up, and up and down weigh the same.
 */
#ifndef ANALYZE_DIFF_ITEM_H
#define ANALYZE_DIFF_ITEM_H

#include "analyze/diff_names.h"

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
        DIFF_NO_SLICES, /* DIFF_RUN_SLICED_MAX */
};

struct diff_item {
        uint32_t key_before, key_after; /* 0 = absent; differ if it was renamed */
        enum diff_kind kind;
        enum diff_doubt doubt;
        bool is_outer; /* a zone most of whose time is in zones inside: what it says, those say as well */
        bool is_kernel, is_asked;         /* not asked for: it tells of the whole, and is not shown */
        uint64_t n_before, n_after;       /* samples, zones; of all runs */
        double value_before, value_after; /* what is compared, a mean of the runs */
        double share_before, share_after; /* of the samples' weight; of zones of the recording's time */
        double raw;                       /* change as it was recorded */
        double change;                    /* beside the change of the whole run */
        double se, df;                    /* of `change` */
        double p;                         /* of no change */
        bool is_significant;              /* after the correction for looking at many */
};

/* Of everything together, once for each kind: a faster machine, a slower compiler. */
struct diff_whole {
        double change, se, df, p;
        bool is_known, is_significant;
        uint32_t n_items; /* that it is the median of */
};

/* What is compared, for each kind. */
struct diff_basis {
        bool per_unit; /* of the unit of work; else functions per run, zones per zone */
        bool wall;     /* zones by their wall-clock time, not by that on a CPU */
};

/*
 * The allowance for what differs between any two runs of one program, as standard deviations of logarithms.
 * Measured in docs/diff.md.
 */
struct diff_allowance {
        double item;   /* of one item beside the whole run */
        double kernel; /* the same for functions of the kernel */
        double whole;  /* of the whole run */
};

/* Items that the change of the whole is found from: the heaviest. */
#define DIFF_REFERENCES_MAX 64

/* The value of an item in a run: @before says by which of its keys.  Not above 0 if it is unknown. */
double diff_item_value(const struct diff_item *item, const struct diff_run *run,
                       const struct diff_basis *basis, bool before);

/* Variance of the logarithm of that value by counts alone, as if samples and zones were independent. */
double diff_item_count_variance(const struct diff_item *item, const struct diff_run *run,
                                const struct diff_basis *basis, bool before);

/*
 * diff_items_references() - the judged items of a kind that the whole is found from:
 * no outer zones, and nothing of the kernel, whose share tells what else the machine did
 * @ret:  indexes, the heaviest first, at most DIFF_REFERENCES_MAX.  Returns how many.
 */
uint32_t diff_items_references(const struct diff_item *items, size_t n_items, enum diff_kind kind,
                               uint32_t *ret);

#endif /* ANALYZE_DIFF_ITEM_H */
