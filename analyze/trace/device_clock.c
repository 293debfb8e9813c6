/* SPDX-License-Identifier: MIT */
#include "analyze/trace/device_clock.h"

#include "base/array.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PERIOD_MAX_NS 1e9 /* a slower clock is not believed */
#define PERIOD_MIN_NS 1e-6

static int compare(const void *left, const void *right)
{
        const struct device_reading *a = left, *b = right;

        if (a->ticks != b->ticks)
                return a->ticks < b->ticks ? -1 : 1;
        return a->raw_ns < b->raw_ns ? -1 : a->raw_ns > b->raw_ns;
}

static bool is_period(double period_ns)
{
        return period_ns >= PERIOD_MIN_NS && period_ns <= PERIOD_MAX_NS;
}

void device_clock_complete(struct device_clock *c, double period_ns)
{
        size_t n = 0;

        if (c->n_readings > 1)
                qsort(c->readings, c->n_readings, sizeof(*c->readings), compare);
        for (size_t i = 0; i < c->n_readings; i++) {
                const struct device_reading *reading = &c->readings[i];

                if (n == 0 || (reading->ticks > c->readings[n - 1].ticks &&
                               reading->raw_ns > c->readings[n - 1].raw_ns))
                        c->readings[n++] = *reading;
                else
                        c->n_left_out++;
        }
        c->n_readings = n;
        c->is_placed = n != 0;
        if (!is_period(period_ns) && n > 1)
                period_ns = (double)(c->readings[n - 1].raw_ns - c->readings[0].raw_ns) /
                            (double)(c->readings[n - 1].ticks - c->readings[0].ticks);
        c->has_period = is_period(period_ns);
        c->period_ns = c->has_period ? period_ns : 1;
}

static uint64_t plus(uint64_t base_ns, double ns)
{
        if (ns < 0)
                return -ns >= (double)base_ns ? 0 : base_ns - (uint64_t)-ns;
        /* 2^63: beyond it nothing is a time. */
        if (ns >= 9223372036854775808.0 || base_ns + (uint64_t)ns < base_ns)
                return UINT64_MAX;
        return base_ns + (uint64_t)(ns + 0.5);
}

uint64_t device_clock_time_ns(const struct device_clock *c, uint64_t ticks)
{
        const struct device_reading *at;
        double slope = c->period_ns;
        size_t i;

        if (c->n_readings == 0)
                return plus(0, (double)ticks * slope);
        i = array_count_to(c->readings, c->n_readings, sizeof(*c->readings),
                           offsetof(struct device_reading, ticks), ticks);
        if (i == 0)
                return plus(c->readings[0].raw_ns, -(double)(c->readings[0].ticks - ticks) * slope);
        at = &c->readings[i - 1];
        if (i < c->n_readings)
                slope = (double)(at[1].raw_ns - at->raw_ns) / (double)(at[1].ticks - at->ticks);
        return plus(at->raw_ns, (double)(ticks - at->ticks) * slope);
}

/* ------------------------------------------------------------------ all devices of a trace */

static int add_readings(struct device_clocks *c, const struct trace_dictionary *dictionary)
{
        uint32_t n = trace_dictionary_count(dictionary, TRACE_TABLE_DEVICE_CLOCKS);

        for (uint32_t i = 1; i <= n; i++) {
                const struct trace_device_clock *row = trace_dictionary_row(dictionary,
                                                                            TRACE_TABLE_DEVICE_CLOCKS, i);
                struct device_clock *clock = &c->clocks[row->device - 1];

                if (array_reserve(&clock->readings, &clock->capacity, clock->n_readings + 1,
                                  sizeof(*clock->readings)) < 0)
                        return -ENOMEM;
                clock->readings[clock->n_readings++] = (struct device_reading){ .ticks = row->ticks,
                                                                                .raw_ns = row->raw_ns };
        }
        return 0;
}

int device_clocks_init(struct device_clocks *c, const struct trace_dictionary *dictionary)
{
        uint32_t n = trace_dictionary_count(dictionary, TRACE_TABLE_DEVICES);
        int r;

        *c = (struct device_clocks){ .clocks = calloc((size_t)n + 1, sizeof(*c->clocks)), .n_clocks = n };
        if (!c->clocks)
                return -ENOMEM;
        r = add_readings(c, dictionary);
        for (uint32_t i = 1; i <= n; i++) {
                const struct trace_device *row = trace_dictionary_row(dictionary, TRACE_TABLE_DEVICES, i);
                double period_ns;

                memcpy(&period_ns, &row->period_bits, sizeof(period_ns));
                device_clock_complete(&c->clocks[i - 1], period_ns);
        }
        return r;
}

void device_clocks_deinit(struct device_clocks *c)
{
        for (uint32_t i = 0; c->clocks && i < c->n_clocks; i++)
                free(c->clocks[i].readings);
        free(c->clocks);
        *c = (struct device_clocks){ .clocks = NULL };
}
