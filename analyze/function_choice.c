/* SPDX-License-Identifier: MIT */
#include "analyze/function_choice.h"

#include "analyze/sampled_trace.h"
#include "base/array.h"
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
        uint32_t name;
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

static enum fit fit_of(struct report_string name, const char *wanted)
{
        size_t n = wanted ? strlen(wanted) : 0;

        if (!wanted)
                return name.n_bytes > 0 ? FIT_PART : FIT_NONE;
        if (n == 0 || name.n_bytes < n)
                return FIT_NONE;
        if (memcmp(name.bytes, wanted, n) == 0 && (name.n_bytes == n || name.bytes[n] == '('))
                return FIT_EXACT;
        return memmem(name.bytes, name.n_bytes, wanted, n) ? FIT_PART : FIT_NONE;
}

/* The best fit among a frame's functions; the last of them is the one that the code is of. */
static enum fit fit_of_frame(const struct search *s, uint32_t frame)
{
        const struct trace_dictionary *d = s->trace->dictionary;
        uint32_t first, n = sampled_trace_symbols(s->trace, frame, &first);
        enum fit best = FIT_NONE;

        for (uint32_t i = 0; i < n; i++) {
                const struct trace_symbol *row = trace_dictionary_row(d, TRACE_TABLE_SYMBOLS, first + i);
                enum fit fit = fit_of(report_string_of(d, row->function), s->request->name);

                if (i + 1 < n && fit != FIT_NONE)
                        fit = fit == FIT_EXACT ? FIT_EXACT_INLINED : FIT_PART_INLINED;
                if (fit < best)
                        best = fit;
        }
        return best;
}

static bool is_module(const struct search *s, uint32_t module)
{
        const struct trace_dictionary *d = s->trace->dictionary;
        const struct trace_module *row;
        struct report_string path;
        const char *wanted = s->request->module;

        if (!wanted)
                return true;
        if (module == 0)
                return false;
        row = trace_dictionary_row(d, TRACE_TABLE_MODULES, module);
        path = report_string_of(d, row->path);
        return path.n_bytes > 0 && memmem(path.bytes, path.n_bytes, wanted, strlen(wanted));
}

static int add_frame(struct search *s, uint32_t frame, const struct sample_sum *sum)
{
        const struct trace_frame *row = trace_dictionary_row(s->trace->dictionary, TRACE_TABLE_FRAMES, frame);
        struct candidate_key key = { row->module, sampled_trace_function(s->trace, frame) };
        enum fit fit;
        uint32_t id;
        int r;

        if (key.name == 0)
                return 0;
        r = array_reserve(&s->candidates, &s->capacity, (size_t)s->keys.n_items + 1, sizeof(*s->candidates));
        if (r < 0)
                return r;
        r = intern_add(&s->keys, &key, sizeof(key), &id);
        if (r < 0)
                return r;
        if (r == 1)
                s->candidates[id - 1] = (struct candidate){ .fit = FIT_NONE };
        sample_sum_add(&s->candidates[id - 1].sum, sum);
        fit = fit_of_frame(s, frame);
        if (fit < s->candidates[id - 1].fit)
                s->candidates[id - 1].fit = fit;
        return 0;
}

static int add_samples(struct search *s)
{
        const struct sample_stats *samples = &s->trace->samples;
        int r = 0;

        for (uint32_t i = 0; i < sample_stats_count(samples) && r == 0; i++) {
                const struct sample_key *key = sample_stats_key(samples, i);
                const struct trace_stack *stack;

                if (key->event != s->request->event || key->stack == 0)
                        continue;
                stack = trace_dictionary_row(s->trace->dictionary, TRACE_TABLE_STACKS, key->stack);
                r = add_frame(s, stack->frame, &samples->sums[i]);
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

/* Whether @key's function is a part of another candidate's that fits as well: then it comes with that one. */
static bool is_part(const struct search *s, const struct candidate_key *key, enum fit fit)
{
        struct report_string name = report_string_of(s->trace->dictionary, key->name);

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
                                                                         s->candidates[i].sum };
        }
        qsort(c->rows, c->n_rows, sizeof(*c->rows), compare_names);
        for (size_t i = 0; i < c->n_rows; i++)
                c->n_names += i == 0 || c->rows[i - 1].name != c->rows[i].name;
        qsort(c->rows, c->n_rows, sizeof(*c->rows), compare_chosen);
        return 0;
}

/* Of the functions with samples, without their parameters. */
static void guess(struct function_choice *c, const struct search *s)
{
        name_guess_init(&c->near, s->request->name, strlen(s->request->name));
        for (uint32_t i = 0; i < s->keys.n_items; i++) {
                struct report_string name = report_string_of(s->trace->dictionary, key_of(s, i)->name);
                const char *end = name.n_bytes != 0 ? memchr(name.bytes, '(', name.n_bytes) : NULL;

                name_guess_offer_bytes(&c->near, name.bytes, end ? (size_t)(end - name.bytes) : name.n_bytes);
        }
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
        if (r == 0 && c->n_rows == 0 && request->name)
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

bool function_choice_is_part(const struct sampled_trace *trace, uint32_t whole, uint32_t part)
{
        static const char *const ends[] = { PART_MARK, " [clone " PART_MARK };
        struct report_string w = report_string_of(trace->dictionary, whole);
        struct report_string p = report_string_of(trace->dictionary, part);

        if (w.n_bytes == 0 || p.n_bytes <= w.n_bytes || memcmp(p.bytes, w.bytes, w.n_bytes) != 0)
                return false;
        for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
                if (p.n_bytes - w.n_bytes >= strlen(ends[i]) &&
                    memcmp(p.bytes + w.n_bytes, ends[i], strlen(ends[i])) == 0)
                        return true;
        return false;
}
