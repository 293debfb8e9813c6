/* SPDX-License-Identifier: MIT */
/* import/file/json_pull.c: values, members, escapes, exact numbers, depth, cut and bad text */
#include "import/file/json_pull.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

static struct text_view view(const char *text)
{
        return (struct text_view){ text, strlen(text) };
}

/* All values of a text, by kind and text, with the result at the end. */
static void describe(const char *text, struct byte_buffer *b)
{
        static const char kinds[] = "oasnw";
        struct json_pull p = json_pull_text(view(text));
        struct json_value value;
        int r;

        byte_buffer_clear(b);
        while ((r = json_pull_next(&p, &value)) == 1)
                byte_buffer_add_format(b, "%c<%.*s> ", kinds[value.kind], (int)value.text.n_bytes,
                                       value.text.bytes);
        byte_buffer_add_format(b, "%s", r == 0 ? "end" : r == -EBADMSG ? "bad" : "?");
        byte_buffer_add_u8(b, 0);
}

static const struct {
        const char *text, *values;
} texts[] = {
        { "", "end" },
        { " \r\n\t", "end" },
        { "1 -2.5e3 \"a\\\"b\" true", "n<1> n<-2.5e3> s<a\\\"b> w<true> end" },
        { "{\"a\":[1,{}]},[]", "o<{\"a\":[1,{}]}> a<[]> end" },
        { "NaN,-Infinity,-", "w<NaN> w<-Infinity> w<-> end" },
        { "[\"]\"] {\"}\":\"{\"}", "a<[\"]\"]> o<{\"}\":\"{\"}> end" },
        { "\"\\\\\" 1", "s<\\\\> n<1> end" },
        { "[1", "bad" },
        { "\"a", "bad" },
        { "\"a\\\"", "bad" },
        { "{]", "bad" },
        { "1 ] 2", "n<1> bad" },
        { ":", "bad" },
};

START_LOOP_TEST(test_values, 0, sizeof(texts) / sizeof(texts[0]))
{
        struct byte_buffer b = { .data = NULL };

        describe(texts[_i].text, &b);
        ck_assert_str_eq((const char *)b.data, texts[_i].values);
        byte_buffer_deinit(&b);
}
END_TEST

START_TEST(test_members)
{
        struct json_pull p = json_pull_text(view(" {\"ts\" : 1.5, \"args\":{\"ts\":2},\"ts\":\"7\",}"));
        struct json_value object, value;
        struct text_view key;

        ck_assert_int_eq(json_pull_next(&p, &object), 1);
        ck_assert_int_eq(json_pull_find(object, "ts", &value), 1);
        ck_assert(value.kind == JSON_STRING && text_view_is(value.text, "7"));
        ck_assert_int_eq(json_pull_find(object, "t", &value), 0);
        p = json_pull_inside(object);
        ck_assert_int_eq(json_pull_member(&p, &key, &value), 1);
        ck_assert(text_view_is(key, "ts") && value.kind == JSON_NUMBER && text_view_is(value.text, "1.5"));
        ck_assert_int_eq(json_pull_member(&p, &key, &value), 1);
        ck_assert(text_view_is(key, "args") && text_view_is(value.text, "{\"ts\":2}"));
        ck_assert_int_eq(json_pull_member(&p, &key, &value), 1);
        ck_assert_int_eq(json_pull_member(&p, &key, &value), 0);
        p = json_pull_inside(value);
        ck_assert_int_eq(json_pull_next(&p, &value), 0);
}
END_TEST

static const char *const bad_objects[] = { "{1:2}",       "{\"a\" 1}", "{\"a\"}",     "{\"a\":}",
                                           "{\"a\":1]}}", "{\"a\":,}", "{\"a\":[}]}", "{a:1}" };

START_LOOP_TEST(test_bad_members, 0, sizeof(bad_objects) / sizeof(bad_objects[0]))
{
        struct json_value object = { .kind = JSON_OBJECT, .text = view(bad_objects[_i]) }, value;
        struct json_pull p = json_pull_inside(object);
        struct text_view key;
        int r;

        while ((r = json_pull_member(&p, &key, &value)) == 1)
                continue;
        ck_assert_int_eq(r, -EBADMSG);
        ck_assert_int_eq(json_pull_member(&p, &key, &value), 0);
        ck_assert_int_eq(json_pull_find(object, "a", &value), -EBADMSG);
}
END_TEST

static const struct {
        const char *text, *plain;
        size_t n_bytes; /* 0: as `plain` */
} strings[] = {
        { "", "", 0 },
        { "plain", "plain", 0 },
        { "\\ud83d\\ude00 \\u00fc \\/ \\\"q\\\" \\t\\b\\f\\n\\r\\\\",
          "\xf0\x9f\x98\x80 \xc3\xbc / \"q\" \t\b\f\n\r\\", 0 },
        { "\\ud83d\\udfff", "\xf0\x9f\x9f\xbf", 0 },
        { "lone \\ud83d", "lone \xef\xbf\xbd", 0 },
        { "\\udE00\\u20ac", "\xef\xbf\xbd\xe2\x82\xac", 0 },
        { "\\ud83d\\u0041",
          "\xef\xbf\xbd"
          "A",
          0 },
        { "t\\u0000z", "t\0z", 3 },
        { "\\x \\u12 \\u12g4 \\", "\\x \\u12 \\u12g4 \\", 0 },
        { "\xff\xfe", "\xff\xfe", 0 },
};

START_LOOP_TEST(test_strings, 0, sizeof(strings) / sizeof(strings[0]))
{
        struct byte_buffer room = { .data = NULL };
        size_t n_bytes = strings[_i].n_bytes ? strings[_i].n_bytes : strlen(strings[_i].plain);
        struct text_view plain;

        ck_assert_int_eq(json_pull_string(view(strings[_i].text), &room, &plain), 0);
        ck_assert_uint_eq(plain.n_bytes, n_bytes);
        ck_assert_mem_eq(plain.bytes, strings[_i].plain, n_bytes);
        byte_buffer_deinit(&room);
}
END_TEST

static const struct {
        const char *text;
        int shift;
        bool is_number;
        int64_t value;
} numbers[] = {
        { "0", 3, true, 0 },
        { "-0.0", 3, true, 0 },
        { "1712195495519689.123", 3, true, INT64_C(1712195495519689123) },
        { "0.877", 3, true, 877 },
        { "1.5e3", 3, true, 1500000 },
        { "2E1", 3, true, 20000 },
        { "15e-1", 0, true, 2 },
        { "-1.5", 0, true, -2 },
        { "1.4999999999999999999999", 0, true, 1 },
        { "0.0005", 3, true, 1 },
        { "0.00049", 3, true, 0 },
        { "9007199254740993", 0, true, INT64_C(9007199254740993) },
        { "9223372036854775807", 0, true, INT64_MAX },
        { "-9223372036854775807", 0, true, -INT64_MAX },
        { "9223372036854775808", 0, false, 0 },
        { "9223372036854775807", 1, false, 0 },
        { "0.1000000000000000000000000000000000000001", 1, true, 1 },
        { "0000000000000000000000000000000000000000012", 0, true, 12 },
        { "100000000000000000000000000000e-29", 0, true, 1 },
        { "1e999999999999999999999", 0, false, 0 },
        { "0e999999999999999999999", 0, true, 0 },
        { "1e-999999999999999999999", 0, true, 0 },
        { "1e", 0, false, 0 },
        { "1e+", 0, false, 0 },
        { "1.2.3", 0, false, 0 },
        { "0x10", 0, false, 0 },
        { "--1", 0, false, 0 },
        { ".", 0, false, 0 },
        { "", 0, false, 0 },
        { "NaN", 0, false, 0 },
        { "1 ", 0, false, 0 },
};

START_LOOP_TEST(test_decimals, 0, sizeof(numbers) / sizeof(numbers[0]))
{
        int64_t value = 0;

        ck_assert_int_eq(json_pull_decimal(view(numbers[_i].text), numbers[_i].shift, &value),
                         numbers[_i].is_number);
        ck_assert_int_eq(value, numbers[_i].value);
}
END_TEST

START_TEST(test_unsigned)
{
        uint64_t value = 0;

        ck_assert(json_pull_unsigned(view("18446744073709551615"), &value) && value == UINT64_MAX);
        ck_assert(!json_pull_unsigned(view("18446744073709551616"), &value));
        ck_assert(!json_pull_unsigned(view("-1"), &value) && !json_pull_unsigned(view("1.0"), &value));
        ck_assert(!json_pull_unsigned(view(""), &value));
}
END_TEST

/* A million brackets are a million steps of a loop. */
/* Loop test: a string ends at its quote wherever that is among eight bytes that are looked at together. */
START_LOOP_TEST(test_ends_of_strings, 0, 40)
{
        static const unsigned char neighbours[] = {
                '!', '#', '[', ']', 0x22 + 0x80, 0x5c + 0x80, 0x01, 0xff
        };
        struct json_value value;
        char text[64];

        for (size_t k = 0; k < sizeof(neighbours); k++) {
                struct json_pull p;

                memset(text, neighbours[k], sizeof(text));
                text[0] = '"';
                text[1 + _i] = '"';
                p = (struct json_pull){ text, text + sizeof(text) };
                ck_assert_int_eq(json_pull_next(&p, &value), 1);
                ck_assert_uint_eq(value.text.n_bytes, (size_t)_i);
                p = (struct json_pull){ text, text + 1 + _i };
                ck_assert_int_eq(json_pull_next(&p, &value), -EBADMSG);
                text[1 + _i] = '\\';
                text[2 + _i] = '"';
                text[3 + _i] = '"';
                p = (struct json_pull){ text, text + sizeof(text) };
                ck_assert_int_eq(json_pull_next(&p, &value), 1);
                ck_assert_uint_eq(value.text.n_bytes, (size_t)_i + 2);
        }
}
END_TEST

START_TEST(test_depth_is_no_recursion)
{
        size_t n = 1000000;
        char *text = malloc(2 * n + 1);
        struct json_value value;
        struct json_pull p;

        ck_assert_ptr_nonnull(text);
        memset(text, '[', n);
        memset(text + n, ']', n);
        text[2 * n] = '\0';
        p = json_pull_text(view(text));
        ck_assert_int_eq(json_pull_next(&p, &value), 1);
        ck_assert_uint_eq(value.text.n_bytes, 2 * n);
        p = json_pull_text((struct text_view){ text, 2 * n - 1 });
        ck_assert_int_eq(json_pull_next(&p, &value), -EBADMSG);
        free(text);
}
END_TEST

/* Where the value at the beginning ends, looked for byte by byte; NULL: not before @end. */
static const char *find_end(const char *at, const char *end)
{
        bool in_string = false;
        unsigned depth = 0;

        for (; at < end; at++) {
                if (in_string && *at == '\\')
                        at++;
                else if (*at == '"')
                        in_string = !in_string;
                else if (!in_string)
                        depth += (unsigned)(*at == '{' || *at == '[') - (unsigned)(*at == '}' || *at == ']');
                if (depth == 0 && !in_string && at < end)
                        return at + 1;
        }
        return NULL;
}

/* Loop test: many bytes are looked at at once, and what is among them counts all the same. */
START_LOOP_TEST(test_scans_any_text, 1, 400)
{
        static const char plain[] = "{}[]\"\\ax,:", wide[] = "aaaaaaaaaaaaaaaa[]{}\"\"",
                          few[] = "aaaaaaaaaaa]\"\\";
        static const char *const kinds[] = { plain, wide, few };
        const char *kind = kinds[_i % 3];
        uint64_t state = (uint64_t)_i;
        char text[300];

        text[0] = "{[\""[_i % 3];
        for (size_t i = 1; i < sizeof(text); i++)
                text[i] = kind[fixed_random_next(&state) % strlen(kind)];
        for (size_t n = 1; n <= sizeof(text); n += 7) {
                struct json_scan scan = { .depth = 0 };
                size_t cut = (size_t)(fixed_random_next(&state) % n);
                const char *end = json_scan_piece(&scan, text, text + cut);

                if (!end)
                        end = json_scan_piece(&scan, text + cut, text + n);
                ck_assert_ptr_eq(end, find_end(text, text + n));
        }
}
END_TEST

/* Loop test: a number, and what is no number at one place, of any length. */
START_LOOP_TEST(test_digits_of_any_length, 1, 23)
{
        static const char others[] = "/:+- e\xb0\xff";
        uint64_t state = (uint64_t)_i, value, expected;
        size_t n = (size_t)_i;
        int64_t decimal;
        char text[32];

        for (unsigned round = 0; round < 100; round++) {
                bool fits;

                for (size_t i = 0; i < n; i++)
                        text[i] = (char)('0' + fixed_random_next(&state) % 10);
                text[n] = '\0';
                errno = 0;
                expected = strtoull(text, NULL, 10);
                fits = errno == 0;
                ck_assert_int_eq(json_pull_unsigned(view(text), &value), fits);
                ck_assert(!fits || value == expected);
                fits = fits && expected <= INT64_MAX;
                ck_assert_int_eq(json_pull_decimal(view(text), 0, &decimal), fits);
                ck_assert(!fits || (uint64_t)decimal == expected);
                text[fixed_random_next(&state) % n] =
                        others[fixed_random_next(&state) % (sizeof(others) - 1)];
                value = 7;
                ck_assert(!json_pull_unsigned(view(text), &value) && value == 7);
        }
}
END_TEST

/* Loop test: the point may be before any of the digits. */
START_LOOP_TEST(test_points_anywhere, 1, 22)
{
        size_t n = (size_t)_i;
        char text[32] = "12345678901234567890123", with_point[33];

        text[n] = '\0';
        for (size_t at = 0; at <= n; at++) {
                int64_t value = 0, expected;
                size_t n_after = n - at;
                bool fits;

                memcpy(with_point, text, at);
                with_point[at] = '.';
                memcpy(with_point + at + 1, text + at, n_after + 1);
                errno = 0;
                expected = strtoll(text, NULL, 10);
                fits = errno == 0;
                if (n_after <= 15) {
                        ck_assert_int_eq(json_pull_decimal(view(with_point), (int)n_after, &value), fits);
                        ck_assert(!fits || value == expected);
                }
        }
}
END_TEST

#define N_PLACES 5

static const char *const place_keys[N_PLACES - 1] = { "a", "key \\\"b\\\"", "longer than one step",
                                                      "one that is longer than a shape" };

static uint16_t find_place(const void *context, struct text_view key)
{
        size_t i = 0;

        (void)context;
        while (i < N_PLACES - 1 && !text_view_equal(key, view(place_keys[i])))
                i++;
        return (uint16_t)(i * sizeof(struct json_value));
}

/* An object of any members, written in many ways, some of which are no JSON. */
static void write_object(struct byte_buffer *b, uint64_t *state)
{
        static const char *const before[] = { "", "", ", ", ",\n    ", ",                 ", ",," };
        static const char *const colons[] = { ":", ":", ": ", " :  ", "" };
        static const char *const values[] = { "1",
                                              "-2.5",
                                              "\"text, of more than 16 bytes\"",
                                              "{\"c\":[1]}",
                                              "[\"}\"]",
                                              "null",
                                              "\"\\\"\"",
                                              "12345678",
                                              "1234567890123456789",
                                              "18446744073709551615",
                                              "12345678901234567890123456",
                                              "123x",
                                              "7 ",
                                              "[64,1,1]",
                                              "[64, 1,18446744073709551616]",
                                              "[0,12345678,3,4]",
                                              "[1,2]" };
        size_t n_members = fixed_random_next(state) % 4 ? fixed_random_next(state) % 5 : 20;
        /* Mostly alike, as the rows of a file are. */
        size_t style = fixed_random_next(state) % 8 ? 0 : fixed_random_next(state) % 6;

        byte_buffer_clear(b);
        for (size_t i = 0; i < n_members; i++) {
                bool is_same = fixed_random_next(state) % 8 != 0;
                const char *key = place_keys[is_same ? i % 3 : fixed_random_next(state) % (N_PLACES - 1)];

                byte_buffer_add_format(
                        b, "%s\"%s\"%s%s",
                        i == 0       ? ""
                        : style == 0 ? ","
                                     : before[style],
                        fixed_random_next(state) % 16 ? key : "other",
                        colons[style == 0 ? 0 : fixed_random_next(state) % 5],
                        values[fixed_random_next(state) % (sizeof(values) / sizeof(values[0]))]);
        }
        byte_buffer_add_format(b, "%s", fixed_random_next(state) % 16 ? "}" : ",}");
}

/* One key is of a number, one of an array of three, and one of no use. */
static uint16_t find_number(const void *context, struct text_view key)
{
        static const uint16_t places[N_PLACES] = { JSON_PLACE_NUMBERS(0, 1), JSON_PLACE_NUMBERS(1, 3),
                                                   JSON_PLACE_OWN, JSON_PLACE_OWN + 1, JSON_PLACE_NONE };

        return places[find_place(context, key) / sizeof(struct json_value)];
}

/* As far as they are numbers; those that are none stay. */
static void take_numbers(struct json_value value, uint16_t place, uint64_t *to)
{
        struct json_pull inside = json_pull_inside(value);

        if (JSON_PLACE_N(place) == 1)
                (void)json_pull_unsigned(value.text, &to[JSON_PLACE_AT(place)]);
        for (unsigned i = 0; JSON_PLACE_N(place) > 1 && i < JSON_PLACE_N(place); i++)
                if (json_pull_next(&inside, &value) != 1 ||
                    !json_pull_unsigned(value.text, &to[JSON_PLACE_AT(place) + i]))
                        break;
}

/* The next member that is the reader's own, with the numbers before it.  Returns as json_numbers_next(). */
static int next_own(struct json_numbers *n, uint16_t *place, struct json_value *value)
{
        int r;

        while ((r = json_numbers_next(n, place, value)) == 1 && *place < JSON_PLACE_OWN)
                take_numbers(*value, *place, n->numbers);
        return r;
}

/* The same, member by member. */
static int next_own_member(struct json_pull *p, uint64_t *to, uint16_t *place, struct json_value *value)
{
        struct text_view key;
        int r;

        while ((r = json_pull_member(p, &key, value)) == 1) {
                *place = find_number(NULL, key);
                if (*place < JSON_PLACE_OWN)
                        take_numbers(*value, *place, to);
                else if (*place != JSON_PLACE_NONE)
                        break;
        }
        return r;
}

/* Numbers at their places are what the members one by one say, however they are written. */
static void check_numbers(struct json_pull p, struct json_shape *shape)
{
        uint64_t got[4] = { 0 }, expected[4] = { 0 };
        struct json_numbers n = {
                .pull = p, .shape = shape, .find_place = find_number, .numbers = got, .n_wanted = SIZE_MAX
        };
        uint16_t place = 0, expected_place = 0;
        struct json_value value, expected_value;
        int r;

        do {
                r = next_own(&n, &place, &value);
                ck_assert_int_eq(r, next_own_member(&p, expected, &expected_place, &expected_value));
                if (r != 1)
                        break;
                ck_assert_uint_eq(place, expected_place);
                ck_assert_int_eq(value.kind, expected_value.kind);
                ck_assert(text_view_equal(value.text, expected_value.text));
        } while (true);
        for (size_t i = 0; r == 0 && i < 4; i++)
                ck_assert_uint_eq(got[i], expected[i]);
}

/* A shape never changes what is read, whatever was read before. */
START_LOOP_TEST(test_open_objects, 0, 64)
{
        uint64_t state = (uint64_t)_i + 1;
        struct json_shape shape = { .places_bytes = N_PLACES * sizeof(struct json_value) };
        struct json_shape shape_of_members = { .n = 0 };
        struct byte_buffer b = { .data = NULL };

        for (int i = 0; i < 200; i++) {
                struct json_value got[N_PLACES] = { { .kind = 0 } }, expected[N_PLACES] = { { .kind = 0 } };
                struct json_value value;
                struct json_pull open, whole;
                struct text_view key;
                size_t n_cut = 0;
                char *text;
                int r, n;

                write_object(&b, &state);
                if (fixed_random_next(&state) % 8 == 0)
                        n_cut = fixed_random_next(&state) % b.used_bytes;
                b.used_bytes -= n_cut;
                text = malloc(b.used_bytes); /* a block of its own, so that a sanitizer sees its end */
                ck_assert_ptr_nonnull(text);
                memcpy(text, b.data, b.used_bytes);
                open = whole = json_pull_text((struct text_view){ text, b.used_bytes });
                r = json_pull_open_object(&open, &shape, find_place, got);
                whole.end -= n_cut == 0; /* before its bracket */
                check_numbers(whole, &shape_of_members);
                while ((n = json_pull_member(&whole, &key, &value)) == 1)
                        memcpy((char *)expected + find_place(NULL, key), &value, sizeof(value));
                ck_assert_int_eq(r, n_cut == 0 ? n : -EBADMSG);
                if (r == 0)
                        ck_assert_ptr_eq(open.at, text + b.used_bytes);
                for (size_t at = 0; r == 0 && at < N_PLACES; at++) {
                        ck_assert_int_eq(got[at].kind, expected[at].kind);
                        ck_assert(text_view_equal(got[at].text, expected[at].text));
                }
                free(text);
        }
        byte_buffer_deinit(&b);
}
END_TEST

/* Where all numbers are there that are wanted, nothing more is read, and so nothing is found wrong. */
START_TEST(test_ends_with_the_last_number)
{
        struct json_pull p = json_pull_text(view("\"a\":12345678901,\"other\":1,\"a\":5,no JSON        "));
        struct json_shape shape = { .n = 0 };
        uint64_t got[4] = { 0 };
        struct json_numbers n = {
                .pull = p, .shape = &shape, .find_place = find_number, .numbers = got, .n_wanted = 1
        };
        struct json_value value;
        uint16_t place;

        ck_assert_int_eq(json_numbers_next(&n, &place, &value), 0);
        ck_assert_uint_eq(got[0], UINT64_C(12345678901));
        n.n_wanted = 2;
        ck_assert_int_eq(json_numbers_next(&n, &place, &value), -EBADMSG);
        ck_assert_uint_eq(got[0], 5);
}
END_TEST

/* However a value is cut into two pieces, it ends at the same place. */
START_TEST(test_scans_in_pieces)
{
        static const char text[] = "{\"a\\\\\":[\"\\\"]}\",{}],\"b\":\"\\u0022\"} tail";
        size_t n_bytes = strlen(text), length = n_bytes - 5;

        for (size_t cut = 1; cut < n_bytes; cut++) {
                struct json_scan scan = { .depth = 0 };
                const char *end = json_scan_piece(&scan, text, text + cut);

                if (!end)
                        end = json_scan_piece(&scan, text + cut, text + n_bytes);
                ck_assert_ptr_eq(end, text + length);
        }
}
END_TEST
