/* SPDX-License-Identifier: MIT */
/*
 * web/file/escaped_columns.h - columns of whole numbers in 32 bits each, with a list of those that are larger
 *
 * Way of the data:  html_file (lanes), html_samples -> [escaped_columns] -> packed_text
 *
 * A number of 0xffffffff stands for the next escape, column after column; the escapes come first.
 */
#ifndef WEB_FILE_ESCAPED_COLUMNS_H
#define WEB_FILE_ESCAPED_COLUMNS_H

#include "base/byte_buffer.h"

#include <stddef.h>
#include <stdint.h>

#define ESCAPED_COLUMN_MARK UINT32_MAX

/* Zero-initialised: empty. */
struct escaped_columns {
        struct byte_buffer escapes, columns; /* owned */
};

void escaped_columns_deinit(struct escaped_columns *c);

/* Forgets the contents, keeps the memory. */
void escaped_columns_clear(struct escaped_columns *c);

/* A column of @n: the numbers, or with @is_delta each less the one before it. */
void escaped_columns_add(struct escaped_columns *c, const double *values, size_t n, int is_delta);

/* A column of the differences @values - @base. */
void escaped_columns_add_less(struct escaped_columns *c, const double *values, const double *base, size_t n);
void escaped_columns_add_u32(struct escaped_columns *c, const uint32_t *values, size_t n);

/* A column of floating numbers, as they are. */
void escaped_columns_add_f64(struct escaped_columns *c, const double *values, size_t n);

uint32_t escaped_columns_count(const struct escaped_columns *c);

/* Appends the escapes and the columns; without memory, @out failed. */
void escaped_columns_put(const struct escaped_columns *c, struct byte_buffer *out);

#endif /* WEB_FILE_ESCAPED_COLUMNS_H */
