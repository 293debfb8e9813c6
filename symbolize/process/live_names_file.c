/* SPDX-License-Identifier: MIT */
#include "symbolize/process/live_names.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "format/trace_spec.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define READ_BYTES  65536
#define KNOWN_FLAGS (TRACE_SYMBOL_INLINED | TRACE_SYMBOL_STALE_FILE | TRACE_SYMBOL_UNNAMED)

/* While the file is read. */
struct names_taker {
        struct trace_dictionary *d;
        bool *is_named; /* heap; by frame: by the trace itself */
        uint32_t n_frames;
        struct byte_buffer input; /* read, and not taken yet */
};

static int names_taker_init(struct names_taker *t, struct trace_dictionary *d)
{
        uint32_t n_symbols = trace_dictionary_count(d, TRACE_TABLE_SYMBOLS);

        *t = (struct names_taker){ .d = d, .n_frames = trace_dictionary_count(d, TRACE_TABLE_FRAMES) };
        t->is_named = calloc((size_t)t->n_frames + 1, sizeof(*t->is_named));
        if (!t->is_named)
                return -ENOMEM;
        for (uint32_t i = 1; i <= n_symbols; i++) {
                const struct trace_symbol *row = trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, i);

                if (row->frame <= t->n_frames)
                        t->is_named[row->frame] = true;
        }
        return 0;
}

static void names_taker_deinit(struct names_taker *t)
{
        free(t->is_named);
        byte_buffer_deinit(&t->input);
}

static int names_taker_add(struct names_taker *t, const struct live_names_row *row)
{
        struct trace_symbol symbol = { .frame = row->frame,
                                       .line = row->line,
                                       .flags = row->flags & KNOWN_FLAGS,
                                       .start_svma = row->start_svma,
                                       .declared_line = row->declared_line,
                                       .instance = row->instance };
        uint32_t id;
        int r;

        if (row->frame == 0 || row->frame > t->n_frames || t->is_named[row->frame])
                return 0;
        r = trace_dictionary_add_string(t->d, row->function.bytes, row->function.n_bytes, &symbol.function);
        if (r == 0)
                r = trace_dictionary_add_string(t->d, row->file.bytes, row->file.n_bytes, &symbol.file);
        if (r == 0 && row->declared_file.n_bytes > 0)
                r = trace_dictionary_add_string(t->d, row->declared_file.bytes, row->declared_file.n_bytes,
                                                &symbol.declared_file);
        return r < 0 ? r : trace_dictionary_add(t->d, TRACE_TABLE_SYMBOLS, &symbol, &id);
}

/* The whole rows of what was read. */
static int names_taker_take(struct names_taker *t)
{
        struct byte_reader in = byte_reader_of(t->input.data, t->input.used_bytes);
        struct live_names_row row;
        size_t n_taken = 0;

        while (live_names_row_decode(&in, &row) == 1) {
                int r = names_taker_add(t, &row);

                if (r < 0)
                        return r;
                n_taken = t->input.used_bytes - in.left;
        }
        t->input.used_bytes -= n_taken;
        memmove(t->input.data, t->input.data + n_taken, t->input.used_bytes);
        return 0;
}

int live_names_file_take(struct trace_dictionary *d, int fd, struct error *err)
{
        struct names_taker t;
        uint64_t at_bytes = 0;
        size_t got = 1;
        int r = names_taker_init(&t, d);

        while (r == 0 && got > 0 && t.input.used_bytes <= LIVE_NAMES_ROW_BYTES_MAX) {
                uint8_t *to = byte_buffer_reserve(&t.input, READ_BYTES);

                r = to ? io_pread_full(fd, to, READ_BYTES, at_bytes, &got, err) : -ENOMEM;
                if (r < 0)
                        break;
                t.input.used_bytes += got;
                at_bytes += got;
                r = names_taker_take(&t);
        }
        names_taker_deinit(&t);
        return r == -ENOMEM || r == -EOVERFLOW ? error_set(err, r, "no memory for the names of functions")
                                               : r;
}
