/* SPDX-License-Identifier: MIT */
/*
 * view/document/csv_writer.c: RFC 4180, valid UTF-8, every row whole whatever its length, a
 * failed write is remembered
 */
#include "tests/unit/unit_test.h"
#include "view/document/csv_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
        const char *bytes;
        size_t n_bytes;
        const char *written;
} fields[] = {
        { "", 0, "" },
        { "plain words", 11, "plain words" },
        { "a,b", 3, "\"a,b\"" },
        { "a;b", 3, "a;b" },
        { "say \"hi\"", 8, "\"say \"\"hi\"\"\"" },
        { "\"", 1, "\"\"\"\"" },
        { "a\nb", 3, "\"a\\x0ab\"" },
        { "a\rb", 3, "\"a\\x0db\"" },
        { "\x1b]0;x\x07", 6, "\"\\x1b]0;x\\x07\"" },
        { "\x7f", 1, "\"\\x7f\"" },
        { "\xc2\x9b", 2, "\"\\u{9b}\"" },
        { "\xe2\x80\xae", 3, "\"\\u{202e}\"" },
        { "=1+1", 4, "=1+1" },
        { "caf\xc3\xa9", 5, "\"caf\xc3\xa9\"" },
        { "\xff\"\xc3", 3, "\"\xef\xbf\xbd\"\"\xef\xbf\xbd\"" },
        { "a\0b", 3,
          "\"a\xef\xbf\xbd"
          "b\"" },
};

/* loop test */
START_LOOP_TEST(test_fields, 0, sizeof(fields) / sizeof(fields[0]))
{
        struct csv_writer w;
        char *text = NULL, wanted[64];
        size_t n_bytes = 0;
        FILE *out = open_memstream(&text, &n_bytes);

        csv_writer_init(&w, out, ',');
        csv_writer_put_bytes(&w, fields[_i].bytes, fields[_i].n_bytes);
        csv_writer_put_bytes(&w, fields[_i].bytes, fields[_i].n_bytes);
        csv_writer_end_row(&w);
        ck_assert_int_eq(csv_writer_finish(&w), 0);
        csv_writer_deinit(&w);
        (void)fclose(out);
        (void)snprintf(wanted, sizeof(wanted), "%s,%s\n", fields[_i].written, fields[_i].written);
        ck_assert_str_eq(text, wanted);
        free(text);
}
END_TEST

START_TEST(test_numbers)
{
        struct csv_writer w;
        char *text = NULL;
        size_t n_bytes = 0;
        FILE *out = open_memstream(&text, &n_bytes);

        csv_writer_init(&w, out, ';');
        csv_writer_put_number(&w, 0);
        csv_writer_put_number(&w, UINT64_MAX);
        csv_writer_put_signed(&w, INT64_MIN);
        csv_writer_put_signed(&w, 17);
        csv_writer_put_empty(&w);
        csv_writer_put_real(&w, 0.1, 6);
        csv_writer_put_real(&w, -1e300, 17);
        csv_writer_end_row(&w);
        csv_writer_put_empty(&w);
        csv_writer_put_words(&w, "a;b");
        csv_writer_end_row(&w);
        ck_assert_int_eq(csv_writer_finish(&w), 0);
        csv_writer_deinit(&w);
        (void)fclose(out);
        ck_assert_str_eq(text,
                         "0;18446744073709551615;-9223372036854775808;17;;0.1;-1.0000000000000001e+300\n"
                         ";\"a;b\"\n");
        free(text);
}
END_TEST

START_TEST(test_no_formulas)
{
        static const char *const formulas[] = { "=cmd|' /C calc'!A0",
                                                "+1",
                                                "-1",
                                                "@SUM(1)",
                                                "\uff1d1",
                                                "\uff0b1",
                                                "\uff0d1",
                                                "\uff20",
                                                "\t=1",
                                                "\r=1" };
        struct csv_writer w;
        char *text = NULL;
        size_t n_bytes = 0;
        FILE *out = open_memstream(&text, &n_bytes);

        csv_writer_init(&w, out, ',');
        w.is_safe = true;
        for (size_t i = 0; i < sizeof(formulas) / sizeof(formulas[0]); i++)
                csv_writer_put_words(&w, formulas[i]);
        csv_writer_put_words(&w, "a=b");
        csv_writer_put_signed(&w, -5); /* a number is one */
        csv_writer_end_row(&w);
        ck_assert_int_eq(csv_writer_finish(&w), 0);
        csv_writer_deinit(&w);
        (void)fclose(out);
        ck_assert_str_eq(
                text,
                "\"'=cmd|' /C calc'!A0\",\"'+1\",\"'-1\",\"'@SUM(1)\",\"'\uff1d1\",\"'\uff0b1\",\"'\uff0d1\",\"'\uff20\","
                "\"\\x09=1\",\"\\x0d=1\",a=b,-5\n");
        free(text);
}
END_TEST

/* More than the buffer holds: nothing is lost or doubled where it is written out. */
START_TEST(test_many_rows)
{
        enum { N_ROWS = 300000 };
        struct csv_writer w;
        char *text = NULL, *at;
        size_t n_bytes = 0;
        FILE *out = open_memstream(&text, &n_bytes);

        csv_writer_init(&w, out, ',');
        for (uint64_t i = 0; i < N_ROWS; i++) {
                csv_writer_put_number(&w, i);
                csv_writer_put_words(&w, i % 2 == 0 ? "even" : "o,dd");
                csv_writer_end_row(&w);
                ck_assert_uint_le(w.buffer.capacity_bytes, (size_t)4 << 20);
        }
        ck_assert_int_eq(csv_writer_finish(&w), 0);
        csv_writer_deinit(&w);
        (void)fclose(out);
        at = text;
        for (unsigned long i = 0; i < N_ROWS; i++) {
                ck_assert_uint_eq(strtoul(at, &at, 10), i);
                ck_assert_int_eq(strncmp(at, i % 2 == 0 ? ",even\n" : ",\"o,dd\"\n", i % 2 == 0 ? 6 : 8), 0);
                at += i % 2 == 0 ? 6 : 8;
        }
        ck_assert_int_eq(*at, '\0');
        free(text);
}
END_TEST

START_TEST(test_failed_write)
{
        struct csv_writer w;
        FILE *out = fopen("/dev/full", "w");

        ck_assert_ptr_nonnull(out);
        (void)setvbuf(out, NULL, _IONBF, 0);
        csv_writer_init(&w, out, ',');
        csv_writer_put_words(&w, "a");
        csv_writer_end_row(&w);
        ck_assert_int_eq(csv_writer_finish(&w), -ENOSPC);
        csv_writer_put_words(&w, "b");
        ck_assert_int_eq(csv_writer_finish(&w), -ENOSPC);
        csv_writer_deinit(&w);
        (void)fclose(out);
}
END_TEST
