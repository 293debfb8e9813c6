/* SPDX-License-Identifier: MIT */
#include "sampler/kernel/host_clocks.h"

#include "base/clock.h"
#include "format/trace_dictionary.h"
#include "instrument/tick_clock.h"
#include "sampler/pace/pace.h"

#include <errno.h>
#include <time.h>

#define TRIES_MAX 8

static uint64_t read_ns(clockid_t clock)
{
        struct timespec t;

        (void)clock_gettime(clock, &t); /* cannot fail for these clocks */
        return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static bool has_clock(enum trace_clock_kind kind)
{
        switch (kind) {
        case TRACE_CLOCK_MONOTONIC_RAW:
        case TRACE_CLOCK_MONOTONIC:
        case TRACE_CLOCK_REALTIME:
                return true;
        case TRACE_CLOCK_BOOTTIME: /* a time namespace sets it by an offset of its own */
                return clock_namespace_ns == 0;
        case TRACE_CLOCK_TSC:
        case TRACE_CLOCK_CNTVCT:
        case TRACE_CLOCK_RDTIME:
                return tick_source_kind() == (uint32_t)kind; /* the client's numbers are the trace's */
        }
        return false;
}

static uint64_t read_clock(enum trace_clock_kind kind)
{
        switch (kind) {
        case TRACE_CLOCK_MONOTONIC:
                return read_ns(CLOCK_MONOTONIC) - (uint64_t)clock_namespace_ns;
        case TRACE_CLOCK_REALTIME:
                return read_ns(CLOCK_REALTIME);
        case TRACE_CLOCK_BOOTTIME:
                return read_ns(CLOCK_BOOTTIME);
        case TRACE_CLOCK_TSC:
        case TRACE_CLOCK_CNTVCT:
        case TRACE_CLOCK_RDTIME:
                return tick_source_read();
        case TRACE_CLOCK_MONOTONIC_RAW:
                break;
        }
        return clock_raw_ns();
}

bool host_clocks_read(enum trace_clock_kind kind, struct trace_clock *ret_row)
{
        uint64_t best_ns = UINT64_MAX;

        if (!has_clock(kind))
                return false;
        *ret_row = (struct trace_clock){ .kind = (uint32_t)kind };
        for (int i = 0; i < TRIES_MAX && best_ns > PACE_CLOCKS_UNDISTURBED_NS; i++) {
                uint64_t before_ns = clock_raw_ns();
                uint64_t ticks = read_clock(kind);
                uint64_t width_ns = clock_raw_ns() - before_ns;

                if (width_ns < best_ns) {
                        best_ns = width_ns;
                        ret_row->ticks = ticks;
                        ret_row->raw_ns = before_ns + width_ns / 2;
                }
        }
        ret_row->error_ns = best_ns / 2 < UINT32_MAX ? (uint32_t)(best_ns / 2) + 1 : UINT32_MAX;
        return true;
}

int host_clocks_add(struct trace_dictionary *dictionary)
{
        static const enum trace_clock_kind kinds[] = { TRACE_CLOCK_MONOTONIC, TRACE_CLOCK_REALTIME,
                                                       TRACE_CLOCK_BOOTTIME,  TRACE_CLOCK_TSC,
                                                       TRACE_CLOCK_CNTVCT,    TRACE_CLOCK_RDTIME };
        int r = 0;

        for (size_t i = 0; r == 0 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                struct trace_clock row;
                uint32_t id;

                if (host_clocks_read(kinds[i], &row))
                        r = trace_dictionary_add(dictionary, TRACE_TABLE_CLOCKS, &row, &id);
        }
        return r == -EOVERFLOW ? 0 : r;
}
