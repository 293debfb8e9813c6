/* SPDX-License-Identifier: MIT */
#include "sampler/tracks/loss_counter.h"

#include "base/saturating.h"
#include "format/trace_dictionary.h"
#include "format/trace_loss.h"

#include <errno.h>

void loss_counter_add(struct loss_counter *c, enum trace_loss_reason reason, uint64_t n)
{
        c->pending[reason] += n;
        c->totals[reason] += n;
}

static int add_row(struct trace_dictionary *dictionary, uint32_t reason, uint32_t thread, uint64_t n,
                   uint64_t now_ns)
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
        return add_row(dictionary, (uint32_t)reason, thread, n, now_ns);
}

int loss_counter_flush(struct loss_counter *c, struct trace_dictionary *dictionary, uint64_t now_ns)
{
        for (uint32_t reason = 0; reason < TRACE_LOSS_COUNT; reason++) {
                int r;

                if (c->pending[reason] == 0)
                        continue;
                r = add_row(dictionary, reason, 0, c->pending[reason], now_ns);
                if (r < 0)
                        return r;
                c->pending[reason] = 0;
        }
        return 0;
}

uint64_t loss_counter_total(const struct loss_counter *c)
{
        uint64_t sum = 0;

        for (uint32_t reason = 0; reason < TRACE_LOSS_COUNT; reason++)
                if (trace_loss_is_lost(reason))
                        sum = saturating_add(sum, c->totals[reason]);
        return sum;
}
