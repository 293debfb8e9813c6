/* SPDX-License-Identifier: MIT */
/* format/trace_dictionary.c: every table comes back as it was; a malformed body changes nothing */
#include "format/trace_dictionary.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "format/trace_schema.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_END        (TRACE_TABLE_FIRST + TRACE_TABLE_COUNT)
#define N_ROWS           100
#define N_ROUNDS         5
#define STRING_BYTES_MAX ((UINT32_C(1) << 26) - (UINT32_C(1) << 16)) /* of the specification */

static uint64_t random_value(const struct trace_dictionary *d, const struct trace_field *field,
                             uint64_t *state)
{
        uint64_t max = trace_field_max(field);
        uint64_t value = fixed_random_magnitude(state);
        uint32_t n_rows = field->table ? trace_dictionary_count(d, (enum trace_table)field->table) : 0;

        switch ((enum trace_reference)field->reference) {
        case TRACE_REFERENCE_REQUIRED:
                return 1 + value % n_rows;
        case TRACE_REFERENCE_OPTIONAL:
        case TRACE_REFERENCE_EARLIER:
                return value % ((uint64_t)n_rows + 1);
        case TRACE_REFERENCE_SUCCESSOR:
        case TRACE_REFERENCE_NONE:
                break;
        }
        return value & max;
}

static void add_random_string(struct trace_dictionary *d, uint64_t *state)
{
        uint8_t text[40];
        size_t n_bytes = fixed_random_next(state) % sizeof(text);
        uint32_t id;

        for (size_t i = 0; i < n_bytes; i++)
                text[i] = (uint8_t)fixed_random_next(state);
        ck_assert_int_eq(trace_dictionary_add_string(d, text, n_bytes, &id), 0);
}

static void add_random_rows(struct trace_dictionary *d, uint32_t table, uint32_t n, uint64_t *state)
{
        const struct trace_schema *schema = trace_schema_find(table);

        for (uint32_t i = 0; i < n; i++) {
                _Alignas(8) uint8_t row[TRACE_ROW_BYTES_MAX] = { 0 };
                uint32_t id = 0;

                if (table == TRACE_TABLE_STRINGS) {
                        add_random_string(d, state);
                        continue;
                }
                for (uint32_t f = 0; f < schema->n_fields; f++)
                        trace_field_set(&schema->fields[f], row, random_value(d, &schema->fields[f], state));
                ck_assert_int_eq(trace_dictionary_add(d, schema->table, row, &id), 0);
                ck_assert_int_eq(memcmp(trace_dictionary_row(d, schema->table, id), row, schema->row_bytes),
                                 0);
        }
}

static void expect_equal_tables(const struct trace_dictionary *a, const struct trace_dictionary *b,
                                uint32_t id)
{
        enum trace_table table = (enum trace_table)id;

        ck_assert_uint_eq(trace_dictionary_count(a, table), trace_dictionary_count(b, table));
        for (uint32_t i = 1; i <= trace_dictionary_count(a, table); i++) {
                size_t a_bytes = 0;
                size_t b_bytes = 0;
                const void *a_row = intern_get(&a->tables[id - TRACE_TABLE_FIRST], i, &a_bytes);
                const void *b_row = intern_get(&b->tables[id - TRACE_TABLE_FIRST], i, &b_bytes);

                ck_assert_uint_eq(a_bytes, b_bytes);
                ck_assert_int_eq(memcmp(a_row, b_row, a_bytes), 0);
        }
}

static void expect_equal(const struct trace_dictionary *a, const struct trace_dictionary *b)
{
        for (uint32_t table = TRACE_TABLE_FIRST; table < TABLE_END; table++)
                expect_equal_tables(a, b, table);
}

static int decode(struct trace_dictionary *d, uint32_t table, const struct byte_buffer *body)
{
        struct trace_row_range rows;

        return trace_dictionary_decode(d, (enum trace_table)table, body->data, body->used_bytes, &rows, NULL);
}

/* Everything that @from has not sent yet, into @to. */
static void send_all(struct trace_dictionary *from, struct trace_dictionary *to)
{
        struct byte_buffer body = { .data = NULL };

        for (uint32_t n = 0; n < TRACE_TABLE_COUNT;) {
                uint32_t table = trace_schema_nth_table(n);
                uint32_t n_before = trace_dictionary_count(to, (enum trace_table)table);
                struct trace_row_range rows = { .first_id = 0 };
                uint32_t n_rows = 0;

                byte_buffer_clear(&body);
                ck_assert_int_eq(trace_dictionary_encode(from, (enum trace_table)table, &body, &n_rows), 0);
                if (n_rows == 0) {
                        ck_assert_uint_eq(body.used_bytes, 0);
                        n++;
                        continue;
                }
                ck_assert_uint_le(body.used_bytes, TRACE_CHUNK_RAW_MAX);
                ck_assert_int_eq(trace_dictionary_decode(to, (enum trace_table)table, body.data,
                                                         body.used_bytes, &rows, NULL),
                                 0);
                ck_assert_uint_eq(rows.first_id, n_before + 1);
                ck_assert_uint_eq(rows.n_rows, n_rows);
        }
        byte_buffer_deinit(&body);
}

static void mark_all_sent(struct trace_dictionary *d)
{
        struct trace_dictionary nobody;

        trace_dictionary_init(&nobody, 0);
        send_all(d, &nobody);
        trace_dictionary_deinit(&nobody);
}

START_TEST(test_every_table_comes_back_over_several_chunks)
{
        struct trace_dictionary from, to;
        uint64_t state = 99;

        trace_dictionary_init(&from, 0);
        trace_dictionary_init(&to, 0);
        for (int round = 0; round < N_ROUNDS; round++) {
                for (uint32_t n = 0; n < TRACE_TABLE_COUNT; n++)
                        add_random_rows(&from, trace_schema_nth_table(n), N_ROWS, &state);
                send_all(&from, &to);
                expect_equal(&from, &to);
        }
        trace_dictionary_deinit(&from);
        trace_dictionary_deinit(&to);
}
END_TEST

START_TEST(test_equal_rows_are_one_unless_they_are_occurrences)
{
        struct trace_process process = { .pid = 7 };
        struct trace_loss loss = { .reason = 1, .count = 1 };
        struct trace_dictionary d;
        uint32_t id = 0;

        trace_dictionary_init(&d, 0);
        for (uint32_t i = 1; i <= 2; i++) {
                ck_assert_int_eq(trace_dictionary_add(&d, TRACE_TABLE_PROCESSES, &process, &id), 0);
                ck_assert_uint_eq(id, 1);
                ck_assert_int_eq(trace_dictionary_add(&d, TRACE_TABLE_LOSSES, &loss, &id), 0);
                ck_assert_uint_eq(id, i);
                ck_assert_int_eq(trace_dictionary_add_string(&d, "a", 1, &id), 0);
                ck_assert_uint_eq(id, 1);
        }
        trace_dictionary_deinit(&d);
}
END_TEST

/* All of a reason, wherever they stand; a sum without room stays at the end. */
/* A row that was appended is found like any other. */
START_TEST(test_appended_rows_are_found)
{
        struct trace_dictionary d;
        struct trace_location row = { .name = 0 };
        uint32_t id;

        trace_dictionary_init(&d, 0);
        for (uint32_t i = 1; i <= 1000; i++) {
                row.line = i;
                if (i % 3)
                        ck_assert_int_eq(trace_dictionary_append_new(&d, TRACE_TABLE_LOCATIONS, &row, &id),
                                         0);
                else
                        ck_assert_int_eq(trace_dictionary_add(&d, TRACE_TABLE_LOCATIONS, &row, &id), 0);
                ck_assert_uint_eq(id, i);
        }
        for (uint32_t i = 1; i <= 1000; i++) {
                row.line = i;
                ck_assert_int_eq(trace_dictionary_add(&d, TRACE_TABLE_LOCATIONS, &row, &id), 0);
                ck_assert_uint_eq(id, i);
        }
        trace_dictionary_deinit(&d);
}
END_TEST

START_TEST(test_losses_are_summed)
{
        const struct trace_loss losses[] = { { .reason = 1, .count = 1 },
                                             { .reason = 2, .count = UINT64_MAX },
                                             { .reason = 1, .count = 10 },
                                             { .reason = 2, .count = 5 },
                                             { .reason = 1, .count = 100 } };
        struct trace_dictionary d;
        uint32_t id = 0;

        trace_dictionary_init(&d, 0);
        for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
                ck_assert_int_eq(trace_dictionary_add(&d, TRACE_TABLE_LOSSES, &losses[i], &id), 0);
        ck_assert_uint_eq(trace_dictionary_loss_count(&d, (enum trace_loss_reason)1), 111);
        ck_assert_uint_eq(trace_dictionary_loss_count(&d, (enum trace_loss_reason)2), UINT64_MAX);
        ck_assert_uint_eq(trace_dictionary_loss_count(&d, (enum trace_loss_reason)3), 0);
        trace_dictionary_deinit(&d);
}
END_TEST

START_TEST(test_strings_by_id)
{
        struct trace_dictionary d;
        size_t n_bytes = 7;
        uint32_t id;

        trace_dictionary_init(&d, 0);
        ck_assert_int_eq(trace_dictionary_add_string(&d, "a\0b", 3, &id), 0);
        ck_assert_mem_eq(trace_dictionary_string(&d, id, &n_bytes), "a\0b", 3);
        ck_assert_uint_eq(n_bytes, 3);
        ck_assert_str_eq(trace_dictionary_string(&d, 0, &n_bytes), "");
        ck_assert_uint_eq(n_bytes, 0);
        trace_dictionary_deinit(&d);
}
END_TEST

/*
 * Two of each table, in whose fields every number is the row's own, and every reference to one's
 * own table the row before.
 */
static void fill(struct trace_dictionary *d)
{
        trace_dictionary_init(d, 0);
        for (uint32_t table = TRACE_TABLE_FIRST; table < TABLE_END; table++) {
                const struct trace_schema *schema = trace_schema_find(table);

                for (uint32_t i = 1; i <= 2; i++) {
                        _Alignas(8) uint8_t row[TRACE_ROW_BYTES_MAX] = { 0 };
                        uint32_t id = 0;

                        for (uint32_t f = 0; f < schema->n_fields; f++)
                                trace_field_set(&schema->fields[f], row,
                                                schema->fields[f].reference == TRACE_REFERENCE_EARLIER ? i - 1
                                                                                                       : i);
                        if (table == TRACE_TABLE_STRINGS)
                                ck_assert_int_eq(trace_dictionary_add_string(d, "ab", i, &id), 0);
                        else
                                ck_assert_int_eq(trace_dictionary_add(d, schema->table, row, &id), 0);
                }
        }
}

/* loop test: the body of each table, cut at each byte */
START_LOOP_TEST(test_cut_anywhere_changes_nothing, TRACE_TABLE_FIRST, TABLE_END)
{
        struct byte_buffer body = { .data = NULL };
        enum trace_table table = (enum trace_table)_i;
        struct trace_dictionary from, to, untouched;
        uint64_t state = 5;
        uint32_t n_rows;

        fill(&from);
        fill(&to);
        fill(&untouched);
        mark_all_sent(&from);
        add_random_rows(&from, (uint32_t)_i, 10, &state);
        ck_assert_int_eq(trace_dictionary_encode(&from, table, &body, &n_rows), 0);
        for (size_t cut = 0; cut < body.used_bytes; cut++) {
                uint8_t *bytes = malloc(cut + 1); /* the sanitizer sees a read past the cut */
                struct error err = ERROR_NONE;
                struct trace_row_range rows = { .first_id = 77, .n_rows = 78 };

                ck_assert_ptr_nonnull(bytes);
                memcpy(bytes + 1, body.data, cut);
                ck_assert_int_eq(trace_dictionary_decode(&to, table, bytes + 1, cut, &rows, &err), -EBADMSG);
                ck_assert_ptr_nonnull(strstr(err.text, trace_schema_find(table)->name));
                ck_assert(rows.first_id == 77 && rows.n_rows == 78);
                expect_equal_tables(&to, &untouched, (uint32_t)_i);
                free(bytes);
        }
        ck_assert_int_eq(decode(&to, (uint32_t)_i, &body), 0);
        expect_equal(&to, &from);
        byte_buffer_deinit(&body);
        trace_dictionary_deinit(&from);
        trace_dictionary_deinit(&to);
        trace_dictionary_deinit(&untouched);
}
END_TEST

/* ---- bodies made by hand ------------------------------------------------------------------------------- */

struct column {
        uint64_t id;
        unsigned encoding;
        uint64_t value;
};

/* The columns of a valid third row of a dictionary from fill(); returns how many. */
static uint32_t list_columns(const struct trace_schema *schema, struct column *columns)
{
        for (uint32_t f = 0; f < schema->n_fields; f++) {
                const struct trace_field *field = &schema->fields[f];

                columns[f] = (struct column){ .id = field->column, .encoding = field->encoding, .value = 2 };
        }
        return schema->n_fields;
}

/* A body that has one number in each column. */
static void build(struct byte_buffer *body, uint64_t first_id, uint64_t n_rows, const struct column *columns,
                  uint32_t n_columns)
{
        struct byte_buffer numbers = { .data = NULL };

        byte_buffer_clear(body);
        byte_buffer_add_varint(body, first_id);
        byte_buffer_add_varint(body, n_rows);
        byte_buffer_add_varint(body, n_columns);
        for (uint32_t i = 0; i < n_columns; i++) {
                size_t begin = numbers.used_bytes;

                if (columns[i].encoding == TRACE_ENCODING_FIXED64)
                        byte_buffer_add_u64(&numbers, columns[i].value);
                else if (columns[i].encoding == TRACE_ENCODING_DELTA)
                        byte_buffer_add_varint(&numbers, zigzag_encode((int64_t)columns[i].value));
                else
                        byte_buffer_add_varint(&numbers, columns[i].value);
                byte_buffer_add_varint(body, columns[i].id);
                byte_buffer_add_varint(body, numbers.used_bytes - begin);
        }
        byte_buffer_add(body, numbers.data, numbers.used_bytes);
        byte_buffer_deinit(&numbers);
}

/* The result of decoding into a fresh dictionary from fill(). */
static int try_body(uint32_t table, const struct byte_buffer *body)
{
        struct trace_dictionary d, untouched;
        int r;

        fill(&d);
        fill(&untouched);
        r = decode(&d, table, body);
        if (r < 0)
                expect_equal(&d, &untouched);
        else
                ck_assert_uint_eq(trace_dictionary_count(&d, (enum trace_table)table), 3);
        trace_dictionary_deinit(&d);
        trace_dictionary_deinit(&untouched);
        return r;
}

/* loop test: each number of each table, at its limit and over it */
START_LOOP_TEST(test_numbers_out_of_range_are_refused, TRACE_TABLE_FIRST + 1, TABLE_END)
{
        const struct trace_schema *schema = trace_schema_find((uint32_t)_i);
        struct byte_buffer body = { .data = NULL };
        struct column columns[16];
        uint32_t n = list_columns(schema, columns);

        for (uint32_t f = 0; f < n; f++) {
                const struct trace_field *field = &schema->fields[f];
                uint64_t limit = field->reference ? 2 : trace_field_max(field);

                columns[f].value = limit;
                build(&body, 3, 1, columns, n);
                ck_assert_int_eq(try_body(schema->table, &body), 0);
                columns[f].value = 0;
                build(&body, 3, 1, columns, n);
                ck_assert_int_eq(try_body(schema->table, &body),
                                 field->reference == TRACE_REFERENCE_REQUIRED ? -EBADMSG : 0);
                if (limit < UINT64_MAX) {
                        columns[f].value = limit + 1; /* of EARLIER: the row itself */
                        build(&body, 3, 1, columns, n);
                        ck_assert_int_eq(try_body(schema->table, &body), -EBADMSG);
                        columns[f].value = UINT64_MAX;
                        build(&body, 3, 1, columns, n);
                        ck_assert_int_eq(try_body(schema->table, &body), -EBADMSG);
                }
                columns[f].value = 2;
        }
        byte_buffer_deinit(&body);
}
END_TEST

/* loop test: each column of each table, missing, twice, and beside one of a newer version; some came later */
START_LOOP_TEST(test_columns_missing_twice_and_unknown, TRACE_TABLE_FIRST + 1, TABLE_END)
{
        const struct trace_schema *schema = trace_schema_find((uint32_t)_i);
        struct byte_buffer body = { .data = NULL };
        struct column columns[17];
        uint32_t n = list_columns(schema, columns);

        for (uint32_t f = 0; f < n; f++) {
                struct column kept = columns[f];
                int wanted = schema->fields[f].optional ? 0 : -EBADMSG;

                columns[f] = columns[n - 1];
                build(&body, 3, 1, columns, n - 1);
                ck_assert_int_eq(try_body(schema->table, &body), wanted);
                columns[f] = kept;

                columns[n] = kept;
                build(&body, 3, 1, columns, n + 1);
                ck_assert_int_eq(try_body(schema->table, &body), -EBADMSG);

                columns[n] = kept;
                columns[f] = (struct column){ .id = f % 2 ? UINT64_MAX : n + 1, .value = UINT64_MAX };
                build(&body, 3, 1, columns, n + 1);
                ck_assert_int_eq(try_body(schema->table, &body), 0);
                columns[n] = columns[f]; /* and the known one is away */
                columns[f] = columns[n - 1];
                columns[n - 1] = columns[n];
                build(&body, 3, 1, columns, n);
                ck_assert_int_eq(try_body(schema->table, &body), wanted);
                columns[n - 1] = columns[f];
                columns[f] = kept;
        }
        byte_buffer_deinit(&body);
}
END_TEST

/* loop test: each table; the numbers of rows that a body states, against those that it has */
START_LOOP_TEST(test_wrong_counts_are_refused, TRACE_TABLE_FIRST + 1, TABLE_END)
{
        const struct trace_schema *schema = trace_schema_find((uint32_t)_i);
        struct byte_buffer body = { .data = NULL };
        struct column columns[16];
        uint32_t n = list_columns(schema, columns);

        static const struct {
                uint64_t first_id, n_rows;
        } wrong[] = { { 3, 0 },          { 3, 2 },
                      { 2, 1 },          { 4, 1 },
                      { 0, 1 },          { UINT64_MAX, 1 },
                      { 3, UINT64_MAX }, { (UINT64_C(1) << 32) + 3, 1 },
                      { 3, UINT32_MAX }, { 3, (UINT64_C(1) << 32) + 1 } };

        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                build(&body, wrong[i].first_id, wrong[i].n_rows, columns, n);
                ck_assert_int_eq(try_body(schema->table, &body), -EBADMSG);
        }
        build(&body, 3, 1, columns, n);
        ck_assert_int_eq(try_body(schema->table, &body), 0);
        byte_buffer_add_u8(&body, 0);
        ck_assert_int_eq(try_body(schema->table, &body), -EBADMSG);
        build(&body, 3, 0, columns, 0); /* even no rows have columns */
        ck_assert_int_eq(try_body(schema->table, &body), -EBADMSG);
        byte_buffer_deinit(&body);
}
END_TEST

START_TEST(test_string_lengths_are_checked)
{
        static const struct {
                uint8_t bytes[12];
                size_t n_bytes;
                int r;
        } bodies[] = {
                { { 3, 1, 2, 1, 1, 2, 1, 1, 'x' }, 9, 0 },
                { { 3, 1, 2, 1, 1, 2, 0, 0 }, 8, 0 },                   /* the empty string */
                { { 3, 1, 2, 1, 1, 2, 1, 2, 'x' }, 9, -EBADMSG },       /* longer than the bytes */
                { { 3, 1, 2, 1, 1, 2, 2, 1, 'x', 'y' }, 10, -EBADMSG }, /* shorter */
                { { 3, 1, 2, 1, 2, 2, 1, 1, 1, 'x' }, 10, -EBADMSG },   /* a length too many */
                { { 3, 1, 2, 1, 1, 2, 1, 0x81, 'x' }, 9, -EBADMSG },    /* a length cut off */
                { { 3, 1, 1, 1, 1, 0 }, 6, -EBADMSG },                  /* no bytes */
                { { 3, 1, 3, 1, 1, 2, 0, 2, 0, 0 }, 10, -EBADMSG },     /* bytes twice */
                { { 3, 1, 3, 1, 1, 9, 1, 2, 1, 1, 7, 'x' }, 12, 0 },    /* a column of a newer version */
        };

        for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
                struct byte_buffer body = { .data = NULL };

                byte_buffer_add(&body, bodies[i].bytes, bodies[i].n_bytes);
                ck_assert_int_eq(try_body(TRACE_TABLE_STRINGS, &body), bodies[i].r);
                byte_buffer_deinit(&body);
        }
}
END_TEST

/* ---- limits -------------------------------------------------------------------------------------------- */

static int add_frame(struct trace_dictionary *d, uint64_t offset, uint32_t *ret_id)
{
        struct trace_frame frame = { .offset = offset };

        return trace_dictionary_add(d, TRACE_TABLE_FRAMES, &frame, ret_id);
}

START_TEST(test_full_table)
{
        struct trace_dictionary small, big;
        struct byte_buffer body = { .data = NULL };
        uint32_t id = 77;
        uint32_t n_rows;

        trace_dictionary_init(&small, 2);
        trace_dictionary_init(&big, 0);
        for (uint32_t i = 1; i <= 3; i++)
                ck_assert_int_eq(add_frame(&big, i, &id), 0);
        for (uint32_t i = 1; i <= 2; i++)
                ck_assert_int_eq(add_frame(&small, i, &id), 0);
        ck_assert_int_eq(add_frame(&small, 3, &id), -EOVERFLOW);
        ck_assert_uint_eq(id, 2);
        ck_assert_int_eq(add_frame(&small, 1, &id), 0);
        ck_assert_uint_eq(id, 1);
        trace_dictionary_deinit(&small);

        trace_dictionary_init(&small, 2);
        ck_assert_int_eq(trace_dictionary_encode(&big, TRACE_TABLE_FRAMES, &body, &n_rows), 0);
        ck_assert_int_eq(decode(&small, TRACE_TABLE_FRAMES, &body), -EOVERFLOW);
        ck_assert_uint_eq(trace_dictionary_count(&small, TRACE_TABLE_FRAMES), 0);
        byte_buffer_deinit(&body);
        trace_dictionary_deinit(&small);
        trace_dictionary_deinit(&big);
}
END_TEST

/* Strings of the program, as many as it likes, leave room for ours. */
START_TEST(test_half_is_for_names_of_ours)
{
        struct trace_dictionary small;
        char text[32] = "";
        uint32_t id, again;

        trace_dictionary_init(&small, 8); /* and 128 bytes */
        for (text[0] = 'a'; text[0] < 'e'; text[0]++)
                ck_assert_int_eq(trace_dictionary_add_program_string(&small, text, 1, &id), 0);
        ck_assert_int_eq(trace_dictionary_add_program_string(&small, text, 1, &id), -EOVERFLOW);
        ck_assert_int_eq(trace_dictionary_add_program_string(&small, "a", 1, &id), 0); /* is there */
        ck_assert_uint_eq(id, 1);
        ck_assert_int_eq(trace_dictionary_add_string(&small, text, 1, &id), 0);
        ck_assert_int_eq(trace_dictionary_add_program_string(&small, text, 1, &again), 0);
        ck_assert_uint_eq(id, again);
        trace_dictionary_deinit(&small);

        trace_dictionary_init(&small, 8);
        ck_assert_int_eq(trace_dictionary_add_program_string(&small, text, 32, &id), 0);
        ck_assert_int_eq(trace_dictionary_add_program_string(&small, text, 31, &id), 0);
        ck_assert_int_eq(trace_dictionary_add_program_string(&small, text, 2, &id), -EOVERFLOW);
        ck_assert_int_eq(trace_dictionary_add_string(&small, text, 30, &id), 0);
        trace_dictionary_deinit(&small);
}
END_TEST

/* Files that a program maps leave room for what the recorder says; symbols come when programs add no more. */
START_TEST(test_quarter_is_for_the_recorder)
{
        struct trace_dictionary small;
        char text[128] = "";
        uint32_t id;

        trace_dictionary_init(&small, 8); /* and 128 bytes */
        for (text[0] = 'a'; text[0] < 'g'; text[0]++)
                ck_assert_int_eq(trace_dictionary_add_path(&small, text, 1, &id), 0);
        ck_assert_int_eq(trace_dictionary_add_path(&small, text, 1, &id), -EOVERFLOW);
        ck_assert_int_eq(trace_dictionary_add_string(&small, text, 1, &id), 0);
        ck_assert_int_eq(trace_dictionary_add_string(&small, text, 2, &id), 0);
        ck_assert_int_eq(trace_dictionary_add_string(&small, text, 3, &id), -EOVERFLOW);
        trace_dictionary_lift_limits(&small);
        ck_assert_int_eq(trace_dictionary_add_string(&small, text, 128, &id), 0);
        trace_dictionary_deinit(&small);

        trace_dictionary_init(&small, 8);
        ck_assert_int_eq(trace_dictionary_add_path(&small, text, 97, &id), -EOVERFLOW);
        ck_assert_int_eq(trace_dictionary_add_path(&small, text, 96, &id), 0);
        ck_assert_int_eq(trace_dictionary_add_string(&small, text, 32, &id), 0);
        trace_dictionary_deinit(&small);
}
END_TEST

START_TEST(test_many_rows_go_into_several_bodies)
{
        struct trace_dictionary from, to;
        uint32_t id;

        trace_dictionary_init(&from, 0);
        trace_dictionary_init(&to, 0);
        for (uint32_t i = 0; i < 300000; i++)
                ck_assert(add_frame(&from, i, &id) == 0);
        send_all(&from, &to);
        ck_assert_uint_eq(trace_dictionary_count(&to, TRACE_TABLE_FRAMES), 300000);
        ck_assert_uint_eq(
                ((const struct trace_frame *)trace_dictionary_row(&to, TRACE_TABLE_FRAMES, 300000))->offset,
                299999);
        trace_dictionary_deinit(&from);
        trace_dictionary_deinit(&to);
}
END_TEST

/* A writer may forget what it has written: the ids go on, and a reader has all rows. */
START_TEST(test_written_rows_are_forgotten)
{
        struct trace_dictionary from, to;
        uint32_t id;

        trace_dictionary_init(&from, 150); /* a limit of what is in memory */
        trace_dictionary_init(&to, 0);
        for (uint32_t i = 1; i <= 1000; i++) {
                const struct trace_process row = { .pid = 7 * i };

                ck_assert_int_eq(trace_dictionary_append_new(&from, TRACE_TABLE_PROCESSES, &row, &id), 0);
                ck_assert_uint_eq(id, i);
                if (i % 100 == 0) {
                        trace_dictionary_forget(&from, TRACE_TABLE_PROCESSES); /* of the round before */
                        ck_assert_uint_eq(from.tables[TRACE_TABLE_PROCESSES - TRACE_TABLE_FIRST].n_items,
                                          100);
                        ck_assert_uint_eq(trace_dictionary_count_new(&from), 100);
                        send_all(&from, &to);
                        trace_dictionary_forget(&from, TRACE_TABLE_PROCESSES);
                }
        }
        ck_assert_uint_eq(trace_dictionary_count(&from, TRACE_TABLE_PROCESSES), 1000);
        ck_assert_uint_eq(trace_dictionary_count_new(&from), 0);
        ck_assert_uint_eq(trace_dictionary_count(&to, TRACE_TABLE_PROCESSES), 1000);
        for (uint32_t i = 1; i <= 1000; i++) {
                const struct trace_process *row = trace_dictionary_row(&to, TRACE_TABLE_PROCESSES, i);

                ck_assert_uint_eq(row->pid, 7 * i);
        }
        trace_dictionary_deinit(&from);
        trace_dictionary_deinit(&to);
}
END_TEST

/* Strings that pass through: a reader has all of them, the writer only the others, before and after. */
START_TEST(test_passing_strings)
{
        const struct intern *strings;
        struct trace_dictionary from, to;
        uint32_t id, known, n_kept = 0;
        char text[64];

        trace_dictionary_init(&from, 0);
        trace_dictionary_init(&to, 0);
        strings = &from.tables[TRACE_TABLE_STRINGS - TRACE_TABLE_FIRST];
        ck_assert_int_eq(trace_dictionary_add_string(&from, "known", 5, &known), 0);
        for (uint32_t i = 2; i <= 1000; i++) {
                int n_bytes = snprintf(text, sizeof(text), "text %u", i);

                if (i % 70 == 0)
                        ck_assert_int_eq(trace_dictionary_add_string(&from, text, (size_t)n_bytes, &id), 0);
                else
                        ck_assert_int_eq(trace_dictionary_pass_string(&from, text, (size_t)n_bytes, &id), 0);
                n_kept += i % 70 == 0;
                ck_assert_uint_eq(id, i);
                ck_assert_int_eq(trace_dictionary_pass_string(&from, "known", 5, &id), 0);
                ck_assert_uint_eq(id, known);
                if (i % 100 == 0) {
                        send_all(&from, &to);
                        trace_dictionary_forget_passed(&from);
                        ck_assert_uint_le(strings->items_used_bytes, 5 + 8 * n_kept);
                }
        }
        ck_assert_uint_eq(trace_dictionary_count_new(&from), 0);
        for (uint32_t i = 2; i <= 1000; i++) {
                int n_bytes = snprintf(text, sizeof(text), "text %u", i);

                ck_assert(text_view_equal(trace_dictionary_text(&to, i),
                                          (struct text_view){ text, (size_t)n_bytes }));
                if (i % 70 == 0) {
                        ck_assert(text_view_equal(trace_dictionary_text(&from, i),
                                                  (struct text_view){ text, (size_t)n_bytes }));
                        ck_assert_int_eq(trace_dictionary_add_string(&from, text, (size_t)n_bytes, &id), 0);
                        ck_assert_uint_eq(id, i);
                }
        }
        trace_dictionary_deinit(&from);
        trace_dictionary_deinit(&to);
}
END_TEST

static bool keeps_every_tenth(void *context, const void *row)
{
        unsigned *n_asked = context;

        ++*n_asked;
        return ((const struct trace_mapping *)row)->start_avma % 10 == 0;
}

/* Likewise for rows anywhere in a table whose ids are not in use. */
START_TEST(test_written_rows_are_dropped)
{
        struct trace_dictionary from, to;
        const struct trace_process process = { .pid = 1 };
        const struct trace_module module = { .kind = TRACE_MODULE_ANONYMOUS, .process = 1 };
        unsigned n_asked = 0;
        uint32_t id;

        trace_dictionary_init(&from, 0);
        trace_dictionary_init(&to, 0);
        ck_assert_int_eq(trace_dictionary_add(&from, TRACE_TABLE_PROCESSES, &process, &id), 0);
        ck_assert_int_eq(trace_dictionary_add(&from, TRACE_TABLE_MODULES, &module, &id), 0);
        for (uint32_t i = 1; i <= 1000; i++) {
                const struct trace_mapping row = { .start_avma = i, .process = 1, .module = 1 };

                ck_assert_int_eq(trace_dictionary_append_new(&from, TRACE_TABLE_MAPPINGS, &row, &id), 0);
                if (i % 200 == 100)
                        send_all(&from, &to);
                if (i % 200 == 0)
                        (void)trace_dictionary_drop(&from, TRACE_TABLE_MAPPINGS, keeps_every_tenth, &n_asked);
        }
        /* Those that were not sent yet are all there: 901 to 1,000. */
        ck_assert_uint_eq(trace_dictionary_count_new(&from), 100);
        ck_assert_uint_eq(trace_dictionary_count(&from, TRACE_TABLE_MAPPINGS), 90 + 100);
        ck_assert_uint_eq(n_asked, 100 + 210 + 230 + 250 + 270);
        send_all(&from, &to);
        ck_assert_uint_eq(trace_dictionary_drop(&from, TRACE_TABLE_MAPPINGS, keeps_every_tenth, &n_asked),
                          100);
        for (uint32_t i = 1; i <= 1000; i++) {
                const struct trace_mapping *row = trace_dictionary_row(&to, TRACE_TABLE_MAPPINGS, i);

                ck_assert_uint_eq(row->start_avma, i);
                if (i > 100)
                        continue;
                row = trace_dictionary_row(&from, TRACE_TABLE_MAPPINGS, i);
                ck_assert_uint_eq(row->start_avma, UINT64_C(10) * i);
        }

        /* Readers keep all of them: no more are written than there are ids. */
        for (uint32_t left = 0; left < 2; left++) {
                const struct trace_mapping row = { .start_avma = 1, .process = 1, .module = 1 };

                from.n_dropped[TRACE_TABLE_MAPPINGS - TRACE_TABLE_FIRST] = INTERN_ITEMS_MAX - 100 - left;
                ck_assert_int_eq(trace_dictionary_append_new(&from, TRACE_TABLE_MAPPINGS, &row, &id),
                                 left ? 0 : -EOVERFLOW);
        }
        trace_dictionary_deinit(&from);
        trace_dictionary_deinit(&to);
}
END_TEST

/* The longest string that is taken still goes into one body. */
START_TEST(test_longest_strings)
{
        char *text = calloc(1, STRING_BYTES_MAX + 1);
        struct trace_dictionary from, to;
        size_t n_bytes = 0;
        uint32_t id = 0;

        ck_assert_ptr_nonnull(text);
        trace_dictionary_init(&from, 0);
        trace_dictionary_init(&to, 0);
        ck_assert_int_eq(trace_dictionary_add_string(&from, text, STRING_BYTES_MAX + 1, &id), -EOVERFLOW);
        ck_assert_int_eq(trace_dictionary_add_string(&from, "a", 1, &id), 0);
        ck_assert_int_eq(trace_dictionary_add_string(&from, text, STRING_BYTES_MAX, &id), 0);
        ck_assert_int_eq(trace_dictionary_add_string(&from, "b", 1, &id), 0);
        send_all(&from, &to);
        expect_equal(&from, &to);
        (void)trace_dictionary_string(&to, 2, &n_bytes);
        ck_assert_uint_eq(n_bytes, STRING_BYTES_MAX);
        free(text);
        trace_dictionary_deinit(&from);
        trace_dictionary_deinit(&to);
}
END_TEST
