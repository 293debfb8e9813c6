/* SPDX-License-Identifier: MIT */
#include "analyze/stats/wait_places.h"

#include "analyze/trace/function_name.h"
#include "base/text_view.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_WORDS (offsetof(struct wait_place, labels) / sizeof(uint32_t))

int wait_places_init(struct wait_places *p, const struct trace_dictionary *dictionary)
{
        *p = (struct wait_places){ .dictionary = dictionary };
        intern_init(&p->places, 0, 0);
        return function_table_init(&p->functions, dictionary);
}

void wait_places_deinit(struct wait_places *p)
{
        function_table_deinit(&p->functions);
        intern_deinit(&p->places);
        free(p->first_symbols);
        p->first_symbols = NULL;
}

int wait_places_fold(struct wait_places *p, const struct python_stacks *folds)
{
        p->folds = folds;
        p->first_symbols = trace_dictionary_find_symbols(p->dictionary);
        return p->first_symbols ? 0 : -ENOMEM;
}

static uint32_t line_of_python(const struct wait_places *p, uint32_t frame)
{
        uint32_t first = p->first_symbols[frame];
        const struct trace_symbol *symbol;

        if (first == 0 || !python_stacks_is_python(p->dictionary, frame))
                return 0;
        symbol = trace_dictionary_row(p->dictionary, TRACE_TABLE_SYMBOLS, first);
        return symbol->line;
}

bool wait_places_is_plumbing(struct text_view name)
{
#define X(prefix) prefix,
        static const char *const prefixes[] = { WAIT_PLACES_PLUMBING(X) NULL };
#undef X

        return text_view_begins_with_any(name, prefixes);
}

bool wait_places_is_c_library(struct text_view path)
{
        static const char *const prefixes[] = { "libc.so",  "libc-2", "libc.musl", "libpthread",
                                                "ld-linux", "ld-2",   "ld-musl",   "ld.so",
                                                "ld64.so",  "librt",  NULL };
        const char *slash = path.n_bytes != 0 ? memrchr(path.bytes, '/', path.n_bytes) : NULL;
        struct text_view file = path;

        if (slash) {
                file.bytes = slash + 1;
                file.n_bytes = path.n_bytes - (size_t)(file.bytes - path.bytes);
        }
        return text_view_begins_with_any(file, prefixes) || text_view_is(path, "[vdso]");
}

bool wait_places_is_own(const struct wait_places *p, uint32_t label)
{
        const struct function *function = function_table_get(&p->functions, label);

        return function->kind != FUNCTION_MARK &&
               !wait_places_is_c_library(trace_dictionary_text(p->dictionary, function->module));
}

/* The innermost informative function of the kernel; the innermost of all if none is informative. */
static void take_kernel_frame(const struct wait_places *p, uint32_t frame, struct wait_place *place,
                              bool *is_telling)
{
        const struct label_groups *frames = &p->functions.frames;

        for (uint32_t i = frames->first[frame]; i < frames->first[frame + 1] && !*is_telling; i++) {
                const struct function *function = function_table_get(&p->functions, frames->labels[i]);

                *is_telling = function->kind == FUNCTION_NAMED &&
                              !wait_places_is_plumbing(trace_dictionary_text(p->dictionary, function->name));
                if (*is_telling || place->kernel_label == 0)
                        place->kernel_label = frames->labels[i];
        }
}

static void take_frame(const struct wait_places *p, uint32_t frame, struct wait_place *place)
{
        const struct label_groups *frames = &p->functions.frames;

        for (uint32_t i = frames->first[frame]; i < frames->first[frame + 1]; i++) {
                if (place->n_labels == WAIT_PLACES_FRAMES_MAX) {
                        place->is_cut = true;
                        return;
                }
                place->labels[place->n_labels++] = frames->labels[i];
        }
}

/* Few frames of a stack are in the kernel: a stack with more of them than this limit is read no further. */
static void describe(const struct wait_places *p, uint32_t stack, struct wait_place *place)
{
        uint32_t n_kernel_left = WAIT_PLACES_FRAMES_MAX;
        bool is_telling = false;

        place->has_stack = stack != 0;
        while (stack != 0 && !place->is_cut) {
                const struct trace_stack *row = trace_dictionary_row(p->dictionary, TRACE_TABLE_STACKS,
                                                                     stack);

                if (!trace_dictionary_is_kernel_frame(p->dictionary, row->frame)) {
                        stack = python_stacks_shown(p->folds, stack);
                        row = trace_dictionary_row(p->dictionary, TRACE_TABLE_STACKS, stack);
                        if (p->folds && place->n_labels == 0)
                                place->line = line_of_python(p, row->frame);
                        take_frame(p, row->frame, place);
                } else {
                        if (n_kernel_left-- == 0)
                                break;
                        take_kernel_frame(p, row->frame, place, &is_telling);
                }
                stack = row->parent;
        }
}

static int keep(struct wait_places *p, const struct wait_place *place, uint32_t *ret_id)
{
        int r = intern_add(&p->places, place, (HEADER_WORDS + place->n_labels) * sizeof(uint32_t), ret_id);

        return r < 0 ? r : 0;
}

int wait_places_add(struct wait_places *p, uint32_t stack, uint32_t wait, uint32_t *ret_id)
{
        struct wait_place place = { .wait = wait };

        describe(p, stack, &place);
        return keep(p, &place, ret_id);
}

static bool is_client(const struct wait_places *p, uint32_t label)
{
        return wrapper_names_have_client(
                trace_dictionary_text(p->dictionary, function_table_get(&p->functions, label)->name));
}

int wait_places_add_told(struct wait_places *p, uint32_t stack, uint32_t *ret_id)
{
        struct wait_place place = { .wait = 0 };
        uint32_t n = 0;

        describe(p, stack, &place);
        while (n < place.n_labels && is_client(p, place.labels[n]))
                n++;
        if (n < place.n_labels) {
                place.n_labels -= n;
                memmove(place.labels, place.labels + n, place.n_labels * sizeof(place.labels[0]));
        }
        return keep(p, &place, ret_id);
}

void wait_places_get(const struct wait_places *p, uint32_t id, struct wait_place *ret_place)
{
        size_t n_bytes;
        const void *bytes = intern_get(&p->places, id, &n_bytes);

        memcpy(ret_place, bytes, n_bytes);
        ret_place->n_labels = (uint32_t)(n_bytes / sizeof(uint32_t) - HEADER_WORDS);
}

static bool is_wrapper(const struct wait_places *p, uint32_t label)
{
        return wrapper_names_have(
                trace_dictionary_text(p->dictionary, function_table_get(&p->functions, label)->name));
}

uint32_t wait_places_find_own(const struct wait_places *p, const struct wait_place *place)
{
        uint32_t own = place->n_labels;

        for (uint32_t i = 0; i < place->n_labels; i++) {
                if (!wait_places_is_own(p, place->labels[i]))
                        continue;
                if (!is_wrapper(p, place->labels[i]))
                        return i;
                if (own == place->n_labels)
                        own = i;
        }
        return own;
}

uint32_t wait_places_find_call(const struct wait_places *p, const struct wait_place *place)
{
        for (uint32_t i = wait_places_find_own(p, place); i > 0; i--) {
                uint32_t label = place->labels[i - 1];

                if (i < place->n_labels && function_table_get(&p->functions, label)->kind == FUNCTION_NAMED &&
                    !wait_places_is_own(p, label))
                        return label;
        }
        return 0;
}

uint32_t wait_places_find_waker(const struct wait_places *p, uint32_t stack)
{
        struct wait_place place = { .wait = 0 };
        uint32_t own;

        describe(p, stack, &place);
        own = wait_places_find_own(p, &place);
        if (own < place.n_labels)
                return place.labels[own];
        if (place.n_labels != 0)
                return place.labels[0];
        return place.kernel_label;
}
