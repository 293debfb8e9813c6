/* SPDX-License-Identifier: MIT */
/*
 * relay_exchange.c: a burst, then a question each second; of each eight answers the one that was least on the
 * way is kept; answers that cannot be are left out, those without a question are refused
 */
#include "base/byte_buffer.h"
#include "sampler/pace/pace.h"
#include "sampler/relay/relay_exchange.h"
#include "sampler/relay/relay_wire.h"
#include "tests/unit/unit_test.h"

#include <errno.h>

#define BEGIN_NS UINT64_C(1000000000)
#define APART_NS UINT64_C(5000000000) /* the recorder's clock is so much ahead */

static struct relay_exchange e;

static void begin(void)
{
        e = (struct relay_exchange){ .taker = { 1, 2 }, .is_answered = true };
}

static int answer(uint64_t asked_ns, uint64_t heard_ns, uint64_t answered_ns, uint64_t got_ns,
                  struct trace_exchange *ret_row)
{
        struct byte_buffer body = { .data = NULL };
        int r;

        byte_buffer_add_u64(&body, asked_ns);
        byte_buffer_add_u64(&body, heard_ns);
        byte_buffer_add_u64(&body, answered_ns);
        ck_assert_uint_eq(body.used_bytes, RELAY_TIME_BYTES);
        r = relay_exchange_take(&e, body.data, body.used_bytes, got_ns, ret_row);
        byte_buffer_deinit(&body);
        return r;
}

/* Asks at @now_ns; the way takes the times before and after 10 us of work. */
static int exchange(uint64_t now_ns, uint64_t there_ns, uint64_t back_ns, struct trace_exchange *ret_row)
{
        uint64_t heard_ns = now_ns + there_ns + APART_NS;

        ck_assert_uint_eq(relay_exchange_ask(&e, now_ns), now_ns | RELAY_ASKS);
        ck_assert_uint_eq(relay_exchange_until(&e, now_ns), UINT64_MAX); /* one at a time */
        return answer(now_ns, heard_ns, heard_ns + 10000, now_ns + there_ns + 10000 + back_ns, ret_row);
}

START_TEST(the_best_of_a_burst_is_kept)
{
        static const uint64_t ways_ns[PACE_EXCHANGE_BURST] = { 900, 400, 300, 700, 300, 900, 500, 600 };
        struct trace_exchange row = { .asked_ns = 0 };

        begin();
        for (uint64_t i = 0; i < PACE_EXCHANGE_BURST; i++) {
                ck_assert_uint_eq(relay_exchange_until(&e, BEGIN_NS + i), 0);
                ck_assert_int_eq(exchange(BEGIN_NS + i, ways_ns[i], 100, &row), i + 1 == PACE_EXCHANGE_BURST);
        }
        ck_assert_uint_eq(row.asked_ns, BEGIN_NS + 2);
        ck_assert_uint_eq(row.heard_ns, BEGIN_NS + 2 + 300 + APART_NS);
        ck_assert_uint_eq(row.answered_ns, row.heard_ns + 10000);
        ck_assert_uint_eq(row.got_ns, BEGIN_NS + 2 + 300 + 10000 + 100);
        ck_assert_uint_eq(row.taker_high, 1);
        ck_assert_uint_eq(row.taker_low, 2);
        ck_assert_int_eq(relay_exchange_take_rest(&e, &row), 0);
        /* From now on one each second, and the rest of them at the end. */
        ck_assert_uint_eq(relay_exchange_until(&e, e.asked_ns + PACE_EXCHANGE_NS - 7), 7);
        ck_assert_uint_eq(relay_exchange_until(&e, e.asked_ns + PACE_EXCHANGE_NS), 0);
        ck_assert_int_eq(exchange(9 * BEGIN_NS, 50, 50, &row), 0);
        ck_assert_int_eq(exchange(10 * BEGIN_NS, 20, 20, &row), 0);
        ck_assert_int_eq(relay_exchange_take_rest(&e, &row), 1);
        ck_assert_uint_eq(row.asked_ns, 10 * BEGIN_NS);
}
END_TEST

START_TEST(nothing_is_asked_of_those_who_do_not_answer)
{
        begin();
        e.is_answered = false;
        ck_assert_uint_eq(relay_exchange_until(&e, BEGIN_NS), UINT64_MAX);
        begin();
        e.taker = (struct boot_number){ .high = 0 };
        ck_assert_uint_eq(relay_exchange_until(&e, BEGIN_NS), UINT64_MAX);
}
END_TEST

/* loop test: an answer to nothing, to another question, one that came twice, one that is too short */
START_LOOP_TEST(answers_to_no_question_are_refused, 0, 4)
{
        struct trace_exchange row;

        begin();
        if (_i > 0)
                (void)relay_exchange_ask(&e, BEGIN_NS);
        if (_i == 2)
                ck_assert_int_eq(answer(BEGIN_NS, 5, 6, BEGIN_NS + 9, &row), 0);
        if (_i == 3)
                ck_assert_int_eq(relay_exchange_take(&e, (const uint8_t[8]){ 0 }, 8, BEGIN_NS, &row),
                                 -EBADMSG);
        else
                ck_assert_int_eq(answer(BEGIN_NS + (_i == 1), 5, 6, BEGIN_NS + 9, &row), -EBADMSG);
}
END_TEST

/* loop test: answered before it was heard, at no time, after more time than the taker waited */
START_LOOP_TEST(times_that_cannot_be_are_left_out, 0, 4)
{
        static const struct {
                uint64_t heard_ns, answered_ns;
                int n_rows;
        } cases[] = { { 500, 499, 0 }, { 0, 0, 0 }, { 500, 500 + 10020, 0 }, { 500, 500 + 10009, 1 } };
        struct trace_exchange row;

        begin();
        (void)relay_exchange_ask(&e, BEGIN_NS);
        ck_assert_int_eq(answer(BEGIN_NS, cases[_i].heard_ns, cases[_i].answered_ns, BEGIN_NS + 10000, &row),
                         0);
        ck_assert_int_eq(relay_exchange_take_rest(&e, &row), cases[_i].n_rows);
        ck_assert_uint_eq(relay_exchange_until(&e, BEGIN_NS), 0); /* it goes on */
}
END_TEST

/* loop test: 32 digits, with dashes or without, are a number; anything else is unknown */
START_LOOP_TEST(boot_ids_are_numbers, 0, 5)
{
        static const struct {
                const char *id;
                struct boot_number number;
        } cases[] = {
                { "01234567-89ab-cdef-fedc-ba9876543210",
                  { UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210) } },
                { "0123456789abcdeffedcba9876543210",
                  { UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210) } },
                { "0123456789abcdeffedcba987654321", { 0, 0 } },
                { "0123456789abcdeffedcba98765432100", { 0, 0 } },
                { "0123456789abcdeffedcba987654321g", { 0, 0 } },
        };
        struct boot_number n = boot_number_of((struct text_view){ cases[_i].id, strlen(cases[_i].id) });

        ck_assert_uint_eq(n.high, cases[_i].number.high);
        ck_assert_uint_eq(n.low, cases[_i].number.low);
        ck_assert_int_eq(boot_number_is_known(n), _i < 2);
}
END_TEST
