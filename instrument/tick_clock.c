/* SPDX-License-Identifier: MIT */
#include "instrument/tick_clock.h"

#include "base/clock.h"
#include "base/error.h"
#include "instrument/client_abi.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define TRIES_A_PAIR 8

/* Nanoseconds for a tick, times 2^TICK_CLOCK_FRACTION_BITS; the largest number where it does not fit. */
static uint64_t slope(uint64_t ns, uint64_t ticks)
{
        tick_product v = ((tick_product)ns << TICK_CLOCK_FRACTION_BITS) / ticks;

        return v > UINT64_MAX ? UINT64_MAX : (uint64_t)v;
}

/* Converts @ticks along a line to nanoseconds; the largest number if the value does not fit. */
static uint64_t along(uint64_t ticks, uint64_t ns_per_tick)
{
        tick_product v = ((tick_product)ticks * ns_per_tick) >> TICK_CLOCK_FRACTION_BITS;

        return v > UINT64_MAX ? UINT64_MAX : (uint64_t)v;
}

static uint64_t add_or_max(uint64_t a, uint64_t b)
{
        return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void tick_clock_add(struct tick_clock *clock, uint64_t ticks, uint64_t ns, uint64_t error_ns)
{
        struct tick_pair *last;

        if (clock->n_pairs > 0) {
                last = &clock->pairs[clock->n_pairs - 1];
                if (ticks <= last->ticks || ns <= last->ns)
                        return;
                last->ns_per_tick = slope(ns - last->ns, ticks - last->ticks);
        }
        if (clock->n_pairs == TICK_CLOCK_PAIRS_MAX) {
                memmove(clock->pairs, clock->pairs + 1, (TICK_CLOCK_PAIRS_MAX - 1) * sizeof(*clock->pairs));
                clock->n_pairs--;
        }
        clock->pairs[clock->n_pairs++] = (struct tick_pair){ .ticks = ticks, .ns = ns };
        clock->line.n_ticks = 0; /* the line may go on past the pair that was the last */
        if (error_ns > clock->error_ns)
                clock->error_ns = error_ns;
        if (clock->n_pairs >= 2)
                clock->ns_per_tick = slope(ns - clock->pairs[0].ns, ticks - clock->pairs[0].ticks);
}

/*
 * Reads the kernel's clock between two readings of the counter: the closer these two are, the less can have
 * happened in between.  Half their distance is the error.
 */
void tick_clock_pair(struct tick_clock *clock)
{
        uint64_t best_ticks = 0, best_ns = 0, best_width = UINT64_MAX;
        uint64_t first_ns = clock_raw_ns(), begin_ticks = 0, ticks_span, ns_span;

        if (clock->kind == CLIENT_ABI_CLOCK_MONOTONIC_RAW)
                return;
        for (int i = 0; i < TRIES_A_PAIR; i++) {
                uint64_t before = tick_source_read();
                uint64_t ns = clock_raw_ns();
                uint64_t width = tick_source_read() - before;

                if (i == 0)
                        begin_ticks = before;
                if (width < best_width) {
                        best_width = width;
                        best_ticks = before + width / 2;
                        best_ns = ns;
                }
        }
        /* The tries themselves show how long a tick is, accurately enough for an error. */
        ns_span = clock_raw_ns() - first_ns;
        ticks_span = tick_source_read() - begin_ticks;
        tick_clock_add(clock, best_ticks, best_ns,
                       along(best_width / 2, slope(ns_span, ticks_span ? ticks_span : 1)) + 1);
}

int tick_clock_init(struct tick_clock *clock, uint32_t kind, struct error *err)
{
        const struct timespec pause = { .tv_nsec = (long)NS_PER_MS };

        if (kind != CLIENT_ABI_CLOCK_MONOTONIC_RAW && (kind == 0 || kind != tick_source_kind()))
                return error_set(err, -ENOTSUP, "client clock %u cannot be read on this machine", kind);

        memset(clock, 0, sizeof(*clock));
        clock->kind = kind;
        if (kind == CLIENT_ABI_CLOCK_MONOTONIC_RAW)
                return 0;
        tick_clock_pair(clock);
        (void)nanosleep(&pause, NULL); /* a signal that cuts this short makes the line shorter */
        tick_clock_pair(clock);
        return 0;
}

/* How far a line can be followed from @ns on without an overflow, at most @n_ticks. */
static uint64_t safe_ticks(uint64_t ns, uint64_t ns_per_tick, uint64_t n_ticks)
{
        tick_product most = ns_per_tick > 0 ? ((tick_product)(UINT64_MAX - ns) << TICK_CLOCK_FRACTION_BITS) /
                                                      ns_per_tick
                                            : UINT64_MAX;

        return most < n_ticks ? (uint64_t)most : n_ticks;
}

static void keep_line(struct tick_clock *clock, const struct tick_pair *from, uint64_t ns_per_tick,
                      uint64_t n_ticks)
{
        clock->line = (struct tick_line){ .ticks = from->ticks,
                                          .n_ticks = safe_ticks(from->ns, ns_per_tick, n_ticks),
                                          .ns = from->ns,
                                          .ns_per_tick = ns_per_tick };
}

uint64_t tick_clock_to_ns_slow(struct tick_clock *clock, uint64_t ticks)
{
        const struct tick_pair *p = clock->pairs;
        uint64_t back_ns;

        if (clock->kind == CLIENT_ABI_CLOCK_MONOTONIC_RAW || clock->n_pairs == 0)
                return ticks;
        if (ticks < p->ticks) {
                back_ns = along(p->ticks - ticks, clock->ns_per_tick);
                return p->ns > back_ns ? p->ns - back_ns : 0;
        }
        p += clock->n_pairs - 1;
        if (ticks >= p->ticks) {
                keep_line(clock, p, clock->ns_per_tick,
                          UINT64_MAX - p->ticks); /* what lies before wraps to more */
                return add_or_max(p->ns, along(ticks - p->ticks, clock->ns_per_tick));
        }
        /* Nearly all of them are recent. */
        while (ticks < p->ticks)
                p--;
        keep_line(clock, p, p->ns_per_tick, p[1].ticks - p->ticks);
        return p->ns + along(ticks - p->ticks, p->ns_per_tick);
}

uint64_t tick_clock_error_ns(const struct tick_clock *clock)
{
        return clock->error_ns;
}
