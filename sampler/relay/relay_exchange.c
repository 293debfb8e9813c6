/* SPDX-License-Identifier: MIT */
#include "sampler/relay/relay_exchange.h"

#include "base/bytes.h"
#include "sampler/pace/pace.h"
#include "sampler/relay/relay_wire.h"

#include <errno.h>

static bool is_in_burst(const struct relay_exchange *e)
{
        return e->n_answers < PACE_EXCHANGE_BURST;
}

uint64_t relay_exchange_until(const struct relay_exchange *e, uint64_t now_ns)
{
        uint64_t next_ns = e->asked_ns + PACE_EXCHANGE_NS;

        if (!e->is_answered || e->has_question || !boot_number_is_known(e->taker))
                return UINT64_MAX;
        return is_in_burst(e) || now_ns >= next_ns ? 0 : next_ns - now_ns;
}

uint64_t relay_exchange_ask(struct relay_exchange *e, uint64_t now_ns)
{
        e->has_question = true;
        e->asked_ns = now_ns & ~RELAY_ASKS;
        return e->asked_ns | RELAY_ASKS;
}

/*
 * Whether both clocks can be clocks: what the recorder did took no longer than what the taker waited, up to a
 * thousandth by which their rates may differ.
 */
static bool is_possible(const struct trace_exchange *row)
{
        uint64_t waited_ns = row->got_ns - row->asked_ns, worked_ns = row->answered_ns - row->heard_ns;

        return row->heard_ns != 0 && row->got_ns >= row->asked_ns && row->answered_ns >= row->heard_ns &&
               worked_ns <= waited_ns + waited_ns / 1000;
}

int relay_exchange_take(struct relay_exchange *e, const uint8_t *body, size_t n, uint64_t got_ns,
                        struct trace_exchange *ret_row)
{
        struct byte_reader in = byte_reader_of(body, n);
        struct trace_exchange row = { .taker_high = e->taker.high,
                                      .taker_low = e->taker.low,
                                      .asked_ns = bytes_u64(&in),
                                      .got_ns = got_ns };
        uint64_t way_ns;

        row.heard_ns = bytes_u64(&in);
        row.answered_ns = bytes_u64(&in);
        if (in.short_read || !e->has_question || row.asked_ns != e->asked_ns)
                return -EBADMSG;
        e->has_question = false;
        e->n_answers++;
        e->n_compared++;
        if (is_possible(&row)) {
                uint64_t waited_ns = row.got_ns - row.asked_ns, worked_ns = row.answered_ns - row.heard_ns;

                way_ns = waited_ns > worked_ns ? waited_ns - worked_ns : 0;
                if (e->best.heard_ns == 0 || way_ns < e->best_ns) {
                        e->best = row;
                        e->best_ns = way_ns;
                }
        }
        return e->n_compared < PACE_EXCHANGE_BURST ? 0 : relay_exchange_take_rest(e, ret_row);
}

int relay_exchange_take_rest(struct relay_exchange *e, struct trace_exchange *ret_row)
{
        int has_row = e->best.heard_ns != 0;

        if (has_row)
                *ret_row = e->best;
        e->n_compared = 0;
        e->best = (struct trace_exchange){ .heard_ns = 0 };
        return has_row;
}
