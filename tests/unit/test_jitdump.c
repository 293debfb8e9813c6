/* SPDX-License-Identifier: MIT */
/*
 * sampler/jit/jitdump.c: what a compiler wrote is read; what is cut off anywhere, or says lengths
 * that cannot be, is refused
 */
#include "sampler/jit/jitdump.h"

#include "tests/unit/jitdump_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A copy that ends where it ends, so that reading beyond it is seen by AddressSanitizer. */
static uint8_t *cut(const struct byte_buffer *b, size_t n)
{
        uint8_t *copy = malloc(n + (n == 0));

        ck_assert_ptr_nonnull(copy);
        memcpy(copy, b->data, n);
        return copy;
}

START_TEST(test_header)
{
        struct byte_buffer b = { .data = NULL };
        struct jitdump_header h;

        jitdump_builder_header(&b, 1, 1);
        for (size_t n = 0; n < b.used_bytes; n++) {
                uint8_t *bytes = cut(&b, n);

                ck_assert_int_eq(jitdump_decode_header(bytes, n, &h, NULL), -ENODATA);
                free(bytes);
        }
        ck_assert_int_eq(jitdump_decode_header(b.data, b.used_bytes, &h, NULL), 0);
        ck_assert_uint_eq(h.header_bytes, JITDUMP_HEADER_BYTES);
        ck_assert(h.has_arch_ticks);
        b.data[8] = JITDUMP_HEADER_BYTES - 1;
        ck_assert_int_eq(jitdump_decode_header(b.data, b.used_bytes, &h, NULL), -EBADMSG);
        b.data[4] = 2;
        ck_assert_int_eq(jitdump_decode_header(b.data, b.used_bytes, &h, NULL), -ENOTSUP);
        memcpy(b.data, "JiTD", 4); /* as a machine with another byte order writes it */
        ck_assert_int_eq(jitdump_decode_header(b.data, b.used_bytes, &h, NULL), -ENOTSUP);
        memcpy(b.data, "\177ELF", 4);
        ck_assert_int_eq(jitdump_decode_header(b.data, b.used_bytes, &h, NULL), -EBADMSG);
        byte_buffer_deinit(&b);
}
END_TEST

START_TEST(test_load)
{
        struct byte_buffer b = { .data = NULL };
        struct jitdump_prefix p;
        struct jitdump_load l;
        size_t body;

        jitdump_builder_load(&b, 77, 0x1000, 4, "foo");
        ck_assert_int_eq(jitdump_decode_prefix(b.data, b.used_bytes, &p, NULL), 0);
        ck_assert_uint_eq(p.kind, JITDUMP_LOAD);
        ck_assert_uint_eq(p.record_bytes, b.used_bytes);
        ck_assert_uint_eq(p.ticks, 77);
        body = b.used_bytes - JITDUMP_PREFIX_BYTES;
        memmove(b.data, b.data + JITDUMP_PREFIX_BYTES, body);
        for (size_t n = 0; n <= body; n++) {
                uint8_t *bytes = cut(&b, n);
                int r = jitdump_decode_load(bytes, n, &l, NULL);

                ck_assert_int_eq(r, n >= 44 ? 0 : -EBADMSG);
                if (r == 0) {
                        ck_assert_uint_eq(l.start_avma, 0x1000);
                        ck_assert_uint_eq(l.length_bytes, 4);
                        ck_assert_uint_eq(l.name_bytes, 3);
                        ck_assert_int_eq(l.code != NULL, n == body);
                }
                free(bytes);
        }
        memset(b.data + 16, 0xff, 16); /* address and length */
        ck_assert_int_eq(jitdump_decode_load(b.data, body, &l, NULL), -EBADMSG);
        byte_buffer_deinit(&b);
}
END_TEST

START_TEST(test_prefix)
{
        struct byte_buffer b = { .data = NULL };
        struct jitdump_prefix p;

        jitdump_builder_other(&b, JITDUMP_CLOSE, 0, 0);
        for (size_t n = 0; n < b.used_bytes; n++)
                ck_assert_int_eq(jitdump_decode_prefix(b.data, n, &p, NULL), -ENODATA);
        ck_assert_int_eq(jitdump_decode_prefix(b.data, b.used_bytes, &p, NULL), 0);
        b.data[4] = JITDUMP_PREFIX_BYTES - 1;
        ck_assert_int_eq(jitdump_decode_prefix(b.data, b.used_bytes, &p, NULL), -EBADMSG);
        byte_buffer_deinit(&b);
}
END_TEST

START_TEST(test_move)
{
        struct byte_buffer b = { .data = NULL };
        struct jitdump_move m;
        const uint8_t *body;

        jitdump_builder_move(&b, 0, 0x1000, 0x2000, 16);
        body = b.data + JITDUMP_PREFIX_BYTES;
        for (size_t n = 0; n < 48; n++)
                ck_assert_int_eq(jitdump_decode_move(body, n, &m, NULL), -EBADMSG);
        ck_assert_int_eq(jitdump_decode_move(body, 48, &m, NULL), 0);
        ck_assert_uint_eq(m.old_avma, 0x1000);
        ck_assert_uint_eq(m.new_avma, 0x2000);
        ck_assert_uint_eq(m.length_bytes, 16);
        byte_buffer_deinit(&b);
}
END_TEST

/* How many lines come; -EBADMSG if some are missing. */
static int count_lines(const uint8_t *bytes, size_t n)
{
        struct jitdump_debug_info info;
        struct jitdump_line line = { .file = NULL };
        int n_lines = 0;
        int r = jitdump_decode_debug_info(bytes, n, &info, NULL);

        if (r < 0)
                return r;
        while ((r = jitdump_next_line(&info, &line, NULL)) == 1) {
                ck_assert_uint_eq(line.avma, 0x1000 + 8 * (uint64_t)n_lines);
                ck_assert_uint_eq(line.line, 10 + (uint32_t)n_lines);
                ck_assert_uint_eq(line.file_bytes, 3);
                ck_assert_mem_eq(line.file, "a.c", 3);
                n_lines++;
        }
        return r < 0 ? r : n_lines;
}

START_TEST(test_lines)
{
        struct byte_buffer b = { .data = NULL };
        size_t n_bytes;

        jitdump_builder_lines(&b, 0, 0x1000, 0, "a.c");
        n_bytes = b.used_bytes - JITDUMP_PREFIX_BYTES;
        memmove(b.data, b.data + JITDUMP_PREFIX_BYTES, n_bytes);
        for (size_t n = 0; n < n_bytes; n++) {
                uint8_t *bytes = cut(&b, n);

                ck_assert_int_eq(count_lines(bytes, n), -EBADMSG);
                free(bytes);
        }
        ck_assert_int_eq(count_lines(b.data, n_bytes), 2);
        memset(b.data + 8, 0xff, 8); /* more of them than any file can hold */
        ck_assert_int_eq(count_lines(b.data, n_bytes), -EBADMSG);
        byte_buffer_deinit(&b);
}
END_TEST

START_TEST(test_unwinding)
{
        uint8_t bytes[24 + 68] = { 68, [8] = 20, [16] = 80 };
        struct jitdump_unwinding unwinding;

        ck_assert_int_eq(jitdump_decode_unwinding(bytes, sizeof(bytes), &unwinding, NULL), 0);
        ck_assert_ptr_eq(unwinding.eh_frame, bytes + 24);
        ck_assert_uint_eq(unwinding.n_bytes, 48);
        for (size_t n = 0; n < sizeof(bytes); n++)
                ck_assert_int_eq(jitdump_decode_unwinding(bytes, n, &unwinding, NULL), -EBADMSG);
        bytes[8] = 69; /* the index is longer than both */
        ck_assert_int_eq(jitdump_decode_unwinding(bytes, sizeof(bytes), &unwinding, NULL), -EBADMSG);
        memset(bytes, 0xff, 16);
        ck_assert_int_eq(jitdump_decode_unwinding(bytes, sizeof(bytes), &unwinding, NULL), -EBADMSG);
}
END_TEST
