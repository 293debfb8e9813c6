/* SPDX-License-Identifier: MIT */
/* view/document/view_document.c, document_text.c: rows of a table in another order, fewer of them, alone */
#include "tests/unit/unit_test.h"
#include "view/document/document_format.h"
#include "view/document/view_document.h"

#include <stdio.h>
#include <stdlib.h>

/* The names of the rows, in their order, and what is left out. */
static const char *order_of(const struct view_document *d, const struct view_table *t)
{
        static char text[64];
        size_t n = 0;

        for (size_t i = 0; i < t->n_cells; i += t->n_columns)
                n += (size_t)snprintf(text + n, sizeof(text) - n, "%.*s ", (int)t->cells[i].string.n_bytes,
                                      (const char *)d->strings.data + t->cells[i].string.at_bytes);
        (void)snprintf(text + n, sizeof(text) - n, "%d", (int)t->n_left_out);
        return text;
}

/* Equal rows stay in their order, and unknown cells are last, also if the order is reversed. */
START_TEST(test_rows_sorted_filtered_cut)
{
        static const struct view_column few[] = {
                { .key = "name", .title = "name", .type = VIEW_STRING },
                { .key = "count", .title = "count", .type = VIEW_COUNT },
                { .key = "share", .title = "share", .type = VIEW_SHARE },
                { .key = "delta", .title = "delta", .type = VIEW_DELTA },
                { .key = "hidden", .title = NULL, .type = VIEW_STRING },
        };
        static const char *const rows[] = { "bee", "ant", "cow", "bee2", "dog" };
        struct view_document d;
        struct view_table *t;

        view_document_init(&d, "test/1");
        t = view_document_add_table(&d, "rows", "Rows", few, 5);
        view_table_sort(&d, t, 1, false);
        for (uint32_t i = 0; i < 5; i++) {
                view_table_put(&d, t, view_words(rows[i]));
                view_table_put(&d, t, view_known(i / 2, i != 2));
                view_table_put(&d, t, view_real(i == 3 ? 0.5 : 0.25));
                view_table_put(&d, t, view_delta(i == 4 ? -1 : 1));
                view_table_put(&d, t, view_words("x"));
        }
        view_table_sort(&d, t, 1, false);
        ck_assert_str_eq(order_of(&d, t), "dog bee2 bee ant cow 0");
        view_table_sort(&d, t, 1, true);
        ck_assert_str_eq(order_of(&d, t), "bee ant bee2 dog cow 0");
        view_table_sort(&d, t, 2, false);
        ck_assert_str_eq(order_of(&d, t), "bee2 bee ant dog cow 0");
        view_table_sort(&d, t, 3, true);
        ck_assert_str_eq(order_of(&d, t), "dog bee2 bee ant cow 0");
        view_table_sort(&d, t, 0, false);
        ck_assert_str_eq(order_of(&d, t), "ant bee bee2 cow dog 0");
        view_table_cut(t, 5);
        view_table_cut(t, 4);
        ck_assert_str_eq(order_of(&d, t), "ant bee bee2 cow 1");
        view_table_filter(&d, t, "EE");
        ck_assert_str_eq(order_of(&d, t), "bee bee2 1");
        view_table_filter(&d, t, "x");
        ck_assert_str_eq(order_of(&d, t), "1");
        view_document_deinit(&d);
}
END_TEST

/* One table alone, flush left; as it is sorted on a screen of any width. */
START_TEST(test_rows_alone)
{
        static const struct view_column few[] = {
                { .key = "total_ns", .title = "TOTAL", .type = VIEW_DURATION },
                { .key = "mean_ns", .title = "MEAN", .type = VIEW_DURATION, .must_stay = true },
                { .key = "max_ns", .title = "MAX", .type = VIEW_DURATION },
                { .key = "rate", .title = "RATE", .type = VIEW_REAL, .is_short = true, .must_stay = true },
                { .key = "name", .title = "NAME", .type = VIEW_STRING },
        };
        struct document_options options = { .n_columns = 30 };
        struct view_document d;
        struct view_table *t;
        char *text = NULL;
        size_t n_bytes;
        FILE *out;

        view_document_init(&d, "test/1");
        t = view_document_add_table(&d, "rows", "Rows", few, 5);
        for (uint32_t i = 0; i < 2; i++) {
                view_table_put(&d, t, view_number(1000));
                view_table_put(&d, t, view_number(100));
                view_table_put(&d, t, view_number(500));
                view_table_put(&d, t, view_real(i == 0 ? 9930.5 : 0.25));
                view_table_put(&d, t, view_words("a"));
        }
        for (int i = 0; i < 2; i++, options.n_columns = 0) {
                out = open_memstream(&text, &n_bytes);
                ck_assert_int_eq(document_print_rows(&d, t, &options, out), 0);
                (void)fclose(out);
                ck_assert_str_eq(
                        text,
                        i == 0 ? "  TOTAL    MEAN    RATE  NAME\n1.00 us  100 ns  9.93 K  a\n1.00 us  100 ns    0.25  a\n"
                               : "  TOTAL    MEAN     MAX    RATE  NAME\n1.00 us  100 ns  500 ns  9.93 K  a\n1.00 us  100 ns  500 ns    0.25  a\n");
                free(text);
        }
        view_document_deinit(&d);
}
END_TEST
