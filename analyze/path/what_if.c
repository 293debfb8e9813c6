/* SPDX-License-Identifier: MIT */
#include "analyze/path/what_if.h"

#include "analyze/path/path_names.h"
#include "analyze/trace/function_name.h"
#include "analyze/walk/loaded_trace.h"
#include "base/array.h"
#include "base/error.h"
#include "base/name_guess.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FACTOR_BYTES_MAX 32
#define HANDLE_BYTES_MAX 32
/* A smaller loss, as a share of the time, is no reason to name what causes it. */
#define LOST_MIN 0.02
/* The least part of the loss that its largest cause has. */
#define CAP_MIN 0.2
/* Functions with less of their time on the path are not on it any more. */
#define LEFT_MAX 0.1

/* ------------------------------------------------------------------ the request */

static int parse_factor(struct text_view text, double *ret_factor)
{
        char copy[FACTOR_BYTES_MAX], *end;

        if (text.n_bytes == 0 || text.n_bytes >= sizeof(copy) || text.bytes[0] < '0' || text.bytes[0] > '9')
                return -EINVAL;
        memcpy(copy, text.bytes, text.n_bytes);
        copy[text.n_bytes] = '\0';
        *ret_factor = strtod(copy, &end);
        if (strcmp(end, "%") == 0)
                *ret_factor /= 100;
        else if (*end != '\0')
                return -EINVAL;
        return *ret_factor >= 0 && *ret_factor <= 1 ? 0 : -EINVAL;
}

/* "FUNCTION=FACTOR", where the last '=' counts. */
static int parse_change(struct text_view text, struct what_if_change *ret)
{
        const char *mark = text.n_bytes != 0 ? memrchr(text.bytes, '=', text.n_bytes) : NULL;
        size_t n = mark ? (size_t)(mark - text.bytes) : 0;

        if (n == 0 || text.bytes[0] == ',')
                return -EINVAL;
        ret->function = (struct text_view){ text.bytes, n };
        return parse_factor((struct text_view){ mark + 1, text.n_bytes - n - 1 }, &ret->factor);
}

static bool is_there_twice(const struct what_if_request *r)
{
        for (size_t i = 1; i < r->n; i++)
                for (size_t k = 0; k < i; k++)
                        if (text_view_equal(r->changes[i].function, r->changes[k].function))
                                return true;
        return false;
}

int what_if_parse(struct what_if_request *r, const char *text, struct error *err)
{
        const char *begin = text;

        *r = (struct what_if_request){ .text = text };
        /* a comma in a name is not one after a factor */
        for (const char *at = text;; at++) {
                if (*at != ',' && *at != '\0')
                        continue;
                if (r->n < WHAT_IF_CHANGES_MAX &&
                    parse_change((struct text_view){ begin, (size_t)(at - begin) }, &r->changes[r->n]) == 0) {
                        r->n++;
                        begin = at + 1;
                }
                if (*at == '\0')
                        break;
        }
        if (*text != '\0' && begin == text + strlen(text) + 1 && !is_there_twice(r))
                return 0;
        r->n = 0;
        return error_set(err, -EINVAL,
                         "neither FUNCTION=FACTOR nor several different ones, with factors from 0 to 1");
}

/* ------------------------------------------------------------------ functions */

static bool is_named(struct text_view name, struct text_view wanted)
{
        return plain_name_is(name, wanted) || text_view_equal(plain_name_of_function(name), wanted);
}

/*
 * Finds what a change means by its name: marks the functions in `factors`, by label.  A handle gets the name
 * of its function.
 */
static int find_functions(const struct path_names *names, struct what_if_change *change, float *factors,
                          struct error *err)
{
        const struct function_table *functions = &names->places.functions;
        const struct trace_dictionary *d = names->trace->dictionary;
        char handle[HANDLE_BYTES_MAX] = "";
        struct name_guess near;
        uint32_t label;
        bool is_found = false;
        int r;

        if (change->function.n_bytes < sizeof(handle))
                memcpy(handle, change->function.bytes, change->function.n_bytes);
        r = function_table_find_handle(functions, d, handle, &label, err);
        if (r != 0) {
                if (r > 0) {
                        factors[label] = fminf(factors[label], (float)change->factor);
                        change->function = trace_dictionary_text(d,
                                                                 function_table_get(functions, label)->name);
                }
                return r == -ENOENT ? -ESRCH : r < 0 ? r : 0;
        }
        name_guess_init(&near, change->function.bytes, change->function.n_bytes);
        for (label = 1; label <= functions->functions.n_items; label++) {
                const struct function *f = function_table_get(functions, label);
                struct text_view name = trace_dictionary_text(d, f->name);

                if (is_named(name, change->function)) {
                        factors[label] = fminf(factors[label], (float)change->factor);
                        is_found = true;
                } else if (f->kind == FUNCTION_NAMED) {
                        name_guess_offer_bytes(&near, name.bytes, name.n_bytes);
                }
        }
        if (is_found)
                return 0;
        return error_set(err, -ESRCH, "no function '%.*s' in this trace%s%s%s",
                         (int)(change->function.n_bytes < 200 ? change->function.n_bytes : 200),
                         change->function.bytes, near.best[0] != '\0' ? "; did you mean '" : "", near.best,
                         near.best[0] != '\0' ? "'?" : "");
}

/* The least factor of the functions at a frame. */
static float factor_of_frame(const struct path_names *names, const float *factors, uint32_t frame)
{
        const struct label_groups *frames = &names->places.functions.frames;
        float least = 1;

        for (uint32_t i = frames->first[frame]; i < frames->first[frame + 1]; i++)
                least = fminf(least, factors[frames->labels[i]]);
        return least;
}

/* By stack: callers come first, so that each stack needs a look at its innermost frame alone. */
static int find_saved(struct path_names *names, const float *factors)
{
        const struct trace_dictionary *d = names->trace->dictionary;

        names->saved = calloc((size_t)names->n_stacks + 1, sizeof(*names->saved));
        if (!names->saved)
                return -ENOMEM;
        for (uint32_t id = 1; id <= names->n_stacks; id++) {
                const struct trace_stack *row = trace_dictionary_row(d, TRACE_TABLE_STACKS, id);

                names->saved[id] = fmaxf(1 - factor_of_frame(names, factors, row->frame),
                                         row->parent < id ? names->saved[row->parent] : 0);
        }
        return 0;
}

static int find_changes(struct what_if_request *request, struct path_names *names, struct error *err)
{
        uint32_t n = names->places.functions.functions.n_items;
        float *factors = calloc((size_t)n + 1, sizeof(*factors));
        int r = factors ? 0 : -ENOMEM;

        for (uint32_t label = 0; label <= n && factors; label++)
                factors[label] = 1;
        for (size_t i = 0; i < request->n && r == 0; i++)
                r = find_functions(names, &request->changes[i], factors, err);
        if (r == 0)
                r = find_saved(names, factors);
        free(factors);
        return r == -ENOMEM ? error_set(err, r, "what if: out of memory") : r;
}

/* ------------------------------------------------------------------ the object */

/* A segment of the path as it would be. */
static int take(void *context, const struct path_segment *segment)
{
        struct what_if *w = context;
        struct path_segment s = *segment;
        int64_t saved_ns = replay_gain_before(&w->replay, s.thread, s.end_ns) -
                           replay_gain_after(&w->replay, s.thread, s.begin_ns);

        if (saved_ns > 0)
                s.saved_ns = (uint64_t)saved_ns;
        w->still_ns += s.saved_ns;
        w->then_ns += s.end_ns - s.begin_ns - s.saved_ns;
        return path_sums_add(&w->then, &s);
}

int what_if_init(struct what_if *w, const struct what_if_request *request, const struct past *past,
                 struct path_names *names, struct error *err)
{
        *w = (struct what_if){ .request = *request, .is_on = request->n != 0 };
        replay_init(&w->replay, past, names);
        path_walk_init(&w->walk, past, take, w);
        w->walk.names = names;
        w->walk.replay = &w->replay;
        return w->is_on ? find_changes(&w->request, names, err) : 0;
}

void what_if_deinit(struct what_if *w)
{
        replay_deinit(&w->replay);
        path_walk_deinit(&w->walk);
        path_sums_deinit(&w->then);
        free(w->rows);
        *w = (struct what_if){ .rows = NULL };
}

int what_if_begin(struct what_if *w, bool is_strict)
{
        int r;

        replay_begin(&w->replay);
        w->gain_ns = w->own_ns = 0;
        w->then_ns = w->still_ns = 0;
        w->walk.is_strict = is_strict;
        r = path_sums_init(&w->then, w->replay.past, w->replay.names, &w->walk);
        w->then.is_replayed = true;
        return r;
}

void what_if_segment(struct what_if *w, const struct path_segment *s)
{
        if (w->is_on && (s->kind == PATH_RUN || s->kind == PATH_LATE))
                w->own_ns += replay_gain_of_run(&w->replay, s->thread, s->begin_ns, s->end_ns);
}

int what_if_instance(struct what_if *w, uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
        struct path_draft draft = { .first = thread };
        int r;

        if (thread > w->replay.n_threads) /* it has nothing but zones */
                return 0;
        w->gain_ns += replay_gain_before(&w->replay, thread, end_ns) -
                      replay_gain_after(&w->replay, thread, begin_ns);
        path_sums_choose(&w->then, &draft);
        r = path_walk_run(&w->walk, thread, begin_ns, end_ns);
        path_sums_close(&w->then, &draft);
        free(draft.parts);
        return r;
}

/* ------------------------------------------------------------------ the end */

/* Whether it is a function of the request itself. */
static bool is_changed(const struct what_if *w, uint32_t label)
{
        enum function_kind kind;
        struct text_view name = path_names_function(w->replay.names, label, &kind);

        for (size_t i = 0; i < w->request.n; i++)
                if (is_named(name, w->request.changes[i].function))
                        return true;
        return false;
}

static int add_row(struct what_if *w, const struct path_row_key *key, double before_ns, double then_ns)
{
        if (path_row_is_foreign(key))
                return 0;
        if (array_reserve(&w->rows, &w->rows_capacity, w->n_rows + 1, sizeof(*w->rows)) < 0)
                return -ENOMEM;
        w->rows[w->n_rows++] = (struct what_if_row){
                .key = *key, .before_ns = before_ns, .then_ns = then_ns, .is_changed = is_changed(w, key->own)
        };
        return 0;
}

static int compare_rows(const void *a, const void *b)
{
        const struct what_if_row *left = a, *right = b;

        if (left->then_ns != right->then_ns)
                return left->then_ns < right->then_ns ? 1 : -1;
        return left->before_ns < right->before_ns ? 1 : left->before_ns > right->before_ns ? -1 : 0;
}

static int compare_sums(struct what_if *w, const struct path_sums *before)
{
        int r = 0;

        for (uint32_t id = 1; id <= w->then.keys.n_items && r == 0; id++) {
                const struct path_row_key *key = path_sums_key(&w->then, id);
                uint32_t known = intern_find(&before->keys, key, sizeof(*key));

                r = add_row(w, key, known != 0 ? before->rows[known - 1].ns : 0, w->then.rows[id - 1].ns);
        }
        for (uint32_t id = 1; id <= before->keys.n_items && r == 0; id++) {
                const struct path_row_key *key = path_sums_key(before, id);

                if (intern_find(&w->then.keys, key, sizeof(*key)) == 0)
                        r = add_row(w, key, before->rows[id - 1].ns, 0);
        }
        if (r == 0 && w->n_rows > 1)
                qsort(w->rows, w->n_rows, sizeof(*w->rows), compare_rows);
        return r;
}

static bool may_be_cap(const struct what_if *w, size_t i)
{
        const struct what_if_row *row = &w->rows[i];

        return row->key.own != 0 && !row->is_changed;
}

/* The row whose time grows most, if that is much of what is not gained; + 1. */
static size_t find_grown(const struct what_if *w, double lost_ns)
{
        double most_ns = CAP_MIN * lost_ns;
        size_t cap = 0;

        for (size_t i = 0; i < w->n_rows; i++) {
                double more_ns = w->rows[i].then_ns - w->rows[i].before_ns;

                if (!may_be_cap(w, i) || more_ns <= most_ns)
                        continue;
                most_ns = more_ns;
                cap = i + 1;
        }
        return cap;
}

/*
 * Finds what instances wait for instead: the row that takes the place of the functions on the path; or the
 * largest row of a path that they are not on any more, as they overlap with it.
 */
static void find_cap(struct what_if *w, const struct path_sums *before)
{
        double lost_ns = (double)(w->own_ns - w->gain_ns), least_ns = LOST_MIN * path_sums_rest_ns(before);

        if (lost_ns >= least_ns)
                w->cap = find_grown(w, lost_ns);
        if (w->cap != 0 || (double)w->own_ns < least_ns || (double)w->still_ns > LEFT_MAX * (double)w->own_ns)
                return;
        for (size_t i = w->n_rows; i-- > 0;)
                if (may_be_cap(w, i))
                        w->cap = i + 1;
}

int what_if_finish(struct what_if *w, const struct path_sums *before)
{
        int r = w->is_on ? path_sums_finish(&w->then) : 0;

        if (!w->is_on || r < 0)
                return r;
        r = compare_sums(w, before);
        find_cap(w, before);
        return r;
}
