/* SPDX-License-Identifier: MIT */
/* instrument/client_stream.c: however the bytes are cut, the events are the same; words that are none are counted */
#include "instrument/client_abi.h"
#include "instrument/client_stream.h"

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint64_t word(uint32_t low, uint32_t argument, uint32_t event)
{
        return low | (uint64_t)argument << CLIENT_ABI_ARG_SHIFT | (uint64_t)event << CLIENT_ABI_EVENT_SHIFT;
}

/* One of each kind; the texts are 5 and 8 bytes long. */
static size_t build(uint64_t *words)
{
        size_t n = 0;

        words[n++] = word(7, 0, CLIENT_ABI_EVENT_TIME);
        words[n++] = word(100, 0, CLIENT_ABI_EVENT_THREAD);
        words[n++] = 4242;
        words[n++] = word(101, 3, CLIENT_ABI_EVENT_ZONE_BEGIN);
        words[n++] = word(102, 5, CLIENT_ABI_EVENT_MESSAGE);
        words[n++] = 0x123456 | UINT64_C(4) << 32;
        memcpy(&words[n++], "hello\0\0\0", 8);
        words[n++] = word(103, 9, CLIENT_ABI_EVENT_PLOT_I64);
        words[n++] = UINT64_MAX;
        words[n++] = word(104, 9, CLIENT_ABI_EVENT_PLOT_F64);
        words[n++] = UINT64_C(0x3ff0000000000000);
        words[n++] = word(105, 0, CLIENT_ABI_EVENT_FRAME_MARK);
        words[n++] = word(8, 0, CLIENT_ABI_EVENT_TIME);
        words[n++] = word(1, 8, CLIENT_ABI_EVENT_THREAD_NAME);
        memcpy(&words[n++], "eight by", 8);
        words[n++] = word(2, 0, CLIENT_ABI_EVENT_ZONE_END);
        return n;
}

static void expect(struct client_stream *s, uint32_t kind, uint64_t ticks, uint32_t argument)
{
        struct client_event e, again;

        ck_assert_int_eq(client_stream_peek(s, &e), 1);
        ck_assert_int_eq(client_stream_peek(s, &again), 1);
        ck_assert_uint_eq(e.kind, kind);
        ck_assert_uint_eq(again.kind, kind);
        ck_assert_uint_eq(e.ticks, ticks);
        ck_assert_uint_eq(e.argument, argument);
        switch (kind) {
        case CLIENT_ABI_EVENT_MESSAGE:
                ck_assert_uint_eq(e.value[0], 0x123456 | UINT64_C(4) << 32);
                ck_assert_uint_eq(e.text_bytes, 5);
                ck_assert_mem_eq(e.text, "hello", 5);
                break;
        case CLIENT_ABI_EVENT_THREAD_NAME:
                ck_assert_uint_eq(e.text_bytes, 8);
                ck_assert_mem_eq(e.text, "eight by", 8);
                break;
        case CLIENT_ABI_EVENT_PLOT_I64:
                ck_assert_int_eq((int64_t)e.value, -1);
                break;
        default:
                ck_assert_ptr_null(e.text);
                break;
        }
        client_stream_consume(s);
}

static const struct {
        uint32_t kind, argument;
        uint64_t ticks;
} expected[] = {
        { CLIENT_ABI_EVENT_THREAD, 4242, UINT64_C(7) << 32 | 100 },
        { CLIENT_ABI_EVENT_ZONE_BEGIN, 3, UINT64_C(7) << 32 | 101 },
        { CLIENT_ABI_EVENT_MESSAGE, 5, UINT64_C(7) << 32 | 102 },
        { CLIENT_ABI_EVENT_PLOT_I64, 9, UINT64_C(7) << 32 | 103 },
        { CLIENT_ABI_EVENT_PLOT_F64, 9, UINT64_C(7) << 32 | 104 },
        { CLIENT_ABI_EVENT_FRAME_MARK, 0, UINT64_C(7) << 32 | 105 },
        { CLIENT_ABI_EVENT_THREAD_NAME, 8, UINT64_C(8) << 32 | 1 },
        { CLIENT_ABI_EVENT_ZONE_END, 0, UINT64_C(8) << 32 | 2 },
};
#define N_EXPECTED (sizeof(expected) / sizeof(expected[0]))
#define N_WORDS    16

/* loop test: the bytes arrive in two pieces, cut at each place */
START_TEST(test_cut_anywhere)
{
        uint64_t words[N_WORDS];
        size_t n = build(words) * sizeof(words[0]);
        size_t cut = (size_t)_i, i = 0;
        struct byte_buffer spare = { .data = NULL };
        struct client_stream s;
        struct client_event e;

        ck_assert_uint_eq(n, sizeof(words));
        client_stream_init(&s);
        byte_buffer_add(&s.pending, words, cut);
        while (client_stream_peek(&s, &e) == 1) {
                expect(&s, expected[i].kind, expected[i].ticks, expected[i].argument);
                i++;
        }
        ck_assert_uint_lt(client_stream_count_bytes(&s), 24);
        ck_assert_int_eq(client_stream_move(&s, &spare), 0);
        byte_buffer_deinit(&spare);
        ck_assert_uint_eq(s.at_bytes, 0);
        byte_buffer_add(&s.pending, (const uint8_t *)words + cut, n - cut);
        for (; i < N_EXPECTED; i++)
                expect(&s, expected[i].kind, expected[i].ticks, expected[i].argument);
        ck_assert_int_eq(client_stream_peek(&s, &e), 0);
        ck_assert_uint_eq(client_stream_count_bytes(&s), 0);
        ck_assert_uint_eq(s.n_garbage_bytes, 0);
        ck_assert_uint_eq(s.n_leftover_bytes, 0);
        client_stream_deinit(&s);
}
END_TEST

/* loop test: a word with each number that is no event stands before each event */
START_TEST(test_garbage_is_stepped_over)
{
        static const uint32_t no_events[] = { 0, 10, 15, 16, 63 };
        uint64_t words[N_WORDS];
        struct client_stream s;

        (void)build(words);
        client_stream_init(&s);
        for (size_t i = 0; i < 4; i++) { /* TIME, THREAD and its word, ZONE_BEGIN */
                uint64_t garbage = word(1, 2, no_events[_i]);

                if (i != 2)
                        byte_buffer_add(&s.pending, &garbage, sizeof(garbage));
                byte_buffer_add(&s.pending, &words[i], sizeof(words[i]));
        }
        expect(&s, expected[0].kind, expected[0].ticks, expected[0].argument);
        expect(&s, expected[1].kind, expected[1].ticks, expected[1].argument);
        ck_assert_uint_eq(s.n_garbage_bytes, 3 * sizeof(words[0]));
        client_stream_deinit(&s);
}
END_TEST

/* What later versions add: the payload, which looks like an event here, must go with its event. */
START_TEST(test_later_events_are_stepped_over_whole)
{
        uint64_t words[] = {
                word(7, 0, CLIENT_ABI_EVENT_TIME),
                word(100, 0, CLIENT_ABI_EVENT_THREAD),
                4242,
                word(0, 0, CLIENT_ABI_EVENT_NEW_WORD),
                word(0, 1, CLIENT_ABI_EVENT_ZONE_BEGIN),
                word(0, 9, CLIENT_ABI_EVENT_NEW_BYTES),
                word(0, 1, CLIENT_ABI_EVENT_ZONE_BEGIN),
                word(0, 1, CLIENT_ABI_EVENT_ZONE_BEGIN),
                word(0, 0, 255),
                word(101, 3, CLIENT_ABI_EVENT_ZONE_BEGIN),
        };
        struct client_stream s;

        client_stream_init(&s);
        byte_buffer_add(&s.pending, words, sizeof(words));
        expect(&s, expected[0].kind, expected[0].ticks, expected[0].argument);
        expect(&s, expected[1].kind, expected[1].ticks, expected[1].argument);
        ck_assert_uint_eq(s.n_garbage_bytes, 6 * sizeof(words[0]));
        client_stream_deinit(&s);
}
END_TEST

START_TEST(test_leftovers_are_no_events)
{
        uint64_t words[] = {
                word(5, 1, CLIENT_ABI_EVENT_ZONE_BEGIN),
                word(6, 0, CLIENT_ABI_EVENT_ZONE_END),
                word(7, 0, CLIENT_ABI_EVENT_TIME),
                word(100, 0, CLIENT_ABI_EVENT_THREAD),
                4242,
        };
        struct client_stream s;

        client_stream_init(&s);
        byte_buffer_add(&s.pending, words, sizeof(words));
        expect(&s, expected[0].kind, expected[0].ticks, expected[0].argument);
        ck_assert_uint_eq(s.n_leftover_bytes, 2 * sizeof(words[0]));
        ck_assert_uint_eq(s.n_garbage_bytes, 0);
        client_stream_deinit(&s);
}
END_TEST

/* A text that is longer than any client writes would make us wait, and keep bytes, for ever. */
START_TEST(test_huge_text_is_garbage)
{
        uint64_t words[] = {
                word(7, 0, CLIENT_ABI_EVENT_TIME),
                word(100, 0, CLIENT_ABI_EVENT_THREAD),
                4242,
                word(0, CLIENT_ABI_TEXT_BYTES_MAX + 1, CLIENT_ABI_EVENT_MESSAGE),
                word(0, CLIENT_ABI_ARG_MAX, CLIENT_ABI_EVENT_THREAD_NAME),
                word(0, CLIENT_ABI_ARG_MAX, CLIENT_ABI_EVENT_NEW_BYTES),
                word(101, 3, CLIENT_ABI_EVENT_ZONE_BEGIN),
        };
        struct client_stream s;

        client_stream_init(&s);
        byte_buffer_add(&s.pending, words, sizeof(words));
        expect(&s, expected[0].kind, expected[0].ticks, expected[0].argument);
        expect(&s, expected[1].kind, expected[1].ticks, expected[1].argument);
        ck_assert_uint_eq(s.n_garbage_bytes, 3 * sizeof(words[0]));
        client_stream_deinit(&s);
}
END_TEST

/* Any words at all: everything is stepped over or waits for its rest, and every byte is accounted for. */
START_TEST(test_random_words)
{
        struct byte_buffer spare = { .data = NULL };
        struct client_stream s;
        struct client_event e;
        uint64_t seed = 1;
        size_t n_events = 0;

        client_stream_init(&s);
        for (int i = 0; i < 100000; i++) {
                uint64_t bits;

                seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                /* Mostly events that exist, with short texts. */
                bits = seed & ~(UINT64_C(0xf0fffff0) << 32);
                byte_buffer_add(&s.pending, (seed >> 40 & 15) != 0 ? &bits : &seed, sizeof(bits));
                while (client_stream_peek(&s, &e) == 1) {
                        ck_assert_uint_le(e.text_bytes, CLIENT_ABI_TEXT_BYTES_MAX);
                        client_stream_consume(&s);
                        n_events++;
                }
                ck_assert_int_eq(client_stream_move(&s, &spare), 0);
                ck_assert_uint_lt(client_stream_count_bytes(&s), CLIENT_ABI_TEXT_BYTES_MAX + 16);
        }
        byte_buffer_deinit(&spare);
        ck_assert_uint_gt(n_events, 0);
        ck_assert_uint_gt(s.n_garbage_bytes, 0);
        client_stream_deinit(&s);
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("instrument/client_stream");
        TCase *tc = tcase_create("stream");
        SRunner *runner;
        int n_failed;

        tcase_add_loop_test(tc, test_cut_anywhere, 0, N_WORDS * 8 + 1);
        tcase_add_loop_test(tc, test_garbage_is_stepped_over, 0, 5);
        tcase_add_test(tc, test_later_events_are_stepped_over_whole);
        tcase_add_test(tc, test_leftovers_are_no_events);
        tcase_add_test(tc, test_huge_text_is_garbage);
        tcase_add_test(tc, test_random_words);
        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        n_failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
