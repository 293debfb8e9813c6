/* SPDX-License-Identifier: MIT */
#include "view/document/cell_text.h"

#include "base/clock.h"
#include "view/text/text_number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define UNKNOWN     "-"
#define STACK_ARROW " < "

struct text_view cell_text_string(const struct view_document *d, const struct view_cell *cell)
{
        if (!cell->is_known)
                return (struct text_view){ .bytes = UNKNOWN, .n_bytes = strlen(UNKNOWN) };
        if (cell->string.n_bytes == 0)
                return (struct text_view){ .bytes = "", .n_bytes = 0 };
        return (struct text_view){
                .bytes = (const char *)d->strings.data + cell->string.at_bytes,
                .n_bytes = cell->string.n_bytes,
        };
}

struct text_view cell_text_next_frame(struct text_view *stack)
{
        const char *end = memchr(stack->bytes, '\0', stack->n_bytes);
        struct text_view frame = {
                .bytes = stack->bytes,
                .n_bytes = end ? (size_t)(end - stack->bytes) : stack->n_bytes,
        };
        size_t n_taken = frame.n_bytes + (end ? 1 : 0);

        stack->bytes += n_taken;
        stack->n_bytes -= n_taken;
        return frame;
}

static void add_stack(struct byte_buffer *out, struct text_view stack, bool is_short)
{
        uint32_t n_frames = 0;
        char words[32];

        while (stack.n_bytes != 0) {
                struct text_view frame = cell_text_next_frame(&stack);

                if (n_frames++ >= CELL_STACK_FRAMES && is_short)
                        continue;
                byte_buffer_add(out, STACK_ARROW, n_frames != 1 ? strlen(STACK_ARROW) : 0);
                if (frame.n_bytes != 0)
                        byte_buffer_add(out, frame.bytes, frame.n_bytes);
        }
        if (n_frames <= CELL_STACK_FRAMES || !is_short)
                return;
        (void)snprintf(words, sizeof(words), " < … %" PRIu32 " more", n_frames - CELL_STACK_FRAMES);
        byte_buffer_add(out, words, strlen(words));
}

void cell_text_add_string(struct byte_buffer *out, const struct view_document *d, enum view_type type,
                          const struct view_cell *cell, bool is_short)
{
        struct text_view s = cell_text_string(d, cell);
        const char *slash = type == VIEW_PLACE && is_short && s.n_bytes != 0
                                    ? memrchr(s.bytes, '/', s.n_bytes)
                                    : NULL;

        if (type == VIEW_STACK && cell->is_known) {
                add_stack(out, s, is_short);
                return;
        }
        if (slash) {
                s.n_bytes -= (size_t)(slash + 1 - s.bytes);
                s.bytes = slash + 1;
        }
        if (s.n_bytes != 0)
                byte_buffer_add(out, s.bytes, s.n_bytes);
}

static void add_words(struct byte_buffer *out, const char *words)
{
        byte_buffer_add(out, words, strlen(words));
}

static void put_number(struct byte_buffer *out, uint64_t number)
{
        char text[24];

        (void)snprintf(text, sizeof(text), "%" PRIu64, number);
        add_words(out, text);
}

/* All nine digits are written, so that the time can be given to --from and --to unchanged. */
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

static void add_count(struct byte_buffer *out, const struct view_column *column, const struct view_cell *cell)
{
        if (cell->is_time)
                add_words(out, text_number_duration(cell->number).text);
        else if (column->is_short)
                add_words(out, text_number_short(cell->number).text);
        else
                add_words(out, text_number_count(cell->number).text);
}

void cell_text_add_number(struct byte_buffer *out, const struct view_column *column,
                          const struct view_cell *cell)
{
        enum view_type type = column->type;

        if (!cell->is_known) {
                add_words(out, type == VIEW_BAR ? "" : UNKNOWN);
                return;
        }
        switch (type) {
        case VIEW_COUNT:
                add_count(out, column, cell);
                break;
        case VIEW_BOOL:
                add_words(out, cell->number != 0 ? "yes" : "no");
                break;
        case VIEW_ID:
                put_number(out, cell->number);
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
                else if (column->is_short && cell->real >= 10 && cell->real < (double)INT64_MAX)
                        add_words(out, text_number_short((uint64_t)cell->real).text);
                else
                        add_real(out, type, cell->real);
                break;
        case VIEW_DELTA:
                add_delta(out, cell->delta);
                break;
        case VIEW_BAR:
                add_bar(out, cell->real, column->n_columns_max);
                break;
        case VIEW_STRING:
        case VIEW_HANDLE:
        case VIEW_PLACE:
        case VIEW_STACK:
                break;
        }
}
