/* SPDX-License-Identifier: MIT */
/*
 * format/trace_chunk.c: a body comes back whole; a header or body that was cut or changed anywhere is refused
 */
#include "format/trace_chunk.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define LEVEL           3
#define CHECKSUM_OFFSET 40

/* Reads the bytes of one chunk as a reader does; too few of them are -ENODATA. */
static int decode(const uint8_t *bytes, size_t n_bytes, struct trace_chunk_header *header,
                  struct byte_buffer *raw, struct error *err)
{
        int r = trace_chunk_decode_header(bytes, n_bytes, header, err);

        if (r < 0)
                return r;
        if (header->stored_bytes > n_bytes - TRACE_CHUNK_HEADER_BYTES)
                return error_set(err, -ENODATA, "cut off");
        return trace_chunk_decode_body(header, bytes, bytes + TRACE_CHUNK_HEADER_BYTES, raw, err);
}

static void encode(const uint8_t *raw, size_t n_bytes, struct byte_buffer *out)
{
        struct trace_chunk_header header = {
                .kind = 0x1234, .n_items = 0x89abcdef, .first_ns = 5, .last_ns = UINT64_MAX
        };

        ck_assert_int_eq(trace_chunk_encode(&header, raw, n_bytes, LEVEL, out, NULL), 0);
}

/* Sets a number in the header, whose checksum is right again afterwards. */
static void change_header(struct byte_buffer *chunk, size_t offset, uint32_t value, size_t width)
{
        uint8_t *stored = chunk->data + TRACE_CHUNK_HEADER_BYTES;
        XXH3_state_t state;
        uint64_t checksum;

        for (size_t i = 0; i < width; i++)
                chunk->data[offset + i] = (uint8_t)(value >> (8 * i));
        (void)XXH3_64bits_reset(&state);
        (void)XXH3_64bits_update(&state, chunk->data, CHECKSUM_OFFSET);
        (void)XXH3_64bits_update(&state, stored, chunk->used_bytes - TRACE_CHUNK_HEADER_BYTES);
        checksum = XXH3_64bits_digest(&state);
        for (size_t i = 0; i < 8; i++)
                chunk->data[CHECKSUM_OFFSET + i] = (uint8_t)(checksum >> (8 * i));
}

enum { CODEC_OFFSET = 6, STORED_OFFSET = 8, RAW_OFFSET = 12, RESERVED_OFFSET = 20 };

/* A chunk whose body does not shrink, or does. */
static uint32_t encode_with(enum trace_codec codec, struct byte_buffer *chunk)
{
        uint8_t body[200] = "short and unlike";
        uint32_t n_bytes = codec == TRACE_CODEC_RAW ? 16 : sizeof(body);

        encode(body, n_bytes, chunk);
        ck_assert_uint_eq(chunk->data[CODEC_OFFSET], codec);
        return n_bytes;
}

static const size_t sizes[] = { 0, 1, 47, 200, 5000, 300000 };

/* loop test: bodies of each size, of one letter (which shrink) and of noise (which do not) */
START_LOOP_TEST(test_bodies_come_back, 0, sizeof(sizes) / sizeof(sizes[0]))
{
        size_t n_bytes = sizes[_i];
        uint8_t *body = malloc(n_bytes + 1);
        uint64_t state = 4;

        ck_assert_ptr_nonnull(body);
        for (int noise = 0; noise < 2; noise++) {
                struct byte_buffer chunk = { .data = NULL };
                struct byte_buffer raw = { .data = NULL };
                struct trace_chunk_header h;

                for (size_t i = 0; i < n_bytes; i++)
                        body[i] = noise ? (uint8_t)(fixed_random_next(&state) >> 56) : 'a';
                encode(body, n_bytes, &chunk);
                ck_assert_int_eq(decode(chunk.data, chunk.used_bytes, &h, &raw, NULL), 0);
                ck_assert_uint_eq(raw.used_bytes, n_bytes);
                ck_assert_int_eq(memcmp(raw.data, body, n_bytes), 0);
                ck_assert_uint_eq(h.kind, 0x1234);
                ck_assert_uint_eq(h.codec, noise || n_bytes < 40 ? TRACE_CODEC_RAW : TRACE_CODEC_ZSTD);
                ck_assert_uint_eq(h.raw_bytes, n_bytes);
                ck_assert_uint_eq(h.stored_bytes, chunk.used_bytes - TRACE_CHUNK_HEADER_BYTES);
                ck_assert_uint_le(h.stored_bytes, h.raw_bytes);
                ck_assert_uint_eq(h.n_items, 0x89abcdef);
                ck_assert_uint_eq(h.first_ns, 5);
                ck_assert_uint_eq(h.last_ns, UINT64_MAX);
                byte_buffer_deinit(&chunk);
                byte_buffer_deinit(&raw);
        }
        free(body);
}
END_TEST

START_TEST(test_chunks_are_appended)
{
        struct byte_buffer chunks = { .data = NULL };
        struct byte_buffer raw = { .data = NULL };
        struct trace_chunk_header h;
        size_t second;

        encode((const uint8_t *)"one", 3, &chunks);
        second = chunks.used_bytes;
        encode((const uint8_t *)"second", 6, &chunks);
        ck_assert_int_eq(decode(chunks.data, second, &h, &raw, NULL), 0);
        ck_assert_int_eq(decode(chunks.data + second, chunks.used_bytes - second, &h, &raw, NULL), 0);
        ck_assert_uint_eq(raw.used_bytes, 6);
        ck_assert_mem_eq(raw.data, "second", 6);
        byte_buffer_deinit(&chunks);
        byte_buffer_deinit(&raw);
}
END_TEST

/* The layout of docs/understand/trace-format.md, byte by byte. */
START_TEST(test_layout)
{
        static const uint8_t wanted[CHECKSUM_OFFSET] = {
                'H', 'Y', 'P',  'C',  0x34, 0x12, 0,    0,    3,    0,    0,    0,    3, 0,
                0,   0,   0xef, 0xcd, 0xab, 0x89, 0,    0,    0,    0,    5,    0,    0, 0,
                0,   0,   0,    0,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        };
        struct byte_buffer chunk = { .data = NULL };

        encode((const uint8_t *)"abc", 3, &chunk);
        ck_assert_uint_eq(chunk.used_bytes, TRACE_CHUNK_HEADER_BYTES + 3);
        ck_assert_mem_eq(chunk.data, wanted, sizeof(wanted));
        ck_assert_mem_eq(chunk.data + TRACE_CHUNK_HEADER_BYTES, "abc", 3);
        byte_buffer_deinit(&chunk);
}
END_TEST

/* loop test: a raw and a packed body; cut at every byte, and with every bit turned */
START_LOOP_TEST(test_cut_or_changed_anywhere_is_refused, 0, 2)
{
        struct byte_buffer chunk = { .data = NULL };
        struct byte_buffer raw = { .data = NULL };
        struct trace_chunk_header h;

        (void)encode_with((enum trace_codec)_i, &chunk);
        ck_assert_int_eq(decode(chunk.data, chunk.used_bytes, &h, &raw, NULL), 0);
        for (size_t cut = 0; cut < chunk.used_bytes; cut++) {
                struct error err = ERROR_NONE;

                ck_assert_int_eq(decode(chunk.data, cut, &h, &raw, &err), -ENODATA);
                ck_assert_int_eq(err.code, -ENODATA);
        }
        for (size_t bit = 0; bit < 8 * chunk.used_bytes; bit++) {
                struct error err = ERROR_NONE;
                size_t byte = bit / 8;
                int r;

                chunk.data[byte] = (uint8_t)(chunk.data[byte] ^ 1U << bit % 8);
                r = decode(chunk.data, chunk.used_bytes, &h, &raw, &err);
                if (byte >= STORED_OFFSET && byte < RAW_OFFSET)
                        ck_assert(r == -EBADMSG || r == -ENODATA);
                else
                        ck_assert_int_eq(r, -EBADMSG);
                ck_assert_uint_gt(strlen(err.text), 0);
                chunk.data[byte] = (uint8_t)(chunk.data[byte] ^ 1U << bit % 8);
        }
        ck_assert_int_eq(decode(chunk.data, chunk.used_bytes, &h, &raw, NULL), 0);
        byte_buffer_deinit(&chunk);
        byte_buffer_deinit(&raw);
}
END_TEST

/* loop test: a raw and a packed body; headers whose checksum is right and that are wrong all the same */
START_LOOP_TEST(test_headers_that_lie_are_refused, 0, 2)
{
        struct byte_buffer chunk = { .data = NULL };
        struct byte_buffer raw = { .data = NULL };
        struct trace_chunk_header h;
        uint32_t n_bytes = encode_with((enum trace_codec)_i, &chunk);
        uint32_t wrong[] = {
                0, 1, n_bytes - 1, n_bytes + 1, TRACE_CHUNK_RAW_MAX, TRACE_CHUNK_RAW_MAX + 1, UINT32_MAX
        };

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                change_header(&chunk, RAW_OFFSET, wrong[i], 4);
                ck_assert_int_eq(decode(chunk.data, chunk.used_bytes, &h, &raw, NULL), -EBADMSG);
        }
        change_header(&chunk, RAW_OFFSET, n_bytes, 4);
        change_header(&chunk, STORED_OFFSET, TRACE_CHUNK_RAW_MAX + 1, 4);
        ck_assert_int_eq(decode(chunk.data, chunk.used_bytes, &h, &raw, NULL), -EBADMSG);
        change_header(&chunk, STORED_OFFSET, TRACE_CHUNK_RAW_MAX, 4); /* may be, so the reader waits for it */
        ck_assert_int_eq(decode(chunk.data, chunk.used_bytes, &h, &raw, NULL), -ENODATA);
        change_header(&chunk, STORED_OFFSET, (uint32_t)chunk.used_bytes - TRACE_CHUNK_HEADER_BYTES, 4);
        change_header(&chunk, CODEC_OFFSET, 2, 2);
        ck_assert_int_eq(decode(chunk.data, chunk.used_bytes, &h, &raw, NULL), -ENOTSUP);
        change_header(&chunk, CODEC_OFFSET, (uint32_t)!_i, 2);
        ck_assert_int_eq(decode(chunk.data, chunk.used_bytes, &h, &raw, NULL), -EBADMSG);
        change_header(&chunk, CODEC_OFFSET, (uint32_t)_i, 2);
        change_header(&chunk, RESERVED_OFFSET, UINT32_MAX, 4); /* ignored by readers */
        ck_assert_int_eq(decode(chunk.data, chunk.used_bytes, &h, &raw, NULL), 0);
        byte_buffer_deinit(&chunk);
        byte_buffer_deinit(&raw);
}
END_TEST

START_TEST(test_zstd_that_is_none_is_refused)
{
        struct byte_buffer chunk = { .data = NULL };
        struct byte_buffer raw = { .data = NULL };
        struct trace_chunk_header h;
        uint32_t n_bytes = encode_with(TRACE_CODEC_ZSTD, &chunk);
        size_t n_refused = 0;

        for (size_t at = TRACE_CHUNK_HEADER_BYTES; at < chunk.used_bytes; at++) {
                uint8_t good = chunk.data[at];

                chunk.data[at] = (uint8_t)~good;
                change_header(&chunk, RESERVED_OFFSET, 0, 4);
                /*
                 * Without a checksum of its own a zstd frame may unpack to something else:
                 * only the length is sure.
                 */
                if (decode(chunk.data, chunk.used_bytes, &h, &raw, NULL) == 0)
                        ck_assert_uint_eq(raw.used_bytes, n_bytes);
                else
                        n_refused++;
                chunk.data[at] = good;
        }
        ck_assert_uint_gt(n_refused, 5);
        byte_buffer_deinit(&chunk);
        byte_buffer_deinit(&raw);
}
END_TEST

START_TEST(test_limit_of_a_body)
{
        struct trace_chunk_header header = { .kind = 1 };
        struct byte_buffer chunk = { .data = NULL };
        struct byte_buffer raw = { .data = NULL };
        uint8_t *body = calloc(1, TRACE_CHUNK_RAW_MAX + 1);
        struct error err = ERROR_NONE;

        ck_assert_ptr_nonnull(body);
        ck_assert_int_eq(trace_chunk_encode(&header, body, TRACE_CHUNK_RAW_MAX + 1, LEVEL, &chunk, &err),
                         -EOVERFLOW);
        ck_assert_int_eq(err.code, -EOVERFLOW);
        ck_assert_uint_eq(chunk.used_bytes, 0);
        ck_assert_int_eq(trace_chunk_encode(&header, body, TRACE_CHUNK_RAW_MAX, LEVEL, &chunk, &err), 0);
        ck_assert_int_eq(decode(chunk.data, chunk.used_bytes, &header, &raw, NULL), 0);
        ck_assert_uint_eq(raw.used_bytes, TRACE_CHUNK_RAW_MAX);
        free(body);
        byte_buffer_deinit(&chunk);
        byte_buffer_deinit(&raw);
}
END_TEST
