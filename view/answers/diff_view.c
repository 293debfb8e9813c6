/* SPDX-License-Identifier: MIT */
#include "view/answers/diff_view.h"

#include "analyze/diff/diff_comparison.h"
#include "analyze/walk/lost_zones.h"
#include "view/document/view_document.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the answer; the tables have them whole. */
#define N_NAMED_MAX    3
#define NAME_BYTES_MAX 80

/* A larger change is said as "so many times". */
#define DETECTABLE_PERCENT_MAX 200

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
/* For each unit of work there may be less than one. */
static const struct view_column unit_columns[] = { ITEM_COLUMNS(VIEW_REAL, "before", "after", "module") };
static const struct view_column zone_columns[] = { ITEM_COLUMNS(VIEW_DURATION, "before_ns", "after_ns",
                                                                "file") };
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

static int diff_view_rank(const struct diff_item *item)
{
        if (item->is_significant)
                return 0;
        if (item->doubt == DIFF_ONE_SIDED)
                return 1;
        return item->key_before != 0 && item->key_after != 0 && item->key_before != item->key_after ? 1 : 2;
}

/* The part of the whole that the change is. */
static double impact(const struct diff_item *item)
{
        double share = fmax(item->share_before, item->share_after);

        return item->is_significant ? fabs(item->verdict.change) * share : share;
}

static int diff_view_compare(const void *a, const void *b)
{
        const struct diff_item *x = *(const struct diff_item *const *)a;
        const struct diff_item *y = *(const struct diff_item *const *)b;
        double far = impact(y) - impact(x);

        if (diff_view_rank(x) != diff_view_rank(y))
                return diff_view_rank(x) - diff_view_rank(y);
        if (far > 0 || far < 0)
                return far > 0 ? 1 : -1;
        return x < y ? -1 : x > y;
}

static const char *words_of_change(const struct diff_comparison *c, bool is_time, double change)
{
        if (is_time || c->weight_is_ns)
                return change > 0 ? "slower" : "faster";
        return change > 0 ? "more" : "less";
}

static const char *verdict(const struct diff_comparison *c, const struct diff_item *item)
{
        if (item->is_significant)
                return words_of_change(c, item->kind == DIFF_ZONE, item->verdict.change);
        switch (item->doubt) {
        case DIFF_ONE_SIDED:
                return item->key_before == 0 ? "new" : "gone";
        case DIFF_TOO_FEW:
                return "too few";
        case DIFF_TOO_SMALL:
                return "too small";
        case DIFF_TOO_MANY:
                return "not judged";
        case DIFF_OF_KERNEL:
        case DIFF_JUDGED:
                break;
        }
        return diff_comparison_is_pair(c) ? "not certain" : "not significant";
}

static struct text_view diff_view_name_of(const struct diff_comparison *c, uint32_t key)
{
        return diff_names_string(c->names, diff_names_key(c->names, key)->name);
}

static struct text_view diff_view_place_of(const struct diff_comparison *c, uint32_t key)
{
        const struct diff_key *row = diff_names_key(c->names, key);

        return diff_names_string(c->names, row->kind == DIFF_ZONE ? row->file : row->module);
}

static uint64_t whole_number(double value)
{
        return (uint64_t)fmin(value + 0.5, 9e18);
}

static void put_value(struct view_document *d, struct view_table *t, bool is_known, bool is_whole,
                      double value)
{
        if (!is_known)
                view_table_put_unknown(d, t);
        else if (is_whole)
                view_table_put_number(d, t, whole_number(value));
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

/* For an item that is not judged, the change alone. */
static void put_change(struct view_document *d, struct view_table *t, const struct diff_item *item)
{
        if (item->doubt == DIFF_JUDGED) {
                put_verdict(d, t, &item->verdict);
                return;
        }
        if (item->value_before > 0 && item->value_after > 0)
                view_table_put_real(d, t, item->value_after / item->value_before - 1);
        else
                view_table_put_unknown(d, t);
        for (int i = 0; i < 3; i++)
                view_table_put_unknown(d, t);
}

static void diff_view_put_item(struct view_document *d, struct view_table *t, const struct diff_comparison *c,
                               const struct diff_item *item)
{
        bool is_whole = item->kind == DIFF_ZONE || c->weight_is_ns || !c->options.basis.per_unit;
        uint32_t key = item->key_after != 0 ? item->key_after : item->key_before;

        view_table_put_words(d, t, verdict(c, item));
        view_table_put_string(d, t, diff_view_name_of(c, key));
        put_value(d, t, item->key_before != 0, is_whole, item->value_before);
        put_value(d, t, item->key_after != 0, is_whole, item->value_after);
        put_change(d, t, item);
        view_table_put_real(d, t, item->share_before);
        view_table_put_real(d, t, item->share_after);
        view_table_put_number(d, t, item->n_before);
        view_table_put_number(d, t, item->n_after);
        view_table_put_string(d, t, diff_view_place_of(c, key));
        if (item->key_before != 0 && item->key_after != 0 && item->key_before != item->key_after)
                view_table_put_string(d, t,
                                      diff_names_key(c->names, item->key_before)->name ==
                                                      diff_names_key(c->names, key)->name
                                              ? diff_view_place_of(c, item->key_before)
                                              : diff_view_name_of(c, item->key_before));
        else
                view_table_put_unknown(d, t);
}

/* Items of a kind that are shown, in order; heap, NULL without memory. */
static const struct diff_item **diff_view_choose(const struct diff_comparison *c, enum diff_kind kind,
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
                qsort((void *)chosen, *ret_n, sizeof(void *), diff_view_compare);
        return chosen;
}

static void diff_view_add_items(struct view_document *d, const struct diff_comparison *c, enum diff_kind kind,
                                const struct diff_view_options *options)
{
        const struct view_column *columns = kind == DIFF_ZONE           ? zone_columns
                                            : c->weight_is_ns           ? time_columns
                                            : c->options.basis.per_unit ? unit_columns
                                                                        : count_columns;
        struct view_table *t = view_document_add_table(d, kind == DIFF_ZONE ? "zones" : "functions",
                                                       kind == DIFF_ZONE ? "zones" : "functions", columns,
                                                       N_ITEM_COLUMNS);
        const char *per = c->options.basis.per_unit ? "for each unit of work"
                          : kind == DIFF_ZONE       ? "of one zone, a mean without the slowest of each 1,000"
                                                    : "of a run";
        const struct diff_item **chosen;
        uint64_t n_left_out;
        size_t n;

        chosen = diff_view_choose(c, kind, options, &n, &n_left_out);
        if (!chosen) {
                d->failed = true;
                return;
        }
        view_table_set_about(d, t, "%s %s; changes with 95%% intervals; shares of %s",
                             kind == DIFF_FUNCTION   ? "self time in samples"
                             : c->options.basis.wall ? "time from begin to end"
                                                     : "time on a CPU",
                             per, kind == DIFF_ZONE ? "the recording's time" : "all samples");
        for (size_t i = 0; i < n; i++) {
                if (options->limit != 0 && i >= options->limit)
                        n_left_out++;
                else
                        diff_view_put_item(d, t, c, chosen[i]);
        }
        if (t)
                t->n_left_out = n_left_out;
        free((void *)chosen);
}

static void diff_view_add_whole(struct view_document *d, const struct diff_comparison *c)
{
        const struct diff_whole *whole = &c->whole;
        struct view_table *t = view_document_add_table(d, "whole", "everything together", whole_columns,
                                                       N_WHOLE_COLUMNS);

        view_table_set_about(d, t, "all samples %s",
                             c->options.basis.per_unit ? "for each unit of work" : "of a run");
        if (!whole->is_judged)
                return;
        view_table_put_words(d, t,
                             whole->is_significant        ? words_of_change(c, false, whole->verdict.change)
                             : diff_comparison_is_pair(c) ? "not certain"
                                                          : "not significant");
        view_table_put_words(d, t, "the whole run");
        put_verdict(d, t, &whole->verdict);
}

/* A part of the answer, of limited length. */
struct answer {
        char text[1024];
        size_t used_bytes;
};

static void diff_view_say(struct answer *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void diff_view_say(struct answer *a, const char *format, ...)
{
        va_list args;
        int n;

        va_start(args, format);
        n = vsnprintf(a->text + a->used_bytes, sizeof(a->text) - a->used_bytes, format, args);
        va_end(args);
        if (n > 0)
                a->used_bytes += (size_t)n < sizeof(a->text) - a->used_bytes
                                         ? (size_t)n
                                         : sizeof(a->text) - 1 - a->used_bytes;
}

static void say_verdict(struct answer *a, const struct diff_verdict *v)
{
        double low, high;

        diff_comparison_interval(v, &low, &high);
        diff_view_say(a, " %+.1f%% (%+.1f to %+.1f)", 100 * expm1(v->change), 100 * low, 100 * high);
}

static void say_name(struct answer *a, const struct diff_comparison *c, const struct diff_item *item)
{
        struct text_view name = diff_view_name_of(c, item->key_after);
        bool is_cut = name.n_bytes > NAME_BYTES_MAX;

        diff_view_say(a, "%s%.*s%s", item->kind == DIFF_ZONE ? "zone " : "",
                      is_cut ? NAME_BYTES_MAX : (int)name.n_bytes, name.n_bytes > 0 ? name.bytes : "",
                      is_cut ? "…" : "");
}

/* The items that became significantly slower, or faster. */
static void say_direction(struct answer *a, const struct diff_comparison *c,
                          const struct diff_item *const *items, size_t n_items, bool is_up)
{
        const char *word = words_of_change(c, c->n_judged[DIFF_FUNCTION] == 0, is_up ? 1 : -1);
        bool is_whole = c->whole.is_significant && (c->whole.verdict.change > 0) == is_up;
        size_t n = 0;

        for (size_t i = 0; i < n_items; i++) {
                if ((items[i]->verdict.change > 0) != is_up || n++ >= N_NAMED_MAX)
                        continue;
                if (n == 1)
                        diff_view_say(a, "%s%s: ", a->used_bytes > 0 ? "; " : "", word);
                else
                        diff_view_say(a, ", ");
                say_name(a, c, items[i]);
                say_verdict(a, &items[i]->verdict);
        }
        if (n > N_NAMED_MAX)
                diff_view_say(a, ", and %zu more", n - N_NAMED_MAX);
        if (!is_whole)
                return;
        if (n == 0)
                diff_view_say(a, "%s%s: the whole run", a->used_bytes > 0 ? "; " : "", word);
        else
                diff_view_say(a, ", the whole run");
        say_verdict(a, &c->whole.verdict);
}

static void say_percent(struct answer *a, double change)
{
        if (100 * change > DETECTABLE_PERCENT_MAX)
                diff_view_say(a, "%.0f times as much", change + 1);
        else
                diff_view_say(a, "%.*f%%", change < 0.1 ? 1 : 0, 100 * change);
}

static void say_counts(struct answer *a, const struct diff_comparison *c)
{
        uint32_t n_functions = c->n_judged[DIFF_FUNCTION], n_zones = c->n_judged[DIFF_ZONE];

        if (n_functions > 0)
                diff_view_say(a, "%u function%s", n_functions, n_functions == 1 ? "" : "s");
        if (n_zones > 0)
                diff_view_say(a, "%s%u zone%s", n_functions > 0 ? " and " : "", n_zones,
                              n_zones == 1 ? "" : "s");
        diff_view_say(a, " compared");
}

/* The change of what weighs most, as it was recorded, and what would make it certain. */
static void say_uncertain(struct answer *a, const struct diff_comparison *c)
{
        const struct diff_item *item = diff_comparison_leading(c);

        if (!item) {
                diff_view_say(
                        a, "nothing can be compared: %s",
                        c->has_kind[DIFF_FUNCTION] || c->has_kind[DIFF_ZONE]
                                ? "no function or zone has enough samples or instances in every recording"
                                : "not all recordings have samples of the same event, or zones");
                return;
        }
        if (diff_comparison_is_pair(c)) {
                say_name(a, c, item);
                diff_view_say(a, " %+.1f%%, not certain from one pair; five runs each would detect ",
                              100 * expm1(item->verdict.change));
                say_percent(a, diff_comparison_detectable(c, item, DIFF_RUNS_ADVISED, DIFF_RUNS_ADVISED));
                return;
        }
        diff_view_say(a, "no significant change (");
        say_counts(a, c);
        diff_view_say(a, "); largest: ");
        say_name(a, c, item);
        say_verdict(a, &item->verdict);
        diff_view_say(a, ", where ");
        say_percent(a, diff_comparison_detectable(c, item, c->n_before, c->n_after));
        diff_view_say(a, " would have been detected");
}

static void diff_view_set_answer(struct view_document *d, const struct diff_comparison *c, bool has_title)
{
        const struct diff_item **significant = calloc(c->n_items + 1, sizeof(void *));
        struct answer a = { .used_bytes = 0 };
        const char *word = c->n_significant > 0         ? "changed"
                           : diff_comparison_leading(c) ? "not certain"
                                                        : "not compared";
        size_t n = 0;

        if (!significant) {
                d->failed = true;
                return;
        }
        for (size_t i = 0; i < c->n_items; i++)
                if (c->items[i].is_significant)
                        significant[n++] = &c->items[i];
        if (n > 1)
                qsort((void *)significant, n, sizeof(void *), diff_view_compare);
        say_direction(&a, c, significant, n, true);
        say_direction(&a, c, significant, n, false);
        if (a.used_bytes == 0)
                say_uncertain(&a, c);
        view_document_set_title(d, "%s", a.text);
        if (!has_title) {
                view_document_add_string(d, "answer", "answer", (struct text_view){ a.text, a.used_bytes });
                view_document_add_string(d, "verdict", "verdict", (struct text_view){ word, strlen(word) });
        }
        free((void *)significant);
}

/* With several runs the mean, which need not be whole. */
static void add_units(struct view_document *d, const char *key, const char *title, double units)
{
        if (fabs(units - round(units)) < 1e-9)
                view_document_add_number(d, key, title, VIEW_COUNT, whole_number(units));
        else
                view_document_add_real(d, key, title, VIEW_REAL, units);
}

static void diff_view_add_facts(struct view_document *d, const struct diff_comparison *c,
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
                                         "sampled before", type, whole_number(c->weight_before));
                view_document_add_number(d, c->weight_is_ns ? "sampled_after_ns" : "sampled_after",
                                         "sampled after", type, whole_number(c->weight_after));
                view_document_add_real(d, "sampled_change", "that is", VIEW_CHANGE,
                                       c->weight_after / c->weight_before - 1);
        }
        if (c->options.basis.per_unit) {
                add_units(d, "units_before", "units before", c->units_before);
                add_units(d, "units_after", "units after", c->units_after);
        }
        view_document_add_real(d, "alpha", "level", VIEW_SHARE, c->alpha);
        view_document_add_number(d, "judged", "judged", VIEW_COUNT,
                                 c->n_judged[DIFF_FUNCTION] + c->n_judged[DIFF_ZONE] + c->whole.is_judged);
        view_document_add_number(d, "significant", "significant", VIEW_COUNT, c->n_significant);
}

/* Those that were recorded need not be like the others. */
static void diff_view_warn_of_lost(struct view_document *d, const struct lost_zones *lost, uint32_t n_runs,
                                   const char *side)
{
        char words[LOST_ZONES_WORDS_BYTES];

        if (lost->n_lost == 0)
                return;
        lost_zones_words(lost, words);
        view_document_warn(d, "%s recording %s: numbers of zones are %s; times are those of the rest",
                           n_runs == 1 ? "the" : "a", side, words);
}

static void diff_view_add_warnings(struct view_document *d, const struct diff_comparison *c)
{
        if (!c->has_kind[DIFF_FUNCTION])
                view_document_warn(d, "%s: functions are not compared",
                                   c->any_kind[DIFF_FUNCTION] ? "not all recordings have samples of the event"
                                                              : "no samples");
        if (!c->has_kind[DIFF_ZONE] && c->any_kind[DIFF_ZONE])
                view_document_warn(d, "not all recordings have zones: zones are not compared");
        if (c->lacks_switches)
                view_document_warn(
                        d, "no context switches in a recording: zones are compared from begin to end, "
                           "waiting included");
        diff_view_warn_of_lost(d, &c->lost_before, c->n_before, "before");
        diff_view_warn_of_lost(d, &c->lost_after, c->n_after, "after");
        if (c->n_unspread > 0)
                view_document_warn(d, "%u zones of a recording are not judged: there are too many",
                                   c->n_unspread);
        if (c->n_unnamed > 0)
                view_document_warn(d, "%llu samples and zones are left out: too many names",
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
        diff_view_set_answer(d, c, options->has_title);
        diff_view_add_facts(d, c, options);
        if (c->has_kind[DIFF_FUNCTION])
                diff_view_add_items(d, c, DIFF_FUNCTION, options);
        if (c->has_kind[DIFF_ZONE])
                diff_view_add_items(d, c, DIFF_ZONE, options);
        diff_view_add_whole(d, c);
        diff_view_add_warnings(d, c);
}
