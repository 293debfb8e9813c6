/* SPDX-License-Identifier: MIT */
/* base/intern.c: equal items get one id, others get their own, and ids count from 1 in order of arrival */
#include "base/intern.h"

#include "base/array.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_MANY 50000

struct pair {
        uint64_t a;
        uint32_t b, c;
};

static uint32_t add(struct intern *t, const void *bytes, size_t n_bytes, int wanted)
{
        uint32_t id = 0;

        ck_assert_int_eq(intern_add(t, bytes, n_bytes, &id), wanted);
        return id;
}

static void expect_string(const struct intern *t, uint32_t id, const char *wanted, size_t wanted_bytes)
{
        size_t n_bytes = SIZE_MAX;
        const void *bytes = intern_get(t, id, &n_bytes);

        ck_assert_uint_eq(n_bytes, wanted_bytes);
        ck_assert_ptr_nonnull(bytes);
        ck_assert_int_eq(memcmp(bytes, wanted, wanted_bytes), 0);
}

/* An item that was added without a comparison is found like any other, whatever lies in its place. */
START_TEST(test_new)
{
        struct intern t;
        uint32_t id;

        intern_init(&t, sizeof(uint64_t), 0);
        for (uint64_t i = 1; i <= N_MANY; i++) {
                int r = i % 3 == 0 ? intern_add(&t, &i, sizeof(i), &id)
                                   : intern_add_new(&t, &i, sizeof(i), &id);

                ck_assert_int_eq(r, 1);
                ck_assert_uint_eq(id, i);
        }
        for (uint64_t i = 1; i <= N_MANY; i++) {
                ck_assert_uint_eq(intern_find(&t, &i, sizeof(i)), i);
                ck_assert_uint_eq(add(&t, &i, sizeof(i), 0), i);
        }
        ck_assert_uint_eq(t.n_items, N_MANY);
        intern_deinit(&t);
}
END_TEST

START_TEST(test_strings)
{
        struct intern t;

        intern_init(&t, 0, 0);
        ck_assert_uint_eq(intern_find(&t, "a", 1), 0);
        ck_assert_uint_eq(add(&t, "a", 1, 1), 1);
        ck_assert_uint_eq(add(&t, "ab", 2, 1), 2);
        ck_assert_uint_eq(add(&t, "b", 1, 1), 3);
        ck_assert_uint_eq(add(&t, "a\0c", 3, 1), 4);
        ck_assert_uint_eq(add(&t, "", 0, 1), 5);
        ck_assert_uint_eq(add(&t, "a", 1, 0), 1);
        ck_assert_uint_eq(add(&t, "a\0c", 3, 0), 4);
        ck_assert_uint_eq(add(&t, "", 0, 0), 5);
        ck_assert_uint_eq(t.n_items, 5);
        expect_string(&t, 1, "a", 1);
        expect_string(&t, 2, "ab", 2);
        expect_string(&t, 4, "a\0c", 3);
        expect_string(&t, 5, "", 0);
        ck_assert_uint_eq(intern_find(&t, "ab", 2), 2);
        ck_assert_uint_eq(intern_find(&t, "abc", 3), 0);
        intern_deinit(&t);
}
END_TEST

START_TEST(test_the_empty_string_alone)
{
        struct intern t;

        intern_init(&t, 0, 0);
        ck_assert_uint_eq(add(&t, NULL, 0, 1), 1);
        ck_assert_uint_eq(add(&t, "", 0, 0), 1);
        expect_string(&t, 1, "", 0);
        intern_deinit(&t);
}
END_TEST

START_TEST(test_many_strings)
{
        struct intern t;
        char text[32];

        intern_init(&t, 0, 0);
        for (uint32_t round = 0; round < 2; round++)
                for (uint32_t i = 1; i <= N_MANY; i++) {
                        size_t n = (size_t)snprintf(text, sizeof(text), "name %u", i);

                        ck_assert_uint_eq(add(&t, text, n, round == 0), i);
                }
        for (uint32_t i = 1; i <= N_MANY; i++) {
                size_t n = (size_t)snprintf(text, sizeof(text), "name %u", i);

                expect_string(&t, i, text, n);
        }
        intern_deinit(&t);
}
END_TEST

START_TEST(test_many_rows)
{
        struct intern t;

        intern_init(&t, sizeof(struct pair), 0);
        for (uint32_t round = 0; round < 2; round++)
                for (uint32_t i = 1; i <= N_MANY; i++) {
                        struct pair row = { .a = i % 7, .b = i / 7, .c = 3 };

                        ck_assert_uint_eq(add(&t, &row, sizeof(row), round == 0), i);
                }
        for (uint32_t i = 1; i <= N_MANY; i++) {
                size_t n_bytes = 0;
                const struct pair *row = intern_get(&t, i, &n_bytes);

                ck_assert_uint_eq(n_bytes, sizeof(*row));
                ck_assert_uint_eq((uintptr_t)row % 8, 0);
                ck_assert(row->a == i % 7 && row->b == i / 7 && row->c == 3);
                ck_assert_ptr_eq(intern_get(&t, i, NULL), row);
        }
        intern_deinit(&t);
}
END_TEST

/* Rows that were added without a search are found equal by the next search. */
START_TEST(test_append_then_add)
{
        struct intern t;

        intern_init(&t, 0, 0);
        ck_assert_int_eq(intern_append(&t, "x", 1), 0);
        ck_assert_int_eq(intern_append(&t, "y", 1), 0);
        ck_assert_int_eq(intern_append(&t, "x", 1), 0);
        ck_assert_uint_eq(t.n_items, 3);
        ck_assert_uint_eq(intern_find(&t, "x", 1), 0);
        ck_assert_uint_eq(add(&t, "z", 1, 1), 4);
        ck_assert_uint_eq(add(&t, "y", 1, 0), 2);
        ck_assert_uint_eq(intern_find(&t, "y", 1), 2);
        expect_string(&t, add(&t, "x", 1, 0), "x", 1);
        for (uint32_t i = 0; i < 1000; i++)
                ck_assert_int_eq(intern_append(&t, &i, sizeof(i)), 0);
        for (uint32_t i = 0; i < 1000; i++)
                ck_assert_uint_eq(add(&t, &i, sizeof(i), 0), 5 + i);
        ck_assert_uint_eq(t.n_items, 1004);
        intern_deinit(&t);
}
END_TEST

/* Strings that are taken away are not found, and all others are, whether they were hashed before or not. */
START_LOOP_TEST(test_emptied_strings, 0, 2)
{
        const uint32_t n = 1000;
        struct intern t;
        char text[32];

        intern_init(&t, 0, 0);
        for (uint32_t i = 1; i <= n; i++) {
                int n_bytes = snprintf(text, sizeof(text), "text %u", i);

                if (i < n / 4 || _i == 1)
                        ck_assert_uint_eq(add(&t, text, (size_t)n_bytes, 1), i);
                else
                        ck_assert_int_eq(intern_append(&t, text, (size_t)n_bytes), 0);
        }
        intern_empty(&t, n / 4, n / 2);
        intern_empty(&t, 1, 0);
        for (uint32_t i = 1; i <= n; i++) {
                int n_bytes = snprintf(text, sizeof(text), "text %u", i);
                bool is_gone = i >= n / 4 && i < n / 4 + n / 2;

                expect_string(&t, i, text, is_gone ? 0 : (size_t)n_bytes);
                if (is_gone)
                        ck_assert_uint_eq(intern_find(&t, text, (size_t)n_bytes), 0);
                else
                        ck_assert_uint_eq(add(&t, text, (size_t)n_bytes, 0), i);
        }
        ck_assert_uint_eq(add(&t, "text 400", 8, 1), n + 1);
        ck_assert_uint_eq(intern_find(&t, "text 400", 8), n + 1);
        intern_deinit(&t);
}
END_TEST

START_TEST(test_limit)
{
        struct intern t;
        uint32_t id = 77;

        intern_init(&t, sizeof(uint64_t), 3);
        for (uint64_t i = 1; i <= 3; i++)
                ck_assert_uint_eq(add(&t, &i, sizeof(i), 1), i);
        ck_assert_int_eq(intern_add(&t, &(uint64_t){ 4 }, sizeof(uint64_t), &id), -EOVERFLOW);
        ck_assert_int_eq(intern_append(&t, &(uint64_t){ 4 }, sizeof(uint64_t)), -EOVERFLOW);
        ck_assert_uint_eq(id, 77);
        ck_assert_uint_eq(t.n_items, 3);
        ck_assert_uint_eq(add(&t, &(uint64_t){ 2 }, sizeof(uint64_t), 0), 2);

        intern_deinit(&t);
        ck_assert_uint_eq(t.n_items, 0);
        ck_assert_uint_eq(t.n_items_max, 3);
        ck_assert_uint_eq(add(&t, &(uint64_t){ 4 }, sizeof(uint64_t), 1), 1);
        intern_deinit(&t);
}
END_TEST

/* A key that comes again has its row; a new row is zero, whatever the memory had. */
START_TEST(test_rows)
{
        struct intern t;
        uint64_t *rows = NULL;
        size_t capacity = 0;
        uint32_t id = 0;

        intern_init(&t, sizeof(uint32_t), 0);
        ck_assert_int_eq(array_reserve(&rows, &capacity, 100, sizeof(*rows)), 0);
        memset(rows, 0xff, 100 * sizeof(*rows));
        for (uint32_t i = 0; i < 300; i++) {
                uint32_t key = i % 150;

                ck_assert_int_eq(intern_add_row(&t, &key, &rows, &capacity, sizeof(*rows), &id), i < 150);
                ck_assert_uint_eq(id, key + 1);
                ck_assert_uint_eq(rows[id - 1], i < 150 ? 0 : key);
                rows[id - 1] = key;
        }
        free(rows);
        intern_deinit(&t);
}
END_TEST
