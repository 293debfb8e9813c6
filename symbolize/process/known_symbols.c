/* SPDX-License-Identifier: MIT */
#include "symbolize/process/known_symbols.h"

#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/process/symbol_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How much a group says; more is better. */
struct value {
        bool is_named, has_line;
        bool is_unnamed; /* only where the function begins is known */
};

static const struct trace_symbol *symbol_row(const struct trace_dictionary *d, uint32_t id)
{
        return trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, id);
}

int known_symbols_init(struct known_symbols *k, const struct trace_dictionary *dictionary, struct error *err)
{
        uint32_t n_frames = trace_dictionary_count(dictionary, TRACE_TABLE_FRAMES);

        *k = (struct known_symbols){ .dictionary = dictionary, .n_frames = n_frames };
        k->first_rows = trace_dictionary_find_symbols(dictionary);
        return k->first_rows ? 0
                             : error_set(err, -ENOMEM, "no memory for the symbols of %u frames", n_frames);
}

void known_symbols_deinit(struct known_symbols *k)
{
        free(k->first_rows);
        *k = (struct known_symbols){ .first_rows = NULL };
}

static void add_name(struct value *value, bool has_text, uint32_t flags)
{
        bool is_unnamed = (flags & TRACE_SYMBOL_UNNAMED) != 0;

        value->is_named |= has_text && !is_unnamed;
        value->is_unnamed |= has_text && is_unnamed;
}

static struct value value_of_rows(const struct trace_dictionary *d, uint32_t first)
{
        struct value value = { .is_named = false };

        for (uint32_t id = first; id != 0; id = trace_dictionary_next_symbol(d, id)) {
                add_name(&value, symbol_row(d, id)->function != 0, symbol_row(d, id)->flags);
                value.has_line |= symbol_row(d, id)->line != 0;
        }
        return value;
}

static struct value value_of_record(const struct symbol_stream_record *record)
{
        struct value value = { .is_named = false };

        for (uint32_t i = 0; i < record->n_rows; i++) {
                add_name(&value, record->rows[i].function.n_bytes > 0, record->rows[i].flags);
                value.has_line |= record->rows[i].line != 0;
        }
        return value;
}

static bool is_text(const struct trace_dictionary *d, uint32_t id, struct symbol_stream_text text)
{
        size_t n_bytes;
        const char *known = trace_dictionary_string(d, id, &n_bytes);

        return n_bytes == text.n_bytes && (n_bytes == 0 || memcmp(known, text.bytes, n_bytes) == 0);
}

static bool is_equal(const struct trace_dictionary *d, uint32_t first,
                     const struct symbol_stream_record *record)
{
        uint32_t id = first;

        for (uint32_t i = 0; i < record->n_rows; i++, id = trace_dictionary_next_symbol(d, id)) {
                const struct symbol_stream_row *new = &record->rows[i];
                const struct trace_symbol *old;

                if (id == 0)
                        return false;
                old = symbol_row(d, id);
                if (old->line != new->line || old->column != new->column || old->flags != new->flags ||
                    old->start_svma != new->start_svma || old->declared_line != new->declared_line ||
                    old->instance != new->instance || !is_text(d, old->function, new->function) ||
                    !is_text(d, old->file, new->file) ||
                    !is_text(d, old->declared_file, new->declared_file) ||
                    !is_text(d, old->aliases, new->aliases))
                        return false;
        }
        return id == 0;
}

bool known_symbols_is_news(const struct known_symbols *k, const struct symbol_stream_record *record)
{
        uint32_t first = record->id <= k->n_frames ? k->first_rows[record->id] : 0;
        struct value old, new;

        if (first == 0)
                return true;
        old = value_of_rows(k->dictionary, first);
        new = value_of_record(record);
        if ((old.is_named && !new.is_named) || (old.has_line && !new.has_line) ||
            (old.is_unnamed && !new.is_unnamed && !new.is_named))
                return false;
        return !is_equal(k->dictionary, first, record);
}

static void add_value(struct known_symbols_totals *totals, struct value value)
{
        totals->n_frames++;
        totals->n_named += value.is_named;
        totals->n_unnamed += !value.is_named && value.is_unnamed;
        totals->n_lines += value.has_line;
}

int known_symbols_count(const struct trace_dictionary *dictionary, struct known_symbols_totals *by_module,
                        struct known_symbols_totals *ret_totals, struct error *err)
{
        struct known_symbols_totals totals = { .n_frames = 0 };
        struct known_symbols all;
        int r = known_symbols_init(&all, dictionary, err);

        if (r < 0)
                return r;
        for (uint32_t i = 1; i <= trace_dictionary_count(dictionary, TRACE_TABLE_FRAMES); i++) {
                const struct trace_frame *frame = trace_dictionary_row(dictionary, TRACE_TABLE_FRAMES, i);
                const struct trace_module *module;
                struct value value = { .is_named = false };

                if (frame->module == 0)
                        continue;
                module = trace_dictionary_row(dictionary, TRACE_TABLE_MODULES, frame->module);
                if (module->kind == TRACE_MODULE_MARK)
                        continue;
                if (all.first_rows[i] != 0)
                        value = value_of_rows(dictionary, all.first_rows[i]);
                add_value(&totals, value);
                if (by_module)
                        add_value(&by_module[frame->module], value);
        }
        known_symbols_deinit(&all);
        *ret_totals = totals;
        return 0;
}
