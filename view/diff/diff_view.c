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
#include "view/text/text_number.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static struct view_value value_of(bool is_known, bool is_whole, double value)
{
        if (!is_known)
                return view_unknown();
        return is_whole ? view_number(diff_words_whole(value)) : view_real(value);
}

/* The columns of a change. */
struct change {
        struct view_value change, low, high, p;
};

static struct change judged_change(const struct diff_verdict *v)
{
        double low, high;

        diff_comparison_interval(v, &low, &high);
        return (struct change){ view_real(expm1(v->change)), view_real(low), view_real(high),
                                view_real(v->p) };
}

/*
 * A new item has neither a percentage nor an upper bound for it; an item that is gone has changed by -100%.
 */
static struct change one_sided_change(const struct diff_item *item)
{
        bool is_new = item->key_before == 0;
        double low, high;

        diff_comparison_interval(&item->verdict, &low, &high);
        return (struct change){ view_real_known(-1, !is_new), view_real(is_new ? low : -1),
                                view_real_known(high, !is_new), view_real(item->verdict.p) };
}

/* An item that is not judged has only a change; one that depends on other programs also has a p-value. */
static struct change change_of(const struct diff_comparison *c, const struct diff_item *item)
{
        struct change change = { .p = view_unknown() };

        if (item->doubt != DIFF_JUDGED) {
                change.change = view_real_known(item->value_after / item->value_before - 1,
                                                item->value_before > 0 && item->value_after > 0);
                return change;
        }
        if (diff_comparison_has_interval(c, item))
                return diff_item_is_one_sided(item) ? one_sided_change(item) : judged_change(&item->verdict);
        change.change = view_real_known(item->key_after != 0 ? expm1(item->verdict.change) : -1,
                                        item->key_before != 0);
        change.p = view_real(item->verdict.p);
        return change;
}

/* The name before, or the place if that is what changed. */
static struct view_value was(const struct diff_comparison *c, const struct diff_item *item)
{
        uint32_t key = diff_item_key(item), before = item->key_before;

        if (before == 0 || item->key_after == 0 || before == item->key_after)
                return view_unknown();
        return view_text(diff_names_key(c->names, before)->name == diff_names_key(c->names, key)->name
                                 ? place_of(c, before)
                                 : diff_words_name(c, before));
}

static struct view_value caller_of(const struct diff_comparison *c, uint32_t caller)
{
        return caller != 0 ? view_text(diff_names_string(c->names, caller)) : view_unknown();
}

/* clang-format off */
#define VERDICT_COLUMNS(COLUMN, name_title)                                                                   \
        COLUMN(STRING, "verdict", "verdict", view_words(verdict(c, item)),                                    \
               "a single pair of runs gives at most \"not certain\"",                                         \
               .one_of = "slower|faster|more|less|not significant|not certain|new|gone|too few|too small|"    \
                         "not judged|data lost", .n_columns_max = 15)                                         \
        COLUMN(STRING, "name", name_title, view_text(diff_words_name(c, key)),                                \
               "as it is compared; of waits \"fdatasync from commit\"")
#define VALUE_COLUMNS(COLUMN, TYPE, before_key, after_key, words)                                             \
        COLUMN(TYPE, before_key, "before",                                                                    \
               value_of(item->key_before != 0, is_whole, item->value_before), words)                          \
        COLUMN(TYPE, after_key, "after", value_of(item->key_after != 0, is_whole, item->value_after), NULL)
#define CHANGE_COLUMNS(COLUMN)                                                                                \
        COLUMN(CHANGE, "change", "change", change.change, "as recorded; -1 for \"gone\", null for \"new\"")   \
        COLUMN(CHANGE, "change_low", "from", change.low,                                                      \
               "of its 95 % interval; null if it is not judged, and of waits that depend on others")          \
        COLUMN(CHANGE, "change_high", "to", change.high, "likewise; of \"new\" null")                         \
        COLUMN(REAL, "p", "p", change.p, "the probability of a change as large as this if nothing changed")
#define SHARE_COLUMNS(COLUMN, words)                                                                          \
        COLUMN(SHARE, "share_before", "share", view_real(item->share_before), words)                          \
        COLUMN(SHARE, "share_after", "share after", view_real(item->share_after), NULL)                       \
        COLUMN(COUNT, "n_before", "n", view_number(item->n_before), "samples, zones, waits, of all runs")     \
        COLUMN(COUNT, "n_after", "n after", view_number(item->n_after), NULL)
#define PLACE_COLUMNS(COLUMN, place_key)                                                                      \
        COLUMN(STRING, place_key, place_key, view_text(place_of(c, key)), NULL, .n_columns_max = 20)          \
        COLUMN(STRING, "was", "was", was(c, item),                                                            \
               "the name before, or the module or file if that is what changed", .n_columns_max = 24)
#define ITEM_COLUMNS(COLUMN, TYPE, before_key, after_key, words, whole, place_key)                            \
        VERDICT_COLUMNS(COLUMN, "name")                                                                       \
        VALUE_COLUMNS(COLUMN, TYPE, before_key, after_key, words)                                             \
        CHANGE_COLUMNS(COLUMN)                                                                                \
        SHARE_COLUMNS(COLUMN, whole)                                                                          \
        PLACE_COLUMNS(COLUMN, place_key)
#define CALL_COLUMNS(COLUMN, TYPE)                                                                            \
        VERDICT_COLUMNS(COLUMN, "system call")                                                                \
        COLUMN(TYPE, "before", "calls", value_of(true, is_whole, item->value_before),                         \
               "how many of a run, exact; with --per of a unit, a real number")                               \
        COLUMN(TYPE, "after", "after", value_of(true, is_whole, item->value_after), NULL)                     \
        COLUMN(CHANGE, "change", "change", view_real_known(item->value_after / item->value_before - 1,        \
               item->value_before > 0), NULL)                                                                 \
        COLUMN(REAL, "p", "p", view_real_known(item->verdict.p, item->doubt == DIFF_JUDGED), NULL)            \
        COLUMN(DURATION, "before_ns", "time", value_of(true, true, item->total_before),                       \
               "their time, waiting included")                                                                \
        COLUMN(DURATION, "after_ns", "time after", value_of(true, true, item->total_after), NULL)             \
        COLUMN(STRING, "caller_before", "from", caller_of(c, item->caller_before),                            \
               "who made more than half of those that were sampled, or null")                                 \
        COLUMN(STRING, "caller_after", "from, after", caller_of(c, item->caller_after), NULL)
#define KERNEL_COLUMNS(COLUMN)                                                                                \
        VERDICT_COLUMNS(COLUMN, "kernel")                                                                     \
        VALUE_COLUMNS(COLUMN, DURATION, "before_ns", "after_ns", KERNEL_WORDS)                                \
        CHANGE_COLUMNS(COLUMN)                                                                                \
        COLUMN(DURATION, "total_before_ns", "total", value_of(true, true, item->total_before),                \
               "of all of a run or unit, on all lanes")                                                       \
        COLUMN(DURATION, "total_after_ns", "total after", value_of(true, true, item->total_after), NULL)      \
        COLUMN(DURATION, "delay_before_ns", "delay",                                                          \
               value_of(item->delay_before >= 0, true, item->delay_before),                                   \
               "mean: from the begin of the zone of a thread with its key, or from when it was handed over, " \
               "to its begin; null = neither is known")                                                       \
        COLUMN(DURATION, "delay_after_ns", "delay after",                                                     \
               value_of(item->delay_after >= 0, true, item->delay_after), NULL)                               \
        SHARE_COLUMNS(COLUMN, KERNEL_WHOLE)                                                                   \
        PLACE_COLUMNS(COLUMN, "device")
#define WHOLE_COLUMNS(COLUMN)                                                                                 \
        COLUMN(STRING, "verdict", "verdict", view_words(whole_verdict(c)), NULL,                              \
               .one_of = "slower|faster|more|less|not significant|not certain")                               \
        COLUMN(STRING, "of", "what", view_words("the whole run"), NULL)                                       \
        CHANGE_COLUMNS(COLUMN)
/* clang-format on */

#define FUNCTION_WORDS "self time of a run or unit"
#define FUNCTION_WHOLE "of all samples"
#define ZONE_WORDS     "the mean of one without the slowest of each 1,000, or of a unit"
#define ZONE_WHOLE     "of the recording's time, all threads together"
#define WAIT_WORDS     "their time in a run or unit"
#define KERNEL_WORDS   "the mean of one without the slowest of each 1,000, or of a unit"
#define KERNEL_WHOLE   "of the time of all kernels, those at the same time each"
#define WAIT_WHOLE     "of the time of all threads, on CPUs and waiting, but that of idle threads"

/* clang-format off */
static const struct view_column time_columns[] = {
        ITEM_COLUMNS(VIEW_COLUMN, DURATION, "before_ns", "after_ns", FUNCTION_WORDS, FUNCTION_WHOLE, "module")
};
/* Where the weight of samples is not a time. */
static const struct view_column count_columns[] = {
        ITEM_COLUMNS(VIEW_COLUMN, COUNT, "before", "after", FUNCTION_WORDS, FUNCTION_WHOLE, "module")
};
/* A value for each unit of work may be less than one. */
static const struct view_column unit_columns[] = {
        ITEM_COLUMNS(VIEW_COLUMN, REAL, "before", "after", FUNCTION_WORDS, FUNCTION_WHOLE, "module")
};
/* All of these, for the schema. */
static const struct view_column function_columns[] = {
        VERDICT_COLUMNS(VIEW_COLUMN, "name")
        VALUE_COLUMNS(VIEW_COLUMN_ABSENT, DURATION, "before_ns", "after_ns", FUNCTION_WORDS)
        VALUE_COLUMNS(VIEW_COLUMN_ABSENT, REAL, "before", "after",
                      "the same where the samples' weight is not a time: whole numbers, with --per real ones")
        CHANGE_COLUMNS(VIEW_COLUMN)
        SHARE_COLUMNS(VIEW_COLUMN, FUNCTION_WHOLE)
        PLACE_COLUMNS(VIEW_COLUMN, "module")
};
static const struct view_column zone_columns[] = {
        ITEM_COLUMNS(VIEW_COLUMN, DURATION, "before_ns", "after_ns", ZONE_WORDS, ZONE_WHOLE, "file")
};
static const struct view_column wait_columns[] = {
        ITEM_COLUMNS(VIEW_COLUMN, DURATION, "before_ns", "after_ns", WAIT_WORDS, WAIT_WHOLE, "module")
};
static const struct view_column kernel_columns[] = { KERNEL_COLUMNS(VIEW_COLUMN) };
static const struct view_column call_columns[] = { CALL_COLUMNS(VIEW_COLUMN, COUNT) };
static const struct view_column unit_call_columns[] = { CALL_COLUMNS(VIEW_COLUMN, REAL) };
static const struct view_column whole_columns[] = { WHOLE_COLUMNS(VIEW_COLUMN) };
/* clang-format on */

static const char *whole_verdict(const struct diff_comparison *c)
{
        if (c->whole.is_significant)
                return diff_words_change(c, false, c->whole.verdict.change);
        return diff_comparison_is_pair(c) ? "not certain" : "not significant";
}

static const struct answer_part functions_part = ANSWER_TABLE(
        "functions", function_columns,
        "a function, by self time: significant first, by the time that moved, then new, gone and renamed, then "
        "by share; not there if not all recordings have samples",
        .may_be_absent = true);
static const struct answer_part zones_part = ANSWER_TABLE(
        "zones", zone_columns, "a zone, in the same order; not there if not all recordings have zones",
        .may_be_absent = true);
static const struct answer_part waits_part = ANSWER_TABLE(
        "waits", wait_columns,
        "waits of threads that are not idle, by call and caller, in the same order; not there if not all "
        "recordings have waits with a call stack (--off-cpu)",
        .may_be_absent = true);
static const struct answer_part calls_part = ANSWER_TABLE(
        "syscalls", unit_call_columns,
        "a system call, with exact numbers, in the same order; not there if not all recordings were made with "
        "--syscalls, or with a filter",
        .may_be_absent = true);
static const struct answer_part kernels_part = ANSWER_TABLE(
        "kernels", kernel_columns,
        "a zone of a device, by its name and that of the device, in the same order; not there if not all "
        "recordings have zones of devices",
        .may_be_absent = true);
static const struct answer_part whole_part = ANSWER_TABLE(
        "whole", whole_columns, "all samples together; no row if --only leaves it out");

static void put_item(struct view_document *d, struct view_table *t, const struct diff_comparison *c,
                     const struct diff_item *item)
{
        bool is_whole = diff_words_is_time(item) || c->weight_is_ns || !c->options.basis.per_unit;
        struct change change = change_of(c, item);
        uint32_t key = diff_item_key(item);

        ITEM_COLUMNS(VIEW_CELL, DURATION, NULL, NULL, NULL, NULL, NULL)
}

/* Numbers are exact, even without a verdict on them. */
static void put_call(struct view_document *d, struct view_table *t, const struct diff_comparison *c,
                     const struct diff_item *item)
{
        bool is_whole = !c->options.basis.per_unit;
        uint32_t key = diff_item_key(item);

        CALL_COLUMNS(VIEW_CELL, COUNT)
}

static void put_kernel(struct view_document *d, struct view_table *t, const struct diff_comparison *c,
                       const struct diff_item *item)
{
        struct change change = change_of(c, item);
        uint32_t key = diff_item_key(item);
        bool is_whole = true;

        KERNEL_COLUMNS(VIEW_CELL)
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
                else if (kind == DIFF_KERNEL)
                        put_kernel(d, t, c, chosen[i]);
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
        static const char *const names[DIFF_KIND_COUNT] = { "functions", "zones", "waits", "syscalls",
                                                            "kernels" };
        const struct view_column *columns = kind == DIFF_ZONE           ? zone_columns
                                            : kind == DIFF_WAIT         ? wait_columns
                                            : c->weight_is_ns           ? time_columns
                                            : c->options.basis.per_unit ? unit_columns
                                                                        : count_columns;
        struct view_table *t = view_document_add_table(d, names[kind], names[kind], columns,
                                                       VIEW_N_COLUMNS(zone_columns));
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
                d, calls_part.key, "system calls",
                c->options.basis.per_unit ? unit_call_columns : call_columns, VIEW_N_COLUMNS(call_columns));

        view_table_set_about(d, t,
                             "exact numbers %s, and times with waiting; from: who made most of those sampled",
                             c->options.basis.per_unit ? "for each unit of work" : "of a run");
        put_chosen(d, t, c, DIFF_CALL, options);
}

static void add_kernels(struct view_document *d, const struct diff_comparison *c,
                        const struct diff_view_options *options)
{
        struct view_table *t = view_document_add_part(d, &kernels_part, "kernels");

        view_table_set_about(
                d, t, "time on a device %s; changes with 95%% intervals; shares of the time of all kernels",
                c->options.basis.per_unit ? "for each unit of work"
                                          : "of one zone, a mean without the slowest of each 1,000");
        put_chosen(d, t, c, DIFF_KERNEL, options);
}

static void add_whole(struct view_document *d, const struct diff_comparison *c)
{
        struct view_table *t = view_document_add_part(d, &whole_part, "everything together");
        struct change change;

        view_table_set_about(d, t, "all samples %s",
                             c->options.basis.per_unit ? "for each unit of work" : "of a run");
        if (!c->whole.is_judged)
                return;
        change = judged_change(&c->whole.verdict);
        WHOLE_COLUMNS(VIEW_CELL)
}

/* clang-format off */
#define RUNS_FACTS(FACT)                                                                                      \
        FACT(STRING, "verdict", NULL, view_words(diff_words_verdict(c)), NULL,                                \
             .one_of = "changed|not certain|not compared")                                                    \
        FACT(STRING, "filter", "only", view_name(options->filter),                                            \
             "what was looked at, in words; null = everything")                                               \
        FACT(COUNT, "runs_before", "runs before", view_number(c->n_before), NULL)                             \
        FACT(COUNT, "runs_after", "runs after", view_number(c->n_after), NULL)                                \
        FACT(DURATION, "duration_before_ns", "lasted before", view_number((uint64_t)c->duration_ns_before),   \
             "mean of the runs")                                                                              \
        FACT(DURATION, "duration_after_ns", "lasted after",                                                   \
             view_number((uint64_t)c->duration_ns_after), NULL)                                               \
        FACT(STRING, "event", "samples of", view_name(options->event),                                        \
             "whose samples are compared, or null")
#define SAMPLED_FACTS(FACT, TYPE, before_key, after_key, words)                                               \
        FACT(TYPE, before_key, "sampled before", view_number(diff_words_whole(c->weight_before)), words)      \
        FACT(TYPE, after_key, "sampled after", view_number(diff_words_whole(c->weight_after)), NULL)
#define SAMPLED_CHANGE_FACTS(FACT)                                                                            \
        FACT(CHANGE, "sampled_change", "that is", view_real(c->weight_after / c->weight_before - 1),          \
             "from before to after")
#define PYTHON_FACTS(FACT)                                                                                    \
        FACT(STRING, NULL, "python", view_text((struct text_view){ words.text, words.used_bytes }), NULL)     \
        FACT(STRING, "view", NULL, view_words("python"),                                                      \
             "only in the Python view: native code counts for the Python function that called it",            \
             .one_of = "python")
#define PYTHON_SHARES(FACT, time, parts)                                                                      \
        FACT(SHARE, "python_share_" time, NULL, view_real(report_share((parts)->python, (parts)->all)),       \
             "of the samples: in Python itself")                                                              \
        FACT(SHARE, "native_share_" time, NULL, view_real(report_share((parts)->native, (parts)->all)),       \
             "of the samples: in native code below Python functions")                                         \
        FACT(SHARE, "kernel_share_" time, NULL, view_real(report_share((parts)->kernel, (parts)->all)),       \
             "of the samples: in the kernel below Python functions")
#define UNITS_FACTS(FACT)                                                                                     \
        FACT(REAL, "units_before", "units before", c->units_before,                                           \
             "with --per: units of work, mean of the runs")                                                   \
        FACT(REAL, "units_after", "units after", c->units_after, NULL)
#define JUDGED_FACTS(FACT)                                                                                    \
        FACT(SHARE, "unsampled_before_share", "unsampled before",                                             \
             report_heading_unsampled(&c->unsampled_before),                                                  \
             "the largest part without samples of a run, or null")                                            \
        FACT(SHARE, "unsampled_after_share", "unsampled after",                                               \
             report_heading_unsampled(&c->unsampled_after), NULL)                                             \
        FACT(SHARE, "alpha", "level", view_real(c->alpha), "the level that was applied")                      \
        FACT(COUNT, "judged", "judged", view_number(diff_comparison_count_judged(c)),                         \
             "functions, zones, waits and system calls that were judged, the whole run included")             \
        FACT(COUNT, "significant", "significant", view_number(c->n_significant), "likewise")
/* clang-format on */

/* clang-format off */
static const struct view_column runs_facts[] = { RUNS_FACTS(VIEW_MEMBER) };
static const struct view_column more_facts[] = {
        SAMPLED_FACTS(VIEW_MEMBER, DURATION, "sampled_before_ns", "sampled_after_ns", "mean of the runs")
        SAMPLED_FACTS(VIEW_MEMBER, COUNT, "sampled_before", "sampled_after",
                      "the same where the samples' weight is not a time")
        SAMPLED_CHANGE_FACTS(VIEW_MEMBER)
        PYTHON_FACTS(VIEW_MEMBER)
        PYTHON_SHARES(VIEW_MEMBER, "before", NULL)
        PYTHON_SHARES(VIEW_MEMBER, "after", NULL)
        UNITS_FACTS(VIEW_MEMBER)
};
static const struct view_column judged_facts[] = { JUDGED_FACTS(VIEW_MEMBER) };
/* clang-format on */

static const struct answer_part runs_part = ANSWER_FACTS(runs_facts);
static const struct answer_part more_part = ANSWER_FACTS_ABSENT(more_facts);
static const struct answer_part judged_part = ANSWER_FACTS(judged_facts);

/* With several runs, the number is their mean, which need not be whole. */
static void put_units(struct view_document *d, const char *key, const char *title, double units)
{
        bool is_whole = fabs(units - round(units)) < 1e-9;

        view_document_put(d, key, title, is_whole ? VIEW_COUNT : VIEW_REAL, value_of(true, is_whole, units));
}
#define UNITS_FACT(type_, key_, title_, value_, ...) put_units(d, (key_), (title_), (value_));

static void add_python_facts(struct view_document *d, const struct diff_comparison *c)
{
        struct answer_words words = { .used_bytes = 0 };

        if (!c->is_folded)
                return;
        answer_words_add(&words, "before ");
        python_columns_say_parts(&words, &c->python_before, c->python_before.all);
        answer_words_add(&words, "; after ");
        python_columns_say_parts(&words, &c->python_after, c->python_after.all);
        answer_words_add(&words,
                         "; native code counts for the Python function that called it (--native: apart)");
        PYTHON_FACTS(VIEW_FACT)
        PYTHON_SHARES(VIEW_FACT, "before", &c->python_before)
        PYTHON_SHARES(VIEW_FACT, "after", &c->python_after)
}

static void add_facts(struct view_document *d, const struct diff_comparison *c,
                      const struct diff_view_options *options)
{
        RUNS_FACTS(VIEW_FACT)
        if (c->has_kind[DIFF_FUNCTION]) {
                if (c->weight_is_ns) {
                        SAMPLED_FACTS(VIEW_FACT, DURATION, "sampled_before_ns", "sampled_after_ns", NULL)
                } else {
                        SAMPLED_FACTS(VIEW_FACT, COUNT, "sampled_before", "sampled_after", NULL)
                }
                SAMPLED_CHANGE_FACTS(VIEW_FACT)
        }
        add_python_facts(d, c);
        if (c->options.basis.per_unit) {
                UNITS_FACTS(UNITS_FACT)
        }
        JUDGED_FACTS(VIEW_FACT)
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
        if (!c->has_kind[DIFF_KERNEL] && c->any_kind[DIFF_KERNEL])
                view_document_warn(d, "not all recordings have zones of devices: these are not compared");
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

const struct answer_schema diff_view_schema = {
        .name = "hyprof.diff/1",
        .command = "hyprof diff --json",
        .parts = (const struct answer_part *const[]){ &runs_part, &more_part, &judged_part, &functions_part,
                                                      &zones_part, &waits_part, &calls_part, &kernels_part,
                                                      &whole_part, NULL },
};

void diff_view_fill(struct view_document *d, const struct diff_comparison *c,
                    const struct diff_view_options *options)
{
        diff_words_set_answer(d, c);
        add_facts(d, c, options);
        if (c->has_kind[DIFF_FUNCTION])
                add_items(d, c, DIFF_FUNCTION, options);
        if (c->has_kind[DIFF_ZONE])
                add_items(d, c, DIFF_ZONE, options);
        if (c->has_kind[DIFF_WAIT])
                add_items(d, c, DIFF_WAIT, options);
        if (c->has_kind[DIFF_CALL])
                add_calls(d, c, options);
        if (c->has_kind[DIFF_KERNEL])
                add_kernels(d, c, options);
        add_whole(d, c);
        add_warnings(d, c);
}
