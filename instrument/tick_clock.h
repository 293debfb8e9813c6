/* SPDX-License-Identifier: MIT */
/*
 * instrument/tick_clock.h - a client's ticks -> nanoseconds of CLOCK_MONOTONIC_RAW
 *
 * Way of the data:  client_stream -> [tick_clock] -> merge
 *
 * Remembers pairs of (ticks, nanoseconds) that were measured while recording
 * and draws straight lines between them: exact at every pair, never going
 * backwards, no jump where two lines meet.  Before the first and after the last
 * pair the line of the whole recording is carried on.
 *
 * A time after the last pair is provisional: the next pair may move it by some
 * nanoseconds.  So a recorder drains the rings, takes a pair, and only then
 * converts: what it drained lies before the pair.
 *
 * Used by one thread.
 */
#ifndef INSTRUMENT_TICK_CLOCK_H
#define INSTRUMENT_TICK_CLOCK_H

#include <stdint.h>

#define TICK_CLOCK_PAIRS_MAX 512 /* older ones are forgotten: four minutes at two a second */

struct error;

/*
 * tick_source.c - the counters that clients take their time stamps from: what each architecture has
 *
 * The counterpart of the client's ticks.h.  tick_source_kind(): the enum client_abi_clock that this
 * architecture counts in; 0 = it has no counter that we can read.  tick_source_read(): the counter, read
 * after everything that the program did before the call; 0 where the machine has none.
 */
uint32_t tick_source_kind(void);
uint64_t tick_source_read(void);

struct tick_pair {
        uint64_t ticks;
        uint64_t ns;
        uint64_t ns_per_tick; /* from here to the next pair, times 2^TICK_CLOCK_FRACTION_BITS */
};

#define TICK_CLOCK_FRACTION_BITS 40

/* A stretch of one of the lines, on which nothing can overflow: ns + since * ns_per_tick. */
struct tick_line {
        uint64_t ticks;   /* it begins here */
        uint64_t n_ticks; /* and is this long; 0 = there is none */
        uint64_t ns;      /* at `ticks` */
        uint64_t ns_per_tick;
};

struct tick_clock {
        uint32_t kind; /* enum client_abi_clock */
        uint32_t n_pairs;
        uint64_t ns_per_tick;  /* from the first pair to the last, the same way; 0 with fewer than two */
        uint64_t error_ns;     /* the widest pair */
        struct tick_line line; /* that the last time lay on: the next time mostly lies on it too */
        struct tick_pair pairs[TICK_CLOCK_PAIRS_MAX]; /* ticks and ns both increase */
};

/*
 * tick_clock_init() - begin to measure the clock of @kind, an enum client_abi_clock
 * Takes two pairs a millisecond apart, so that it can be used at once; sleeps in between.
 * Returns 0, or -ENOTSUP for a clock that this machine does not have.
 */
int tick_clock_init(struct tick_clock *clock, uint32_t kind, struct error *err);

/* Measures a pair now and remembers it; two a second are enough.  About 1 us. */
void tick_clock_pair(struct tick_clock *clock);

/*
 * tick_clock_add() - remember a pair that was measured elsewhere
 * @error_ns:  the pair's two halves were read at most this far apart
 * A pair that is not after the last one is passed over.
 */
void tick_clock_add(struct tick_clock *clock, uint64_t ticks, uint64_t ns, uint64_t error_ns);

/* tick_clock_to_ns() for @ticks outside of `line`: finds the line that they are on, and keeps it there. */
uint64_t tick_clock_to_ns_slow(struct tick_clock *clock, uint64_t ticks);

__extension__ typedef unsigned __int128 tick_product;

/*
 * The time at @ticks in nanoseconds; the identity for CLOCK_MONOTONIC_RAW.  One
 * multiplication in the usual case.
 */
static inline uint64_t tick_clock_to_ns(struct tick_clock *clock, uint64_t ticks)
{
        const struct tick_line *line = &clock->line;
        uint64_t since = ticks - line->ticks; /* wraps before the line, to more than its length */

        if (since >= line->n_ticks)
                return tick_clock_to_ns_slow(clock, ticks);
        return line->ns + (uint64_t)((tick_product)since * line->ns_per_tick >> TICK_CLOCK_FRACTION_BITS);
}

/* How far a converted time may be off, given how the pairs were measured. */
uint64_t tick_clock_error_ns(const struct tick_clock *clock);

#endif /* INSTRUMENT_TICK_CLOCK_H */
