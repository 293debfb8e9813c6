/* SPDX-License-Identifier: MIT */
#include "analyze/samples/function_choice.h"

#include "analyze/samples/function_table.h"
#include "analyze/samples/sampled_trace.h"
#include "analyze/trace/function_name.h"
#include "base/intern.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PART_MARK ".cold"

/* How well a function fits, the best first. */
enum fit { FIT_EXACT, FIT_EXACT_INLINED, FIT_PART, FIT_PART_INLINED, FIT_NONE };

struct candidate_key {
        uint32_t module;
        uint32_t name;       /* 0 = none */
        uint32_t is_inlined; /* the places where it was inlined */
};

struct candidate {
        struct sample_sum sum;
        enum fit fit;
};

struct search {
        const struct sampled_trace *trace;
        const struct function_request *request;
        struct intern keys; /* struct candidate_key */
        struct candidate *candidates;
        size_t capacity;
};

static enum fit fit_of_name(struct text_view name, const char *wanted)
{
        size_t n = strlen(wanted);

        if (n == 0 || name.n_bytes < n)
                return FIT_NONE;
        if (plain_name_is(name, (struct text_view){ wanted, n }))
                return FIT_EXACT;
        return memmem(name.bytes, name.n_bytes, wanted, n) ? FIT_PART : FIT_NONE;
}

static bool is_exact(const struct search *s, const struct candidate_key *key)
{
        const struct function *exact = s->request->exact;
        const struct trace_module *row;

        if (key->module == 0 || key->name != exact->name)
                return false;
        row = trace_dictionary_row(s->trace->dictionary, TRACE_TABLE_MODULES, key->module);
        return row->path == exact->module;
}

static enum fit fit_of(const struct search *s, const struct candidate_key *key)
{
        struct text_view name = trace_dictionary_text(s->trace->dictionary, key->name);
        enum fit fit;

        if (s->request->only_inlined && !key->is_inlined)
                return FIT_NONE;
        if (s->request->exact)
                fit = is_exact(s, key) ? FIT_EXACT : FIT_NONE;
        else if (!s->request->name)
                fit = key->name != 0 && (!key->is_inlined || s->request->only_inlined) ? FIT_PART : FIT_NONE;
        else if (key->name == 0)
                fit = strcmp(s->request->name, FUNCTION_CHOICE_NO_SYMBOL) == 0 ? FIT_EXACT : FIT_NONE;
        else
                fit = fit_of_name(name, s->request->name);
        if (key->is_inlined && fit != FIT_NONE)
                fit = fit == FIT_EXACT ? FIT_EXACT_INLINED : FIT_PART_INLINED;
        return fit;
}

static bool is_module(const struct search *s, uint32_t module)
{
        const struct trace_dictionary *d = s->trace->dictionary;
        const struct trace_module *row;
        struct text_view path;
        const char *wanted = s->request->module;

        if (!wanted)
                return true;
        if (module == 0)
                return false;
        row = trace_dictionary_row(d, TRACE_TABLE_MODULES, module);
        path = trace_dictionary_text(d, row->path);
        return path.n_bytes > 0 && memmem(path.bytes, path.n_bytes, wanted, strlen(wanted));
}

static int add_key(struct search *s, const struct candidate_key *key, const struct sample_sum *sum)
{
        uint32_t id;
        int r = intern_add_row(&s->keys, key, &s->candidates, &s->capacity, sizeof(*s->candidates), &id);

        if (r < 0)
                return r;
        if (r == 1)
                s->candidates[id - 1].fit = fit_of(s, key);
        sample_sum_add(&s->candidates[id - 1].sum, sum);
        return 0;
}

/* Whether a function also appears further inwards in the chain: inlined recursion counts once. */
static bool is_repeated(const struct trace_dictionary *d, uint32_t first, uint32_t i)
{
        const struct trace_symbol *row = trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, first + i);

        for (uint32_t k = 0; k < i; k++) {
                const struct trace_symbol *other = trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, first + k);

                if (other->function == row->function)
                        return true;
        }
        return false;
}

/* Adds the function that contains the frame's code, and the functions that were inlined there. */
static int add_frame(struct search *s, uint32_t frame, const struct sample_sum *sum)
{
        const struct trace_dictionary *d = s->trace->dictionary;
        const struct trace_frame *row = trace_dictionary_row(d, TRACE_TABLE_FRAMES, frame);
        struct candidate_key key = { .module = row->module, .name = sampled_trace_function(s->trace, frame) };
        uint32_t first, n = sampled_trace_symbols(s->trace, frame, &first);
        uint32_t own = key.name;
        int r = key.module != 0 || key.name != 0 ? add_key(s, &key, sum) : 0;

        key.is_inlined = true;
        for (uint32_t i = 0; i + 1 < n && r == 0; i++) {
                const struct trace_symbol *symbol = trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, first + i);

                key.name = symbol->function;
                if (key.name != 0 && key.name != own && !is_repeated(d, first, i))
                        r = add_key(s, &key, sum);
        }
        return r;
}

static int add_samples(struct search *s)
{
        const struct sample_stats *samples = &s->trace->samples;
        int r = 0;

        for (uint32_t i = 0; i < sample_stats_count(samples) && r == 0; i++) {
                const struct sample_key *key = sample_stats_key(samples, i);
                const struct trace_stack *stack;
                uint32_t python;

                if (key->event != s->request->event || key->stack == 0)
                        continue;
                stack = trace_dictionary_row(s->trace->dictionary, TRACE_TABLE_STACKS, key->stack);
                r = add_frame(s, stack->frame, &samples->sums[i]);
                python = sampled_trace_python_frame(s->trace, key->stack);
                if (r == 0 && python != 0 && python != stack->frame)
                        r = add_frame(s, python, &samples->sums[i]);
        }
        return r;
}

static int compare_chosen(const void *a, const void *b)
{
        const struct chosen_function *x = a, *y = b;

        if (x->sum.weight != y->sum.weight)
                return x->sum.weight > y->sum.weight ? -1 : 1;
        if (x->name != y->name)
                return x->name < y->name ? -1 : 1;
        return x->module < y->module ? -1 : x->module > y->module;
}

static int compare_names(const void *a, const void *b)
{
        const struct chosen_function *x = a, *y = b;

        return x->name < y->name ? -1 : x->name > y->name;
}

static const struct candidate_key *key_of(const struct search *s, uint32_t index)
{
        return intern_get(&s->keys, index + 1, NULL);
}

static enum fit find_best(const struct search *s, bool *ret_has_other_module)
{
        enum fit best = FIT_NONE;

        for (uint32_t i = 0; i < s->keys.n_items; i++)
                if (s->candidates[i].fit < best && is_module(s, key_of(s, i)->module))
                        best = s->candidates[i].fit;
        for (uint32_t i = 0; i < s->keys.n_items; i++)
                if (s->candidates[i].fit < FIT_NONE && !is_module(s, key_of(s, i)->module))
                        *ret_has_other_module = true;
        return best;
}

/*
 * Whether @key's function is a part of another candidate that fits as well: then that candidate includes
 * it.
 */
static bool is_part(const struct search *s, const struct candidate_key *key, enum fit fit)
{
        struct text_view name = trace_dictionary_text(s->trace->dictionary, key->name);

        if (!memmem(name.bytes, name.n_bytes, PART_MARK, strlen(PART_MARK)))
                return false;
        for (uint32_t i = 0; i < s->keys.n_items; i++) {
                const struct candidate_key *other = key_of(s, i);

                if (s->candidates[i].fit == fit && other->module == key->module &&
                    function_choice_is_part(s->trace, other->name, key->name))
                        return true;
        }
        return false;
}

static int choose(struct function_choice *c, const struct search *s)
{
        enum fit best = find_best(s, &c->has_other_module);

        if (best == FIT_NONE)
                return 0;
        c->rows = calloc((size_t)s->keys.n_items, sizeof(*c->rows));
        if (!c->rows)
                return -ENOMEM;
        c->is_inlined = best == FIT_EXACT_INLINED || best == FIT_PART_INLINED;
        for (uint32_t i = 0; i < s->keys.n_items; i++) {
                const struct candidate_key *key = key_of(s, i);

                if (s->candidates[i].fit == best && is_module(s, key->module) && !is_part(s, key, best))
                        c->rows[c->n_rows++] = (struct chosen_function){ key->module, key->name,
                                                                         key->is_inlined != 0,
                                                                         s->candidates[i].sum };
        }
        qsort(c->rows, c->n_rows, sizeof(*c->rows), compare_names);
        for (size_t i = 0; i < c->n_rows; i++)
                c->n_names += i == 0 || c->rows[i - 1].name != c->rows[i].name;
        qsort(c->rows, c->n_rows, sizeof(*c->rows), compare_chosen);
        return 0;
}

/* The functions with samples, without their parameters. */
static void guess(struct function_choice *c, const struct search *s)
{
        name_guess_init(&c->near, s->request->name, strlen(s->request->name));
        for (uint32_t i = 0; i < s->keys.n_items; i++) {
                struct text_view name = trace_dictionary_text(s->trace->dictionary, key_of(s, i)->name);
                const char *end = name.n_bytes != 0 ? memchr(name.bytes, '(', name.n_bytes) : NULL;

                name_guess_offer_bytes(&c->near, name.bytes, end ? (size_t)(end - name.bytes) : name.n_bytes);
        }
}

/* A function on a stack that fits by its name or by its part, although it has no samples of its own. */
static uint32_t find_caller(const struct search *s)
{
        uint32_t n_frames = trace_dictionary_count(s->trace->dictionary, TRACE_TABLE_FRAMES);
        enum fit best = FIT_NONE;
        uint32_t found = 0;

        for (uint32_t frame = 1; frame <= n_frames && best != FIT_EXACT; frame++) {
                const struct trace_frame *row = trace_dictionary_row(s->trace->dictionary, TRACE_TABLE_FRAMES,
                                                                     frame);
                struct candidate_key key = { row->module, sampled_trace_function(s->trace, frame), false };
                enum fit fit = key.name != 0 && is_module(s, key.module) ? fit_of(s, &key) : FIT_NONE;

                if (fit < best) {
                        best = fit;
                        found = key.name;
                }
        }
        return found;
}

int function_choice_init(struct function_choice *c, const struct sampled_trace *trace,
                         const struct function_request *request)
{
        struct search s = { .trace = trace, .request = request };
        int r;

        *c = (struct function_choice){ .rows = NULL };
        intern_init(&s.keys, sizeof(struct candidate_key), 0);
        r = add_samples(&s);
        if (r == 0)
                r = choose(c, &s);
        if (r == 0 && c->n_rows == 0)
                c->caller = find_caller(&s);
        if (r == 0 && c->n_rows == 0 && c->caller == 0 && request->name)
                guess(c, &s);
        intern_deinit(&s.keys);
        free(s.candidates);
        return r;
}

void function_choice_deinit(struct function_choice *c)
{
        free(c->rows);
        *c = (struct function_choice){ .rows = NULL };
}

static bool is_part_of(struct text_view w, struct text_view p)
{
        static const char *const ends[] = { PART_MARK, " [clone " PART_MARK };

        if (w.n_bytes == 0 || p.n_bytes <= w.n_bytes || memcmp(p.bytes, w.bytes, w.n_bytes) != 0)
                return false;
        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
                if (p.n_bytes - w.n_bytes >= strlen(ends[i]) &&
                    memcmp(p.bytes + w.n_bytes, ends[i], strlen(ends[i])) == 0)
                        return true;
        return false;
}

bool function_choice_is_part(const struct sampled_trace *trace, uint32_t whole, uint32_t part)
{
        struct text_view w = trace_dictionary_text(trace->dictionary, whole);
        struct text_view p = trace_dictionary_text(trace->dictionary, part);
        size_t label = plain_name_label_bytes(w);

        if (is_part_of(w, p))
                return true;
        if (label == 0 || plain_name_label_bytes(p) != label ||
            memcmp(w.bytes + w.n_bytes - label, p.bytes + p.n_bytes - label, label) != 0)
                return false;
        w.n_bytes -= label;
        p.n_bytes -= label;
        return is_part_of(w, p);
}
