/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_common.c: what slow instances have in common is found, of each kind and at each threshold;
 * where it is drawn at random none is
 */
#include "analyze/trace/zone_words.h"
#include "analyze/why/why_common.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>
#include <string.h>

#define START_NS  UINT64_C(70000000)
#define END_NS    UINT64_C(1000000) /* after the start */
#define N_SLOW    20
#define N_TYPICAL 1980

static struct why_common common;

static void begin(void)
{
        common = (struct why_common){ .counts = NULL };
        why_common_init(&common, START_NS, START_NS + END_NS);
}

static struct why_common_instance usual_at(uint32_t i)
{
        return (struct why_common_instance){ .begin_ns = i * UINT64_C(618033) % END_NS,
                                             .thread = 1 + i % 4,
                                             .process = 1,
                                             .parent = 1,
                                             .cpu = i % 2 };
}

static void add(enum why_group group, const struct why_common_instance *instance)
{
        struct why_common_instance later = *instance;

        later.begin_ns += START_NS;
        ck_assert_int_eq(why_common_add(&common, group, &later), 0);
}

static void add_words(enum why_group group, uint32_t i, const char *text, int64_t value)
{
        struct zone_words words = { .value = value, .has_value = true };
        struct why_common_instance instance = usual_at(i);

        byte_buffer_add(&words.text, text, strlen(text));
        instance.words = &words;
        add(group, &instance);
        zone_words_deinit(&words);
}

/* Slow ones, of which @n_with have what is planted, and others, of which so many have it too. */
static void plant(enum why_common_kind kind, uint32_t n_slow, uint32_t n_slow_with, uint32_t n_typical_with)
{
        begin();
        for (uint32_t i = 0; i < n_slow + N_TYPICAL; i++) {
                enum why_group group = i < n_slow ? WHY_SLOW : WHY_TYPICAL;
                struct why_common_instance instance = usual_at(i);
                bool has = group == WHY_SLOW ? i < n_slow_with : i - n_slow < n_typical_with;

                if (kind == WHY_COMMON_THREAD)
                        instance.thread = has ? 9 : instance.thread;
                else if (kind == WHY_COMMON_PROCESS)
                        instance.process = has ? 9 : 1;
                else if (kind == WHY_COMMON_PARENT)
                        instance.parent = has ? 9 : 1;
                else if (kind == WHY_COMMON_CPU)
                        instance.cpu = has ? 9 : 1;
                else if (kind == WHY_COMMON_FIRST)
                        instance.begin_ns = has ? i * 7 % N_SLOW : END_NS / 2 + i;
                else if (kind == WHY_COMMON_LAST)
                        instance.begin_ns = has ? END_NS - 10 - i * 7 % N_SLOW : END_NS / 2 - i;
                add(group, &instance);
        }
        why_common_find(&common);
}

static const struct {
        enum why_common_kind kind;
        uint32_t n_slow, n_typical;
        bool is_found;
        uint32_t n_all; /* slow ones; 0 = N_SLOW */
} planted[] = {
        { WHY_COMMON_THREAD, 20, 500, true, 0 },
        { WHY_COMMON_THREAD, 20, 990, true, 0 },
        { WHY_COMMON_THREAD, 20, 1000, false, 0 },
        { WHY_COMMON_THREAD, 18, 20, true, 0 },
        { WHY_COMMON_THREAD, 10, 100, true, 0 },
        { WHY_COMMON_THREAD, 10, 210, false, 0 },
        { WHY_COMMON_THREAD, 9, 20, false, 0 },
        { WHY_COMMON_PROCESS, 20, 100, true, 0 },
        { WHY_COMMON_PARENT, 20, 100, true, 0 },
        { WHY_COMMON_CPU, 20, 490, true, 0 },
        { WHY_COMMON_CPU, 20, 500, false, 0 },
        { WHY_COMMON_CPU, 18, 100, false, 0 },
        { WHY_COMMON_FIRST, 20, 490, true, 0 },
        { WHY_COMMON_FIRST, 20, 500, false, 0 },
        { WHY_COMMON_LAST, 20, 100, true, 0 },
        { WHY_COMMON_LAST, 18, 0, false, 0 },
        /* Chance is no bound for many slow ones; for few it is, for each that is looked at. */
        { WHY_COMMON_THREAD, 30, 190, true, 60 },
        { WHY_COMMON_THREAD, 30, 210, false, 60 },
        { WHY_COMMON_THREAD, 54, 900, true, 60 },
        { WHY_COMMON_THREAD, 53, 900, false, 60 },
        { WHY_COMMON_THREAD, 4, 100, false, 8 },
};

START_LOOP_TEST(test_what_is_planted, 0, sizeof(planted) / sizeof(planted[0]))
{
        plant(planted[_i].kind, planted[_i].n_all != 0 ? planted[_i].n_all : N_SLOW, planted[_i].n_slow,
              planted[_i].n_typical);
        ck_assert_uint_eq(common.n_rows, planted[_i].is_found);
        if (planted[_i].is_found) {
                const struct why_common_row *row = &common.rows[0];

                ck_assert_int_eq(row->kind, planted[_i].kind);
                ck_assert_uint_eq(row->n_slow, planted[_i].n_slow);
                ck_assert_uint_eq(row->n_typical, planted[_i].n_typical);
                if (row->kind < WHY_COMMON_FIRST)
                        ck_assert_uint_eq(row->id, 9);
                else
                        ck_assert_int_eq(row->value, row->kind == WHY_COMMON_FIRST ? N_SLOW - 1 : N_SLOW + 9);
        }
        why_common_deinit(&common);
}
END_TEST

/* A text and sizes that go with it: the slow ones have sizes that no other one has, and none twice. */
START_TEST(test_texts_and_values)
{
        begin();
        for (uint32_t i = 0; i < N_SLOW; i++)
                add_words(WHY_SLOW, i, "big", 5000 + i);
        for (uint32_t i = 0; i < N_TYPICAL; i++)
                add_words(WHY_TYPICAL, i, i < 18 ? "big" : "small", 100 + i % 900);
        why_common_find(&common);
        ck_assert_uint_eq(common.n_rows, 2);
        ck_assert_int_eq(common.rows[0].kind, WHY_COMMON_VALUE_FROM);
        ck_assert_int_eq(common.rows[0].value, 4096);
        ck_assert_int_eq(common.rows[1].kind, WHY_COMMON_TEXT);
        ck_assert_uint_eq(common.rows[1].label.n_bytes, 3);
        ck_assert_int_eq(memcmp(common.rows[1].label.bytes, "big", 3), 0);
        ck_assert_uint_eq(common.rows[1].n_typical, 18);
        why_common_deinit(&common);
}
END_TEST

/* A thread and its process are one thing; values that are there once are not counted as looked at. */
START_TEST(test_what_counts_once)
{
        begin();
        for (uint32_t i = 0; i < N_SLOW + N_TYPICAL; i++) {
                bool has = i < N_SLOW ? i < 10 : i < N_SLOW + 150;
                struct zone_words words = { .value = -(int64_t)i, .has_value = true };
                struct why_common_instance instance = usual_at(i);

                instance.words = &words;
                instance.thread = has ? 9 : instance.thread;
                instance.process = has ? 9 : 1;
                add(i < N_SLOW ? WHY_SLOW : WHY_TYPICAL, &instance);
        }
        why_common_find(&common);
        ck_assert_uint_eq(common.n_rows, 1);
        ck_assert_int_eq(common.rows[0].kind, WHY_COMMON_THREAD);
        why_common_deinit(&common);
}
END_TEST

/* Texts that are the same as far as they are kept are two all the same. */
START_TEST(test_long_texts)
{
        char text[WHY_COMMON_TEXT_MAX + 20];

        memset(text, 'x', sizeof(text));
        text[sizeof(text) - 1] = '\0';
        begin();
        for (uint32_t i = 0; i < N_SLOW + N_TYPICAL; i++) {
                text[sizeof(text) - 2] = i < N_SLOW ? 'y' : 'x';
                add_words(i < N_SLOW ? WHY_SLOW : WHY_TYPICAL, i, text, 0);
        }
        why_common_find(&common);
        ck_assert_uint_eq(common.n_rows, 1);
        ck_assert(common.rows[0].is_cut);
        ck_assert_uint_eq(common.rows[0].label.n_bytes, WHY_COMMON_TEXT_MAX);
        why_common_deinit(&common);
}
END_TEST

START_TEST(test_too_few_and_too_many)
{
        struct why_common_instance instance = usual_at(0);

        begin();
        for (uint32_t i = 0; i < N_TYPICAL; i++)
                add(WHY_TYPICAL, &instance);
        instance.thread = 9;
        for (uint32_t i = 0; i < 7; i++)
                add(WHY_SLOW, &instance);
        why_common_find(&common);
        ck_assert_uint_eq(common.n_rows, 0);
        add(WHY_SLOW, &instance);
        why_common_find(&common);
        ck_assert_uint_eq(common.n_rows, 1);
        for (uint32_t i = 0; i < WHY_COMMON_KEYS_MAX; i++) {
                instance.thread = i;
                add(WHY_TYPICAL, &instance);
        }
        ck_assert_uint_gt(common.n_left_out, 0);
        ck_assert_uint_eq(common.keys.n_items, WHY_COMMON_KEYS_MAX);
        why_common_deinit(&common);
}
END_TEST

/* Drawn at random, 500 times: nothing is named. */
START_TEST(test_nothing_in_common)
{
        uint64_t random = 4711;

        for (uint32_t run = 0; run < 500; run++) {
                begin();
                for (uint32_t i = 0; i < 500; i++) {
                        enum why_group group = i < 10 ? WHY_SLOW : WHY_TYPICAL;
                        uint64_t x = fixed_random_next(&random);
                        char text[8];

                        (void)snprintf(text, sizeof(text), "%u", (unsigned int)(x >> 40 & 63));
                        add_words(group, (uint32_t)(x >> 20), text, (int64_t)(x >> 50 & 255));
                }
                why_common_find(&common);
                ck_assert_uint_eq(common.n_rows, 0);
                why_common_deinit(&common);
        }
}
END_TEST
