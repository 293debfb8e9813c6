/* SPDX-License-Identifier: MIT */
#include "analyze/samples/function_table.h"

#include "analyze/trace/handle_word.h"
#include "base/array.h"
#include "base/error.h"
#include "format/trace_dictionary.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct function describe(const struct trace_dictionary *d, uint32_t module,
                                const struct trace_symbol *symbol)
{
        struct function function = { .kind = FUNCTION_NO_SYMBOL };

        if (module != 0) {
                const struct trace_module *row = trace_dictionary_row(d, TRACE_TABLE_MODULES, module);

                if (row->kind == TRACE_MODULE_MARK)
                        return (struct function){ .name = row->path, .kind = FUNCTION_MARK };
                function.module = row->path;
        } else {
                function.kind = FUNCTION_NO_MODULE;
        }
        if (!symbol)
                return function;
        if (symbol->function != 0) {
                function.name = symbol->function;
                function.kind = (symbol->flags & TRACE_SYMBOL_UNNAMED) != 0 ? FUNCTION_UNNAMED
                                                                            : FUNCTION_NAMED;
        } else if (symbol->flags & TRACE_SYMBOL_STALE_FILE) {
                function.kind = FUNCTION_STALE_FILE;
        }
        return function;
}

static int add_label(struct function_table *t, const struct function *function, uint32_t *n_used)
{
        uint32_t *label = &t->frames.labels[*n_used];
        int r = intern_add(&t->functions, function, sizeof(*function), label);

        if (r < 0)
                return r;
        if (array_reserve(&t->symbols, &t->symbols_capacity, (size_t)*label + 1, sizeof(*t->symbols)) < 0)
                return -ENOMEM;
        if (r == 1)
                t->symbols[*label] = 0;
        (*n_used)++;
        return 0;
}

/* Remembers a row for the label that was added last. */
static void take_symbol(struct function_table *t, const struct trace_dictionary *d, uint32_t row,
                        uint32_t n_used)
{
        uint32_t *known = &t->symbols[t->frames.labels[n_used - 1]];
        const struct trace_symbol *symbol;

        if (*known != 0) {
                symbol = trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, *known);
                if (symbol->declared_line != 0)
                        return;
                symbol = trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, row);
                if (symbol->declared_line == 0)
                        return;
        }
        *known = row;
}

static int add_frame(struct function_table *t, const struct trace_dictionary *d, uint32_t frame,
                     uint32_t first_symbol, uint32_t *n_used)
{
        const struct trace_frame *row = trace_dictionary_row(d, TRACE_TABLE_FRAMES, frame);
        struct function function;

        if (first_symbol == 0) {
                function = describe(d, row->module, NULL);
                return add_label(t, &function, n_used);
        }
        for (uint32_t id = first_symbol; id != 0 && id - first_symbol < FUNCTION_TABLE_INLINED_MAX;
             id = trace_dictionary_next_symbol(d, id)) {
                int r;

                function = describe(d, row->module, trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, id));
                r = add_label(t, &function, n_used);
                if (r < 0)
                        return r;
                take_symbol(t, d, id, *n_used);
        }
        return 0;
}

int function_table_init(struct function_table *t, const struct trace_dictionary *dictionary)
{
        static const struct function no_callstack = { .kind = FUNCTION_NO_CALLSTACK };
        uint32_t n_frames = trace_dictionary_count(dictionary, TRACE_TABLE_FRAMES);
        uint32_t n_symbols = trace_dictionary_count(dictionary, TRACE_TABLE_SYMBOLS);
        uint32_t *symbols = trace_dictionary_find_symbols(dictionary);
        uint32_t n_used = 0;
        int r = -ENOMEM;

        *t = (struct function_table){ .frames.n_groups = n_frames + 1 };
        intern_init(&t->functions, sizeof(struct function), 0);
        t->frames.first = calloc((size_t)n_frames + 3, sizeof(*t->frames.first));
        t->frames.labels = calloc((size_t)n_frames + n_symbols + 1, sizeof(*t->frames.labels));
        if (!symbols || !t->frames.first || !t->frames.labels)
                goto fail;
        for (uint32_t frame = 1; frame <= n_frames; frame++) {
                t->frames.first[frame] = n_used;
                r = add_frame(t, dictionary, frame, symbols[frame], &n_used);
                if (r < 0)
                        goto fail;
        }
        t->frames.first[n_frames + 1] = n_used;
        r = add_label(t, &no_callstack, &n_used);
        if (r < 0)
                goto fail;
        t->frames.first[n_frames + 2] = n_used;
        t->frames.n_labels = t->functions.n_items;
        free(symbols);
        return 0;
fail:
        free(symbols);
        function_table_deinit(t);
        return r;
}

void function_table_deinit(struct function_table *t)
{
        intern_deinit(&t->functions);
        label_groups_deinit(&t->frames);
        free(t->symbols);
        t->symbols = NULL;
        t->symbols_capacity = 0;
}

const struct function *function_table_get(const struct function_table *t, uint32_t label)
{
        return intern_get(&t->functions, label, NULL);
}

const struct trace_symbol *function_table_symbol(const struct function_table *t,
                                                 const struct trace_dictionary *dictionary, uint32_t label)
{
        uint32_t row = label < t->symbols_capacity ? t->symbols[label] : 0;

        return row != 0 ? trace_dictionary_row(dictionary, TRACE_TABLE_SYMBOLS, row) : NULL;
}

bool function_table_is_shadowed(const struct function_table *t, const struct trace_dictionary *dictionary,
                                uint32_t label)
{
        for (uint32_t i = 1; i <= t->functions.n_items; i++) {
                struct text_view name = trace_dictionary_text(dictionary, function_table_get(t, i)->name);
                const char *parameters = name.n_bytes > 0 ? memchr(name.bytes, '(', name.n_bytes) : NULL;

                if (parameters)
                        name.n_bytes = (size_t)(parameters - name.bytes);
                while (name.n_bytes > 0 && name.bytes[name.n_bytes - 1] == ' ') /* of "f2 (a.c)" */
                        name.n_bytes--;
                if (i != label && handle_word_is_name('f', label, name))
                        return true;
        }
        return false;
}

int function_table_find_handle(const struct function_table *t, const struct trace_dictionary *dictionary,
                               const char *wanted, uint32_t *ret_label, struct error *err)
{
        struct handle_word word = handle_word_parse(wanted, 'f');

        if (word.id > t->functions.n_items && word.is_certain)
                return error_set(err, -ENOENT, "no function '%s' in this trace", wanted);
        if (word.id == 0 || word.id > t->functions.n_items)
                return 0;
        if (!word.is_certain && function_table_is_shadowed(t, dictionary, word.id))
                return handle_word_refuse(
                        &word, "function",
                        trace_dictionary_text(dictionary, function_table_get(t, word.id)->name), err);
        *ret_label = word.id;
        return 1;
}
