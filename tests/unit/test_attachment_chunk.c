/* SPDX-License-Identifier: MIT */
/*
 * format/attachment_chunk.c: parts come back as they were, and only those that belong there are taken
 */
#include "format/attachment_chunk.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define N_ATTACHMENTS 200 /* whose ids have one byte and two */

/* Number i has i * 100 bytes. */
static void fill(struct trace_dictionary *d)
{
        trace_dictionary_init(d, 0);
        for (uint32_t i = 1; i <= N_ATTACHMENTS; i++) {
                struct trace_attachment row = { .size_bytes = i * 100, .hash = i };
                uint32_t id;

                ck_assert_int_eq(trace_dictionary_add(d, TRACE_TABLE_ATTACHMENTS, &row, &id), 0);
        }
}

/* The bytes are copied into a block of their own size, so that the sanitizer sees a read past them. */
static int decode(const struct trace_dictionary *d, const uint8_t *bytes, size_t n_bytes,
                  struct attachment_chunk *ret_part)
{
        uint8_t *body = malloc(n_bytes + 1);
        struct error err = ERROR_NONE;
        int r;

        ck_assert_ptr_nonnull(body);
        memcpy(body + 1, bytes, n_bytes);
        r = attachment_chunk_decode(d, body + 1, n_bytes, ret_part, &err);
        ck_assert_int_eq(r < 0, err.text[0] != '\0');
        free(body);
        return r;
}

START_TEST(test_parts_come_back)
{
        static const uint8_t bytes[] = "some bytes";
        struct attachment_chunk in = {
                .attachment = 150, .offset_bytes = 14000, .bytes = bytes, .n_bytes = 10
        };
        struct attachment_chunk out;
        struct byte_buffer body = { .data = NULL };
        struct trace_dictionary d;

        fill(&d);
        ck_assert_int_eq(attachment_chunk_encode(&in, &body), 0);
        ck_assert_int_eq(attachment_chunk_decode(&d, body.data, body.used_bytes, &out, NULL), 0);
        ck_assert_uint_eq(out.attachment, 150);
        ck_assert_uint_eq(out.offset_bytes, 14000);
        ck_assert_uint_eq(out.n_bytes, 10);
        ck_assert_mem_eq(out.bytes, bytes, 10);
        /*
         * A chunk that is cut in its bytes is a shorter part; one that is cut in the numbers
         * before them is dropped.
         */
        for (size_t cut = 0; cut <= body.used_bytes; cut++) {
                int r = decode(&d, body.data, cut, &out);

                ck_assert_int_eq(r, cut < body.used_bytes - 10 ? -EBADMSG : 0);
                if (r == 0)
                        ck_assert_uint_eq(out.n_bytes, cut - (body.used_bytes - 10));
        }
        byte_buffer_deinit(&body);
        trace_dictionary_deinit(&d);
}
END_TEST

START_TEST(test_the_largest_part_has_a_body_of_a_mebibyte)
{
        static uint8_t bytes[ATTACHMENT_CHUNK_BYTES_MAX];
        struct attachment_chunk part = {
                .attachment = UINT32_MAX,
                .offset_bytes = UINT64_MAX,
                .bytes = bytes,
                .n_bytes = sizeof(bytes),
        };
        struct byte_buffer body = { .data = NULL };

        ck_assert_int_eq(attachment_chunk_encode(&part, &body), 0);
        ck_assert_uint_le(body.used_bytes, 1 << 20);
        byte_buffer_deinit(&body);
}
END_TEST

START_TEST(test_parts_outside_are_refused)
{
        static const struct {
                uint8_t bytes[14];
                size_t n_bytes;
                int result;
        } bodies[] = {
                { { 1, 99, 'x' }, 3, 0 },
                { { 1, 100 }, 2, 0 },
                { { 1, 100, 'x' }, 3, -EBADMSG },
                { { 1, 99, 'x', 'y' }, 4, -EBADMSG },
                { { 1, 101 }, 2, -EBADMSG },
                { { 0, 0, 'x' }, 3, -EBADMSG },
                { { 0xc8, 1, 0, 'x' }, 4, 0 },
                { { 0xc9, 1, 0, 'x' }, 4, -EBADMSG },                      /* 201 of 200 */
                { { 0x81, 0x80, 0x80, 0x80, 0x10, 0, 'x' }, 7, -EBADMSG }, /* 2^32 + 1 */
                { { 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 'x' }, 12, -EBADMSG },
        };
        struct attachment_chunk part;
        struct trace_dictionary d;

        fill(&d);
        for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
                ck_assert_int_eq(decode(&d, bodies[i].bytes, bodies[i].n_bytes, &part), bodies[i].result);
        trace_dictionary_deinit(&d);
}
END_TEST

static int add(struct attachment_tally *t, const struct trace_dictionary *d, uint32_t attachment,
               uint64_t offset_bytes, size_t n_bytes)
{
        struct attachment_chunk part = {
                .attachment = attachment,
                .offset_bytes = offset_bytes,
                .n_bytes = n_bytes,
        };
        struct error err = ERROR_NONE;
        int r = attachment_tally_add(t, d, &part, &err);

        ck_assert_int_eq(r < 0, err.text[0] != '\0');
        return r;
}

START_TEST(test_parts_follow_each_other)
{
        struct attachment_tally t = { .n_bytes = NULL };
        struct trace_dictionary d;

        fill(&d);
        ck_assert_uint_eq(attachment_tally_find_incomplete(&t, &d, 0), 1);
        ck_assert_int_eq(add(&t, &d, 1, 0, 60), 0);
        ck_assert_int_eq(add(&t, &d, 200, 0, 20000), 0); /* another one in between */
        ck_assert_int_eq(add(&t, &d, 1, 61, 39), -EBADMSG);
        ck_assert_int_eq(add(&t, &d, 1, 59, 41), -EBADMSG);
        ck_assert_int_eq(add(&t, &d, 1, 0, 100), -EBADMSG);
        ck_assert_uint_eq(attachment_tally_get(&t, 1), 60);
        ck_assert_uint_eq(attachment_tally_find_incomplete(&t, &d, 0), 1);
        ck_assert_int_eq(add(&t, &d, 1, 60, 40), 0);
        ck_assert_uint_eq(attachment_tally_find_incomplete(&t, &d, 0), 2);
        ck_assert_uint_eq(attachment_tally_find_incomplete(&t, &d, 2), 3);
        ck_assert_uint_eq(attachment_tally_find_incomplete(&t, &d, 199), 0);
        ck_assert_uint_eq(attachment_tally_get(&t, 2), 0);
        ck_assert_uint_eq(attachment_tally_get(&t, 200), 20000);
        attachment_tally_deinit(&t);
        trace_dictionary_deinit(&d);
}
END_TEST
