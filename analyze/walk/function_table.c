/* SPDX-License-Identifier: MIT */
#include "analyze/walk/function_table.h"

#include "format/trace_dictionary.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* Rows of the table SYMBOLS: [first_row, first_row + n_rows) */
struct symbol_group {
        uint32_t first_row;
        uint32_t n_rows; /* 0 = the frame has none */
};

/*
 * Finds the last group of rows of every frame.  A group ends with the row that
 * is not inlined into the next, so two groups of one frame that follow each
 * other are not taken for one.
 */
static void function_table_find_symbols(const struct trace_dictionary *d, struct symbol_group *groups)
{
        uint32_t n_rows = trace_dictionary_count(d, TRACE_TABLE_SYMBOLS);
        uint32_t open_frame = 0; /* whose group the next row may continue */

        for (uint32_t i = 1; i <= n_rows; i++) {
                const struct trace_symbol *symbol = trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, i);
                struct symbol_group *group = &groups[symbol->frame];

                if (symbol->frame != open_frame)
                        *group = (struct symbol_group){ .first_row = i };
                if (group->n_rows < FUNCTION_TABLE_INLINED_MAX)
                        group->n_rows++;
                open_frame = (symbol->flags & TRACE_SYMBOL_INLINED) != 0 ? symbol->frame : 0;
        }
}

static struct function function_table_describe(const struct trace_dictionary *d, uint32_t module,
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
        int r = intern_add(&t->functions, function, sizeof(*function), &t->frames.labels[*n_used]);

        if (r >= 0)
                (*n_used)++;
        return r < 0 ? r : 0;
}

static int function_table_add_frame(struct function_table *t, const struct trace_dictionary *d,
                                    uint32_t frame, struct symbol_group group, uint32_t *n_used)
{
        const struct trace_frame *row = trace_dictionary_row(d, TRACE_TABLE_FRAMES, frame);
        struct function function;

        if (group.n_rows == 0) {
                function = function_table_describe(d, row->module, NULL);
                return add_label(t, &function, n_used);
        }
        for (uint32_t i = 0; i < group.n_rows; i++) {
                int r;

                function = function_table_describe(
                        d, row->module, trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, group.first_row + i));
                r = add_label(t, &function, n_used);
                if (r < 0)
                        return r;
        }
        return 0;
}

int function_table_init(struct function_table *t, const struct trace_dictionary *dictionary)
{
        static const struct function no_callstack = { .kind = FUNCTION_NO_CALLSTACK };
        uint32_t n_frames = trace_dictionary_count(dictionary, TRACE_TABLE_FRAMES);
        uint32_t n_symbols = trace_dictionary_count(dictionary, TRACE_TABLE_SYMBOLS);
        struct symbol_group *symbols = calloc((size_t)n_frames + 1, sizeof(*symbols));
        uint32_t n_used = 0;
        int r = -ENOMEM;

        *t = (struct function_table){ .frames.n_groups = n_frames + 1 };
        intern_init(&t->functions, sizeof(struct function), 0);
        t->frames.first = calloc((size_t)n_frames + 3, sizeof(*t->frames.first));
        t->frames.labels = calloc((size_t)n_frames + n_symbols + 1, sizeof(*t->frames.labels));
        if (!symbols || !t->frames.first || !t->frames.labels)
                goto fail;
        function_table_find_symbols(dictionary, symbols);
        for (uint32_t frame = 1; frame <= n_frames; frame++) {
                t->frames.first[frame] = n_used;
                r = function_table_add_frame(t, dictionary, frame, symbols[frame], &n_used);
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
}

const struct function *function_table_get(const struct function_table *t, uint32_t label)
{
        return intern_get(&t->functions, label, NULL);
}
