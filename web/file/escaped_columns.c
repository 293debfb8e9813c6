/* SPDX-License-Identifier: MIT */
#include "web/file/html_parts.h"

void escaped_columns_deinit(struct escaped_columns *c)
{
        byte_buffer_deinit(&c->escapes);
        byte_buffer_deinit(&c->columns);
}

void escaped_columns_clear(struct escaped_columns *c)
{
        byte_buffer_clear(&c->escapes);
        byte_buffer_clear(&c->columns);
}

static void add_number(struct escaped_columns *c, double value)
{
        if (value >= 0 && value < ESCAPED_COLUMN_MARK) {
                byte_buffer_add_u32(&c->columns, (uint32_t)value);
                return;
        }
        byte_buffer_add_u32(&c->columns, ESCAPED_COLUMN_MARK);
        byte_buffer_add(&c->escapes, &value, sizeof(value));
}

static void pad(struct escaped_columns *c, size_t n)
{
        if (n % 2 != 0)
                byte_buffer_add_u32(&c->columns, 0);
}

void escaped_columns_add(struct escaped_columns *c, const double *values, size_t n, int is_delta)
{
        double before = 0;

        for (size_t i = 0; i < n; i++) {
                add_number(c, values[i] - before);
                if (is_delta)
                        before = values[i];
        }
        pad(c, n);
}

void escaped_columns_add_less(struct escaped_columns *c, const double *values, const double *base, size_t n)
{
        for (size_t i = 0; i < n; i++)
                add_number(c, values[i] - base[i]);
        pad(c, n);
}

void escaped_columns_add_u32(struct escaped_columns *c, const uint32_t *values, size_t n)
{
        for (size_t i = 0; i < n; i++)
                add_number(c, values[i]);
        pad(c, n);
}

void escaped_columns_add_f64(struct escaped_columns *c, const double *values, size_t n)
{
        if (n > 0)
                byte_buffer_add(&c->columns, values, n * sizeof(*values));
}

uint32_t escaped_columns_count(const struct escaped_columns *c)
{
        return (uint32_t)(c->escapes.used_bytes / sizeof(double));
}

void escaped_columns_put(const struct escaped_columns *c, struct byte_buffer *out)
{
        if (c->escapes.used_bytes > 0)
                byte_buffer_add(out, c->escapes.data, c->escapes.used_bytes);
        if (c->columns.used_bytes > 0)
                byte_buffer_add(out, c->columns.data, c->columns.used_bytes);
        out->failed = out->failed || c->escapes.failed || c->columns.failed;
}
