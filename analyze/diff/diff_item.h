/* SPDX-License-Identifier: MIT */
/*
 * analyze/diff/diff_item.h - a function, zone, wait or system call before and after, and its change
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
        DIFF_ONE_SIDED, /* new or gone, and the other side has too little */
        DIFF_TOO_MANY,  /* zones of a run: DIFF_RUN_ZONES_MAX */
        DIFF_LOST,      /* the data to judge it was lost: zones, context switches, all of its samples */
        DIFF_OF_KERNEL, /* in a pair: its time, or number, depends on other work of the machine */
};

struct diff_item {
        uint32_t key_before, key_after; /* 0 = absent; differ if it was renamed */
        enum diff_kind kind;
        enum diff_doubt doubt;
        /*
         * Most of a zone's time is in zones inside of it, which are items themselves; or most of a wait's
         * time was ended by threads of the recording, or by the ends of children.
         */
        bool is_outer;
        bool is_outside;          /* waits and calls: how much depends on other threads and programs */
        bool is_sleep;            /* waits for the clock alone */
        bool is_kernel, is_asked; /* not asked for: not judged, and not shown */
        uint32_t caller_before,
                caller_after;             /* of a function or call: struct diff_sum, of a run that has it */
        uint64_t n_before, n_after;       /* samples, zones, waits, calls; of all runs */
        double value_before, value_after; /* the compared number, a mean of the runs */
        double total_before, total_after; /* see diff_item_total() */
        double delay_before, delay_after; /* of a kernel: the mean until it began; below 0 = unknown */
        double share_before,
                share_after;         /* of the samples' weight; of zones of the recording's time; of kernels
                                               * of the time of all; of waits and
                                               * calls of diff_run_threads_ns() */
        struct diff_verdict verdict; /* if it is judged */
        /* diff_moved_ns() as a part of the longer run; items with more are named first */
        double moved_share;
        bool is_few;         /* one side's counts are judged as Poisson numbers */
        bool is_significant; /* after the correction for looking at many */
};

/* Whether it is new or gone. */
static inline bool diff_item_is_one_sided(const struct diff_item *item)
{
        return item->key_before == 0 || item->key_after == 0;
}

/* The key by which the item is named: `key_after` if there is one. */
static inline uint32_t diff_item_key(const struct diff_item *item)
{
        return item->key_after != 0 ? item->key_after : item->key_before;
}

/* The compared number, for each kind. */
struct diff_basis {
        bool per_unit; /* of the unit of work; else functions per run, zones per zone */
        bool wall;     /* zones by their wall-clock time, not by that on a CPU */
};

/*
 * The value of an item in a run, by `key_before` if @before, else by `key_after`.  Not above 0 if it is
 * unknown.
 */
double diff_item_value(const struct diff_item *item, const struct diff_run *run,
                       const struct diff_basis *basis, bool before);

/*
 * The time of all instances of a zone, or of all system calls, in a run or in a unit; the value of other
 * items.
 */
double diff_item_total(const struct diff_item *item, const struct diff_run *run,
                       const struct diff_basis *basis, bool before);

/* The bounds of that value, whatever the lost samples belonged to.  Ignores lost zones. */
void diff_item_bounds(const struct diff_item *item, const struct diff_run *run,
                      const struct diff_basis *basis, bool before, double *ret_low, double *ret_high);

/*
 * The variance of the logarithm of that value by counts alone, as if samples and zones were independent;
 * HUGE_VAL if it is unknown.
 */
double diff_item_count_variance(const struct diff_item *item, const struct diff_run *run,
                                const struct diff_basis *basis, bool before);

/*
 * The same, as far as the run itself shows it: for a function, the larger one of that variance and of the
 * variance of its share between parts of the recording.  HUGE_VAL if it is unknown.
 */
double diff_item_spread_variance(const struct diff_item *item, const struct diff_run *run,
                                 const struct diff_basis *basis, bool before);

#endif /* ANALYZE_DIFF_DIFF_ITEM_H */
