/* SPDX-License-Identifier: MIT */
/*
 * analyze/zones/zone_groups.c: equal texts are one group, others are not, whatever their length; beyond the
 * bound zones are counted
 */
#include "analyze/trace/zone_words.h"
#include "analyze/walk/zone_stats.h"
#include "analyze/zones/zone_groups.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>
#include <string.h>

static struct zone_groups g;

static void teardown(void)
{
        zone_groups_deinit(&g);
}

static void say(struct zone_words *words, const char *text, size_t n_bytes)
{
        struct trace_event event = { .op = TRACE_OP_ZONE_TEXT, .text = text };

        event.zone_text.text_bytes = n_bytes;
        zone_words_clear(words);
        ck_assert_int_eq(zone_words_add(words, &event), 0);
}

/* A zone of @duration_ns with this text; NULL = without. */
static void add(const char *text, size_t n_bytes, uint64_t duration_ns)
{
        struct zone_instance zone = { .begin_ns = 1000, .end_ns = 1000 + duration_ns, .closed = true };
        struct zone_words words = { .any = false };

        if (text)
                say(&words, text, n_bytes);
        ck_assert_int_eq(zone_groups_add(&g, 1, &zone, text ? &words : NULL, 0), 0);
        zone_words_deinit(&words);
}

START_TEST(test_sums_of_a_group)
{
        uint64_t p50_ns = 0;

        zone_groups_init(&g, ZONE_GROUP_TEXT, NULL);
        for (uint64_t i = 1; i <= 100; i++) {
                add("a", 1, i * 1000);
                add("b", 1, 7);
        }
        add(NULL, 0, 5);
        ck_assert_uint_eq(zone_groups_count(&g), 3);
        ck_assert_uint_eq(g.groups[0].n_closed, 100);
        ck_assert_uint_eq(g.groups[0].total_ns, 5050000);
        ck_assert_uint_eq(g.groups[0].max_ns, 100000);
        ck_assert(zone_groups_quantile(&g, &g.groups[0], 0.5, &p50_ns));
        ck_assert_uint_ge(p50_ns, 49500);
        ck_assert_uint_le(p50_ns, 50500);
        ck_assert_uint_eq(g.groups[1].sum_ns, 700);
        /* A single zone is its own median. */
        ck_assert(zone_groups_quantile(&g, &g.groups[2], 0.5, &p50_ns));
        ck_assert_uint_eq(p50_ns, 5);
        ck_assert(!zone_groups_label(&g, 2).is_known);
        ck_assert_uint_eq(zone_groups_label(&g, 1).label.n_bytes, 1);
        ck_assert_int_eq(zone_groups_label(&g, 1).label.bytes[0], 'b');
}
END_TEST

START_TEST(test_unclosed_and_inside)
{
        struct zone_instance zone = { .begin_ns = 10, .end_ns = 30 };
        uint64_t ns;

        zone_groups_init(&g, ZONE_GROUP_THREAD, NULL);
        ck_assert_int_eq(zone_groups_add(&g, 3, &zone, NULL, 0), 0);
        zone.closed = zone.is_inside = true;
        ck_assert_int_eq(zone_groups_add(&g, 4, &zone, NULL, 0), 0);
        ck_assert_uint_eq(g.groups[0].n_unclosed, 1);
        ck_assert_uint_eq(g.groups[0].n_closed, 0);
        ck_assert_uint_eq(g.groups[0].total_ns, 20);
        ck_assert(!zone_groups_quantile(&g, &g.groups[0], 0.5, &ns));
        ck_assert_uint_eq(g.groups[1].n_closed, 1);
        ck_assert_uint_eq(g.groups[1].total_ns, 0); /* it is in the zone around it */
        ck_assert_uint_eq(g.groups[1].sum_ns, 20);
        ck_assert_uint_eq(zone_groups_label(&g, 0).id, 3);
        ck_assert_uint_eq(zone_groups_label(&g, 1).id, 4);
}
END_TEST

START_TEST(test_long_texts_are_told_apart)
{
        static char text[1000];

        memset(text, 'x', sizeof(text));
        zone_groups_init(&g, ZONE_GROUP_TEXT, NULL);
        add(text, sizeof(text), 1);
        text[999] = 'y'; /* after what is kept */
        add(text, sizeof(text), 1);
        add(text, sizeof(text), 1);
        add(text, ZONE_GROUPS_LABEL_MAX, 1);
        ck_assert_uint_eq(zone_groups_count(&g), 3);
        ck_assert_uint_eq(g.groups[1].n_closed, 2);
        ck_assert(zone_groups_label(&g, 0).is_cut && zone_groups_label(&g, 1).is_cut);
        ck_assert(!zone_groups_label(&g, 2).is_cut);
        for (uint32_t i = 0; i < 3; i++)
                ck_assert_uint_eq(zone_groups_label(&g, i).label.n_bytes, ZONE_GROUPS_LABEL_MAX);
}
END_TEST

START_TEST(test_values)
{
        struct trace_event event = { .op = TRACE_OP_ZONE_VALUE };
        struct zone_instance zone = { .begin_ns = 10, .end_ns = 30, .closed = true };
        struct zone_words words = { .any = false };

        zone_groups_init(&g, ZONE_GROUP_VALUE, NULL);
        event.zone_value.value = -42;
        ck_assert_int_eq(zone_words_add(&words, &event), 0);
        ck_assert_int_eq(zone_groups_add(&g, 1, &zone, &words, 0), 0);
        ck_assert_int_eq(zone_groups_add(&g, 1, &zone, NULL, 0), 0);
        ck_assert_uint_eq(zone_groups_count(&g), 2);
        ck_assert_uint_eq(zone_groups_label(&g, 0).label.n_bytes, 3);
        ck_assert_int_eq(memcmp(zone_groups_label(&g, 0).label.bytes, "-42", 3), 0);
        ck_assert(!zone_groups_label(&g, 1).is_known);
        zone_words_deinit(&words);
}
END_TEST

/* A program may give every zone a text of its own. */
START_TEST(test_bounds)
{
        const uint64_t n_beyond = 1000;
        char text[32];
        uint64_t ns;

        zone_groups_init(&g, ZONE_GROUP_TEXT, NULL);
        for (int round = 0; round < 2; round++)
                for (uint64_t i = 0; i < ZONE_GROUPS_MAX + n_beyond; i++) {
                        (void)snprintf(text, sizeof(text), "request %llu", (unsigned long long)i);
                        add(text, strlen(text), 3);
                }
        ck_assert_uint_eq(zone_groups_count(&g), ZONE_GROUPS_MAX);
        ck_assert_uint_eq(g.others.n_closed, 2 * n_beyond);
        ck_assert_uint_eq(g.others.total_ns, 2 * n_beyond * 3);
        ck_assert(zone_groups_quantile(&g, &g.others, 0.5, &ns));
        ck_assert_uint_eq(ns, 3);
        for (uint32_t i = 0; i < ZONE_GROUPS_MAX; i++)
                ck_assert_uint_eq(g.groups[i].n_closed, 2);
        /* Percentiles are for some of them, the rest is for all. */
        ck_assert_uint_eq(g.n_histograms, ZONE_GROUPS_HISTOGRAMS_MAX);
        ck_assert(zone_groups_quantile(&g, &g.groups[0], 0.5, &ns));
        ck_assert(!zone_groups_quantile(&g, &g.groups[ZONE_GROUPS_MAX - 1], 0.5, &ns));
}
END_TEST

UNIT_TEST_PLAN(.teardown = teardown);
