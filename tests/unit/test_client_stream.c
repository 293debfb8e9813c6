/* SPDX-License-Identifier: MIT */
/*
 * instrument/client_stream.c: however the bytes are cut, the events are the same; words
 * that are none are counted
 */
#include "instrument/client_abi.h"
#include "instrument/client_stream.h"
#include "tests/unit/unit_test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define THREAD 4242
#define WORD   sizeof(uint64_t)

static struct client_stream s;

static void set_up(void)
{
        UNIT_TEST_SPOIL(s);
        client_stream_init(&s);
}

static void tear_down(void)
{
        client_stream_deinit(&s);
}

static void begin_anew(void)
{
        tear_down();
        set_up();
}

static uint64_t word(uint32_t low, uint32_t argument, uint32_t event)
{
        return low | (uint64_t)argument << CLIENT_ABI_ARG_SHIFT | (uint64_t)event << CLIENT_ABI_EVENT_SHIFT;
}

static void add_word(struct byte_buffer *b, uint64_t w)
{
        byte_buffer_add_u64(b, w);
}

/* @n bytes that count up from @first, filled up to whole words. */
static void add_bytes(struct byte_buffer *b, uint8_t first, size_t n)
{
        for (size_t i = 0; i < n; i++)
                byte_buffer_add_u8(b, (uint8_t)(first + i));
        while (b->used_bytes % WORD != 0)
                byte_buffer_add_u8(b, 0xee);
}

/* The events that a program wrote, which must come out. */
struct said {
        uint32_t kind, argument; /* argument of those with text: its bytes, which count up from TEXT_FIRST */
        uint64_t value[2];
        uint32_t n_values;
        uint32_t zone_depth;
        uint64_t blob_at, blob_bytes;
        uint32_t n_frames, stack_bytes;
};

#define TEXT_FIRST  0x41
#define STACK_FIRST 0x80
#define FRAME(i)    (UINT64_C(0x7f0000001000) + 16 * (uint64_t)(i))
#define ONE(k, a, v)                                                             \
        {                                                                        \
                .kind = (k), .argument = (a), .value = { (v), 0 }, .n_values = 1 \
        }
#define TWO(k, a, v, w)                                                            \
        {                                                                          \
                .kind = (k), .argument = (a), .value = { (v), (w) }, .n_values = 2 \
        }
#define NONE(k, a)                           \
        {                                    \
                .kind = (k), .argument = (a) \
        }

static const struct said said[] = {
        NONE(CLIENT_ABI_EVENT_TIME, 0),
        { .kind = CLIENT_ABI_EVENT_THREAD, .value = { THREAD, 0 }, .n_values = 1 },
        NONE(CLIENT_ABI_EVENT_ZONE_BEGIN, 3),
        ONE(CLIENT_ABI_EVENT_MESSAGE, 5, 0x123456 | UINT64_C(4) << 32),
        ONE(CLIENT_ABI_EVENT_PLOT_I64, 9, UINT64_MAX),
        ONE(CLIENT_ABI_EVENT_PLOT_F64, 9, UINT64_C(0x3ff0000000000000)),
        NONE(CLIENT_ABI_EVENT_FRAME_MARK, 0),
        NONE(CLIENT_ABI_EVENT_THREAD_NAME, 8),
        NONE(CLIENT_ABI_EVENT_ZONE_END, 0),
        NONE(CLIENT_ABI_EVENT_TIME, 0),
        NONE(CLIENT_ABI_EVENT_FRAME_BEGIN, 11),
        NONE(CLIENT_ABI_EVENT_FRAME_END, 12),
        NONE(CLIENT_ABI_EVENT_ZONE_COLOR, 0xffffff),
        NONE(CLIENT_ABI_EVENT_LOCK_WAIT, 13),
        NONE(CLIENT_ABI_EVENT_LOCK_OBTAIN, 14),
        NONE(CLIENT_ABI_EVENT_LOCK_RELEASE, 15),
        NONE(CLIENT_ABI_EVENT_LOCK_WAIT_SHARED, 16),
        NONE(CLIENT_ABI_EVENT_LOCK_OBTAIN_SHARED, 17),
        NONE(CLIENT_ABI_EVENT_LOCK_RELEASE_SHARED, 18),
        NONE(CLIENT_ABI_EVENT_LOCK_GONE, 19),
        NONE(CLIENT_ABI_EVENT_MEMORY_DISCARD, 20),
        NONE(CLIENT_ABI_EVENT_FIBER_LEAVE, 0),
        NONE(CLIENT_ABI_EVENT_PLOT_CONFIG, CLIENT_ABI_ARG_MAX),
        ONE(CLIENT_ABI_EVENT_ZONE_VALUE, 0, 77),
        ONE(CLIENT_ABI_EVENT_FIBER_ENTER, 21, 2),
        ONE(CLIENT_ABI_EVENT_MEMORY_FREE, 22, UINT64_C(0x7fff00000010)),
        ONE(CLIENT_ABI_EVENT_LOCK_MARK, 23, 24),
        ONE(CLIENT_ABI_EVENT_THREAD_GROUP, 0, UINT64_MAX - 4),
        ONE(CLIENT_ABI_EVENT_DEVICE_ZONE_END, 25, 26),
        ONE(CLIENT_ABI_EVENT_MESSAGE_NAMED, 27, UINT64_C(2) << 32),
        ONE(CLIENT_ABI_EVENT_ZONE_KEY, 28, 29),
        ONE(CLIENT_ABI_EVENT_FLOW_BEGIN, 30, UINT64_MAX),
        ONE(CLIENT_ABI_EVENT_FLOW_STEP, 0, 31),
        ONE(CLIENT_ABI_EVENT_FLOW_END, CLIENT_ABI_ARG_MAX, 0),
        TWO(CLIENT_ABI_EVENT_MEMORY_ALLOC, 27, UINT64_C(0x7fff00000020), 4096),
        TWO(CLIENT_ABI_EVENT_DEVICE_ZONE_BEGIN, 28, 29, 30),
        TWO(CLIENT_ABI_EVENT_DEVICE_TIME, 31, 32, UINT64_MAX),
        TWO(CLIENT_ABI_EVENT_DEVICE_CALIBRATION, 33, 34, 35),
        TWO(CLIENT_ABI_EVENT_CODE_GONE, 0, 36, 37),
        NONE(CLIENT_ABI_EVENT_ZONE_TEXT, 13),
        NONE(CLIENT_ABI_EVENT_ZONE_NAME, 1),
        NONE(CLIENT_ABI_EVENT_PROGRAM_INFO, 8),
        NONE(CLIENT_ABI_EVENT_SOURCE_TEXT, 12),
        NONE(CLIENT_ABI_EVENT_CODE, 24),
        NONE(CLIENT_ABI_EVENT_CODE_LINES, 32),
        NONE(CLIENT_ABI_EVENT_LOCK_NAME, 9),
        NONE(CLIENT_ABI_EVENT_DEVICE_SPAN, 32),

        /* Each prefix alone, then all of them. */
        { .kind = CLIENT_ABI_EVENT_ZONE_TEXT, .argument = 3, .zone_depth = 2 },
        { .kind = CLIENT_ABI_EVENT_MESSAGE, .n_values = 1, .blob_at = 64, .blob_bytes = 100000 },
        { .kind = CLIENT_ABI_EVENT_ZONE_BEGIN, .argument = 38, .n_frames = 3 },
        { .kind = CLIENT_ABI_EVENT_MEMORY_ALLOC, .value = { 1, 2 }, .n_values = 2, .stack_bytes = 31 },
        NONE(CLIENT_ABI_EVENT_ZONE_END, 0),
        { .kind = CLIENT_ABI_EVENT_ZONE_NAME,
          .argument = 20,
          .zone_depth = CLIENT_ABI_ARG_MAX,
          .blob_at = UINT64_MAX - 7,
          .blob_bytes = UINT64_MAX,
          .n_frames = CLIENT_ABI_CALLSTACK_FRAMES_MAX,
          .stack_bytes = CLIENT_ABI_STACK_COPY_HEADER_BYTES },
        NONE(CLIENT_ABI_EVENT_ZONE_BEGIN, 39),
};
#define N_SAID (sizeof(said) / sizeof(said[0]))

static int has_text(uint32_t kind)
{
        return kind == CLIENT_ABI_EVENT_MESSAGE || kind == CLIENT_ABI_EVENT_THREAD_NAME ||
               kind >= CLIENT_ABI_EVENT_NEW_BYTES;
}

static void add_prefixes(struct byte_buffer *b, const struct said *e)
{
        if (e->zone_depth)
                add_word(b, word(0, e->zone_depth, CLIENT_ABI_EVENT_ZONE_AT));
        if (e->blob_bytes) {
                add_word(b, word(0, 0, CLIENT_ABI_EVENT_BLOB));
                add_word(b, e->blob_at);
                add_word(b, e->blob_bytes);
        }
        if (e->n_frames)
                add_word(b, word(0, e->n_frames * 8, CLIENT_ABI_EVENT_CALLSTACK));
        for (uint32_t i = 0; i < e->n_frames; i++)
                add_word(b, FRAME(i));
        if (e->stack_bytes) {
                add_word(b, word(0, e->stack_bytes, CLIENT_ABI_EVENT_STACK_COPY));
                add_bytes(b, STACK_FIRST, e->stack_bytes);
        }
}

/* The low half of a time stamp is the event's place in the list, the high half that of the last TIME. */
static void add_said(struct byte_buffer *b, uint32_t i)
{
        const struct said *e = &said[i];

        add_prefixes(b, e);
        add_word(b, word(i, e->argument, e->kind));
        for (uint32_t v = 0; v < e->n_values; v++)
                add_word(b, e->value[v]);
        if (has_text(e->kind))
                add_bytes(b, TEXT_FIRST, e->argument);
}

static void expect_bytes(const void *data, uint8_t first, size_t n)
{
        const uint8_t *bytes = data;

        for (size_t i = 0; i < n; i++)
                ck_assert_uint_eq(bytes[i], (uint8_t)(first + i));
}

static void expect_prefix(const struct client_prefix *p, const struct said *e)
{
        ck_assert_uint_eq(p->zone_depth, e->zone_depth);
        ck_assert_uint_eq(p->blob_at, e->blob_at);
        ck_assert_uint_eq(p->blob_bytes, e->blob_bytes);
        ck_assert_uint_eq(p->n_frames, e->n_frames);
        for (uint32_t i = 0; i < p->n_frames; i++) {
                uint64_t frame = FRAME(i);

                ck_assert_mem_eq(p->frames + i * sizeof(frame), &frame, sizeof(frame));
        }
        ck_assert_uint_eq(p->stack_bytes, e->stack_bytes);
        expect_bytes(p->stack, STACK_FIRST, p->stack_bytes);
}

static void expect_event(const struct client_event *got, const struct said *e, uint64_t ticks)
{
        uint32_t argument = e->kind == CLIENT_ABI_EVENT_THREAD ? (uint32_t)e->value[0] : e->argument;

        ck_assert_uint_eq(got->kind, e->kind);
        ck_assert_uint_eq(got->ticks, ticks);
        ck_assert_uint_eq(got->argument, argument);
        ck_assert_uint_eq(got->value[0], e->value[0]);
        ck_assert_uint_eq(got->value[1], e->value[1]);
        if (has_text(e->kind)) {
                ck_assert_uint_eq(got->text_bytes, e->argument);
                expect_bytes(got->text, TEXT_FIRST, got->text_bytes);
        } else {
                ck_assert_ptr_null(got->text);
                ck_assert_uint_eq(got->text_bytes, 0);
        }
        expect_prefix(&got->prefix, e);
}

/* Reads all that is there, the events of `said` from *@i on; peeking twice gives the same. */
static void read_said(uint32_t *i, uint64_t *high)
{
        struct client_event e, again;

        while (client_stream_peek(&s, &e) == 1) {
                for (; said[*i].kind == CLIENT_ABI_EVENT_TIME; ++*i)
                        *high = *i;
                expect_event(&e, &said[*i], *high << 32 | *i);
                ck_assert_int_eq(client_stream_peek(&s, &again), 1);
                expect_event(&again, &said[*i], *high << 32 | *i);
                client_stream_consume(&s);
                ++*i;
        }
        ck_assert_int_eq(client_stream_peek(&s, &again), 0);
}

/* Every event, with and without prefixes; the bytes arrive in two pieces, cut at each place. */
START_TEST(test_cut_anywhere)
{
        struct byte_buffer all = { .data = NULL };

        for (uint32_t i = 0; i < N_SAID; i++)
                add_said(&all, i);
        for (size_t cut = 0; cut <= all.used_bytes; cut++) {
                struct byte_buffer spare = { .data = NULL };
                uint64_t high = 0;
                uint32_t i = 0;

                byte_buffer_add(&s.pending, all.data, cut);
                read_said(&i, &high);
                ck_assert_uint_lt(client_stream_count_bytes(&s), 700);
                ck_assert_int_eq(client_stream_move(&s, &spare), 0);
                byte_buffer_deinit(&spare);
                ck_assert_uint_eq(s.at_bytes, 0);
                byte_buffer_add(&s.pending, all.data + cut, all.used_bytes - cut);
                read_said(&i, &high);
                ck_assert_uint_eq(i, N_SAID);
                ck_assert_uint_eq(client_stream_count_bytes(&s), 0);
                ck_assert_uint_eq(s.n_garbage_bytes, 0);
                ck_assert_uint_eq(s.n_leftover_bytes, 0);
                begin_anew();
        }
        byte_buffer_deinit(&all);
}
END_TEST

/* The short way and the general one in turn give what the general one gives, cut at each place. */
START_TEST(test_zones_the_short_way)
{
        struct byte_buffer all = { .data = NULL };

        for (uint32_t i = 0; i < N_SAID; i++)
                add_said(&all, i);
        for (size_t cut = 0; cut <= all.used_bytes; cut++) {
                size_t end[2] = { cut, all.used_bytes };
                struct client_zone_event zone, again;
                struct client_event e;
                size_t n_zones = 0, n_other = 0, begin = 0;
                uint64_t high = 0;
                uint32_t i = 0;

                for (int part = 0; part < 2; part++) {
                        byte_buffer_add(&s.pending, all.data + begin, end[part] - begin);
                        begin = end[part];
                        while (true) {
                                bool is_zone = client_stream_peek_zone(&s, &zone);

                                if (!is_zone && client_stream_peek(&s, &e) == 0)
                                        break;
                                for (; said[i].kind == CLIENT_ABI_EVENT_TIME; i++)
                                        high = i;
                                if (is_zone) {
                                        ck_assert(client_stream_peek_zone(&s, &again));
                                        ck_assert_uint_eq(again.ticks, zone.ticks);
                                        ck_assert_int_eq(client_stream_peek(&s, &e), 1);
                                        ck_assert_uint_eq(zone.kind, e.kind);
                                        ck_assert_uint_eq(zone.ticks, e.ticks);
                                        ck_assert_uint_eq(zone.argument, e.argument);
                                        ck_assert_uint_eq(e.prefix.n_frames, 0);
                                }
                                expect_event(&e, &said[i], high << 32 | i);
                                *(is_zone ? &n_zones : &n_other) += 1;
                                client_stream_consume(&s);
                                i++;
                        }
                }
                ck_assert_uint_eq(i, N_SAID);
                ck_assert_uint_eq(n_zones, 4); /* not the one with a callstack */
                ck_assert_uint_eq(n_other, N_SAID - 2 - 4);
                begin_anew();
        }
        byte_buffer_deinit(&all);
}
END_TEST

/* ---- what is no event ---------------------------------------------------------------------------------- */

static void start(void)
{
        struct client_event e;

        add_word(&s.pending, word(7, 0, CLIENT_ABI_EVENT_TIME));
        add_word(&s.pending, word(100, 0, CLIENT_ABI_EVENT_THREAD));
        add_word(&s.pending, THREAD);
        ck_assert_int_eq(client_stream_peek(&s, &e), 1);
        ck_assert_uint_eq(e.kind, CLIENT_ABI_EVENT_THREAD);
        ck_assert_uint_eq(e.argument, THREAD);
        client_stream_consume(&s);
}

/* The next event, and none after it. */
static struct client_event expect_last(uint32_t kind, uint32_t argument)
{
        struct client_event e, none;

        ck_assert_int_eq(client_stream_peek(&s, &e), 1);
        ck_assert_uint_eq(e.kind, kind);
        ck_assert_uint_eq(e.argument, argument);
        client_stream_consume(&s);
        ck_assert_int_eq(client_stream_peek(&s, &none), 0);
        ck_assert_uint_eq(client_stream_count_bytes(&s), 0);
        return e;
}

static void expect_no_prefix(const struct client_event *e)
{
        const struct said nothing = { .kind = 0 };

        expect_prefix(&e->prefix, &nothing);
}

/* A word of each number that is no event, and of each that is unknown and has no payload. */
START_TEST(test_garbage_is_stepped_over)
{
        static const uint32_t no_events[] = { 0, 10, 15, CLIENT_ABI_EVENT_PLOT_CONFIG + 1, 63 };

        for (size_t i = 0; i < sizeof(no_events) / sizeof(no_events[0]); i++) {
                uint64_t garbage = word(1, 2, no_events[i]);
                struct client_event e;

                add_word(&s.pending, garbage);
                add_word(&s.pending, word(100, 0, CLIENT_ABI_EVENT_THREAD));
                add_word(&s.pending, garbage); /* its TID is the low half */
                add_word(&s.pending, garbage);
                add_word(&s.pending, word(101, 3, CLIENT_ABI_EVENT_ZONE_BEGIN));
                ck_assert_int_eq(client_stream_peek(&s, &e), 1);
                ck_assert_uint_eq(e.argument, 1);
                client_stream_consume(&s);
                (void)expect_last(CLIENT_ABI_EVENT_ZONE_BEGIN, 3);
                ck_assert_uint_eq(s.n_garbage_bytes, 2 * WORD);
                begin_anew();
        }
}
END_TEST

/* Events of later versions: the payload, which looks like an event here, must go with its event. */
START_TEST(test_later_events_are_stepped_over_whole)
{
        static const uint32_t later[] = { CLIENT_ABI_EVENT_FLOW_END + 1,       95,
                                          CLIENT_ABI_EVENT_CODE_GONE + 1,      127,
                                          CLIENT_ABI_EVENT_DEVICE_INSTANT + 1, 255 };
        static const size_t n_words[] = { 1, 1, 2, 2, 2, 2 };

        for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
                start();
                add_word(&s.pending, word(0, 9, later[i]));
                for (size_t w = 0; w < n_words[i]; w++)
                        add_word(&s.pending, word(0, 1, CLIENT_ABI_EVENT_ZONE_BEGIN));
                add_word(&s.pending, word(101, 3, CLIENT_ABI_EVENT_ZONE_BEGIN));
                (void)expect_last(CLIENT_ABI_EVENT_ZONE_BEGIN, 3);
                ck_assert_uint_eq(s.n_garbage_bytes, (1 + n_words[i]) * WORD);
                begin_anew();
        }
}
END_TEST

START_TEST(test_leftovers_are_no_events)
{
        struct client_zone_event zone;
        struct client_event e;

        add_word(&s.pending, word(5, 1, CLIENT_ABI_EVENT_ZONE_BEGIN));
        add_word(&s.pending, word(0, 1, CLIENT_ABI_EVENT_ZONE_AT));
        add_word(&s.pending, word(6, 0, CLIENT_ABI_EVENT_ZONE_END));
        add_word(&s.pending, word(7, 0, CLIENT_ABI_EVENT_TIME));
        add_word(&s.pending, word(0, 1, CLIENT_ABI_EVENT_ZONE_AT));
        add_word(&s.pending, word(100, 0, CLIENT_ABI_EVENT_THREAD));
        add_word(&s.pending, THREAD);
        ck_assert(!client_stream_peek_zone(&s, &zone));
        e = expect_last(CLIENT_ABI_EVENT_THREAD, THREAD);
        expect_no_prefix(&e);
        ck_assert_uint_eq(s.n_leftover_bytes, 4 * WORD);
        ck_assert_uint_eq(s.n_garbage_bytes, 0);
}
END_TEST

/* A text that is longer than any client writes would make us wait, and keep bytes, for ever. */
START_TEST(test_huge_text_is_garbage)
{
        static const uint32_t kinds[] = { CLIENT_ABI_EVENT_MESSAGE,    CLIENT_ABI_EVENT_THREAD_NAME,
                                          CLIENT_ABI_EVENT_NEW_BYTES,  CLIENT_ABI_EVENT_CALLSTACK,
                                          CLIENT_ABI_EVENT_STACK_COPY, 255 };
        const size_t n_kinds = sizeof(kinds) / sizeof(kinds[0]);

        start();
        for (size_t i = 0; i < n_kinds; i++)
                add_word(&s.pending,
                         word(0, i % 2 ? CLIENT_ABI_ARG_MAX : CLIENT_ABI_TEXT_BYTES_MAX + 1, kinds[i]));
        add_word(&s.pending, word(101, 3, CLIENT_ABI_EVENT_ZONE_BEGIN));
        (void)expect_last(CLIENT_ABI_EVENT_ZONE_BEGIN, 3);
        ck_assert_uint_eq(s.n_garbage_bytes, n_kinds * WORD);
}
END_TEST

/* A payload without its fixed part is none; a blob may hold that. */
START_TEST(test_short_payload_is_garbage)
{
        static const uint32_t kinds[] = { CLIENT_ABI_EVENT_PROGRAM_INFO, CLIENT_ABI_EVENT_SOURCE_TEXT,
                                          CLIENT_ABI_EVENT_CODE,         CLIENT_ABI_EVENT_LOCK_NAME,
                                          CLIENT_ABI_EVENT_DEVICE_SPAN,  CLIENT_ABI_EVENT_CODE_LINES,
                                          CLIENT_ABI_EVENT_FRAME_PICTURE };
        static const uint32_t needed[] = { 8, 8, 24, 8, 32, 24, 8 };

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                const struct said blob = { .blob_at = 8, .blob_bytes = 40 };

                start();
                add_word(&s.pending, word(0, needed[i] - 1, kinds[i]));
                add_bytes(&s.pending, 0, needed[i] - 1);
                add_word(&s.pending, word(0, needed[i], kinds[i]));
                add_bytes(&s.pending, 0, needed[i]);
                (void)expect_last(kinds[i], needed[i]);
                ck_assert_uint_eq(s.n_garbage_bytes, WORD + needed[i]);
                add_prefixes(&s.pending, &blob);
                add_word(&s.pending, word(0, 0, kinds[i]));
                ck_assert_uint_eq(expect_last(kinds[i], 0).prefix.blob_bytes, 40);
                begin_anew();
        }
}
END_TEST

/* ---- prefixes ------------------------------------------------------------------------------------------ */

/* An unknown event between prefixes and their event discards them, and all of it is counted. */
START_TEST(test_prefixes_of_nothing_are_dropped)
{
        const struct said prefixes = {
                .zone_depth = 9, .blob_at = 8, .blob_bytes = 9, .n_frames = 2, .stack_bytes = 24
        };
        const size_t prefix_bytes = (1 + 3 + 3 + 4) * WORD;
        const uint64_t between[][2] = {
                { word(0, 1, 0), 0 },                          /* no event */
                { word(0, 1, 63), 0 },                         /* unknown */
                { word(0, 1, 94), word(0, 1, 3) },             /* unknown, with a payload */
                { word(0, CLIENT_ABI_ARG_MAX, 5), 0 },         /* too long */
                { word(0, 1, CLIENT_ABI_EVENT_CODE), 0x1122 }, /* too short, and no longer with the blob */
        };

        for (size_t i = 0; i < sizeof(between) / sizeof(between[0]); i++) {
                size_t n_words = between[i][1] ? 2 : 1;
                struct client_event e;

                start();
                if (i < 4)
                        add_prefixes(&s.pending, &prefixes);
                else
                        add_prefixes(&s.pending, &(struct said){ .zone_depth = 9 });
                for (size_t w = 0; w < n_words; w++)
                        add_word(&s.pending, between[i][w]);
                add_word(&s.pending, word(101, 3, CLIENT_ABI_EVENT_ZONE_BEGIN));
                e = expect_last(CLIENT_ABI_EVENT_ZONE_BEGIN, 3);
                expect_no_prefix(&e);
                ck_assert_uint_eq(s.n_garbage_bytes, (i < 4 ? prefix_bytes : WORD) + n_words * WORD);
                begin_anew();
        }
}
END_TEST

START_TEST(test_thread_has_no_prefixes)
{
        const struct said prefixes = { .zone_depth = 9, .n_frames = 2 };
        struct client_event e;

        start();
        add_prefixes(&s.pending, &prefixes);
        add_word(&s.pending, word(100, 0, CLIENT_ABI_EVENT_THREAD));
        add_word(&s.pending, THREAD + 1);
        e = expect_last(CLIENT_ABI_EVENT_THREAD, THREAD + 1);
        expect_no_prefix(&e);
        ck_assert_uint_eq(s.n_garbage_bytes, 4 * WORD);
        ck_assert_uint_eq(s.n_leftover_bytes, 0);
}
END_TEST

/* The second prefix of a kind is the first of what comes now; one TIME among them is no harm. */
START_TEST(test_second_prefix_begins_anew)
{
        struct client_event e;

        start();
        add_prefixes(&s.pending, &(struct said){ .zone_depth = 9, .n_frames = 2 });
        add_word(&s.pending, word(8, 0, CLIENT_ABI_EVENT_TIME));
        add_prefixes(&s.pending, &(struct said){ .zone_depth = 4 });
        add_word(&s.pending, word(9, 0, CLIENT_ABI_EVENT_TIME));
        add_prefixes(&s.pending, &(struct said){ .stack_bytes = 25 });
        add_word(&s.pending, word(101, 5, CLIENT_ABI_EVENT_ZONE_TEXT));
        add_bytes(&s.pending, TEXT_FIRST, 5);
        e = expect_last(CLIENT_ABI_EVENT_ZONE_TEXT, 5);
        expect_prefix(&e.prefix, &(struct said){ .zone_depth = 4, .stack_bytes = 25 });
        ck_assert_uint_eq(e.ticks, UINT64_C(9) << 32 | 101);
        ck_assert_uint_eq(s.n_garbage_bytes, 5 * WORD);
}
END_TEST

START_TEST(test_callstacks_are_bounded)
{
        const uint32_t most = CLIENT_ABI_STACK_COPY_HEADER_BYTES + CLIENT_ABI_STACK_COPY_BYTES_MAX;
        struct client_event e;

        start();
        add_prefixes(&s.pending, &(struct said){ .n_frames = 1000, .stack_bytes = most + 1 });
        add_word(&s.pending, word(101, 3, CLIENT_ABI_EVENT_ZONE_BEGIN));
        e = expect_last(CLIENT_ABI_EVENT_ZONE_BEGIN, 3);
        expect_prefix(&e.prefix,
                      &(struct said){ .n_frames = CLIENT_ABI_CALLSTACK_FRAMES_MAX, .stack_bytes = most });

        /* A part of a frame is none; a stack without its registers neither. */
        add_word(&s.pending, word(0, 15, CLIENT_ABI_EVENT_CALLSTACK));
        add_word(&s.pending, FRAME(0));
        add_word(&s.pending, FRAME(1));
        add_prefixes(&s.pending, &(struct said){ .stack_bytes = CLIENT_ABI_STACK_COPY_HEADER_BYTES - 1 });
        add_word(&s.pending, word(102, 3, CLIENT_ABI_EVENT_ZONE_BEGIN));
        e = expect_last(CLIENT_ABI_EVENT_ZONE_BEGIN, 3);
        expect_prefix(&e.prefix, &(struct said){ .n_frames = 1 });
}
END_TEST

/* Prefixes without end are not kept without end. */
START_TEST(test_endless_prefixes)
{
        struct byte_buffer spare = { .data = NULL };
        struct client_event e;

        start();
        for (uint32_t i = 0; i < 1000; i++) {
                const struct said all = {
                        .zone_depth = i + 1, .blob_bytes = 1, .n_frames = 1, .stack_bytes = 24
                };
                const struct said one = { .n_frames = 1 };

                add_prefixes(&s.pending, i % 3 ? &all : &one);
                add_word(&s.pending, word(i, 0, CLIENT_ABI_EVENT_TIME));
                ck_assert_int_eq(client_stream_peek(&s, &e), 0);
                ck_assert_uint_le(client_stream_count_bytes(&s), (1 + 3 + 2 + 4 + 1) * WORD);
                ck_assert_int_eq(client_stream_move(&s, &spare), 0);
        }
        byte_buffer_deinit(&spare);
}
END_TEST

/* Any words at all: everything is stepped over or waits for its rest, and every byte is accounted for. */
START_TEST(test_random_words)
{
        struct byte_buffer spare = { .data = NULL };
        struct client_event e;
        uint64_t seed = 1;
        size_t n_events = 0, n_prefixed = 0;

        for (int i = 0; i < 200000; i++) {
                uint64_t bits;

                seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                /* Mostly events that exist, with short texts. */
                bits = seed & ~((i & 64 ? UINT64_C(0x60ffffe0) : UINT64_C(0xe0ffffe0)) << 32);
                add_word(&s.pending, (seed >> 40 & 15) != 0 ? bits : seed);
                while (client_stream_peek(&s, &e) == 1) {
                        ck_assert_uint_le(e.text_bytes, CLIENT_ABI_TEXT_BYTES_MAX);
                        ck_assert_uint_le(e.prefix.n_frames, CLIENT_ABI_CALLSTACK_FRAMES_MAX);
                        n_prefixed += e.prefix.n_frames > 0 || e.prefix.stack_bytes > 0;
                        client_stream_consume(&s);
                        n_events++;
                }
                ck_assert_int_eq(client_stream_move(&s, &spare), 0);
                ck_assert_uint_lt(client_stream_count_bytes(&s), CLIENT_STREAM_EVENT_BYTES_MAX);
        }
        byte_buffer_deinit(&spare);
        ck_assert_uint_gt(n_events, 0);
        ck_assert_uint_gt(n_prefixed, 0);
        ck_assert_uint_gt(s.n_garbage_bytes, 0);
}
END_TEST

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
