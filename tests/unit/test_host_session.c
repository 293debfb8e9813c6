/* SPDX-License-Identifier: MIT */
/*
 * host_session.c: a side that comes back gets each frame once, from where it was or from what is left, and
 * malformed frames are refused
 */
#include "base/byte_buffer.h"
#include "cli/on_host/host_session.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <string.h>

static struct host_output output;

static void add(uint8_t fill, size_t n_bytes)
{
        static uint8_t bytes[HOST_FRAME_BYTES_MAX];

        memset(bytes, fill, n_bytes);
        host_output_add(&output, HOST_FRAME_OUT, bytes, n_bytes);
}

/* Takes what is sent up to @max bytes of it.  Returns the position after the last whole frame. */
static uint64_t take(uint64_t position, size_t max, size_t *n_frames, uint8_t *ret_last)
{
        const uint8_t *bytes;
        struct host_frame frame;
        size_t n = host_output_rest(&output, &bytes), done = 0;

        if (n > max)
                n = max;
        output.sent += n;
        while (host_frame_decode(bytes + done, n - done, &frame) == 1) {
                done += frame.frame_bytes;
                *ret_last = frame.bytes[0];
                (*n_frames)++;
        }
        return position + done;
}

START_TEST(test_whole_frames)
{
        struct byte_buffer b = { .data = NULL };
        struct host_frame frame;

        host_frame_encode(&b, HOST_FRAME_ERR, "words", 5);
        host_frame_encode_number(&b, HOST_FRAME_END, 7);
        ck_assert(!b.failed);
        for (size_t n = 0; n < HOST_FRAME_HEADER_BYTES + 5; n++)
                ck_assert_int_eq(host_frame_decode(b.data, n, &frame), 0);
        ck_assert_int_eq(host_frame_decode(b.data, b.used_bytes, &frame), 1);
        ck_assert_int_eq(frame.kind, HOST_FRAME_ERR);
        ck_assert_mem_eq(frame.bytes, "words", 5);
        ck_assert_uint_eq(host_frame_number(&frame), 0); /* it has too few bytes for one */
        ck_assert_int_eq(
                host_frame_decode(b.data + frame.frame_bytes, b.used_bytes - frame.frame_bytes, &frame), 1);
        ck_assert_uint_eq(host_frame_number(&frame), 7);
        byte_buffer_deinit(&b);
}
END_TEST

START_TEST(test_malformed_frames)
{
        static const struct {
                uint8_t bytes[HOST_FRAME_HEADER_BYTES];
                int result;
        } rows[] = {
                { { HOST_N_FRAME_KINDS, 0, 0, 0, 0, 0, 0, 0 }, -EBADMSG },
                { { 0, 0, 0, 1, 0, 0, 0, 0 }, -EBADMSG },
                { { HOST_FRAME_OUT, 0, 0, 0, 1, 0, 1, 0 }, -EBADMSG }, /* one byte too long */
                { { HOST_FRAME_OUT, 0, 0, 0, 0, 0, 1, 0 }, 0 },
                { { HOST_FRAME_OUT, 0, 0, 0, 0xff, 0xff, 0xff, 0xff }, -EBADMSG },
        };
        struct host_frame frame;

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
                ck_assert_int_eq(host_frame_decode(rows[i].bytes, sizeof(rows[i].bytes), &frame),
                                 rows[i].result);
}
END_TEST

/* Cuts at any byte: each frame comes once, in order. */
START_TEST(test_each_frame_once)
{
        uint64_t random = 7;
        uint64_t position = 0;
        size_t n_frames = 0, n_added = 0;
        uint8_t last = 0;

        for (int round = 0; round < 200; round++) {
                for (uint64_t i = fixed_random_next(&random) % 5; i > 0; i--)
                        add((uint8_t)++n_added, 1 + fixed_random_next(&random) % 3000);
                position = take(position, fixed_random_next(&random) % 9000, &n_frames, &last);
                ck_assert_int_eq(host_output_resume(&output, position), 0);
                ck_assert_uint_eq(output.sent, position);
                ck_assert_uint_eq(last, (uint8_t)n_frames);
        }
        position = take(position, SIZE_MAX, &n_frames, &last);
        ck_assert_uint_eq(n_frames, n_added);
        host_output_deinit(&output);
}
END_TEST

/* Without a connection the oldest frames go, whole ones, and memory is bounded. */
START_TEST(test_oldest_are_dropped)
{
        const uint8_t *bytes;
        struct host_frame frame;
        size_t n, done = 0;

        output = (struct host_output){ .base = 0 };
        ck_assert(host_output_has_room(&output));
        for (size_t i = 0; i < 1000; i++) {
                add((uint8_t)i, 10000);
                ck_assert_uint_le(output.frames.used_bytes, 2 * HOST_KEPT_BYTES);
        }
        ck_assert(!host_output_has_room(&output));
        ck_assert_int_eq(host_output_resume(&output, 3 * UINT64_C(10008)), 0); /* long gone */
        ck_assert_uint_eq(output.sent, output.base);
        ck_assert_uint_eq(output.base % 10008, 0);
        n = host_output_rest(&output, &bytes);
        ck_assert_uint_eq(output.base + n, 1000 * UINT64_C(10008));
        while (host_frame_decode(bytes + done, n - done, &frame) == 1)
                done += frame.frame_bytes;
        ck_assert_uint_eq(done, n);
        ck_assert_uint_eq(frame.bytes[0], (uint8_t)999);
        /* Not between frames, and not beyond the end. */
        ck_assert_int_eq(host_output_resume(&output, output.base + 1), -EBADMSG);
        ck_assert_int_eq(host_output_resume(&output, output.base + n + 1), -EBADMSG);
        ck_assert_int_eq(host_output_resume(&output, UINT64_MAX), -EBADMSG);
        ck_assert_int_eq(host_output_resume(&output, output.base + n), 0);
        ck_assert(host_output_has_room(&output));
        host_output_deinit(&output);
}
END_TEST
