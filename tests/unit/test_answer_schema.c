/* SPDX-License-Identifier: MIT */
/*
 * view/document/answer_schema.c: a table with a key twice, or words that Markdown would not show, is refused
 */
#include "view/document/answer_schema.h"

#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const struct view_column good[] = {
        { .key = "n", .type = VIEW_COUNT },
        { .title = "for people", .type = VIEW_STRING },
        { .key = "name", .type = VIEW_STRING, .words = "its name" },
};
static const struct view_column twice[] = {
        { .key = "n", .type = VIEW_COUNT },
        { .key = "n", .type = VIEW_DURATION },
};
static const struct view_column cells[] = { { .key = "n", .type = VIEW_COUNT, .words = "a|b" } };
static const struct view_column tag[] = { { .key = "n", .type = VIEW_COUNT, .words = "of <x>" } };
static const struct view_column lines[] = { { .key = "n", .type = VIEW_COUNT, .words = "a\nb" } };

static const struct {
        struct answer_part part;
        int wanted;
} cases[] = {
        { ANSWER_TABLE("rows", good, NULL), 0 },
        { ANSWER_TABLE("rows", twice, NULL), -ENOMEM },
        { ANSWER_FACTS(twice), 0 }, /* one fact, said in two ways */
        { ANSWER_TABLE("rows", cells, NULL), -ENOMEM },
        { ANSWER_TABLE("rows", tag, NULL), -ENOMEM },
        { ANSWER_FACTS(lines), -ENOMEM },
};

START_LOOP_TEST(test_refused, 0, (int)(sizeof(cases) / sizeof(cases[0])))
{
        const struct answer_part *const parts[] = { &cases[_i].part, NULL };
        const struct answer_schema schema = { .name = "hyprof.test/1", .command = "test", .parts = parts };
        size_t n_bytes;
        char *text;
        FILE *out = open_memstream(&text, &n_bytes);

        ck_assert_ptr_nonnull(out);
        ck_assert_int_eq(answer_schema_print_json(&schema, out), cases[_i].wanted);
        ck_assert_int_eq(fclose(out), 0);
        ck_assert_uint_gt(n_bytes, 0);
        free(text);
}
END_TEST
