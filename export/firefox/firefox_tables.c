/* SPDX-License-Identifier: MIT */
#include "export/firefox/firefox_tables.h"

#include "analyze/trace/zone_paths.h"
#include "base/array.h"
#include "export/shared/waiting_words.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int firefox_tables_init(struct firefox_tables *t, const struct trace_dictionary *dictionary)
{
        *t = (struct firefox_tables){ .places_capacity = 0 };
        intern_init(&t->strings, 0, 0);
        intern_init(&t->stacks, sizeof(struct firefox_stack), 0);
        intern_init(&t->rows, sizeof(struct firefox_frame), 0);
        intern_init(&t->functions, sizeof(struct firefox_function), 0);
        intern_init(&t->libs, sizeof(uint32_t), 0);
        intern_init(&t->sources, sizeof(uint32_t), 0);
        intern_init(&t->places, sizeof(struct firefox_place), 0);
        return export_frames_init(&t->frames, dictionary);
}

void firefox_tables_deinit(struct firefox_tables *t)
{
        export_frames_deinit(&t->frames);
        intern_deinit(&t->strings);
        intern_deinit(&t->stacks);
        intern_deinit(&t->rows);
        intern_deinit(&t->functions);
        intern_deinit(&t->libs);
        intern_deinit(&t->sources);
        intern_deinit(&t->places);
        free(t->place_stacks);
        free(t->way);
}

static int add(struct intern *table, const void *row, uint32_t *ret_id)
{
        int r = intern_add(table, row, table->item_bytes, ret_id);

        return r < 0 ? r : 0;
}

static int add_string(struct firefox_tables *t, const char *bytes, size_t n_bytes, uint32_t *ret_id)
{
        int r = intern_add(&t->strings, bytes ? bytes : "", n_bytes, ret_id);

        return r < 0 ? r : 0;
}

int firefox_tables_string(struct firefox_tables *t, const char *bytes, size_t n_bytes, uint32_t *ret_index)
{
        uint32_t id;
        int r = add_string(t, bytes, n_bytes, &id);

        if (r == 0)
                *ret_index = id - 1;
        return r;
}

/* ------------------------------------------------------------------ frames and stacks */

static uint32_t category_of(const struct firefox_tables *t, const struct export_frame *frame)
{
        uint32_t module = export_frames_module(&t->frames, frame);
        const struct trace_module *row;

        if (frame->location != 0)
                return FIREFOX_CATEGORY_ZONE;
        if (module == 0)
                return FIREFOX_CATEGORY_OTHER;
        row = trace_dictionary_row(t->frames.dictionary, TRACE_TABLE_MODULES, module);
        switch (row->kind) {
        case TRACE_MODULE_FILE:
        case TRACE_MODULE_VDSO:
                return FIREFOX_CATEGORY_USER;
        case TRACE_MODULE_KERNEL:
                return FIREFOX_CATEGORY_KERNEL;
        case TRACE_MODULE_ANONYMOUS:
        case TRACE_MODULE_IMAGE:
                return FIREFOX_CATEGORY_JIT;
        default:
                return FIREFOX_CATEGORY_OTHER;
        }
}

/* A mark is not a file that contains code. */
static int add_lib(struct firefox_tables *t, const struct export_frame *frame, uint32_t *ret_lib)
{
        uint32_t module = export_frames_module(&t->frames, frame);
        const struct trace_module *row;

        *ret_lib = 0;
        if (module == 0)
                return 0;
        row = trace_dictionary_row(t->frames.dictionary, TRACE_TABLE_MODULES, module);
        return row->kind == TRACE_MODULE_MARK ? 0 : add(&t->libs, &module, ret_lib);
}

static int add_function(struct firefox_tables *t, const struct export_frame *frame, uint32_t *ret_function)
{
        struct firefox_function function = { .name = 0 };
        uint32_t file, line;
        size_t n_bytes;
        const char *name = export_frames_name(&t->frames, frame, &n_bytes);
        int r = name ? add_string(t, name, n_bytes, &function.name) : -ENOMEM;

        if (r == 0)
                r = add_lib(t, frame, &function.lib);
        file = export_frames_file(&t->frames, frame, &line);
        if (r == 0 && file != 0)
                r = add(&t->sources, &file, &function.source);
        return r < 0 ? r : add(&t->functions, &function, ret_function);
}

static uint32_t column_of(const struct firefox_tables *t, const struct export_frame *frame)
{
        const struct trace_symbol *row;

        if (frame->symbol == 0)
                return 0;
        row = trace_dictionary_row(t->frames.dictionary, TRACE_TABLE_SYMBOLS, frame->symbol);
        return row->column;
}

static int push_frame(struct firefox_tables *t, const struct export_frame *frame, uint32_t *stack)
{
        struct firefox_frame row = {
                .address = export_frames_address(&t->frames, frame),
                .has_address = frame->frame != 0,
                .inline_depth = frame->inline_depth,
                .category = category_of(t, frame),
                .column = column_of(t, frame),
        };
        struct firefox_stack step = { .prefix = *stack };
        int r = add_function(t, frame, &row.function);

        (void)export_frames_file(&t->frames, frame, &row.line);
        if (r == 0)
                r = add(&t->rows, &row, &step.frame);
        return r < 0 ? r : add(&t->stacks, &step, stack);
}

/* Pushes the frames of the last lookup inside the frames of *@stack. */
static int push_frames(struct firefox_tables *t, uint32_t *stack)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < t->frames.n_items; i++)
                r = push_frame(t, &t->frames.items[i], stack);
        return r;
}

static int push_waiting(struct firefox_tables *t, uint32_t waiting, uint32_t *stack)
{
        const char *words = waiting_words_of(waiting - 1);
        bool is_preempted = waiting - 1 == TRACE_WAIT_PREEMPTED;
        struct firefox_frame row = { .category = is_preempted ? FIREFOX_CATEGORY_IDLE
                                                              : FIREFOX_CATEGORY_OFF_CPU };
        struct firefox_function function = { .lib = 0 };
        struct firefox_stack step = { .prefix = *stack };
        int r = add_string(t, words, strlen(words), &function.name);

        if (r == 0)
                r = add(&t->functions, &function, &row.function);
        if (r == 0)
                r = add(&t->rows, &row, &step.frame);
        return r < 0 ? r : add(&t->stacks, &step, stack);
}

static int note_place(struct firefox_tables *t, const struct firefox_place *place, uint32_t stack)
{
        uint32_t id;
        int r = add(&t->places, place, &id);

        if (r < 0)
                return r;
        if (array_reserve(&t->place_stacks, &t->places_capacity, id, sizeof(*t->place_stacks)) < 0)
                return -ENOMEM;
        t->place_stacks[id - 1] = stack;
        return 0;
}

/* Returns whether the place is known. */
static bool find_place(const struct firefox_tables *t, const struct firefox_place *place, uint32_t *ret_stack)
{
        uint32_t id = intern_find(&t->places, place, sizeof(*place));

        if (id != 0)
                *ret_stack = t->place_stacks[id - 1];
        return id != 0;
}

static int push_way(struct firefox_tables *t, size_t n, uint32_t id)
{
        if (array_reserve(&t->way, &t->way_capacity, n + 1, sizeof(*t->way)) < 0)
                return -ENOMEM;
        t->way[n] = id;
        return 0;
}

/* Zones alone: adds zones inwards from the nearest known zone around. */
static int find_path(struct firefox_tables *t, const struct zone_paths *paths, uint32_t path,
                     uint32_t *ret_stack)
{
        struct firefox_place place = { .path = path };
        size_t n = 0;
        int r = 0;

        *ret_stack = 0;
        for (; place.path != 0 && !find_place(t, &place, ret_stack);
             place.path = zone_paths_parent(paths, place.path))
                if (push_way(t, n++, place.path) < 0)
                        return -ENOMEM;
        while (r == 0 && n > 0) {
                struct export_frame frame = { .location = zone_paths_location(paths, t->way[--n]) };

                r = push_frame(t, &frame, ret_stack);
                place.path = t->way[n];
                if (r == 0)
                        r = note_place(t, &place, *ret_stack);
        }
        return r;
}

/* The same, with the call stack inside the zones. */
static int find_stack(struct firefox_tables *t, const struct zone_paths *paths, uint32_t path, uint32_t stack,
                      uint32_t *ret_stack)
{
        const struct trace_dictionary *d = t->frames.dictionary;
        struct firefox_place place = { .path = path, .stack = stack };
        const struct trace_stack *row;
        uint32_t outer;
        size_t n = 0;
        int r = find_path(t, paths, path, &outer);

        *ret_stack = outer;
        while (r == 0 && place.stack != 0 && !find_place(t, &place, ret_stack)) {
                r = push_way(t, n++, place.stack);
                row = trace_dictionary_row(d, TRACE_TABLE_STACKS, place.stack);
                place.stack = row->parent;
        }
        while (r == 0 && n > 0) {
                place.stack = t->way[--n];
                row = trace_dictionary_row(d, TRACE_TABLE_STACKS, place.stack);
                r = export_frames_of_frame(&t->frames, row->frame);
                if (r == 0)
                        r = push_frames(t, ret_stack);
                if (r == 0)
                        r = note_place(t, &place, *ret_stack);
        }
        return r;
}

int firefox_tables_stack(struct firefox_tables *t, const struct zone_paths *paths, uint32_t path,
                         uint32_t stack, uint32_t waiting, uint32_t *ret_stack)
{
        struct firefox_place place = { .path = path, .stack = stack, .waiting = waiting };
        int r;

        if (stack != 0 || waiting != 0) {
                if (find_place(t, &place, ret_stack))
                        return 0;
                r = find_stack(t, paths, path, stack, ret_stack);
        } else {
                r = find_path(t, paths, path, ret_stack);
                if (r == 0)
                        r = export_frames_of(&t->frames, paths, 0, 0);
                return r < 0 ? r : push_frames(t, ret_stack);
        }
        if (r == 0 && waiting != 0) {
                r = push_waiting(t, waiting, ret_stack);
                if (r == 0)
                        r = note_place(t, &place, *ret_stack);
        }
        return r;
}
