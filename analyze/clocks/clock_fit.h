/* SPDX-License-Identifier: MIT */
/*
 * analyze/clocks/clock_fit.h - ticks of another clock on the host's line of time, with a bound of the error
 *
 * Way of the data:  readings of a clock -> [clock_fit] -> device_clock
 *
 * A reading says that the other clock had @ticks at a moment from @begin_ns to @end_ns.  A bracket of no
 * width means that its error is not known: clock_bracket estimates one.
 *
 * Epochs: a counter that was set back, or jumped, begins a new one.  Readings are taken in the order of the
 * host's time; a new epoch begins with another epoch number, and where ticks do not go on at the rate of the
 * readings around.  A single reading like that is left out and counted.
 *
 * In each epoch:
 *   - If a straight line goes through all brackets, places are on the line through the middle of what is
 *     possible at the first and at the last reading: no other line has a lower bound.  The bound is proven
 *     if the other clock had a constant rate.  As a slight bend leaves a line as well, what the brackets
 *     seem to bend is added to the bound, up to 0.8 of it.
 *   - If there is none, the readings are split, greedily, at the longest stretches for which there is one.
 *     The slopes of these give a range of rates, which is widened by what a stretch can hide.  At any rates
 *     of the range, the clock passed each reading between two limits; the middle of these is the place.  The
 *     bound holds if the rate stayed in the range.  Brackets that no clock with such rates can pass begin
 *     another epoch.
 * Before the first and after the last reading the bound grows with the range of possible slopes.  The last
 * digit of the counter counts as an error of half a tick.
 *
 * Lengths are ticks times one slope for all epochs, so equal numbers of ticks are equal lengths.  So where
 * the clock wanders, the place of a begin plus the length may differ from the place of the end, by
 * nanoseconds; spans are not moved to hide that.  docs/understand/clocks.md has figures.
 */
#ifndef ANALYZE_CLOCKS_CLOCK_FIT_H
#define ANALYZE_CLOCKS_CLOCK_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLOCK_FIT_NO_HINT     UINT64_MAX
#define CLOCK_FIT_NO_BOUND    UINT64_MAX
#define CLOCK_FIT_EPOCHS_MAX  256 /* readings of later ones are left out */
#define CLOCK_FIT_WORDS_BYTES 80

struct clock_reading {
        uint64_t ticks, begin_ns, end_ns; /* end_ns == begin_ns: its error is not known */
        uint32_t epoch;                   /* any number; another one than before begins another epoch */
        uint32_t reserved;
};

enum clock_quality {
        CLOCK_UNPLACED,      /* there is no reading: tick 0 is time 0 */
        CLOCK_ERROR_UNKNOWN, /* too few readings without a bracket */
        CLOCK_ESTIMATED,     /* from readings without a bracket */
        CLOCK_PROVEN,
};

struct clock_limit {
        uint64_t ticks;
        double ns; /* after the epoch's origin */
};

struct clock_epoch {
        uint64_t first_ticks, last_ticks; /* of its readings */
        uint64_t origin_ns;
        uint64_t from_ns, until_ns; /* from the last reading of the epoch before to the first of the next */
        double place_ns;            /* of first_ticks, after the origin; on the line */
        double slope_ns;            /* of the line, nanoseconds a tick */
        double flattest_ns, steepest_ns;
        size_t upper, n_upper; /* in the fit's limits: no time is above */
        size_t lower, n_lower;
        size_t n_readings, n_pieces; /* pieces: a line goes through the readings of each; 1 = through all */
        bool is_wandering;           /* its places are no line */
        double bend_ns;              /* how far it seems to bend from the line */
        enum clock_quality quality;
        uint64_t bound_ns; /* the largest error at ticks between its readings */
};

struct clock_fit {
        struct clock_epoch *epochs; /* heap, in the order of time */
        size_t n_epochs, epochs_capacity;
        struct clock_limit *limits; /* heap */
        size_t n_limits, limits_capacity;
        double slope_ns;            /* of a tick, for lengths */
        bool has_slope;             /* the readings or the caller told */
        bool period_disagrees;      /* no clock with the caller's period passes the readings */
        enum clock_quality quality; /* the worst of the epochs */
        uint64_t bound_ns;          /* the largest of the epochs; CLOCK_FIT_NO_BOUND if a quality is less */
        uint64_t n_left_out;        /* readings that make no sense */
        uint64_t n_late;            /* readings without a bracket that were later than nine of ten */
};

/*
 * clock_fit_init() - finds epochs, lines and bounds
 * @readings:   in any order; sorted by it.  The caller's, not needed afterwards.
 * @period_ns:  of a tick, as someone named it: right within 100 ppm, unless the readings say otherwise.
 *              0 = not known; what is unreasonable counts as that.
 * Returns 0 or -ENOMEM; to be deinitialised in any case.  n log n time.
 */
int clock_fit_init(struct clock_fit *f, struct clock_reading *readings, size_t n, double period_ns);
void clock_fit_deinit(struct clock_fit *f);

/*
 * clock_fit_time_ns() - where a tick is on the host's line
 * @known_ns:  when the tick was known on the host, CLOCK_FIT_NO_HINT if that is not known.  A tick that
 *             several epochs may have had belongs to the one in which it was last, at @known_ns or before;
 *             without a hint to that whose readings are nearest.
 * Within an epoch it never decreases with the ticks.  Times below 0 or beyond 64 bits become these limits.
 */
uint64_t clock_fit_time_ns(const struct clock_fit *f, uint64_t ticks, uint64_t known_ns);

/* By how much that place may be wrong at most, or CLOCK_FIT_NO_BOUND.  Logarithmic time. */
uint64_t clock_fit_error_ns(const struct clock_fit *f, uint64_t ticks, uint64_t known_ns);

uint64_t clock_fit_duration_ns(const struct clock_fit *f, uint64_t ticks);

/*
 * clock_fit_words() - how exact places are, for people
 * "placed within 0.3 us", "placed within about 1.0 us (estimated)", "placed, error unknown", "clock unknown";
 * of a counter that was set back or jumped: "placed within 0.3 us, 2 epochs"
 */
const char *clock_fit_words(const struct clock_fit *f, char words[CLOCK_FIT_WORDS_BYTES]);

/* "proven", "estimated", "unknown" (placed, but not how exactly) or "unplaced"; static. */
const char *clock_fit_quality(enum clock_quality quality);

#endif /* ANALYZE_CLOCKS_CLOCK_FIT_H */
