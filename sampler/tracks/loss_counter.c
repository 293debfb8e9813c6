/* SPDX-License-Identifier: MIT */
#include "sampler/tracks/loss_counter.h"

#include "format/trace_dictionary.h"

#include <errno.h>
#include <stddef.h>

void loss_counter_add(struct loss_counter *c, enum trace_loss_reason reason, uint64_t n)
{
        c->pending[reason] += n;
        c->totals[reason] += n;
}

static int loss_counter_add_row(struct trace_dictionary *dictionary, uint32_t reason, uint32_t thread,
                                uint64_t n, uint64_t now_ns)
{
        struct trace_loss row = { .reason = reason, .thread = thread, .count = n, .time_ns = now_ns };
        uint32_t id;

        int r = trace_dictionary_add(dictionary, TRACE_TABLE_LOSSES, &row, &id);

        return r == -EOVERFLOW ? 0 : r; /* after millions of rows, one more would say nothing new */
}

int loss_counter_add_thread(struct loss_counter *c, struct trace_dictionary *dictionary,
                            enum trace_loss_reason reason, uint32_t thread, uint64_t n, uint64_t now_ns)
{
        c->totals[reason] += n;
        return loss_counter_add_row(dictionary, (uint32_t)reason, thread, n, now_ns);
}

int loss_counter_flush(struct loss_counter *c, struct trace_dictionary *dictionary, uint64_t now_ns)
{
        for (uint32_t reason = 0; reason < TRACE_LOSS_COUNT; reason++) {
                int r;

                if (c->pending[reason] == 0)
                        continue;
                r = loss_counter_add_row(dictionary, reason, 0, c->pending[reason], now_ns);
                if (r < 0)
                        return r;
                c->pending[reason] = 0;
        }
        return 0;
}

static uint64_t loss_counter_sum(const struct loss_counter *c, const enum trace_loss_reason *reasons,
                                 size_t n_reasons)
{
        uint64_t sum = 0;

        for (size_t i = 0; i < n_reasons; i++)
                if (__builtin_add_overflow(sum, c->totals[reasons[i]], &sum))
                        return UINT64_MAX;
        return sum;
}

uint64_t loss_counter_total(const struct loss_counter *c)
{
        static const enum trace_loss_reason lost[] = {
                TRACE_LOSS_KERNEL_RING_FULL, TRACE_LOSS_CLIENT_RING_FULL,  TRACE_LOSS_CLIENT_NO_RING,
                TRACE_LOSS_CLIENT_GONE,      TRACE_LOSS_ZONE_TOO_DEEP,     TRACE_LOSS_RECORD_GARBAGE,
                TRACE_LOSS_DROPPED_ZONES,    TRACE_LOSS_DROPPED_MESSAGES,  TRACE_LOSS_DROPPED_PLOTS,
                TRACE_LOSS_DROPPED_FRAMES,   TRACE_LOSS_DROPPED_MEMORY,    TRACE_LOSS_DROPPED_LOCKS,
                TRACE_LOSS_DROPPED_DEVICES,  TRACE_LOSS_STRING_TABLE_FULL, TRACE_LOSS_BLOB_REFUSED,
                TRACE_LOSS_BLOB_DAMAGED,     TRACE_LOSS_ATTACHMENTS_FULL,  TRACE_LOSS_SAMPLES_LOST,
                TRACE_LOSS_SWITCHES_LOST,    TRACE_LOSS_CLIENT_NO_FILES,   TRACE_LOSS_THREAD_UNKNOWN,
                TRACE_LOSS_CLIENT_NO_SPACE,
        };

        return loss_counter_sum(c, lost, sizeof(lost) / sizeof(lost[0]));
}
