/* SPDX-License-Identifier: MIT */
/* import/rows/import_texts.c: texts come back as they were, from the file and from memory, in any order. */
#include "unit_test.h"

#include "base/error.h"
#include "import/rows/import_texts.h"

#include "fixed_random.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_TEXTS 60000

/* 0 = as they came, 1 = backwards, 2 = at random */
static uint32_t turn_of(int order, uint32_t i, uint64_t *state)
{
        return order == 0 ? i : order == 1 ? N_TEXTS - 1 - i : (uint32_t)(fixed_random_next(state) % N_TEXTS);
}

/* All lengths up to 200 bytes, a few of some windows, one beyond what is written at once. */
static size_t length_of(uint32_t i)
{
        return i == 777 ? 3000001 : i % 5000 == 0 ? 16384 * (1 + i / 5000) - 10 + i % 7 : 1 + i % 200;
}

static struct text_view text_of(uint32_t i, char *room)
{
        size_t n = length_of(i);

        memset(room, 'a' + (int)(i % 26), n);
        (void)snprintf(room, 12, "%u", i);
        return (struct text_view){ room, n };
}

START_LOOP_TEST(texts_come_back, 0, 3)
{
        static uint32_t ids[N_TEXTS];
        struct import_texts *t = NULL;
        char *room = malloc(4000000);
        uint64_t state = 7;

        ck_assert_ptr_nonnull(room);
        ck_assert_int_eq(import_texts_new(&t, -1, NULL), 0);
        for (uint32_t i = 0; i < N_TEXTS; i++) {
                ck_assert_int_eq(import_texts_add(t, text_of(i, room), &ids[i], NULL), 0);
                ck_assert(import_texts_has(ids[i]));
        }
        for (uint32_t i = 0; i < N_TEXTS; i++) {
                uint32_t turn = turn_of(_i, i, &state);
                struct text_view wanted = text_of(turn, room), text;

                ck_assert_int_eq(import_texts_get(t, ids[turn], &text, NULL), 0);
                ck_assert(text_view_equal(text, wanted));
        }
        import_texts_free(t);
        free(room);
}
END_TEST

START_TEST(a_repeated_text_is_kept_once)
{
        struct import_texts *t = NULL;
        struct text_view one = { "{\"a\": 1}", 8 }, other = { "{\"a\": 2}", 8 };
        uint32_t first, second, third;

        ck_assert_int_eq(import_texts_new(&t, -1, NULL), 0);
        ck_assert_int_eq(import_texts_add(t, one, &first, NULL), 0);
        ck_assert_int_eq(import_texts_add(t, other, &second, NULL), 0);
        ck_assert_int_eq(import_texts_add(t, one, &third, NULL), 0);
        ck_assert_uint_eq(first, third);
        ck_assert_uint_ne(first, second);
        import_texts_free(t);
}
END_TEST

START_TEST(no_folder_is_an_error)
{
        struct import_texts *t = NULL;
        struct error err = ERROR_NONE;
        char *room = calloc(1, 2000000);
        uint32_t id;

        ck_assert_ptr_nonnull(room);
        ck_assert_int_eq(setenv("TMPDIR", "/nonexistent", 1), 0);
        ck_assert_int_eq(import_texts_new(&t, -1, NULL), 0);
        ck_assert_int_eq(import_texts_add(t, (struct text_view){ room, 2000000 }, &id, &err), -ENOENT);
        ck_assert_int_eq(err.code, -ENOENT);
        import_texts_free(t);
        free(room);
}
END_TEST
