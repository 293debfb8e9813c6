/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/path_sums.h - the segments of many paths -> how much of the time went where
 *
 * Way of the data:  path_walk -> [path_sums] -> path
 *
 * Segments of one kind, group of threads and place are one row.  The time in which a group ran is spread over
 * functions by its samples on all paths together, so that an instance shorter than the distance of two
 * samples counts as well.  Memory: bounded by the numbers below.  Not thread-safe.
 */
#ifndef ANALYZE_PATH_PATH_SUMS_H
#define ANALYZE_PATH_PATH_SUMS_H

#include "analyze/path/path_names.h"
#include "analyze/path/path_walk.h"
#include "analyze/stats/cluster_ratio.h"
#include "analyze/trace/throttled_times.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct past;
struct path_spins;

#define PATH_SUMS_ROWS_MAX    (UINT32_C(1) << 16)
#define PATH_SUMS_DETAILS_MAX (UINT32_C(1) << 18) /* of all rows together */
/* Segments of a row, or its samples that spin, with which it is looked what others did; looks in all. */
#define PATH_SUMS_MEANWHILE_MAX 4096
#define PATH_SUMS_LOOKS_MAX     (UINT32_C(1) << 22)

/* OTHERS and PROGRAM are what other programs took: shares are of the rest. */
enum path_row_kind {
        PATH_ROW_RUN,
        PATH_ROW_SPIN,      /* ran in order to wait for something */
        PATH_ROW_WAIT,      /* `end` says for what */
        PATH_ROW_LOCK,      /* a lock that no thread is known to have held */
        PATH_ROW_OWN,       /* could run; threads of the same process had its CPU */
        PATH_ROW_PROGRAM,   /* could run; other recorded processes had its CPU */
        PATH_ROW_THROTTLED, /* could run; the CPU quota was used up */
        PATH_ROW_OTHERS,    /* could run; no recorded thread had its CPU */
        PATH_ROW_UNBORN,
        PATH_ROW_CUT,
        PATH_ROW_DEVICE, /* waited while a device ran a work */
        PATH_ROW_OPEN,   /* waited, and that had not ended by the end of the recording */
        PATH_ROW_LAUNCH, /* waited until a device began it */
        PATH_ROW_KINDS,
};

/* Compared as bytes. */
struct path_row_key {
        uint32_t kind;      /* enum path_row_kind */
        uint32_t group;     /* of the thread on the path */
        uint32_t is_first;  /* 1: the thread whose path it is */
        uint32_t own, call; /* labels, as in struct path_place; 0 = none, or not asked for */
        uint32_t end;       /* of WAIT: enum wait_end_kind */
        uint32_t by;        /* of WAIT: string, who ended it; 0 = not known */
        uint32_t work;      /* of DEVICE and LAUNCH: a name of device_works */
        uint32_t span;      /* OTHERS, while it is counted: the span of throttled time + 1 */
};

struct path_row {
        double ns;     /* complete after path_sums_finish() */
        double weight; /* of samples: RUN, SPIN */
        uint64_t n_samples, n_segments, n_instances;
        struct cluster_ratio
                ratio;      /* of instances: this row's part (ns; weight of RUN and SPIN) and their time */
        uint64_t looked_ns; /* in which it was looked what others did meanwhile */
        uint64_t n_looked;
        uint32_t process, thread; /* of its last segment */
        uint32_t slot;            /* private: in the draft */
};

/* Things that belong to a row; compared as bytes. */
enum path_detail_kind {
        PATH_DETAIL_CHAIN,
        PATH_DETAIL_ZONE,
        PATH_DETAIL_MEANWHILE,
        PATH_DETAIL_OWNER,
        PATH_DETAIL_LANE,
        PATH_DETAIL_KINDS,
};

struct path_detail_key {
        uint32_t row, kind; /* enum path_detail_kind */
        uint32_t a;         /* CHAIN: chain; ZONE: location; MEANWHILE, OWNER: group; LANE: its number */
        uint32_t b;         /* MEANWHILE: label */
};

/* The time that a group of threads ran on paths, and its samples there. */
struct path_pool {
        double ns, weight;
        uint32_t thread; /* of its last segment */
};

/* The details of one kind of a row. */
struct path_largest {
        double amount, all;
        uint32_t detail; /* the largest; 0 = there is none */
};

/* One row's part of an instance. */
struct path_part {
        uint32_t row;
        double amount; /* ns; weight of RUN and SPIN */
};

/* The parts of an instance that is not complete. */
struct path_draft {
        struct path_part *parts; /* heap */
        size_t n, capacity;
        uint64_t ns, others_ns; /* in all; what other programs took */
        uint32_t first;         /* thread */
};

struct path_sums {
        struct path_names *names; /* borrowed */
        const struct past *past;  /* borrowed */
        struct path_walk *walk;   /* borrowed: for its chains */
        struct path_spins *spins; /* borrowed: gets the samples; NULL = they are not wanted */
        bool is_replayed;         /* samples count only as far as path_names_saved() leaves their time */
        struct throttled_times throttled;
        double *unowned_ns;    /* heap; by span of throttled time */
        struct intern keys;    /* struct path_row_key */
        struct path_row *rows; /* heap; of the key with id i at i - 1 */
        size_t rows_capacity;
        struct intern detail_keys; /* struct path_detail_key */
        double *details;           /* heap; ns or weight */
        size_t details_capacity;
        struct path_largest
                *largest; /* heap; by PATH_DETAIL_KINDS * (row - 1) + kind; see path_sums_finish() */
        uint32_t n_largest;
        struct path_pool *pools; /* heap; by 2 * (group - 1) + is_first */
        double *chains_ns;       /* heap; by chain */
        size_t chains_capacity;
        uint32_t n_chains;
        struct path_draft *draft; /* of the present segment */
        double total_ns, others_ns;
        double ww;        /* of instances: the sum of squares of their time without what others took */
        bool are_several; /* the instances are on threads of several names: their own rows are one */
        uint64_t n_instances, n_left_out; /* details, and segments whose row there was no room for */
        uint64_t n_looks;
};

static inline bool path_row_is_foreign(const struct path_row_key *key)
{
        return key->kind == PATH_ROW_OTHERS || key->kind == PATH_ROW_PROGRAM;
}

/* Returns 0 or -ENOMEM; to be deinitialised in any case. */
int path_sums_init(struct path_sums *s, const struct past *past, struct path_names *names,
                   struct path_walk *walk);
void path_sums_deinit(struct path_sums *s);

/* The segments that follow are of the instance @draft. */
void path_sums_choose(struct path_sums *s, struct path_draft *draft);
/* Returns 0 or -ENOMEM. */
int path_sums_add(struct path_sums *s, const struct path_segment *segment);
/* The instance is complete; the draft is empty then. */
void path_sums_close(struct path_sums *s, struct path_draft *draft);

/*
 * Spreads times over functions, and what no recorded thread had over throttled time and others; finds the
 * largest details.  Returns 0 or -ENOMEM.
 */
int path_sums_finish(struct path_sums *s);

/* After that: the whole without what other programs took. */
static inline double path_sums_rest_ns(const struct path_sums *s)
{
        return s->total_ns > s->others_ns ? s->total_ns - s->others_ns : 0;
}

static inline const struct path_row_key *path_sums_key(const struct path_sums *s, uint32_t row)
{
        return intern_get(&s->keys, row, NULL);
}

struct path_top {
        const struct path_detail_key *key; /* borrowed; NULL = the row has none of that kind */
        double amount;                     /* ns or weight */
        double share;                      /* of all details of that kind of the row */
};

/* The largest detail of a row, after path_sums_finish(). */
struct path_top path_sums_top(const struct path_sums *s, uint32_t row, enum path_detail_kind kind);

#endif /* ANALYZE_PATH_PATH_SUMS_H */
