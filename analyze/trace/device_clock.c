/* SPDX-License-Identifier: MIT */
#include "analyze/trace/device_clock.h"

#include "base/array.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int device_clock_init(struct device_clock *c, struct clock_reading *readings, size_t n, double period_ns)
{
        int r;

        *c = (struct device_clock){ .is_placed = false };
        r = clock_fit_init(&c->fit, readings, n, period_ns);
        c->period_ns = c->fit.slope_ns;
        c->has_period = c->fit.has_slope;
        c->is_placed = c->fit.quality != CLOCK_UNPLACED;
        c->n_left_out = c->fit.n_left_out;
        return r;
}

void device_clock_deinit(struct device_clock *c)
{
        clock_fit_deinit(&c->fit);
}

uint64_t device_clock_time_ns(const struct device_clock *c, uint64_t ticks, uint64_t said_ns)
{
        return clock_fit_time_ns(&c->fit, ticks, said_ns);
}

uint64_t device_clock_error_ns(const struct device_clock *c, uint64_t ticks, uint64_t said_ns)
{
        return clock_fit_error_ns(&c->fit, ticks, said_ns);
}

uint64_t device_clock_duration_ns(const struct device_clock *c, uint64_t ticks)
{
        return clock_fit_duration_ns(&c->fit, ticks);
}

/* ------------------------------------------------------------------ all devices of a trace */

static struct clock_reading reading_of(const struct trace_device_clock *row)
{
        const uint64_t error_ns = row->error_ns;

        return (struct clock_reading){ .ticks = row->ticks,
                                       .begin_ns = row->raw_ns < error_ns ? 0 : row->raw_ns - error_ns,
                                       .end_ns = row->raw_ns > UINT64_MAX - error_ns ? UINT64_MAX
                                                                                     : row->raw_ns + error_ns,
                                       .epoch = row->epoch };
}

/* The readings of one device after those of another.  @first: heap, where each begins, and the end. */
static struct clock_reading *sort_by_device(const struct trace_dictionary *dictionary, uint32_t n_devices,
                                            size_t *first)
{
        uint32_t n = trace_dictionary_count(dictionary, TRACE_TABLE_DEVICE_CLOCKS);
        struct clock_reading *readings = calloc((size_t)n + 1, sizeof(*readings));

        for (uint32_t i = 1; readings && i <= n; i++) {
                const struct trace_device_clock *row = trace_dictionary_row(dictionary,
                                                                            TRACE_TABLE_DEVICE_CLOCKS, i);

                first[row->device + 1]++;
        }
        for (uint32_t i = 1; i <= n_devices + 1; i++)
                first[i] += first[i - 1];
        for (uint32_t i = 1; readings && i <= n; i++) {
                const struct trace_device_clock *row = trace_dictionary_row(dictionary,
                                                                            TRACE_TABLE_DEVICE_CLOCKS, i);

                readings[first[row->device]++] = reading_of(row);
        }
        return readings;
}

int device_clocks_init(struct device_clocks *c, const struct trace_dictionary *dictionary)
{
        uint32_t n = trace_dictionary_count(dictionary, TRACE_TABLE_DEVICES);
        size_t *end = calloc((size_t)n + 2, sizeof(*end));
        struct clock_reading *readings = end ? sort_by_device(dictionary, n, end) : NULL;
        int r = 0;

        *c = (struct device_clocks){ .clocks = calloc((size_t)n + 1, sizeof(*c->clocks)), .n_clocks = n };
        if (!c->clocks || !readings)
                r = -ENOMEM;
        for (uint32_t i = 1; r == 0 && i <= n; i++) {
                const struct trace_device *row = trace_dictionary_row(dictionary, TRACE_TABLE_DEVICES, i);
                double period_ns;

                memcpy(&period_ns, &row->period_bits, sizeof(period_ns));
                r = device_clock_init(&c->clocks[i - 1], &readings[end[i - 1]], end[i] - end[i - 1],
                                      period_ns);
        }
        free(readings);
        free(end);
        return r;
}

void device_clocks_deinit(struct device_clocks *c)
{
        for (uint32_t i = 0; c->clocks && i < c->n_clocks; i++)
                device_clock_deinit(&c->clocks[i]);
        free(c->clocks);
        *c = (struct device_clocks){ .clocks = NULL };
}
