/* SPDX-License-Identifier: MIT */
/*
 * merge/merge_exchange.h - inputs beside each other by the clock of a machine that captured both
 *
 * Way of the data:  merge_input (EXCHANGES, boot ids) -> [merge_exchange] -> clock_fit, merge_clock
 *
 * A relation says where the timeline of an input is on the clock of some boot: by the readings that a capture
 * exchanged, or exactly, because a part of the input was recorded in that boot.  Two inputs with relations to
 * one boot have a link: a straight line from one timeline to the other, and by how much it may be wrong at
 * most while the one was recorded.
 *
 * Times are nanoseconds, errors as well.  Not thread-safe.
 */
#ifndef MERGE_MERGE_EXCHANGE_H
#define MERGE_MERGE_EXCHANGE_H

#include "analyze/clocks/clock_fit.h"
#include "base/boot_number.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct merge_input;

#define MERGE_DRIFT_BITS 60 /* drifts are in 2^-60 */

/* y = y_ns + (x - x_ns) + drift of that */
struct merge_line {
        uint64_t x_ns, y_ns;
        int64_t drift;
};

struct merge_relation {
        struct boot_number boot;
        uint32_t part; /* of the input, that was captured or is of this boot */
        bool is_exact; /* of this boot; the rest is 0 */
        uint32_t n_readings;
        struct clock_fit fit;   /* the input's time -> the boot's */
        struct merge_line line; /* the same, straight */
};

struct merge_link {
        struct merge_line line; /* from the timeline of one input to that of the other */
        uint64_t error_ns;      /* with that of the other one's part; UINT64_MAX = there is no link */
        uint32_t from_part, to_part;
        uint32_t n_readings;
};

struct merge_span {
        uint64_t from_ns, to_ns;
};

/* Never below 1, as time 0 is none. */
uint64_t merge_line_at(const struct merge_line *line, uint64_t x_ns);

/* (1 + a) (1 + b) - 1, and (1 + a) / (1 + b) - 1 */
int64_t merge_drift_product(int64_t a, int64_t b);
int64_t merge_drift_quotient(int64_t a, int64_t b);

/*
 * merge_exchange_read() - finds the relations of an input, whose parts are known
 * Readings that contradict each other, and clocks that jumped, make none.  Returns 0 or -ENOMEM.
 */
int merge_exchange_read(struct merge_input *in, struct error *err);
void merge_exchange_deinit(struct merge_input *in);

/* When an input was recorded, on its timeline. */
struct merge_span merge_exchange_span(const struct merge_input *in);

/*
 * merge_exchange_error() - how wrong a clock may be at times at which it was not measured
 * @error_ns:  its largest error while it was measured
 * @measured:  when that was; @wanted: where the error is asked for, on the same timeline
 * A line that is nowhere in a span farther from another one than the error leaves it by no more than twice
 * that in each such span; and rates of clocks are known within RATE_ERROR.
 */
uint64_t merge_exchange_error(uint64_t error_ns, struct merge_span measured, struct merge_span wanted);

/* The link from one timeline to the other that has the least error. */
struct merge_link merge_exchange_link(const struct merge_input *from, const struct merge_input *to);

#endif /* MERGE_MERGE_EXCHANGE_H */
