/* SPDX-License-Identifier: MIT */
/* The output is JSON, whatever the strings and numbers are, and a write that fails is noticed. */
#include "export/shared/json_out.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

START_TEST(all_kinds_of_values)
{
        static const char bytes[] = "a\"\\\n\t\x01\x7f\xff\xc3\xa4\xed\xa0\x80"
                                    "\xc2\x9b\xe2\x80\xae\xf3\xa0\x81\x81\0z";
        struct json_out j;
        char *text = NULL;
        size_t n_text = 0;
        FILE *out = open_memstream(&text, &n_text);
        json_t *root;

        ck_assert_int_eq(json_out_init(&j, out), 0);
        json_out_open(&j, '{');
        json_out_pair_string(&j, "s", bytes, sizeof(bytes) - 1);
        json_out_key_string(&j, "k\"", 2);
        json_out_open(&j, '[');
        json_out_number(&j, UINT64_C(9223372036854775807));
        json_out_signed(&j, INT64_MIN);
        json_out_real(&j, 0.1);
        json_out_real(&j, (double)INFINITY);
        json_out_real(&j, (double)NAN);
        json_out_bool(&j, true);
        json_out_null(&j);
        json_out_open(&j, '[');
        json_out_close(&j, ']');
        json_out_close(&j, ']');
        json_out_close(&j, '}');
        ck_assert_int_eq(json_out_finish(&j), 0);
        json_out_deinit(&j);
        ck_assert_int_eq(fclose(out), 0);
        root = json_loads(text, JSON_ALLOW_NUL, NULL);
        ck_assert_msg(root != NULL, "%s", text);
        ck_assert_str_eq(json_string_value(json_object_get(root, "s")),
                         "a\"\\\n\t\x01\x7f\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                         "\xc2\x9b\xe2\x80\xae\xf3\xa0\x81\x81");
        /* No terminal is commanded by it, nor the direction of its text turned. */
        ck_assert_ptr_nonnull(strstr(text, "\\u009b\\u202e\\udb40\\udc41\\u0000z"));
        ck_assert_ptr_nonnull(strstr(text,
                                     "\"k\\\"\":[9223372036854775807,-9223372036854775808,0.1,null,null,"
                                     "true,null,[]]"));
        json_decref(root);
        free(text);
}
END_TEST

START_LOOP_TEST(decimals_are_exact, 0, 6)
{
        static const struct {
                uint64_t value;
                const char *text;
        } cases[] = {
                { 0, "0" },         { 1, "0.000001" },           { 1000000, "1" },
                { 1500000, "1.5" }, { 123000456, "123.000456" }, { UINT64_MAX, "18446744073709.551615" },
        };
        struct json_out j;
        char *text = NULL;
        size_t n_text = 0;
        FILE *out = open_memstream(&text, &n_text);

        ck_assert_int_eq(json_out_init(&j, out), 0);
        json_out_decimal(&j, cases[_i].value, 6);
        ck_assert_int_eq(json_out_finish(&j), 0);
        json_out_deinit(&j);
        ck_assert_int_eq(fclose(out), 0);
        ck_assert_str_eq(text, cases[_i].text);
        free(text);
}
END_TEST

/* A string longer than the buffer comes whole. */
START_TEST(long_strings_are_whole)
{
        size_t n = 3 * JSON_OUT_BUFFER_BYTES + 7;
        char *words = malloc(n), *text = NULL;
        size_t n_text = 0;
        FILE *out = open_memstream(&text, &n_text);
        struct json_out j;

        ck_assert_ptr_nonnull(words);
        memset(words, 'x', n);
        ck_assert_int_eq(json_out_init(&j, out), 0);
        json_out_string(&j, words, n);
        ck_assert_int_eq(json_out_finish(&j), 0);
        json_out_deinit(&j);
        ck_assert_int_eq(fclose(out), 0);
        ck_assert_uint_eq(n_text, n + 2);
        ck_assert_int_eq(memcmp(text + 1, words, n), 0);
        free(words);
        free(text);
}
END_TEST

START_TEST(a_full_disk_is_said)
{
        FILE *out = fopen("/dev/full", "w");
        struct json_out j;

        ck_assert_int_eq(json_out_init(&j, out), 0);
        for (int i = 0; i < 100000; i++)
                json_out_number(&j, 1234567890);
        ck_assert_int_eq(json_out_finish(&j), -ENOSPC);
        json_out_deinit(&j);
        (void)fclose(out);
}
END_TEST
