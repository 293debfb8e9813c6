/* SPDX-License-Identifier: MIT */
/*
 * sampler/keep/attachment_store.c: every byte is in one part, the same bytes are kept once,
 * and a trace has its share
 */
#include "base/byte_buffer.h"
#include "base/content_hash.h"
#include "format/attachment_chunk.h"
#include "format/trace_dictionary.h"
#include "sampler/keep/attachment_store.h"
#include "sampler/tracks/loss_counter.h"
#include "tests/unit/unit_test.h"

#include <string.h>

struct fixture {
        struct attachment_store store;
        struct trace_dictionary dictionary;
        struct loss_counter losses;
};

static struct fixture f;

static void set_up(uint32_t n_rows_max)
{
        memset(&f, 0, sizeof(f));
        attachment_store_init(&f.store, &f.dictionary, &f.losses);
        trace_dictionary_init(&f.dictionary, n_rows_max);
}

static void tear_down(void)
{
        attachment_store_deinit(&f.store);
        trace_dictionary_deinit(&f.dictionary);
}

/* @n_bytes of @byte after a front of 3 bytes that is not part of it. */
static uint32_t add(uint32_t kind, uint8_t byte, size_t n_bytes)
{
        struct trace_attachment row = { .kind = kind };
        struct byte_buffer payload = { .data = NULL };
        uint8_t *at = byte_buffer_reserve(&payload, n_bytes + 3);
        uint32_t id = 99;

        ck_assert_ptr_nonnull(at);
        memset(at, 0xee, 3);
        memset(at + 3, byte, n_bytes);
        payload.used_bytes = n_bytes + 3;
        ck_assert_int_eq(attachment_store_add(&f.store, &row, &payload, 3, &id), 0);
        byte_buffer_deinit(&payload);
        return id;
}

START_TEST(test_parts)
{
        const size_t n_bytes = 2 * (size_t)ATTACHMENT_CHUNK_BYTES_MAX + 5;
        const struct trace_attachment *row;
        struct byte_buffer body = { .data = NULL };
        struct attachment_chunk part;
        uint64_t offset = 0, n_others = 0;

        set_up(0);
        ck_assert_uint_eq(add(TRACE_ATTACHMENT_CODE_IMAGE, 7, n_bytes), 1);
        ck_assert_uint_eq(f.store.waiting_bytes, n_bytes);
        row = trace_dictionary_row(&f.dictionary, TRACE_TABLE_ATTACHMENTS, 1);
        ck_assert_uint_eq(row->size_bytes, n_bytes);
        ck_assert_uint_eq(row->kind, TRACE_ATTACHMENT_CODE_IMAGE);
        while (attachment_store_next(&f.store, &body) == 1) {
                ck_assert_int_eq(
                        attachment_chunk_decode(&f.dictionary, body.data, body.used_bytes, &part, NULL), 0);
                ck_assert_uint_eq(part.attachment, 1);
                ck_assert_uint_eq(part.offset_bytes, offset);
                for (size_t i = 0; i < part.n_bytes; i++)
                        n_others += part.bytes[i] != 7;
                offset += part.n_bytes;
                byte_buffer_clear(&body);
        }
        ck_assert_uint_eq(offset, n_bytes);
        ck_assert_uint_eq(n_others, 0);
        ck_assert_uint_eq(f.store.waiting_bytes, 0);
        byte_buffer_deinit(&body);
}
END_TEST

START_TEST(test_kept_once)
{
        struct byte_buffer body = { .data = NULL };

        set_up(0);
        ck_assert_uint_eq(add(TRACE_ATTACHMENT_CODE_IMAGE, 7, 100), 1);
        ck_assert_uint_eq(add(TRACE_ATTACHMENT_CODE_IMAGE, 7, 100), 1);
        ck_assert_uint_eq(add(TRACE_ATTACHMENT_SOURCE_TEXT, 7, 100), 2);
        ck_assert_uint_eq(add(TRACE_ATTACHMENT_CODE_IMAGE, 8, 100), 3);
        ck_assert_uint_eq(add(TRACE_ATTACHMENT_CODE_IMAGE, 8, 0), 4); /* an empty one has a row and no part */
        ck_assert_uint_eq(f.store.n_bytes, 300);
        for (int i = 0; i < 3; i++)
                ck_assert_int_eq(attachment_store_next(&f.store, &body), 1);
        ck_assert_int_eq(attachment_store_next(&f.store, &body), 0);
        ck_assert_uint_eq(add(TRACE_ATTACHMENT_CODE_IMAGE, 7, 100), 1); /* also when it is written */
        ck_assert_int_eq(attachment_store_next(&f.store, &body), 0);
        byte_buffer_deinit(&body);
}
END_TEST

START_TEST(test_full)
{
        set_up(0);
        ck_assert_uint_eq(add(TRACE_ATTACHMENT_CODE_IMAGE, 1, 100), 1);
        f.store.n_bytes = ATTACHMENT_STORE_BYTES_MAX - 100;
        ck_assert_uint_eq(add(TRACE_ATTACHMENT_CODE_IMAGE, 2, 101), 0);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_ATTACHMENTS_FULL], 1);
        ck_assert_uint_eq(add(TRACE_ATTACHMENT_CODE_IMAGE, 3, 100), 2);
        ck_assert_uint_eq(add(TRACE_ATTACHMENT_CODE_IMAGE, 4, 1), 0);
        ck_assert_uint_eq(add(TRACE_ATTACHMENT_CODE_IMAGE, 1, 100), 1); /* one that is there */
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_ATTACHMENTS_FULL], 2);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_ATTACHMENTS), 2);
}
END_TEST

START_TEST(test_full_table)
{
        set_up(1);
        ck_assert_uint_eq(add(TRACE_ATTACHMENT_CODE_IMAGE, 1, 10), 1);
        ck_assert_uint_eq(add(TRACE_ATTACHMENT_CODE_IMAGE, 2, 10), 0);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_ATTACHMENTS_FULL], 1);
}
END_TEST

/* The numbers of the specification's hash: they are in the files. */
START_TEST(test_hash)
{
        ck_assert_uint_eq(content_hash(NULL, 0), UINT64_C(0x2d06800538d394c2));
        ck_assert_uint_eq(content_hash("", 0), UINT64_C(0x2d06800538d394c2));
        ck_assert_uint_ne(content_hash("a", 1), content_hash("b", 1));
}
END_TEST

UNIT_TEST_PLAN(.teardown = tear_down);
