/* SPDX-License-Identifier: MIT */
#include "view/document/cell_text.h"

#include "base/clock.h"
#include "view/text/text_number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define UNKNOWN "-"

struct report_string cell_text_string(const struct view_document *d, enum view_type type,
                                      const struct view_cell *cell, bool is_short)
{
        struct report_string s = { .bytes = UNKNOWN, .n_bytes = strlen(UNKNOWN) };
        const char *slash;

        if (!cell->is_known)
                return s;
        if (cell->string.n_bytes == 0)
                return (struct report_string){ .bytes = "", .n_bytes = 0 };
        s.bytes = (const char *)d->strings.data + cell->string.at_bytes;
        s.n_bytes = cell->string.n_bytes;
        slash = type == VIEW_PLACE && is_short ? memrchr(s.bytes, '/', s.n_bytes) : NULL;
        if (slash) {
                s.n_bytes -= (size_t)(slash + 1 - s.bytes);
                s.bytes = slash + 1;
        }
        return s;
}

static void add_words(struct byte_buffer *out, const char *words)
{
        byte_buffer_add(out, words, strlen(words));
}

static void add_number(struct byte_buffer *out, uint64_t number)
{
        char text[24];

        (void)snprintf(text, sizeof(text), "%" PRIu64, number);
        add_words(out, text);
}

/* All nine digits, so that it can be given to --from and --to as it is. */
static void add_time(struct byte_buffer *out, uint64_t time_ns)
{
        char text[48];

        (void)snprintf(text, sizeof(text), "%" PRIu64 ".%09" PRIu64 " s", time_ns / NS_PER_S,
                       time_ns % NS_PER_S);
        add_words(out, text);
}

static void add_delta(struct byte_buffer *out, int64_t delta)
{
        if (delta != 0)
                byte_buffer_add_u8(out, delta < 0 ? '-' : '+');
        add_words(out, text_number_duration(delta < 0 ? -(uint64_t)delta : (uint64_t)delta).text);
}

static void add_bar(struct byte_buffer *out, double length, uint32_t n_columns)
{
        uint32_t n;

        if (n_columns == 0)
                n_columns = CELL_BAR_COLUMNS;
        if (!(length > 0))
                return;
        n = length >= 1 ? n_columns : (uint32_t)lround(length * n_columns);
        for (uint32_t i = 0; i == 0 || i < n; i++)
                byte_buffer_add_u8(out, '#');
}

static void add_real_bytes(struct byte_buffer *out, double n_bytes)
{
        if (!(fabs(n_bytes) < (double)INT64_MAX)) {
                add_words(out, UNKNOWN);
                return;
        }
        if (n_bytes < 0)
                byte_buffer_add_u8(out, '-');
        add_words(out, text_number_bytes((uint64_t)fabs(n_bytes)).text);
}

static void add_real(struct byte_buffer *out, enum view_type type, double real)
{
        char text[48];

        if (!isfinite(real))
                (void)snprintf(text, sizeof(text), UNKNOWN);
        else if (type == VIEW_CHANGE && fabs(real) < 0.0005)
                (void)snprintf(text, sizeof(text), "0.0%%");
        else if (type == VIEW_CHANGE)
                (void)snprintf(text, sizeof(text), fabs(real) < 1e4 ? "%+.1f%%" : "%+.3g%%", real * 100);
        else if (type == VIEW_SHARE)
                (void)snprintf(text, sizeof(text), "%s", text_number_share(real).text);
        else if (fabs(real) >= 1e6 || (real != 0 && fabs(real) < 0.01))
                (void)snprintf(text, sizeof(text), "%.3g", real);
        else
                (void)snprintf(text, sizeof(text), "%.2f", real);
        add_words(out, text);
}

void cell_text_add_number(struct byte_buffer *out, enum view_type type, const struct view_cell *cell,
                          uint32_t n_columns_max)
{
        if (!cell->is_known) {
                add_words(out, type == VIEW_BAR ? "" : UNKNOWN);
                return;
        }
        switch (type) {
        case VIEW_COUNT:
                add_words(out, text_number_count(cell->number).text);
                break;
        case VIEW_ID:
                add_number(out, cell->number);
                break;
        case VIEW_DURATION:
                add_words(out, text_number_duration(cell->number).text);
                break;
        case VIEW_TIME:
                add_time(out, cell->number);
                break;
        case VIEW_BYTES:
                add_words(out, text_number_bytes(cell->number).text);
                break;
        case VIEW_SHARE:
        case VIEW_CHANGE:
        case VIEW_REAL:
                if (cell->is_bytes)
                        add_real_bytes(out, cell->real);
                else
                        add_real(out, type, cell->real);
                break;
        case VIEW_DELTA:
                add_delta(out, cell->delta);
                break;
        case VIEW_BAR:
                add_bar(out, cell->real, n_columns_max);
                break;
        case VIEW_STRING:
        case VIEW_HANDLE:
        case VIEW_PLACE:
                break;
        }
}
