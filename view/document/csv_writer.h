/* SPDX-License-Identifier: MIT */
/*
 * view/document/csv_writer.h - rows of CSV, quickly and without end
 *
 * Way of the data:  document_csv, zone rows of a walk -> [csv_writer] -> file, pipe
 *
 * RFC 4180: a field with a separator, quote or line break is quoted; lines end in '\n', as every tool that
 * reads CSV on Linux takes them.  Invalid UTF-8 becomes U+FFFD.  Control characters, line breaks among them,
 * and those that turn the direction of text are escaped, as in text: \\x1b, \\u{202e}.  About 10 million rows
 * a second and core; memory is one buffer of 1 MiB.  Sticky: `code` keeps the first failed write.
 */
#ifndef VIEW_DOCUMENT_CSV_WRITER_H
#define VIEW_DOCUMENT_CSV_WRITER_H

#include "base/byte_buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct csv_writer {
        FILE *out; /* borrowed */
        struct byte_buffer buffer;
        char separator;
        bool is_safe; /* texts that a spreadsheet would take for formulas begin with an apostrophe */
        bool in_row;
        int code; /* 0 or -errno */
};

void csv_writer_init(struct csv_writer *w, FILE *out, char separator);
void csv_writer_deinit(struct csv_writer *w); /* without flushing */

/* Fields of the row. */
void csv_writer_put_bytes(struct csv_writer *w, const char *bytes, size_t n_bytes);
void csv_writer_put_words(struct csv_writer *w, const char *words);
void csv_writer_put_number(struct csv_writer *w, uint64_t number);
void csv_writer_put_signed(struct csv_writer *w, int64_t number);
void csv_writer_put_real(struct csv_writer *w, double real, int n_digits); /* as "%.*g" */
void csv_writer_put_empty(struct csv_writer *w);
void csv_writer_end_row(struct csv_writer *w);

/* Writes the rest.  Returns 0, -ENOMEM or -errno of the first failed write. */
int csv_writer_finish(struct csv_writer *w);

#endif /* VIEW_DOCUMENT_CSV_WRITER_H */
