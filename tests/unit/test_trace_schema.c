/* SPDX-License-Identifier: MIT */
/*
 * format/trace_schema.c: every field lies in its row and beside the others, every reference
 * points to a table before
 */
#include "format/trace_schema.h"
#include "tests/unit/unit_test.h"

#include <string.h>

/* Rows and fields that the dictionary has room for. */
#define FIELDS_MAX 16

/* loop test: table by table */
START_LOOP_TEST(test_fields_fill_the_row, TRACE_TABLE_FIRST, TRACE_TABLE_FIRST + TRACE_TABLE_COUNT)
{
        const struct trace_schema *schema = trace_schema_find((uint32_t)_i);
        bool taken[TRACE_ROW_BYTES_MAX] = { false };
        size_t n_taken = 0;

        ck_assert_ptr_nonnull(schema);
        ck_assert_int_eq((int)schema->table, _i);
        ck_assert_uint_le(schema->row_bytes, TRACE_ROW_BYTES_MAX);
        ck_assert_uint_le(schema->n_fields, FIELDS_MAX);
        ck_assert_int_eq(schema->n_fields == 0, schema->table == TRACE_TABLE_STRINGS);
        for (uint32_t f = 0; f < schema->n_fields; f++) {
                const struct trace_field *field = &schema->fields[f];

                ck_assert(field->width_bytes == 4 || field->width_bytes == 8);
                ck_assert_uint_eq(field->offset_bytes % field->width_bytes, 0);
                ck_assert_uint_le(field->offset_bytes + field->width_bytes, schema->row_bytes);
                for (uint32_t i = 0; i < field->width_bytes; i++) {
                        ck_assert(!taken[field->offset_bytes + i]);
                        taken[field->offset_bytes + i] = true;
                }
                n_taken += field->width_bytes;
        }
        /*
         * No padding, since rows are compared as bytes: at most last members that fill the struct and are 0.
         */
        if (n_taken != schema->row_bytes) {
                ck_assert_uint_le(schema->row_bytes - n_taken, 2 * sizeof(uint32_t));
                for (size_t i = n_taken; i < schema->row_bytes; i++)
                        ck_assert(!taken[i]);
        }
}
END_TEST

/* loop test: table by table; the decoder finds columns by their place, so they count from 1 */
START_LOOP_TEST(test_columns_and_names_are_unique, TRACE_TABLE_FIRST, TRACE_TABLE_FIRST + TRACE_TABLE_COUNT)
{
        const struct trace_schema *schema = trace_schema_find((uint32_t)_i);

        for (uint32_t f = 0; f < schema->n_fields; f++) {
                ck_assert_uint_eq(schema->fields[f].column, f + 1);
                for (uint32_t g = 0; g < f; g++)
                        ck_assert_str_ne(schema->fields[f].name, schema->fields[g].name);
        }
        for (uint32_t other = TRACE_TABLE_FIRST; other < (uint32_t)_i; other++)
                ck_assert_str_ne(schema->name, trace_schema_find(other)->name);
}
END_TEST

static uint32_t order_of(uint32_t table)
{
        uint32_t n = 0;

        while (n < TRACE_TABLE_COUNT && trace_schema_nth_table(n) != table)
                n++;
        ck_assert_uint_lt(n, TRACE_TABLE_COUNT);
        return n;
}

/* loop test: a reference never points to a table that is written later */
START_LOOP_TEST(test_references_point_back, TRACE_TABLE_FIRST, TRACE_TABLE_FIRST + TRACE_TABLE_COUNT)
{
        const struct trace_schema *schema = trace_schema_find((uint32_t)_i);

        for (uint32_t f = 0; f < schema->n_fields; f++) {
                const struct trace_field *field = &schema->fields[f];

                /* Absent fields are 0, which must be good then. */
                ck_assert(!field->optional || field->reference != TRACE_REFERENCE_REQUIRED);
                if (field->reference == TRACE_REFERENCE_NONE) {
                        ck_assert_uint_eq(field->table, 0);
                        continue;
                }
                ck_assert_ptr_nonnull(trace_schema_find(field->table));
                ck_assert_uint_eq(field->width_bytes, 4);
                if (field->reference == TRACE_REFERENCE_EARLIER)
                        ck_assert_uint_eq(field->table, schema->table);
                else
                        ck_assert_uint_lt(order_of(field->table), order_of(schema->table));
        }
}
END_TEST

/* loop test: a field is written and read alone, whatever is around it */
START_LOOP_TEST(test_get_and_set, TRACE_TABLE_FIRST, TRACE_TABLE_FIRST + TRACE_TABLE_COUNT)
{
        const struct trace_schema *schema = trace_schema_find((uint32_t)_i);
        _Alignas(8) uint8_t row[TRACE_ROW_BYTES_MAX];

        for (uint32_t f = 0; f < schema->n_fields; f++) {
                const struct trace_field *field = &schema->fields[f];
                uint64_t max = trace_field_max(field);

                ck_assert_uint_eq(max, field->width_bytes == 4 ? UINT32_MAX : UINT64_MAX);
                memset(row, 0, sizeof(row));
                trace_field_set(field, row, max - 1);
                ck_assert_uint_eq(trace_field_get(field, row), max - 1);
                for (uint32_t g = 0; g < schema->n_fields; g++)
                        ck_assert_uint_eq(trace_field_get(&schema->fields[g], row), g == f ? max - 1 : 0);
                memset(row, 0xff, sizeof(row));
                trace_field_set(field, row, 0);
                for (uint32_t g = 0; g < schema->n_fields; g++)
                        ck_assert_uint_eq(trace_field_get(&schema->fields[g], row),
                                          g == f ? 0 : trace_field_max(&schema->fields[g]));
        }
}
END_TEST

START_TEST(test_names_are_those_of_the_specification)
{
#define X(id, ID, text) ck_assert_str_eq(trace_schema_find(id)->name, text);
        TRACE_TABLES(X)
#undef X
}
END_TEST

START_TEST(test_unknown_tables)
{
        ck_assert_ptr_null(trace_schema_find(0));
        ck_assert_ptr_null(trace_schema_find(TRACE_CHUNK_EVENTS));
        ck_assert_ptr_null(trace_schema_find(TRACE_TABLE_FIRST - 1));
        ck_assert_ptr_null(trace_schema_find(TRACE_TABLE_FIRST + TRACE_TABLE_COUNT));
        ck_assert_ptr_null(trace_schema_find(UINT32_MAX));
}
END_TEST
