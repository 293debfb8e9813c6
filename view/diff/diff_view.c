/* SPDX-License-Identifier: MIT */
#include "view/diff/diff_view.h"

#include "analyze/diff/diff_comparison.h"
#include "analyze/report/report.h"
#include "analyze/walk/lost_zones.h"
#include "view/diff/diff_words.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/python_columns.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"
#include "view/text/text_number.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEM_COLUMNS(value_type, key_before, key_after, place_key)                                      \
        { .key = "verdict", .title = "verdict", .type = VIEW_STRING, .n_columns_max = 15 },             \
                { .key = "name", .title = "name", .type = VIEW_STRING },                                \
                { .key = (key_before), .title = "before", .type = (value_type) },                       \
                { .key = (key_after), .title = "after", .type = (value_type) },                         \
                { .key = "change", .title = "change", .type = VIEW_CHANGE },                            \
                { .key = "change_low", .title = "from", .type = VIEW_CHANGE },                          \
                { .key = "change_high", .title = "to", .type = VIEW_CHANGE },                           \
                { .key = "p", .title = "p", .type = VIEW_REAL },                                        \
                { .key = "share_before", .title = "share", .type = VIEW_SHARE },                        \
                { .key = "share_after", .title = "share after", .type = VIEW_SHARE },                   \
                { .key = "n_before", .title = "n", .type = VIEW_COUNT },                                \
                { .key = "n_after", .title = "n after", .type = VIEW_COUNT },                           \
                { .key = (place_key), .title = (place_key), .type = VIEW_STRING, .n_columns_max = 20 }, \
        {                                                                                               \
                .key = "was", .title = "was", .type = VIEW_STRING, .n_columns_max = 24                  \
        }

static const struct view_column time_columns[] = { ITEM_COLUMNS(VIEW_DURATION, "before_ns", "after_ns",
                                                                "module") };
static const struct view_column count_columns[] = { ITEM_COLUMNS(VIEW_COUNT, "before", "after", "module") };
/* A value for each unit of work may be less than one. */
static const struct view_column unit_columns[] = { ITEM_COLUMNS(VIEW_REAL, "before", "after", "module") };
static const struct view_column zone_columns[] = { ITEM_COLUMNS(VIEW_DURATION, "before_ns", "after_ns",
                                                                "file") };
#define CALL_COLUMNS(value_type)                                                            \
        { .key = "verdict", .title = "verdict", .type = VIEW_STRING, .n_columns_max = 15 }, \
                { .key = "name", .title = "system call", .type = VIEW_STRING },             \
                { .key = "before", .title = "calls", .type = (value_type) },                \
                { .key = "after", .title = "after", .type = (value_type) },                 \
                { .key = "change", .title = "change", .type = VIEW_CHANGE },                \
                { .key = "p", .title = "p", .type = VIEW_REAL },                            \
                { .key = "before_ns", .title = "time", .type = VIEW_DURATION },             \
                { .key = "after_ns", .title = "time after", .type = VIEW_DURATION },        \
                { .key = "caller_before", .title = "from", .type = VIEW_STRING },           \
        {                                                                                   \
                .key = "caller_after", .title = "from, after", .type = VIEW_STRING          \
        }
static const struct view_column call_columns[] = { CALL_COLUMNS(VIEW_COUNT) };
static const struct view_column unit_call_columns[] = { CALL_COLUMNS(VIEW_REAL) };
#define N_CALL_COLUMNS (sizeof(call_columns) / sizeof(call_columns[0]))
#define N_ITEM_COLUMNS (sizeof(time_columns) / sizeof(time_columns[0]))

static const struct view_column whole_columns[] = {
        { .key = "verdict", .title = "verdict", .type = VIEW_STRING },
        { .key = "of", .title = "what", .type = VIEW_STRING },
        { .key = "change", .title = "change", .type = VIEW_CHANGE },
        { .key = "change_low", .title = "from", .type = VIEW_CHANGE },
        { .key = "change_high", .title = "to", .type = VIEW_CHANGE },
        { .key = "p", .title = "p", .type = VIEW_REAL },
};
#define N_WHOLE_COLUMNS (sizeof(whole_columns) / sizeof(whole_columns[0]))

/* Small parts are left out of a list that is limited anyway. */
static bool is_shown(const struct diff_item *item, const struct diff_options *options,
                     const struct diff_view_options *view)
{
        bool is_small = fmax(item->share_before, item->share_after) < options->share_min;

        if (item->doubt == DIFF_JUDGED)
                return item->is_significant || fabs(expm1(item->verdict.change)) >= view->threshold;
        return !is_small || view->limit == 0 || (options->only && item->doubt != DIFF_ONE_SIDED);
}

static const char *verdict(const struct diff_comparison *c, const struct diff_item *item)
{
        if (diff_item_is_one_sided(item) && (item->doubt == DIFF_JUDGED || item->doubt == DIFF_ONE_SIDED))
                return item->key_before == 0 ? "new" : "gone";
        if (item->is_significant)
                return item->kind == DIFF_CALL
                               ? (item->verdict.change > 0 ? "more" : "less")
                               : diff_words_change(c, diff_words_is_time(item), item->verdict.change);
        switch (item->doubt) {
        case DIFF_TOO_FEW:
                return "too few";
        case DIFF_TOO_SMALL:
                return "too small";
        case DIFF_TOO_MANY:
                return "not judged";
        case DIFF_LOST:
                return "data lost";
        case DIFF_ONE_SIDED:
        case DIFF_OF_KERNEL:
        case DIFF_JUDGED:
                break;
        }
        return diff_comparison_is_pair(c) ? "not certain" : "not significant";
}

static struct text_view place_of(const struct diff_comparison *c, uint32_t key)
{
        const struct diff_key *row = diff_names_key(c->names, key);

        return diff_names_string(c->names, row->kind == DIFF_ZONE ? row->file : row->module);
}

static void put_value(struct view_document *d, struct view_table *t, bool is_known, bool is_whole,
                      double value)
{
        if (!is_known)
                view_table_put_unknown(d, t);
        else if (is_whole)
                view_table_put_number(d, t, diff_words_whole(value));
        else
                view_table_put_real(d, t, value);
}

static void put_verdict(struct view_document *d, struct view_table *t, const struct diff_verdict *v)
{
        double low, high;

        diff_comparison_interval(v, &low, &high);
        view_table_put_real(d, t, expm1(v->change));
        view_table_put_real(d, t, low);
        view_table_put_real(d, t, high);
        view_table_put_real(d, t, v->p);
}

/*
 * A new item has neither a percentage nor an upper bound for it; an item that is gone has changed by -100%.
 */
static void put_one_sided(struct view_document *d, struct view_table *t, const struct diff_item *item)
{
        bool is_new = item->key_before == 0;
        double low, high;

        diff_comparison_interval(&item->verdict, &low, &high);
        put_value(d, t, !is_new, false, -1);
        view_table_put_real(d, t, is_new ? low : -1);
        put_value(d, t, !is_new, false, high);
        view_table_put_real(d, t, item->verdict.p);
}

/* An item that is not judged has a change alone; one that depends on other programs has a p as well. */
static void put_change(struct view_document *d, struct view_table *t, const struct diff_comparison *c,
                       const struct diff_item *item)
{
        if (item->doubt == DIFF_JUDGED && !diff_comparison_has_interval(c, item)) {
                bool is_new = item->key_before == 0;

                put_value(d, t, !is_new, false, item->key_after != 0 ? expm1(item->verdict.change) : -1);
                view_table_put_unknown(d, t);
                view_table_put_unknown(d, t);
                view_table_put_real(d, t, item->verdict.p);
                return;
        }
        if (item->doubt == DIFF_JUDGED && diff_item_is_one_sided(item)) {
                put_one_sided(d, t, item);
                return;
        }
        if (item->doubt == DIFF_JUDGED) {
                put_verdict(d, t, &item->verdict);
                return;
        }
        put_value(d, t, item->value_before > 0 && item->value_after > 0, false,
                  item->value_after / item->value_before - 1);
        for (int i = 0; i < 3; i++)
                view_table_put_unknown(d, t);
}

static void put_item(struct view_document *d, struct view_table *t, const struct diff_comparison *c,
                     const struct diff_item *item)
{
        bool is_whole = diff_words_is_time(item) || c->weight_is_ns || !c->options.basis.per_unit;
        uint32_t key = diff_item_key(item);

        view_table_put_words(d, t, verdict(c, item));
        view_table_put_string(d, t, diff_words_name(c, key));
        put_value(d, t, item->key_before != 0, is_whole, item->value_before);
        put_value(d, t, item->key_after != 0, is_whole, item->value_after);
        put_change(d, t, c, item);
        view_table_put_real(d, t, item->share_before);
        view_table_put_real(d, t, item->share_after);
        view_table_put_number(d, t, item->n_before);
        view_table_put_number(d, t, item->n_after);
        view_table_put_string(d, t, place_of(c, key));
        if (item->key_before != 0 && item->key_after != 0 && item->key_before != item->key_after)
                view_table_put_string(d, t,
                                      diff_names_key(c->names, item->key_before)->name ==
                                                      diff_names_key(c->names, key)->name
                                              ? place_of(c, item->key_before)
                                              : diff_words_name(c, item->key_before));
        else
                view_table_put_unknown(d, t);
}

static void put_caller(struct view_document *d, struct view_table *t, const struct diff_comparison *c,
                       uint32_t caller)
{
        if (caller != 0)
                view_table_put_string(d, t, diff_names_string(c->names, caller));
        else
                view_table_put_unknown(d, t);
}

/* Numbers are exact, even without a verdict on them. */
static void put_call(struct view_document *d, struct view_table *t, const struct diff_comparison *c,
                     const struct diff_item *item)
{
        bool is_whole = !c->options.basis.per_unit;

        view_table_put_words(d, t, verdict(c, item));
        view_table_put_string(d, t, diff_words_name(c, diff_item_key(item)));
        put_value(d, t, true, is_whole, item->value_before);
        put_value(d, t, true, is_whole, item->value_after);
        put_value(d, t, item->value_before > 0, false, item->value_after / item->value_before - 1);
        put_value(d, t, item->doubt == DIFF_JUDGED, false, item->verdict.p);
        put_value(d, t, true, true, item->total_before);
        put_value(d, t, true, true, item->total_after);
        put_caller(d, t, c, item->caller_before);
        put_caller(d, t, c, item->caller_after);
}

/* Items of a kind that are shown, in order; heap, NULL without memory. */
static const struct diff_item **choose(const struct diff_comparison *c, enum diff_kind kind,
                                       const struct diff_view_options *view, size_t *ret_n,
                                       uint64_t *ret_n_left_out)
{
        const struct diff_item **chosen = calloc(c->n_items + 1, sizeof(void *));

        *ret_n = 0;
        *ret_n_left_out = 0;
        for (size_t i = 0; chosen && i < c->n_items; i++) {
                if (c->items[i].kind != kind || !c->items[i].is_asked)
                        continue;
                if (is_shown(&c->items[i], &c->options, view))
                        chosen[(*ret_n)++] = &c->items[i];
                else
                        ++*ret_n_left_out;
        }
        if (*ret_n > 1)
                qsort((void *)chosen, *ret_n, sizeof(void *), diff_words_compare);
        return chosen;
}

static void put_chosen(struct view_document *d, struct view_table *t, const struct diff_comparison *c,
                       enum diff_kind kind, const struct diff_view_options *options)
{
        const struct diff_item **chosen;
        uint64_t n_left_out;
        size_t n;

        chosen = choose(c, kind, options, &n, &n_left_out);
        if (!chosen) {
                d->failed = true;
                return;
        }
        for (size_t i = 0; i < n; i++) {
                if (options->limit != 0 && i >= options->limit)
                        n_left_out++;
                else if (kind == DIFF_CALL)
                        put_call(d, t, c, chosen[i]);
                else
                        put_item(d, t, c, chosen[i]);
        }
        if (t)
                t->n_left_out = n_left_out;
        free((void *)chosen);
}

static void add_items(struct view_document *d, const struct diff_comparison *c, enum diff_kind kind,
                      const struct diff_view_options *options)
{
        static const char *const names[DIFF_KIND_COUNT] = { "functions", "zones", "waits", "syscalls" };
        const struct view_column *columns = kind == DIFF_ZONE           ? zone_columns
                                            : kind == DIFF_WAIT         ? time_columns
                                            : c->weight_is_ns           ? time_columns
                                            : c->options.basis.per_unit ? unit_columns
                                                                        : count_columns;
        struct view_table *t = view_document_add_table(d, names[kind], names[kind], columns, N_ITEM_COLUMNS);
        const char *per = c->options.basis.per_unit ? "for each unit of work"
                          : kind == DIFF_ZONE       ? "of one zone, a mean without the slowest of each 1,000"
                                                    : "of a run";

        view_table_set_about(d, t, "%s %s%s; changes with 95%% intervals; shares of %s",
                             kind == DIFF_FUNCTION ? "self time in samples"
                             : kind == DIFF_WAIT ? "waiting of threads that are not idle, by call and caller,"
                             : c->options.basis.wall ? "time from begin to end"
                                                     : "time on a CPU",
                             per, kind == DIFF_FUNCTION && c->is_folded ? ", with native code below" : "",
                             kind == DIFF_ZONE   ? "the recording's time"
                             : kind == DIFF_WAIT ? "these threads' time, on CPUs and waiting"
                                                 : "all samples");
        put_chosen(d, t, c, kind, options);
}

static void add_calls(struct view_document *d, const struct diff_comparison *c,
                      const struct diff_view_options *options)
{
        struct view_table *t = view_document_add_table(
                d, "syscalls", "system calls", c->options.basis.per_unit ? unit_call_columns : call_columns,
                N_CALL_COLUMNS);

        view_table_set_about(d, t,
                             "exact numbers %s, and times with waiting; from: who made most of those sampled",
                             c->options.basis.per_unit ? "for each unit of work" : "of a run");
        put_chosen(d, t, c, DIFF_CALL, options);
}

static void add_whole(struct view_document *d, const struct diff_comparison *c)
{
        const struct diff_whole *whole = &c->whole;
        struct view_table *t = view_document_add_table(d, "whole", "everything together", whole_columns,
                                                       N_WHOLE_COLUMNS);

        view_table_set_about(d, t, "all samples %s",
                             c->options.basis.per_unit ? "for each unit of work" : "of a run");
        if (!whole->is_judged)
                return;
        view_table_put_words(d, t,
                             whole->is_significant        ? diff_words_change(c, false, whole->verdict.change)
                             : diff_comparison_is_pair(c) ? "not certain"
                                                          : "not significant");
        view_table_put_words(d, t, "the whole run");
        put_verdict(d, t, &whole->verdict);
}

/* With several runs, the number is their mean, which need not be whole. */
static void add_units(struct view_document *d, const char *key, const char *title, double units)
{
        if (fabs(units - round(units)) < 1e-9)
                view_document_add_number(d, key, title, VIEW_COUNT, diff_words_whole(units));
        else
                view_document_add_real(d, key, title, VIEW_REAL, units);
}

static void add_python_shares(struct view_document *d, const struct python_parts *parts, bool is_after)
{
        view_document_add_real(d, is_after ? "python_share_after" : "python_share_before", NULL, VIEW_SHARE,
                               report_share(parts->python, parts->all));
        view_document_add_real(d, is_after ? "native_share_after" : "native_share_before", NULL, VIEW_SHARE,
                               report_share(parts->native, parts->all));
        view_document_add_real(d, is_after ? "kernel_share_after" : "kernel_share_before", NULL, VIEW_SHARE,
                               report_share(parts->kernel, parts->all));
}

static void add_python_facts(struct view_document *d, const struct diff_comparison *c)
{
        struct answer_words a = { .used_bytes = 0 };

        if (!c->is_folded)
                return;
        answer_words_add(&a, "before ");
        python_columns_say_parts(&a, &c->python_before, c->python_before.all);
        answer_words_add(&a, "; after ");
        python_columns_say_parts(&a, &c->python_after, c->python_after.all);
        answer_words_add(&a, "; native code counts for the Python function that called it (--native: apart)");
        view_document_add_string(d, NULL, "python", (struct text_view){ a.text, a.used_bytes });
        view_document_add_string(d, "view", NULL, report_names_words("python"));
        add_python_shares(d, &c->python_before, false);
        add_python_shares(d, &c->python_after, true);
}

static void add_facts(struct view_document *d, const struct diff_comparison *c,
                      const struct diff_view_options *options)
{
        enum view_type type = c->weight_is_ns ? VIEW_DURATION : VIEW_COUNT;

        if (options->filter.n_bytes != 0)
                view_document_add_string(d, "filter", "only", options->filter);
        else
                view_document_add_unknown(d, "filter", "only", VIEW_STRING);
        view_document_add_number(d, "runs_before", "runs before", VIEW_COUNT, c->n_before);
        view_document_add_number(d, "runs_after", "runs after", VIEW_COUNT, c->n_after);
        view_document_add_number(d, "duration_before_ns", "lasted before", VIEW_DURATION,
                                 (uint64_t)c->duration_ns_before);
        view_document_add_number(d, "duration_after_ns", "lasted after", VIEW_DURATION,
                                 (uint64_t)c->duration_ns_after);
        if (options->event.n_bytes != 0)
                view_document_add_string(d, "event", "samples of", options->event);
        else
                view_document_add_unknown(d, "event", "samples of", VIEW_STRING);
        if (c->has_kind[DIFF_FUNCTION]) {
                view_document_add_number(d, c->weight_is_ns ? "sampled_before_ns" : "sampled_before",
                                         "sampled before", type, diff_words_whole(c->weight_before));
                view_document_add_number(d, c->weight_is_ns ? "sampled_after_ns" : "sampled_after",
                                         "sampled after", type, diff_words_whole(c->weight_after));
                view_document_add_real(d, "sampled_change", "that is", VIEW_CHANGE,
                                       c->weight_after / c->weight_before - 1);
        }
        add_python_facts(d, c);
        if (c->options.basis.per_unit) {
                add_units(d, "units_before", "units before", c->units_before);
                add_units(d, "units_after", "units after", c->units_after);
        }
        view_document_put(d, "unsampled_before_share", "unsampled before", VIEW_SHARE,
                          report_heading_unsampled(&c->unsampled_before));
        view_document_put(d, "unsampled_after_share", "unsampled after", VIEW_SHARE,
                          report_heading_unsampled(&c->unsampled_after));
        view_document_add_real(d, "alpha", "level", VIEW_SHARE, c->alpha);
        view_document_add_number(d, "judged", "judged", VIEW_COUNT, diff_comparison_count_judged(c));
        view_document_add_number(d, "significant", "significant", VIEW_COUNT, c->n_significant);
}

/* The zones that were recorded need not be like the lost ones. */
static void warn_of_lost(struct view_document *d, const struct lost_zones *lost, uint32_t n_runs,
                         const char *side)
{
        char words[LOST_ZONES_WORDS_BYTES];

        if (lost->n_lost == 0)
                return;
        lost_zones_words(lost, words);
        view_document_warn(d, "%s recording %s: numbers of zones are %s; times are those of the rest",
                           n_runs == 1 ? "the" : "a", side, words);
}

static void warn_of_unsampled(struct view_document *d, const struct unsampled_time *u, uint32_t n_runs,
                              const char *side)
{
        char words[UNSAMPLED_TIME_WORDS_BYTES];

        unsampled_time_words(u, words);
        if (words[0] != '\0')
                view_document_warn(d, "%s recording %s: %s", n_runs == 1 ? "the" : "a", side, words);
        unsampled_time_python(u, words);
        if (words[0] != '\0')
                view_document_warn(d, "%s recording %s: %s", n_runs == 1 ? "the" : "a", side, words);
}

static void add_warnings(struct view_document *d, const struct diff_comparison *c)
{
        warn_of_unsampled(d, &c->unsampled_before, c->n_before, "before");
        warn_of_unsampled(d, &c->unsampled_after, c->n_after, "after");
        if (!c->has_kind[DIFF_FUNCTION])
                view_document_warn(d, "%s: functions are not compared",
                                   c->any_kind[DIFF_FUNCTION] ? "not all recordings have samples of the event"
                                                              : "no samples");
        if (!c->has_kind[DIFF_ZONE] && c->any_kind[DIFF_ZONE])
                view_document_warn(d, "not all recordings have zones: zones are not compared");
        if (!c->has_kind[DIFF_WAIT] && c->any_kind[DIFF_WAIT])
                view_document_warn(
                        d, "not all recordings have where threads waited (record --off-cpu): waits are "
                           "not compared");
        if (!c->has_kind[DIFF_CALL] && c->any_kind[DIFF_CALL])
                view_document_warn(
                        d, "not all recordings have counts of system calls (record --syscalls): these are "
                           "not compared");
        if (c->lacks_switches)
                view_document_warn(
                        d, "no context switches in a recording: zones are compared from begin to end, "
                           "waiting included");
        warn_of_lost(d, &c->lost_before, c->n_before, "before");
        warn_of_lost(d, &c->lost_after, c->n_after, "after");
        if (c->n_unspread > 0)
                view_document_warn(d, "%u zones of a recording are not judged: there are too many",
                                   c->n_unspread);
        if (c->n_unnamed > 0)
                view_document_warn(d,
                                   "%llu samples, zones, waits and system calls are left out: too many names",
                                   (unsigned long long)c->n_unnamed);
        if (c->n_before + c->n_after != 2)
                return;
        view_document_warn(
                d, "one pair does not show how runs of the same program differ; record each five times, "
                   "in turns");
        view_document_hint(d, "hyprof diff --before 'a*.hyp' --after 'b*.hyp'");
}

void diff_view_fill(struct view_document *d, const struct diff_comparison *c,
                    const struct diff_view_options *options)
{
        diff_words_set_answer(d, c, options->has_title);
        add_facts(d, c, options);
        if (c->has_kind[DIFF_FUNCTION])
                add_items(d, c, DIFF_FUNCTION, options);
        if (c->has_kind[DIFF_ZONE])
                add_items(d, c, DIFF_ZONE, options);
        if (c->has_kind[DIFF_WAIT])
                add_items(d, c, DIFF_WAIT, options);
        if (c->has_kind[DIFF_CALL])
                add_calls(d, c, options);
        add_whole(d, c);
        add_warnings(d, c);
}

const struct answer_schema diff_view_schema = {
        .name = "hyprof.diff/1",
        .command = "hyprof diff --json",
        .parts = (const struct answer_part *const[]){ NULL },
};
