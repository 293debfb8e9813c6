/* SPDX-License-Identifier: MIT */
/*
 * view/document/view_document.c, document_*.c: whatever the strings are, text fits the line, JSON
 * is valid, rows stay rows
 */
#include "base/error.h"
#include "tests/unit/unit_test.h"
#include "view/document/document_format.h"
#include "view/document/view_document.h"
#include "view/text/utf8.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct view_column columns[] = {
        { .key = "name", .title = "name", .type = VIEW_STRING },
        { .key = "zone", .title = "handle", .type = VIEW_HANDLE },
        { .key = "count", .title = "count", .type = VIEW_COUNT },
        { .key = "total_ns", .title = "total", .type = VIEW_DURATION },
        { .key = "at_ns", .title = "at", .type = VIEW_TIME },
        { .key = "size_bytes", .title = "size", .type = VIEW_BYTES },
        { .key = "share", .title = "share", .type = VIEW_SHARE },
        { .key = "change", .title = "change", .type = VIEW_CHANGE },
        { .key = "delta_ns", .title = "delta", .type = VIEW_DELTA },
        { .key = "ipc", .title = "IPC", .type = VIEW_REAL },
        { .key = "bar", .title = "", .type = VIEW_BAR, .n_columns_max = 10 },
        { .key = "place", .title = "place", .type = VIEW_PLACE, .n_columns_max = 20 },
};
#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))

static const char *const names[] = {
        "plain",
        "",
        "\x1b[2J\x1b]0;owned\x07",
        "line\nbreak\ttab\rreturn",
        "\xff\xfe\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82",
        "\xe2\x80\xae"
        "drawkcab"
        "\xc2\x9b"
        "31m",
        "caf\xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x90\x9d",
        "\" } ], \\ %s %n {o} \x01\x7f | \\| ` `` <b> @me #1",
        ("std::vector<std::pair<std::basic_string<char>, std::map<int, std::unordered_map<long, double> > > >::"
         "emplace_back<std::pair<std::basic_string<char>, std::map<int, std::unordered_map<long, double> > > >"),
        "/path//",
};
#define N_NAMES ((int)(sizeof(names) / sizeof(names[0])))

static struct text_view string_of(const char *text)
{
        return (struct text_view){ .bytes = text, .n_bytes = strlen(text) };
}

static void put_known_row(struct view_document *d, struct view_table *t, const char *name)
{
        view_table_put(d, t, view_text(string_of(name)));
        view_table_put(d, t, view_handle('z', 7));
        view_table_put(d, t, view_number(1103220));
        view_table_put(d, t, view_number(12300000));
        view_table_put(d, t, view_number(1234567890));
        view_table_put(d, t, view_number(31000000));
        view_table_put(d, t, view_real(0.312));
        view_table_put(d, t, view_real(0.05));
        view_table_put(d, t, view_delta(-1200000));
        view_table_put(d, t, view_real(1.2345678));
        view_table_put(d, t, view_real(0.8));
        view_table_put(d, t, view_place(string_of("src/main.c"), 12));
}

static void put_unknown_row(struct view_document *d, struct view_table *t, const char *name)
{
        view_table_put(d, t, view_text(string_of(name)));
        for (size_t c = 1; c < N_COLUMNS; c++)
                view_table_put(d, t, view_unknown());
}

/* A document in which every string is @name. */
static void build(struct view_document *d, const char *name)
{
        struct view_table *t;

        view_document_init(d, "hyprof.test/1");
        view_document_set_title(d, "title %s", name);
        view_document_warn(d, "warning %s", name);
        view_document_hint(d, "hint %s", name);
        view_document_put(d, "command", "command", VIEW_STRING, view_text(string_of(name)));
        view_document_put(d, "lasted_ns", "lasted", VIEW_DURATION, view_number(5000));
        view_document_put(d, "share", "share", VIEW_SHARE, view_real(0.25));
        view_document_put(d, "extra_ns", "extra", VIEW_DELTA, view_delta(-17));
        view_document_put(d, "why", "why", VIEW_COUNT, view_unknown());
        t = view_document_add_table(d, "rows", "Rows", columns, N_COLUMNS);
        view_table_set_about(d, t, "about %s", name);
        put_known_row(d, t, name);
        put_unknown_row(d, t, name);
        t->n_left_out = 3;
        t = view_document_add_table(d, "tree", "Tree", columns, N_COLUMNS);
        t->is_tree = true;
        for (uint32_t depth = 0; depth < 60; depth += 6) {
                view_table_begin_row(d, t, depth);
                put_known_row(d, t, name);
        }
        (void)view_document_add_table(d, "nothing", "Nothing", columns, N_COLUMNS);
}

/* The printed text, on the heap, ended by NUL. */
static char *print(const struct view_document *d, const struct document_options *options, int wanted)
{
        struct error err = ERROR_NONE;
        char *text = NULL;
        size_t n_bytes = 0;
        FILE *out = open_memstream(&text, &n_bytes);

        ck_assert_ptr_nonnull(out);
        ck_assert_int_eq(document_print(d, options, out, &err), wanted);
        ck_assert_int_eq(fclose(out), 0);
        return text;
}

static void check_lines(const char *text, uint32_t n_columns_max)
{
        uint32_t n_columns = 0;

        for (size_t i = 0, n_bytes = strlen(text); i < n_bytes;) {
                uint32_t character;
                size_t length = utf8_decode(text + i, n_bytes - i, &character);

                ck_assert_uint_gt(length, 0);
                i += length;
                if (character == '\n') {
                        n_columns = 0;
                        continue;
                }
                ck_assert_msg(utf8_is_safe(character), "character %x in: %s", character, text);
                n_columns++;
                ck_assert_msg(n_columns <= n_columns_max, "a line is longer than %u: %s", n_columns_max,
                              text);
        }
}

/* loop test: names by widths */
START_LOOP_TEST(test_text_fits_the_line, 0, 6 * N_NAMES)
{
        static const uint32_t widths[] = { 40, 61, 80, 100, 120, 200 };
        struct document_options options = { .format = DOCUMENT_TEXT, .n_columns = widths[_i / N_NAMES] };
        struct view_document d;
        char *text;

        build(&d, names[_i % N_NAMES]);
        text = print(&d, &options, 0);
        check_lines(text, options.n_columns);
        ck_assert_ptr_nonnull(strstr(text, "3 more rows, --limit 0 shows all"));
        ck_assert_ptr_nonnull(strstr(text, "none"));
        if (options.n_columns < 100)
                ck_assert_ptr_nonnull(strstr(text, "hidden,"));
        free(text);
        view_document_deinit(&d);
}
END_TEST

/* Names from a trace become keys of plain letters, which stay as long as the document. */
START_TEST(test_keys)
{
        struct view_document d;
        const char *key, *other;
        char name[100];

        memset(name, 'x', sizeof(name));
        view_document_init(&d, "test/1");
        key = view_document_make_key(&d, "self_", (struct text_view){ "cache-misses:u", 14 });
        other = view_document_make_key(&d, "", (struct text_view){ "a \"b\"\n\xff", 7 });
        for (int i = 0; i < 100; i++)
                (void)view_document_make_key(&d, "", (struct text_view){ name, sizeof(name) });
        ck_assert_str_eq(key, "self_cache-misses:u");
        ck_assert_str_eq(other, "a__b___");
        ck_assert_uint_eq(strlen(d.keys[101]), 63);
        view_document_deinit(&d);
}
END_TEST

/* However deep a tree is: the name is what one reads it for. */
START_TEST(test_names_of_deep_rows_are_readable)
{
        static const struct view_column tree_columns[] = {
                { .key = "total", .title = "total", .type = VIEW_SHARE, .n_columns_max = 7 },
                { .key = "name", .title = "name", .type = VIEW_STRING },
                { .key = "count", .title = "count", .type = VIEW_COUNT, .n_columns_max = 12 },
                { .key = "place", .title = "module", .type = VIEW_PLACE, .n_columns_max = 24 },
        };
        static const uint32_t widths[] = { 60, 80, 120 };

        for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
                struct document_options options = { .format = DOCUMENT_TEXT, .n_columns = widths[i] };
                struct view_document d;
                struct view_table *t;
                char *text;

                view_document_init(&d, "hyprof.test/1");
                t = view_document_add_table(&d, "tree", "Tree", tree_columns, 4);
                t->is_tree = true;
                for (uint32_t depth = 0; depth < 64; depth++) {
                        view_table_begin_row(&d, t, depth);
                        view_table_put(&d, t, view_real(0.5));
                        view_table_put(&d, t, view_text(string_of(depth == 63 ? "the_innermost" : "caller")));
                        view_table_put(&d, t, view_number(12345678));
                        view_table_put(&d, t, view_place(string_of("libpython3.11.so.1.0"), 0));
                }
                text = print(&d, &options, 0);
                check_lines(text, widths[i]);
                ck_assert_ptr_nonnull(strstr(text, "[+"));
                ck_assert_msg(strstr(text, "] the_innermost ") != NULL, "%u columns", widths[i]);
                free(text);
                view_document_deinit(&d);
        }
}
END_TEST

START_TEST(test_text_without_limit)
{
        struct document_options options = { .format = DOCUMENT_TEXT };
        struct view_document d;
        char *text;

        build(&d, names[8]);
        text = print(&d, &options, 0);
        ck_assert_ptr_nonnull(strstr(text, names[8]));
        ck_assert_ptr_nonnull(strstr(text,
                                     " 1,103,220  12.3 ms  1.234567890 s  31.0 MB  31.2%   +5.0%  -1.20 "
                                     "ms  1.23  ########  main.c:12\n"));
        ck_assert_ptr_null(strstr(text, "…  "));
        ck_assert_ptr_null(strstr(text, "hidden, the"));
        free(text);
        view_document_deinit(&d);
}
END_TEST

START_TEST(test_color_only_if_asked_for)
{
        struct document_options options = { .format = DOCUMENT_TEXT, .n_columns = 100, .color = true };
        struct view_document d;
        char *text;

        build(&d, "name");
        text = print(&d, &options, 0);
        ck_assert_ptr_nonnull(strstr(text, "\033[1m"));
        free(text);
        view_document_deinit(&d);
}
END_TEST

/* loop test */
START_LOOP_TEST(test_json_is_valid, 0, N_NAMES)
{
        struct document_options options = { .format = DOCUMENT_JSON };
        struct view_document d;
        json_t *root, *table, *row;
        char *text;

        build(&d, names[_i]);
        text = print(&d, &options, 0);
        root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        ck_assert_ptr_nonnull(root);
        ck_assert_str_eq(json_string_value(json_object_get(root, "schema")), "hyprof.test/1");
        ck_assert_int_eq(json_integer_value(json_object_get(root, "lasted_ns")), 5000);
        ck_assert_int_eq(json_integer_value(json_object_get(root, "extra_ns")), -17);
        ck_assert(json_is_null(json_object_get(root, "why")));
        ck_assert_uint_eq(json_array_size(json_object_get(root, "warnings")), 1);
        ck_assert_uint_eq(json_array_size(json_object_get(root, "hints")), 1);
        table = json_object_get(root, "rows");
        ck_assert_int_eq(json_integer_value(json_object_get(table, "left_out")), 3);
        ck_assert_uint_eq(json_array_size(json_object_get(table, "rows")), 2);
        row = json_array_get(json_object_get(table, "rows"), 0);
        if (_i == 8 || _i == 6 || _i == 5)
                ck_assert_str_eq(json_string_value(json_object_get(row, "name")), names[_i]);
        /* A terminal shows it as text: neither the direction nor a mode is changed. */
        ck_assert_ptr_null(strstr(text, "\xe2\x80\xae"));
        ck_assert_ptr_null(strstr(text, "\xc2\x9b"));
        ck_assert_int_eq(json_integer_value(json_object_get(row, "count")), 1103220);
        ck_assert_int_eq(json_integer_value(json_object_get(row, "delta_ns")), -1200000);
        ck_assert_double_eq_tol(json_real_value(json_object_get(row, "share")), 0.312, 1e-12);
        ck_assert_str_eq(json_string_value(json_object_get(row, "zone")), "z7");
        ck_assert_str_eq(json_string_value(json_object_get(row, "place")), "src/main.c:12");
        row = json_array_get(json_object_get(table, "rows"), 1);
        ck_assert(json_is_null(json_object_get(row, "share")));
        ck_assert(json_is_null(json_object_get(row, "place")));
        row = json_array_get(json_object_get(json_object_get(root, "tree"), "rows"), 2);
        ck_assert_int_eq(json_integer_value(json_object_get(row, "depth")), 12);
        ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(root, "nothing"), "rows")), 0);
        json_decref(root);
        free(text);
        view_document_deinit(&d);
}
END_TEST

static const struct view_column numbered_columns[] = { { .key = "n", .title = "n", .type = VIEW_COUNT } };

static void add_numbered(struct view_document *d, const char *key, uint64_t n_rows)
{
        struct view_table *t = view_document_add_table(d, key, key, numbered_columns, 1);

        for (uint64_t i = 0; i < n_rows; i++)
                view_table_put(d, t, view_number(i));
}

static json_t *load(const struct view_document *d, const struct document_options *options, size_t *ret_bytes)
{
        char *text = print(d, options, 0);
        json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

        ck_assert_ptr_nonnull(root);
        *ret_bytes = strlen(text);
        free(text);
        return root;
}

/* Checks the numbers of a table whose rows begin with @first; returns how many there are. */
static size_t check_table(json_t *root, const char *key, size_t first, size_t n_all)
{
        json_t *table = json_object_get(root, key), *rows = json_object_get(table, "rows");
        size_t end = first + json_array_size(rows);

        for (size_t i = first; i < end; i++)
                ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(rows, i - first), "n")),
                                 (json_int_t)i);
        ck_assert_int_eq(json_integer_value(json_object_get(table, "n_rows")), (json_int_t)n_all);
        ck_assert_int_eq(json_integer_value(json_object_get(table, "left_out")), (json_int_t)(n_all - end));
        if (end < n_all)
                ck_assert_int_eq(json_integer_value(json_object_get(table, "next")), (json_int_t)end);
        else
                ck_assert(json_is_null(json_object_get(table, "next")));
        return end - first;
}

enum { N_LARGE = 2000, N_MIDDLE = 300, N_SMALL = 3, BOUND_BYTES = 8192, ROW_BYTES_MAX = 40 };

/* Small tables are whole; the others share the rest of the bytes; the cursor leads to all rows. */
START_TEST(test_json_is_bounded)
{
        struct document_options options = { .format = DOCUMENT_JSON, .n_bytes_max = BOUND_BYTES };
        struct view_document d;
        size_t n_bytes, n_rows, n_large = 0;
        json_t *root;

        view_document_init(&d, "hyprof.test/1");
        add_numbered(&d, "large", N_LARGE);
        add_numbered(&d, "small", N_SMALL);
        add_numbered(&d, "middle", N_MIDDLE);
        add_numbered(&d, "empty", 0);
        root = load(&d, &options, &n_bytes);
        ck_assert_uint_le(n_bytes, BOUND_BYTES);
        ck_assert_uint_ge(n_bytes, BOUND_BYTES - 3 * ROW_BYTES_MAX);
        ck_assert_uint_eq(check_table(root, "small", 0, N_SMALL), N_SMALL);
        ck_assert_uint_eq(check_table(root, "empty", 0, 0), 0);
        n_rows = check_table(root, "middle", 0, N_MIDDLE);
        ck_assert_uint_lt(n_rows, N_MIDDLE);
        ck_assert_uint_lt(check_table(root, "large", 0, N_LARGE) - n_rows + 5, 10);
        json_decref(root);
        options.section = "large";
        do {
                options.n_skipped = (uint32_t)n_large;
                root = load(&d, &options, &n_bytes);
                ck_assert_uint_le(n_bytes, BOUND_BYTES);
                ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(root, "small"), "rows")),
                                  0);
                ck_assert(json_is_null(json_object_get(json_object_get(root, "small"), "next")));
                n_rows = check_table(root, "large", n_large, N_LARGE);
                ck_assert_uint_gt(n_rows, 0);
                n_large += n_rows;
                json_decref(root);
        } while (n_large < N_LARGE);
        view_document_deinit(&d);
}
END_TEST

/* However small the bound, each table has a row; without one, all; after the last row there is none. */
START_TEST(test_json_has_a_row_of_each_table)
{
        struct document_options options = { .format = DOCUMENT_JSON, .n_bytes_max = 1 };
        struct view_document d;
        size_t n_bytes;
        json_t *root;

        view_document_init(&d, "hyprof.test/1");
        add_numbered(&d, "large", N_LARGE);
        add_numbered(&d, "small", N_SMALL);
        root = load(&d, &options, &n_bytes);
        ck_assert_uint_eq(check_table(root, "large", 0, N_LARGE), 1);
        ck_assert_uint_eq(check_table(root, "small", 0, N_SMALL), 1);
        json_decref(root);
        options.n_bytes_max = 0;
        root = load(&d, &options, &n_bytes);
        ck_assert_uint_eq(check_table(root, "large", 0, N_LARGE), N_LARGE);
        json_decref(root);
        options.n_skipped = N_LARGE + 1;
        root = load(&d, &options, &n_bytes);
        ck_assert_uint_eq(check_table(root, "large", N_LARGE, N_LARGE), 0);
        ck_assert_uint_eq(check_table(root, "small", N_SMALL, N_SMALL), 0);
        json_decref(root);
        view_document_deinit(&d);
}
END_TEST

/* A page is so many rows after those that are skipped; the last one is shorter. */
START_TEST(test_json_has_pages)
{
        struct document_options options = { .format = DOCUMENT_JSON, .n_rows_max = 5 };
        struct view_document d;
        size_t n_bytes;

        view_document_init(&d, "hyprof.test/1");
        add_numbered(&d, "rows", 12);
        for (uint32_t first = 0; first < 12; first += 5) {
                json_t *root;

                options.n_skipped = first;
                root = load(&d, &options, &n_bytes);
                ck_assert_uint_eq(check_table(root, "rows", first, 12), first < 10 ? 5 : 2);
                json_decref(root);
        }
        view_document_deinit(&d);
}
END_TEST

/* How many cells GitHub makes of a row: backslashes escape what follows, "|" separates. */
static int count_cells(const char *line, size_t n_bytes)
{
        int n = -1;

        for (size_t i = 0; i < n_bytes; i++) {
                if (line[i] == '\\')
                        i++;
                else if (line[i] == '|')
                        n++;
        }
        return n;
}

/* loop test */
START_LOOP_TEST(test_markdown_rows_stay_rows, 0, N_NAMES)
{
        struct document_options options = { .format = DOCUMENT_MARKDOWN };
        struct view_document d;
        char *text, *line;
        int n_rows = 0;

        build(&d, names[_i]);
        text = print(&d, &options, 0);
        check_lines(text, UINT32_MAX);
        for (line = text; *line != '\0';) {
                size_t n = strcspn(line, "\n");

                if (line[0] == '|') {
                        ck_assert_int_eq(count_cells(line, n), (int)N_COLUMNS);
                        n_rows++;
                }
                line += n + 1;
        }
        ck_assert_int_eq(n_rows, 2 + 2 + 2 + 10);
        free(text);
        view_document_deinit(&d);
}
END_TEST

START_TEST(test_markdown_names_are_code)
{
        struct document_options options = { .format = DOCUMENT_MARKDOWN };
        struct view_document d;
        char *text;

        build(&d, "a`b|<i>");
        text = print(&d, &options, 0);
        ck_assert_ptr_nonnull(strstr(text, "| `` a`b\\|<i> `` | `z7` | 1,103,220 |"));
        ck_assert_ptr_nonnull(strstr(text, "## title a\\`b\\|&lt;i>\n"));
        free(text);
        view_document_deinit(&d);
}
END_TEST

START_TEST(test_csv)
{
        struct document_options options = { .format = DOCUMENT_CSV, .separator = ',' };
        struct view_document d;
        char *text;

        build(&d, "a,\"b\"\nc");
        text = print(&d, &options, 0);
        ck_assert_str_eq(text,
                         "name,zone,count,total_ns,at_ns,size_bytes,share,change,delta_ns,ipc,place\n"
                         "\"a,\"\"b\"\"\\x0ac\",z7,1103220,12300000,1234567890,31000000,0.312,0.05,-1200000,"
                         "1.2345678,src/main.c:12\n"
                         "\"a,\"\"b\"\"\\x0ac\",,,,,,,,,,\n");
        free(text);
        options.section = "tree";
        options.separator = '\t';
        text = print(&d, &options, 0);
        ck_assert_ptr_eq(strstr(text, "depth\tname\tzone\t"), text);
        ck_assert_ptr_nonnull(strstr(text, "\n54\t\"a,"));
        free(text);
        options.section = "nothing";
        text = print(&d, &options, 0);
        ck_assert_ptr_eq(strchr(text, '\n') + 1, text + strlen(text));
        free(text);
        options.section = "nonsense";
        text = print(&d, &options, -ENOENT);
        ck_assert_str_eq(text, "");
        free(text);
        view_document_deinit(&d);
}
END_TEST

/* Facts, tables and columns for people alone, for programs alone, and for both. */
static void build_parts(struct view_document *d, const char *name)
{
        static const struct view_column both[] = {
                { .key = "group", .title = "group", .type = VIEW_STRING },
                { .key = "name", .title = "name", .type = VIEW_STRING },
                { .key = "callstack", .title = "call stack", .type = VIEW_STACK, .is_below = true },
                { .key = "is_hot", .title = "hot", .type = VIEW_BOOL },
                { .key = "code", .type = VIEW_STRING },
                { .key = "weight", .title = "weight", .type = VIEW_COUNT },
                { .key = "n", .title = "n", .type = VIEW_COUNT, .is_short = true },
        };
        struct view_value stack;
        struct view_table *t;

        view_document_init(d, "hyprof.test/1");
        view_document_set_answer(d, string_of("42 of them"));
        view_document_put(d, NULL, "stacks", VIEW_STRING, view_words("31.2% complete"));
        view_document_put(d, "complete_share", NULL, VIEW_SHARE, view_real(0.3125));
        view_document_put(d, "is_whole", "whole", VIEW_BOOL, view_number(true));
        view_document_warn(d, "warning, with a comma");
        t = view_document_add_table(d, "missing", NULL, both, 2);
        view_table_put(d, t, view_words("secret"));
        view_table_put(d, t, view_words("for programs"));
        t = view_document_add_table(d, "rows", "Rows", both, sizeof(both) / sizeof(both[0]));
        t->n_grouping = 1;
        for (uint32_t i = 0; i < 3; i++) {
                view_table_put(d, t, view_words(i < 2 ? "first" : "second"));
                view_table_put(d, t, view_text(string_of(name)));
                stack = view_begin_stack(d);
                for (uint32_t k = 0; k < (i == 0 ? 0 : i == 1 ? 2 : 14); k++)
                        view_add_frame(d, &stack, string_of(k == 0 ? "operator<" : name));
                view_table_put(d, t, i == 0 ? view_unknown() : stack);
                view_table_put(d, t, view_number(i == 0));
                view_table_put(d, t, view_words("CODE"));
                view_table_put(d, t, view_amount(5000000, i != 0));
                view_table_put(d, t, view_number(2500000));
        }
        t->n_left_out = 7;
        t = view_document_add_table(d, NULL, "Matrix", both, 1);
        view_table_put(d, t, view_words("for people"));
}

/* A column without a key is for people alone: programs get the others. */
START_TEST(test_column_without_a_key)
{
        static const struct view_column said_columns[] = {
                { .key = "name", .title = "name", .type = VIEW_STRING },
                { .title = "said", .type = VIEW_STRING },
                { .key = "n", .title = "n", .type = VIEW_COUNT },
        };
        static const char *const wanted[] = { "name   said      n\n  first  in words  1\n",
                                              "[\n      {\"name\": \"first\", \"n\": 1}\n    ]",
                                              "name,n\nfirst,1\n" };
        static const enum document_format formats[] = { DOCUMENT_TEXT, DOCUMENT_JSON, DOCUMENT_CSV };
        struct view_document d;
        struct view_table *t;

        view_document_init(&d, "hyprof.test/1");
        t = view_document_add_table(&d, "rows", "Rows", said_columns, VIEW_N_COLUMNS(said_columns));
        view_table_put(&d, t, view_words("first"));
        view_table_put(&d, t, view_words("in words"));
        view_table_put(&d, t, view_number(1));
        for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
                struct document_options options = { .format = formats[i], .n_columns = 80, .separator = ',' };
                char *text = print(&d, &options, 0);

                ck_assert_msg(strstr(text, wanted[i]), "%s", text);
                free(text);
        }
        view_document_deinit(&d);
}
END_TEST

START_TEST(test_for_people_and_for_programs)
{
        struct document_options options = { .format = DOCUMENT_TEXT, .n_columns = 100, .separator = ',' };
        struct view_document d;
        json_t *root, *rows, *stack;
        char *text;

        build_parts(&d, "main");
        text = print(&d, &options, 0);
        ck_assert_ptr_eq(strstr(text, "42 of them\n  stacks  31.2% complete\n  whole   yes\n"), text);
        ck_assert_ptr_null(strstr(text, "complete_share"));
        ck_assert_ptr_null(strstr(text, "secret"));
        ck_assert_ptr_null(strstr(text, "CODE"));
        ck_assert_ptr_nonnull(strstr(text, "  group   name  hot     weight       n\n"
                                           "  first   main  yes  5,000,000  2.50 M\n"
                                           "          main  no     5.00 ms  2.50 M\n"
                                           "      call stack: operator< < main\n"
                                           "  second  main  no     5.00 ms  2.50 M\n"
                                           "      call stack: operator< < main < main"));
        ck_assert_ptr_nonnull(strstr(text, " < … 2 more\n"));
        ck_assert_ptr_nonnull(strstr(text, "Matrix\n  group\n  for people\n"));
        free(text);

        options.format = DOCUMENT_MARKDOWN;
        text = print(&d, &options, 0);
        ck_assert_ptr_eq(strstr(text, "## 42 of them\n"), text);
        ck_assert_ptr_nonnull(
                strstr(text, "| `first` | `main` | `operator< < main` | no | 5.00 ms | 2.50 M |"));
        ck_assert_ptr_nonnull(strstr(text, "| `for people` |"));
        ck_assert_ptr_null(strstr(text, "secret"));
        free(text);

        options.format = DOCUMENT_JSON;
        text = print(&d, &options, 0);
        ck_assert_ptr_null(strstr(text, "for people"));
        ck_assert_ptr_null(strstr(text, "31.2%"));
        root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        ck_assert_ptr_nonnull(root);
        ck_assert_str_eq(json_string_value(json_object_get(root, "answer")), "42 of them");
        ck_assert_double_eq(json_real_value(json_object_get(root, "complete_share")), 0.3125);
        ck_assert(json_is_true(json_object_get(root, "is_whole")));
        rows = json_object_get(json_object_get(root, "rows"), "rows");
        ck_assert_uint_eq(json_array_size(rows), 3);
        ck_assert(json_is_null(json_object_get(json_array_get(rows, 0), "callstack")));
        stack = json_object_get(json_array_get(rows, 1), "callstack");
        ck_assert_uint_eq(json_array_size(stack), 2);
        ck_assert_str_eq(json_string_value(json_array_get(stack, 0)), "operator<");
        ck_assert_str_eq(json_string_value(json_array_get(stack, 1)), "main");
        ck_assert_uint_eq(json_array_size(json_object_get(json_array_get(rows, 2), "callstack")), 14);
        ck_assert_str_eq(json_string_value(json_object_get(json_array_get(rows, 1), "group")), "first");
        ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(rows, 1), "weight")), 5000000);
        ck_assert(json_is_true(json_object_get(json_array_get(rows, 0), "is_hot")));
        json_decref(root);
        free(text);

        /* The first table of CSV is the first for people as well; what is no table has sections. */
        options.format = DOCUMENT_CSV;
        text = print(&d, &options, 0);
        ck_assert_ptr_eq(strstr(text, "group,name,callstack,is_hot,code,weight,n\n"
                                      "first,main,,yes,CODE,5000000,2500000\n"
                                      "first,main,operator< < main,no,CODE,5000000,2500000\n"),
                         text);
        free(text);
        options.section = "facts";
        text = print(&d, &options, 0);
        ck_assert_str_eq(text, "key,value\nschema,hyprof.test/1\nanswer,42 of them\ncomplete_share,0.3125\n"
                               "is_whole,yes\nmissing.left_out,0\nrows.left_out,7\n");
        free(text);
        options.section = "warnings";
        text = print(&d, &options, 0);
        ck_assert_str_eq(text, "warning\n\"warning, with a comma\"\n");
        free(text);
        view_document_deinit(&d);
}
END_TEST

/* loop test: names below a row, in a stack and repeated, in lines of every width */
START_LOOP_TEST(test_hostile_parts_fit_the_line, 0, N_NAMES)
{
        static const uint32_t widths[] = { 40, 80, 120 };
        struct view_document d;

        build_parts(&d, names[_i]);
        for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
                struct document_options options = { .format = DOCUMENT_TEXT, .n_columns = widths[i] };
                char *text = print(&d, &options, 0);

                check_lines(text, widths[i]);
                free(text);
        }
        view_document_deinit(&d);
}
END_TEST

/* A value without a number is unknown; a share of a million stays within its cell. */
START_TEST(test_numbers_without_sense)
{
        static const struct view_column reals[] = {
                { .key = "share", .title = "share", .type = VIEW_SHARE },
                { .key = "bar", .title = "bar", .type = VIEW_BAR },
        };
        static const double values[] = { (double)NAN, HUGE_VAL, -HUGE_VAL, 1e300, -1, 0, 2 };
        struct view_document d;

        view_document_init(&d, "hyprof.test/1");
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
                struct view_table *t = view_document_add_table(&d, "t", "t", reals, 2);

                view_table_put(&d, t, view_real(values[i]));
                view_table_put(&d, t, view_real(values[i]));
        }
        for (int format = DOCUMENT_TEXT; format <= DOCUMENT_CSV; format++) {
                struct document_options options = { .format = (enum document_format)format,
                                                    .n_columns = 80,
                                                    .separator = ',' };
                char *text = print(&d, &options, 0);

                if (format == DOCUMENT_JSON) {
                        json_t *root = json_loads(text, 0, NULL);

                        ck_assert_ptr_nonnull(root);
                        json_decref(root);
                } else if (format == DOCUMENT_TEXT) {
                        check_lines(text, 80);
                        ck_assert_ptr_nonnull(strstr(text, "200.0%  ####################\n"));
                }
                free(text);
        }
        view_document_deinit(&d);
}
END_TEST

/* An answer without anything is still one. */
START_TEST(test_empty_document)
{
        struct view_document d;

        view_document_init(&d, "hyprof.test/1");
        for (int format = DOCUMENT_TEXT; format <= DOCUMENT_CSV; format++) {
                struct document_options options = { .format = (enum document_format)format, .n_columns = 80 };
                char *text = print(&d, &options, format == DOCUMENT_CSV ? -ENOENT : 0);

                if (format == DOCUMENT_JSON)
                        ck_assert_str_eq(text, "{\n  \"schema\": \"hyprof.test/1\",\n  \"warnings\": [],\n  "
                                               "\"hints\": []\n}\n");
                free(text);
        }
        view_document_deinit(&d);
}
END_TEST

START_TEST(test_without_memory_nothing_is_printed)
{
        struct document_options options = { .format = DOCUMENT_JSON };
        struct view_document d;

        build(&d, "name");
        d.failed = true;
        view_table_put(&d, d.tables[0], view_words("more"));
        view_table_put(&d, NULL, view_words("more"));
        view_table_begin_row(&d, NULL, 0);
        for (int format = DOCUMENT_TEXT; format <= DOCUMENT_CSV; format++) {
                char *text;

                options.format = (enum document_format)format;
                text = print(&d, &options, -ENOMEM);
                ck_assert_str_eq(text, "");
                free(text);
        }
        view_document_deinit(&d);
}
END_TEST
