/* SPDX-License-Identifier: MIT */
#include "analyze/live/live_shown.h"

#include "analyze/trace/function_labels.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/process/live_names.h"

#include <errno.h>
#include <stdlib.h>

struct live_shown {
        struct trace_dictionary copy; /* with the ids of frames and modules */
        uint32_t *first_rows;         /* heap; by frame: its first row of SYMBOLS in the copy; 0 = none */
        uint32_t n_frames;
};

static int copy_modules(struct live_shown *s, const struct trace_dictionary *d)
{
        int r = 0;

        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_MODULES) && r == 0; i++) {
                const struct trace_module *row = trace_dictionary_row(d, TRACE_TABLE_MODULES, i);
                struct text_view path = trace_dictionary_text(d, row->path);
                struct trace_module module = { .kind = row->kind, .inode = i };
                uint32_t id;

                r = trace_dictionary_add_string(&s->copy, path.bytes, path.n_bytes, &module.path);
                if (r == 0)
                        r = trace_dictionary_add_new(&s->copy, TRACE_TABLE_MODULES, &module, &id);
        }
        return r;
}

static int copy_name(struct live_shown *s, const struct live_names *names, uint32_t frame, uint32_t i)
{
        const struct live_names_row row = live_names_describe(names, frame, i);
        struct trace_symbol symbol = { .frame = frame,
                                       .flags = row.flags,
                                       .start_svma = row.start_svma,
                                       .declared_line = row.declared_line,
                                       .instance = row.instance };
        uint32_t id;
        int r = trace_dictionary_add_string(&s->copy, row.function.bytes, row.function.n_bytes,
                                            &symbol.function);

        if (r == 0 && row.declared_file.n_bytes > 0)
                r = trace_dictionary_add_string(&s->copy, row.declared_file.bytes, row.declared_file.n_bytes,
                                                &symbol.declared_file);
        if (r == 0)
                r = trace_dictionary_add(&s->copy, TRACE_TABLE_SYMBOLS, &symbol, &id);
        if (r == 0 && i == 0)
                s->first_rows[frame] = id;
        return r;
}

static int copy_frames(struct live_shown *s, const struct trace_dictionary *d, const struct live_names *names)
{
        int r = 0;

        for (uint32_t frame = 1; frame <= s->n_frames && r == 0; frame++) {
                const struct trace_frame *row = trace_dictionary_row(d, TRACE_TABLE_FRAMES, frame);
                uint32_t id;

                r = trace_dictionary_add_new(&s->copy, TRACE_TABLE_FRAMES, row, &id);
                for (uint32_t i = 0; i < live_names_count(names, frame) && r == 0; i++)
                        r = copy_name(s, names, frame, i);
        }
        return r;
}

int live_shown_renew(const struct trace_dictionary *dictionary, const struct live_names *names,
                     struct live_shown **shown)
{
        struct live_shown *s;
        int r;

        live_shown_free(*shown);
        *shown = NULL;
        if (!names->has_places)
                return 0;
        s = calloc(1, sizeof(*s));
        if (!s)
                return -ENOMEM;
        trace_dictionary_init(&s->copy, 0);
        s->n_frames = trace_dictionary_count(dictionary, TRACE_TABLE_FRAMES);
        s->first_rows = calloc((size_t)s->n_frames + 1, sizeof(*s->first_rows));
        r = s->first_rows ? copy_modules(s, dictionary) : -ENOMEM;
        if (r == 0)
                r = copy_frames(s, dictionary, names);
        if (r == 0)
                r = function_labels_settle(&s->copy);
        if (r < 0) {
                live_shown_free(s);
                return r == -EOVERFLOW ? 0 : r; /* without room the names are shown as they are */
        }
        *shown = s;
        return 0;
}

void live_shown_free(struct live_shown *s)
{
        if (!s)
                return;
        trace_dictionary_deinit(&s->copy);
        free(s->first_rows);
        free(s);
}

struct text_view live_shown_function(const struct live_shown *s, uint32_t frame, uint32_t i)
{
        const struct trace_symbol *row;
        uint32_t id = s && frame <= s->n_frames ? s->first_rows[frame] : 0;

        if (id == 0 || id + i > trace_dictionary_count(&s->copy, TRACE_TABLE_SYMBOLS))
                return (struct text_view){ .n_bytes = 0 };
        row = trace_dictionary_row(&s->copy, TRACE_TABLE_SYMBOLS, id + i);
        return row->frame == frame ? trace_dictionary_text(&s->copy, row->function)
                                   : (struct text_view){ .n_bytes = 0 };
}
