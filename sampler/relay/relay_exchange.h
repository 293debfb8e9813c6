/* SPDX-License-Identifier: MIT */
/*
 * sampler/relay/relay_exchange.h - a taker asks the recorder's machine for its clock, again and again
 *
 * Way of the data:  relay_intake <-> [relay_exchange] -> table EXCHANGES
 *
 * Questions are asked one at a time: PACE_EXCHANGE_BURST at once at the beginning, and then one each
 * PACE_EXCHANGE_NS.  The answer with the least time on the way is kept, of each PACE_EXCHANGE_BURST.  The
 * other side may answer anything: an answer without a question is an error, and one whose times cannot be is
 * left out.
 *
 * Times are nanoseconds of the machines' CLOCK_MONOTONIC_RAW.  Nothing blocks or allocates; one thread.
 */
#ifndef SAMPLER_RELAY_RELAY_EXCHANGE_H
#define SAMPLER_RELAY_RELAY_EXCHANGE_H

#include "base/boot_number.h"
#include "format/trace_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relay_exchange {
        struct boot_number taker; /* of the machine of the taker */
        bool is_answered;         /* the other side answers; nothing is asked otherwise */
        bool has_question;        /* that is not answered yet, asked at `asked_ns` */
        uint64_t asked_ns;        /* the last question */
        uint64_t n_answers;       /* to all questions */
        uint32_t n_compared;
        struct trace_exchange best; /* of `n_compared` answers */
        uint64_t best_ns;           /* its time on the way */
};

/*
 * relay_exchange_until() - how long the taker may wait for the next chunk before it has to ask
 * Returns nanoseconds, 0 = a question is due, UINT64_MAX = none is.
 */
uint64_t relay_exchange_until(const struct relay_exchange *e, uint64_t now_ns);

/* The position to be sent as a question, which is asked @now_ns. */
uint64_t relay_exchange_ask(struct relay_exchange *e, uint64_t now_ns);

/*
 * relay_exchange_take() - an answer
 * @body:    of the chunk, n bytes
 * @got_ns:  when it came
 * Returns 1 with a row to be kept, 0, or -EBADMSG: it was not asked.
 */
int relay_exchange_take(struct relay_exchange *e, const uint8_t *body, size_t n, uint64_t got_ns,
                        struct trace_exchange *ret_row);

/* The best of the answers since the last row.  Returns 1, or 0 if there are none. */
int relay_exchange_take_rest(struct relay_exchange *e, struct trace_exchange *ret_row);

#endif /* SAMPLER_RELAY_RELAY_EXCHANGE_H */
