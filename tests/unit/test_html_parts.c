/* SPDX-License-Identifier: MIT */
/*
 * web/file/escaped_columns.c, packed_text.c, html_redaction.c: the contents of a page are read back as they
 * were, and a redacted text has no folder, command line or host
 */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"
#include "web/file/html_parts.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static uint32_t column_at(const struct byte_buffer *bytes, uint32_t n_escapes, size_t i)
{
        uint32_t value;

        memcpy(&value, bytes->data + n_escapes * sizeof(double) + i * sizeof(value), sizeof(value));
        return value;
}

static double escape_at(const struct byte_buffer *bytes, size_t i)
{
        double value;

        memcpy(&value, bytes->data + i * sizeof(value), sizeof(value));
        return value;
}

START_TEST(what_does_not_fit_is_an_escape)
{
        static const double values[] = { 5, 4294967294.0, 4294967295.0, -1, 1e15 };
        struct escaped_columns c = { .escapes = { .data = NULL } };
        struct byte_buffer out = { .data = NULL };

        escaped_columns_add(&c, values, 5, 0);
        ck_assert_uint_eq(escaped_columns_count(&c), 3);
        escaped_columns_put(&c, &out);
        ck_assert(!out.failed);
        ck_assert_uint_eq(out.used_bytes, 3 * 8 + 6 * 4); /* padded to 8 bytes */
        ck_assert_double_eq(escape_at(&out, 0), 4294967295.0);
        ck_assert_double_eq(escape_at(&out, 1), -1);
        ck_assert_double_eq(escape_at(&out, 2), 1e15);
        ck_assert_uint_eq(column_at(&out, 3, 0), 5);
        ck_assert_uint_eq(column_at(&out, 3, 1), 4294967294U);
        ck_assert_uint_eq(column_at(&out, 3, 4), ESCAPED_COLUMN_MARK);
        escaped_columns_deinit(&c);
        byte_buffer_deinit(&out);
}
END_TEST

START_TEST(differences_are_to_the_one_before_or_to_a_base)
{
        static const double begins[] = { 1e12, 1e12 + 7, 1e12 + 9, 1e12 + 9 };
        static const double ends[] = { 1e12 + 3, 1e12 + 8, 1e12 + 9, 3e12 };
        static const uint32_t expected[] = { ESCAPED_COLUMN_MARK, 7, 2, 0, 3, 1, 0, ESCAPED_COLUMN_MARK };
        struct escaped_columns c = { .escapes = { .data = NULL } };
        struct byte_buffer out = { .data = NULL };

        escaped_columns_add(&c, begins, 4, 1);
        escaped_columns_add_less(&c, ends, begins, 4);
        escaped_columns_put(&c, &out);
        ck_assert_uint_eq(escaped_columns_count(&c), 2);
        for (size_t i = 0; i < 8; i++)
                ck_assert_uint_eq(column_at(&out, 2, i), expected[i]);
        ck_assert_double_eq(escape_at(&out, 0), 1e12);
        ck_assert_double_eq(escape_at(&out, 1), 3e12 - 1e12 - 9);
        escaped_columns_deinit(&c);
        byte_buffer_deinit(&out);
}
END_TEST

static size_t decode_base64(const struct byte_buffer *text, uint8_t *out)
{
        static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        uint32_t bits = 0;
        size_t n = 0;

        ck_assert_uint_eq(text->used_bytes % 4, 0);
        for (size_t i = 0; i < text->used_bytes && text->data[i] != '='; i++) {
                const char *digit = strchr(digits, text->data[i]);

                ck_assert(digit && *digit);
                bits = bits << 6 | (uint32_t)(digit - digits);
                if (i % 4 != 0)
                        out[n++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
        }
        return n;
}

/* Lengths with which each of the three ends of base64 comes, and one of several steps. */
START_LOOP_TEST(packed_bytes_come_back, 0, 9)
{
        size_t n = _i < 8 ? (size_t)_i : 3000000, n_packed;
        uint8_t *bytes = malloc(n + 1), *packed, *back = malloc(n + 1);
        struct byte_buffer text = { .data = NULL };
        z_stream z = { .next_in = NULL };
        uint32_t random = 1;

        ck_assert(bytes && back);
        for (size_t i = 0; i < n; i++)
                bytes[i] = (uint8_t)((random = random * 1664525 + 1013904223) >> 24);
        ck_assert_int_eq(packed_text_add(&text, bytes, n), 0);
        packed = malloc(text.used_bytes);
        ck_assert_ptr_nonnull(packed);
        n_packed = decode_base64(&text, packed);
        z.next_in = packed;
        z.avail_in = (uInt)n_packed;
        z.next_out = back;
        z.avail_out = (uInt)n + 1;
        ck_assert_int_eq(inflateInit2(&z, 15 + 16), Z_OK);
        ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
        ck_assert_uint_eq(z.total_out, n);
        ck_assert_int_eq(memcmp(back, bytes, n), 0);
        (void)inflateEnd(&z);
        byte_buffer_deinit(&text);
        free(bytes);
        free(packed);
        free(back);
}
END_TEST

START_LOOP_TEST(redacted_texts_say_no_more_than_names, 0, 6)
{
        static const struct {
                const char *text, *expected;
        } cases[] = {
                { "src/core/a.c:12", "a.c:12" },
                { "ran ./game --fast /home/me/map", "ran (left out) map" },
                { "on box7, in /usr/lib/libc.so.6", "on (left out), in libc.so.6" },
                { "a / b", "a / b" },
                { "Frame", "Frame" },
                { "", "" },
        };
        static const struct html_redaction redaction = { .command = { "./game --fast", 13 },
                                                         .host = { "box7", 4 } };
        struct byte_buffer out = { .data = NULL };

        html_redaction_put(&redaction, (struct text_view){ cases[_i].text, strlen(cases[_i].text) }, &out);
        byte_buffer_add_u8(&out, '\0');
        ck_assert_str_eq((const char *)out.data, cases[_i].expected);
        byte_buffer_deinit(&out);
}
END_TEST

/* A folder of one to four parts, each with a mark and any characters but '/', and a file without one. */
static size_t make_path(uint64_t *state, char *path, bool is_absolute)
{
        static const char any[] = "ab .,:;=()<>'\"\t-_[]{}#~%$!?*&|\\@+^0\x7f";
        size_t n = 0;

        for (uint64_t part = 1 + fixed_random_next(state) % 4; part > 0; part--) {
                if (n > 0 || is_absolute)
                        path[n++] = '/';
                for (uint64_t length = fixed_random_next(state) % 8; length > 0; length--)
                        path[n++] = any[fixed_random_next(state) % (sizeof(any) - 1)];
                memcpy(path + n, "jane", 4);
                n += 4;
                for (uint64_t length = fixed_random_next(state) % 8; length > 0; length--)
                        path[n++] = any[fixed_random_next(state) % (sizeof(any) - 1)];
        }
        memcpy(path + n, "/my prog", 9);
        return n + 8;
}

/* Whatever characters the folders of a trace have, no part of one is left in any text. */
START_LOOP_TEST(known_folders_are_left_out, 0, 2)
{
        static const char *const texts[] = { "%s", "in %s:12", "'%s' (a)", "x=%s,b", "%s called %s" };
        uint64_t state = 11;

        for (int i = 0; i < 10000; i++) {
                struct html_redaction redaction = { .command = { NULL, 0 } };
                struct byte_buffer text = { .data = NULL }, out = { .data = NULL };
                char path[128];
                size_t n = make_path(&state, path, _i == 0);
                const char *form = texts[(size_t)i % (sizeof(texts) / sizeof(texts[0]))];

                ck_assert_int_eq(html_redaction_learn_path(&redaction, (struct text_view){ path, n }), 0);
                for (const char *c = form; *c; c += *c == '%' ? 2 : 1)
                        byte_buffer_add(&text, *c == '%' ? path : c, *c == '%' ? n : 1);
                html_redaction_put(&redaction, (struct text_view){ (const char *)text.data, text.used_bytes },
                                   &out);
                ck_assert_ptr_null(memmem(out.data, out.used_bytes, "jane", 4));
                ck_assert_ptr_nonnull(memmem(out.data, out.used_bytes, "my prog", 7));
                byte_buffer_deinit(&text);
                byte_buffer_deinit(&out);
                html_redaction_deinit(&redaction);
        }
}
END_TEST

/* A word that is also a folder's name stays; a folder alone does not. */
START_TEST(a_name_is_no_folder)
{
        struct html_redaction redaction = { .command = { NULL, 0 } };
        struct byte_buffer out = { .data = NULL };
        static const char text[] = "src in /home/me, src/a.c";

        ck_assert_int_eq(html_redaction_learn_path(&redaction, (struct text_view){ "src/a.c", 7 }), 0);
        ck_assert_int_eq(html_redaction_learn_path(&redaction, (struct text_view){ "/home/me/x", 10 }), 0);
        html_redaction_put(&redaction, (struct text_view){ text, sizeof(text) - 1 }, &out);
        byte_buffer_add_u8(&out, '\0');
        ck_assert_str_eq((const char *)out.data, "src in (left out), a.c");
        byte_buffer_deinit(&out);
        html_redaction_deinit(&redaction);
}
END_TEST

START_TEST(documents_lose_what_their_keys_name)
{
        static const char document[] =
                "{\"command\":\"./game\",\"schema\":\"a/1\",\"rows\":[{\"source\":[\"int x;\"],"
                "\"place\":\"/home/me/a.c:1\"},\"/b/c\"],\"n\":3}";
        static const char expected[] = "{\"command\":null,\"schema\":\"a/1\",\"rows\":[{\"source\":null,"
                                       "\"place\":\"a.c:1\"},\"c\"],\"n\":3}";
        struct html_redaction redaction = { .command = { "./game", 6 } };
        struct byte_buffer text = { .data = NULL };
        struct error err = ERROR_NONE;

        byte_buffer_add(&text, document, strlen(document));
        ck_assert_int_eq(html_redaction_clean_text(&redaction, &text, &err), 0);
        byte_buffer_add_u8(&text, '\0');
        ck_assert_str_eq((const char *)text.data, expected);
        byte_buffer_clear(&text);
        byte_buffer_add(&text, "{", 1);
        ck_assert_int_lt(html_redaction_clean_text(&redaction, &text, &err), 0);
        byte_buffer_deinit(&text);
}
END_TEST
