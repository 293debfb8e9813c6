/* SPDX-License-Identifier: MIT */
#include "import/file/csv_rows.h"

#include "base/error.h"
#include "import/file/import_source.h"
#include "import/file/wide_scan.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

void csv_rows_init(struct csv_rows *rows, struct import_source *source, char separator)
{
        *rows = (struct csv_rows){ .source = source, .separator = separator };
}

void csv_rows_deinit(struct csv_rows *rows)
{
        byte_buffer_deinit(&rows->text);
}

char csv_rows_guess_separator(struct text_view line)
{
        static const char separators[] = { ',', ';', '\t' };
        size_t most = 0;
        char best = ',';

        for (size_t i = 0; i < sizeof(separators); i++) {
                size_t n = 0;

                for (size_t j = 0; j < line.n_bytes; j++)
                        n += line.bytes[j] == separators[i];
                if (n > most) {
                        most = n;
                        best = separators[i];
                }
        }
        return best;
}

uint32_t csv_rows_split(struct text_view line, char separator, struct text_view fields[CSV_FIELDS_MAX])
{
        const char *at = line.n_bytes > 0 ? line.bytes : "", *end = at + line.n_bytes;
        uint32_t n = 0;

        while (n < CSV_FIELDS_MAX) {
                const char *stop = at < end ? memchr(at, separator, (size_t)(end - at)) : NULL;

                fields[n++] = (struct text_view){ at, (size_t)((stop ? stop : end) - at) };
                if (!stop)
                        break;
                at = stop + 1;
        }
        return n;
}

/*
 * The fields of a line of which some are in quotes, without those.  Returns false if it is not as simple: a
 * quote within a field, or a field that goes on in the next line.
 */
static bool split_quoted(struct csv_rows *rows, struct text_view line)
{
        const char *at = line.bytes, *end = at + line.n_bytes;

        for (rows->n_fields = 0; rows->n_fields < CSV_FIELDS_MAX;) {
                bool is_quoted = at < end && *at == '"';
                const char *from = at + is_quoted, *stop;

                if (is_quoted)
                        stop = memchr(from, '"', (size_t)(end - from));
                else
                        stop = wide_scan_find(from, end, rows->separator, '"');
                if (!stop)
                        return false;
                rows->fields[rows->n_fields++] = (struct text_view){ from, (size_t)(stop - from) };
                at = stop + is_quoted;
                if (at == end)
                        return true;
                if (*at++ != rows->separator)
                        return false;
        }
        return !memchr(at, '"', (size_t)(end - at));
}

static bool has_odd_quotes(struct text_view line)
{
        size_t n = 0;

        for (size_t i = 0; i < line.n_bytes; i++)
                n += line.bytes[i] == '"';
        return n % 2 != 0;
}

/* Takes the quotes away in place, and splits. */
static void unquote(struct csv_rows *rows)
{
        char *from = (char *)rows->text.data, *end = from + rows->text.used_bytes, *to = from, *begin = to;
        bool is_quoted = false;

        for (; from < end; from++) {
                if (*from == '"' && !(is_quoted && from + 1 < end && from[1] == '"')) {
                        is_quoted = !is_quoted;
                        continue;
                }
                if (*from == rows->separator && !is_quoted) {
                        if (rows->n_fields < CSV_FIELDS_MAX)
                                rows->fields[rows->n_fields++] = (struct text_view){ begin,
                                                                                     (size_t)(to - begin) };
                        begin = to;
                        continue;
                }
                if (*from == '"')
                        from++; /* two are one */
                *to++ = *from;
        }
        if (rows->n_fields < CSV_FIELDS_MAX)
                rows->fields[rows->n_fields++] = (struct text_view){ begin, (size_t)(to - begin) };
}

static int read_quoted(struct csv_rows *rows, struct text_view line, struct error *err)
{
        bool is_open = has_odd_quotes(line);

        byte_buffer_clear(&rows->text);
        byte_buffer_add(&rows->text, line.bytes, line.n_bytes);
        rows->n_fields = 0;
        while (is_open) {
                int r = import_source_next_line(rows->source, &line, err);

                if (r < 0)
                        return r;
                if (r == 0)
                        return 2;
                if (rows->text.used_bytes + line.n_bytes > IMPORT_LINE_BYTES_MAX)
                        return error_set(err, -EFBIG, "a row from line %llu on is longer than %u MiB",
                                         (unsigned long long)rows->line, IMPORT_LINE_BYTES_MAX >> 20);
                is_open ^= has_odd_quotes(line);
                byte_buffer_add_u8(&rows->text, '\n');
                byte_buffer_add(&rows->text, line.bytes, line.n_bytes);
        }
        if (rows->text.failed)
                return error_set(err, -ENOMEM, "no memory for a row");
        unquote(rows);
        return 1;
}

int csv_rows_next(struct csv_rows *rows, struct error *err)
{
        struct text_view line;
        int r;

        do
                r = import_source_next_line(rows->source, &line, err);
        while (r == 1 && line.n_bytes == 0);
        if (r != 1)
                return r;
        rows->line = import_source_line(rows->source);
        if (memchr(line.bytes, '"', line.n_bytes))
                return split_quoted(rows, line) ? 1 : read_quoted(rows, line, err);
        rows->n_fields = csv_rows_split(line, rows->separator, rows->fields);
        return 1;
}
