/* SPDX-License-Identifier: MIT */
/*
 * analyze/cores/wall_shares.h - which functions the wall time belongs to
 *
 * Way of the data:  past_sweep, wait_roots -> [wall_shares] -> wall_view
 *
 * At each moment the time is divided by the threads that ran or could run, n: a sample counts for its weight
 * / n.  So a function that runs alone counts in full, and one that runs on eight threads at a time for an
 * eighth of its processor time.  Threads that could run and did not are parallel all the same: another
 * program had their CPU.  Moments with n = 0 are rows of their own, by what the first thread waited for in
 * the end, as 20,000 moments show it.  The shares add up to the wall time while the question was open, see
 * past_sweep.h.  Threads, and parts of the program, that the filter leaves out are one row.
 */
#ifndef ANALYZE_CORES_WALL_SHARES_H
#define ANALYZE_CORES_WALL_SHARES_H

#include "analyze/cores/past_sweep.h"
#include "analyze/cores/wait_roots.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct trace_filter;

#define WALL_SHARES_ROWS_MAX (UINT32_C(1) << 20)

enum wall_row_kind {
        WALL_ROW_FUNCTION,
        WALL_ROW_ELSEWHERE, /* what the filter leaves out */
        WALL_ROW_UNSAMPLED, /* threads could run, and there is no sample at all */
        WALL_ROW_TIMER,     /* no thread ran or could run */
        WALL_ROW_DISK,
        WALL_ROW_NETWORK,
        WALL_ROW_INTERRUPT, /* of another device, or of the kernel itself */
        WALL_ROW_PROGRAM,   /* a program that was not recorded */
        WALL_ROW_UNKNOWN,
        WALL_ROW_KINDS,
};

/* Compared as bytes. */
struct wall_row_key {
        uint32_t kind;  /* enum wall_row_kind */
        uint32_t label; /* of FUNCTION: of `sweep.names.places.functions` */
};

struct wall_row {
        uint64_t n_samples;
        double weight;
        double wall;    /* its weight / n; of the others, moments */
        double n_times; /* its weight * n */
        double share;   /* of the wall time; filled at the end */
};

struct wall_shares_request {
        const struct trace_filter *filter; /* borrowed */
        bool shows_native;                 /* code below Python functions stands for itself */
        uint32_t n_moments;                /* as in past_sweep.h */
        bool is_bounded;                   /* likewise */
        /*
         * Takes each sample that counts for a function, with its weight / n.  Returns 0 or -errno, which ends
         * the pass.  NULL = not wanted.
         */
        int (*take)(void *context, uint32_t thread, const struct past_sample *sample, double part);
        void *context;
};

struct wall_shares {
        struct wall_shares_request request;
        struct past_sweep sweep;
        struct wait_roots roots;
        struct intern keys;    /* struct wall_row_key */
        struct wall_row *rows; /* heap; of the key with id i at i - 1 */
        size_t rows_capacity;
        uint32_t *order; /* heap; ids of rows, the largest share first */
        uint32_t n_rows;
        uint64_t wall_ns;  /* while it was open */
        uint64_t none_ns;  /* of that, no thread ran or could run */
        uint64_t ready_ns; /* of that, some could run and none did */
        uint64_t n_samples;
        double weight;       /* of all samples of functions and elsewhere */
        uint64_t n_left_out; /* samples whose row had no room */
        double ns_per_part;  /* of weight / n; 0 = there are no samples */
        bool has_switches;
};

/*
 * wall_shares_take() - go through the trace
 * Returns 0 or as past_sweep_run(); to be deinitialised in any case.
 */
int wall_shares_take(struct wall_shares *w, struct loaded_trace *trace,
                     const struct wall_shares_request *request, struct error *err);
void wall_shares_deinit(struct wall_shares *w);

static inline const struct wall_row_key *wall_shares_key(const struct wall_shares *w, uint32_t row)
{
        return intern_get(&w->keys, row, NULL);
}

/* How many threads ran or could run when the row's samples were taken, on average; 0 = it has none. */
static inline double wall_row_parallelism(const struct wall_row *row)
{
        return row->weight > 0 ? row->n_times / row->weight : 0;
}

#endif /* ANALYZE_CORES_WALL_SHARES_H */
