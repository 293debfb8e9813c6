/* SPDX-License-Identifier: MIT */
#include "view/why/why_view.h"

#include "analyze/trace/meta_value.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/lost_zones.h"
#include "analyze/why/why.h"
#include "base/byte_buffer.h"
#include "format/trace_dictionary.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"
#include "view/text/shell_word.h"
#include "view/text/text_number.h"
#include "view/waits/owners_view.h"
#include "view/why/why_common_words.h"
#include "view/why/why_owner_words.h"
#include "view/why/why_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TREE_SHARE_MIN 0.02 /* of the extra time: smaller branches of the call tree are left out */
#define TREE_DEPTH_MAX 200
#define SLOWEST_ROWS   10
#define COMMON_MAX     2 /* in the line of the summary; the table has all */
/* The bound of instances with a sample is mentioned if it is at least this many times the bound of all. */
#define SAYS_SAMPLED_FROM 1.01

struct filling {
        struct view_document *document;
        const struct why *why;
        const struct loaded_trace *trace;
        const struct why_view_options *options;
};

static bool is_full(const struct filling *f, const struct view_table *t)
{
        return f->options->limit != 0 && t && view_table_count(t) >= f->options->limit;
}

static int64_t whole(double ns)
{
        return llrint(fmin(fmax(ns, -9e18), 9e18));
}

static uint64_t whole_positive(double ns)
{
        return ns > 0 ? (uint64_t)whole(ns) : 0;
}

/* ------------------------------------------------------------------ facts */

static void add_mean(const struct filling *f, const char *key, const char *title, int group)
{
        const struct why_group_sum *g = &f->why->groups[group];

        if (g->n == 0)
                view_document_add_unknown(f->document, key, title, VIEW_DURATION);
        else
                view_document_add_number(f->document, key, title, VIEW_DURATION,
                                         whole_positive(g->duration / (double)g->n));
}

static void add_string_fact(const struct filling *f, const char *key, const char *title,
                            struct byte_buffer *words)
{
        view_document_add_string(f->document, key, title,
                                 (struct text_view){ (const char *)words->data, words->used_bytes });
        f->document->failed = f->document->failed || words->failed;
        byte_buffer_deinit(words);
}

/* "76% of the samples of slow instances, 28% of the others'": how common the cause is that is named. */
static void add_seen_in(const struct filling *f)
{
        const struct why_cause *answer = why_find_answer(f->why);
        const struct why_group_sum *groups = f->why->groups;
        const double *ran_ns = f->why->on_cpu_ns;
        struct byte_buffer words = { .data = NULL };

        if (answer && answer->is_sampled)
                byte_buffer_add_format(&words,
                                       "%.0f%% of the samples of slow instances, %.0f%% of the others'",
                                       100 * answer->share.slow_ns / fmax(ran_ns[WHY_SLOW], 1),
                                       100 * answer->share.typical_ns / fmax(ran_ns[WHY_TYPICAL], 1));
        else if (answer)
                byte_buffer_add_format(&words, "%.0f%% of the slow instances, %.0f%% of the others",
                                       100 * (double)answer->n_slow / fmax((double)groups[WHY_SLOW].n, 1),
                                       100 * (double)answer->n_typical /
                                               fmax((double)groups[WHY_TYPICAL].n, 1));
        add_string_fact(f, "seen_in", "seen in", &words);
}

static void add_ranked_without(const struct filling *f)
{
        struct byte_buffer words = { .data = NULL };

        why_words_ranked_without(f->why, f->trace, &words);
        add_string_fact(f, "ranked_without", "left out", &words);
}

/* All facts, for programs that read them. */
static void add_groups(const struct filling *f)
{
        const struct why *w = f->why;
        struct view_document *d = f->document;

        view_document_add_number(d, "instances", "instances", VIEW_COUNT, w->survey.durations.n);
        report_heading_add_lost(d, &w->survey.lost);
        view_document_add_number(d, "median_ns", "median", VIEW_DURATION, whole_positive(w->rank.median_ns));
        view_document_add_number(d, "slow_instances", "slow", VIEW_COUNT, w->collector.n_slow);
        view_document_add_number(d, "slow_from_ns", "slow from", VIEW_DURATION,
                                 whole_positive(w->rank.slow_ns));
        view_document_add_number(d, "slow_sampled_from_ns", "slow with a sample from", VIEW_DURATION,
                                 whole_positive(w->rank.slow_sampled_ns));
        add_mean(f, "slow_mean_ns", "slow, mean", WHY_SLOW);
        view_document_add_number(d, "typical_instances", "others", VIEW_COUNT, w->collector.n_typical);
        add_mean(f, "typical_mean_ns", "others, mean", WHY_TYPICAL);
        view_document_add_delta(d, "extra_ns", "extra time", whole(w->extra_ns));
        view_document_add_string(d, "ranked_by", "ranked by",
                                 (struct text_view){ why_words_by(w->by), strlen(why_words_by(w->by)) });
        add_seen_in(f);
        add_ranked_without(f);
        view_document_add_real(d, "machine_share", "others had the CPU", VIEW_SHARE, w->machine_share);
        if (w->cost.is_known) {
                view_document_add_number(d, "sample_cost_ns", "a sample costs", VIEW_DURATION,
                                         whole_positive(w->cost.cost_ns));
                view_document_add_number(d, "sample_cost_spread_ns", "its spread", VIEW_DURATION,
                                         whole_positive(w->cost.spread_ns));
        } else {
                view_document_add_unknown(d, "sample_cost_ns", "a sample costs", VIEW_DURATION);
                view_document_add_unknown(d, "sample_cost_spread_ns", "its spread", VIEW_DURATION);
        }
        view_document_add_number(d, "slow_compared", "slow, compared", VIEW_COUNT, w->groups[WHY_SLOW].n);
        view_document_add_number(d, "typical_compared", "others, compared", VIEW_COUNT,
                                 w->groups[WHY_TYPICAL].n);
        view_document_add_number(d, "slow_samples", "samples in slow", VIEW_COUNT, w->n_samples[WHY_SLOW]);
        view_document_add_number(d, "typical_samples", "samples in others", VIEW_COUNT,
                                 w->n_samples[WHY_TYPICAL]);
        view_document_add_real(d, "slow_moves", "moves, slow", VIEW_REAL, w->n_moves[WHY_SLOW]);
        view_document_add_real(d, "typical_moves", "moves, others", VIEW_REAL, w->n_moves[WHY_TYPICAL]);
        view_document_add_number(d, "slow_moved", "moved, slow", VIEW_COUNT, w->links.n_moved_slow);
        view_document_add_number(d, "typical_moved", "moved, others", VIEW_COUNT, w->links.n_moved_typical);
        view_document_add_real(d, "moved_p", "moved, p", VIEW_REAL, w->links.moved_p);
        view_document_add_number(d, "candidates", "candidates", VIEW_COUNT, w->n_tests);
}

static void add_duration(struct byte_buffer *out, const char *before, double ns)
{
        struct text_number number = text_number_duration(whole_positive(ns));

        byte_buffer_add(out, before, strlen(before));
        byte_buffer_add(out, number.text, strlen(number.text));
}

static void add_count(struct byte_buffer *out, uint64_t n)
{
        struct text_number number = text_number_count(n);

        byte_buffer_add(out, number.text, strlen(number.text));
}

static void add_counted(struct byte_buffer *out, uint64_t n, const char *words)
{
        struct text_counted counted = text_number_counted(n, words);

        byte_buffer_add(out, counted.text, strlen(counted.text));
}

/*
 * "4 from 2.10 ms, mean 2.20 ms, 40 samples".  Where a sample makes an instance doubtful: "4 from 2.10 us,
 * with a sample from 9.32 us, mean ..."
 */
static void add_group(const struct filling *f, const char *title, int group)
{
        const struct why *w = f->why;
        const struct why_group_sum *g = &w->groups[group];
        struct byte_buffer words = { .data = NULL };

        add_count(&words, group == WHY_SLOW ? w->collector.n_slow : w->collector.n_typical);
        if (group == WHY_SLOW)
                add_duration(&words, " from ", w->rank.slow_ns);
        if (group == WHY_SLOW && w->rank.slow_sampled_ns >= SAYS_SAMPLED_FROM * w->rank.slow_ns)
                add_duration(&words, ", with a sample from ", w->rank.slow_sampled_ns);
        if (g->n != 0)
                add_duration(&words, ", mean ", g->duration / (double)g->n);
        byte_buffer_add(&words, ", ", 2);
        add_counted(&words, w->n_samples[group], "samples");
        add_string_fact(f, title, title, &words);
}

static void add_summary(const struct filling *f)
{
        const struct why *w = f->why;
        struct byte_buffer instances = { .data = NULL }, ranked = { .data = NULL }, common = { .data = NULL };

        if (w->survey.durations.n == 0)
                return;
        add_count(&instances, w->survey.durations.n);
        add_duration(&instances, ", median ", w->rank.median_ns);
        add_string_fact(f, "instances", "instances", &instances);
        if (w->survey.lost.n_lost != 0)
                report_heading_add_lost(f->document, &w->survey.lost);
        add_group(f, "slow", WHY_SLOW);
        add_group(f, "others", WHY_TYPICAL);
        view_document_add_delta(f->document, "extra_ns", "extra time", whole(w->extra_ns));
        add_seen_in(f);
        if (w->collector.common.n_rows != 0) {
                why_common_words(&w->collector.common, f->trace, COMMON_MAX, &common);
                add_string_fact(f, "common", "in common", &common);
        }
        byte_buffer_add(&ranked, why_words_by(w->by), strlen(why_words_by(w->by)));
        if (w->cost.is_known && w->by != WHY_BY_WAITING) {
                add_duration(&ranked, " without what samples cost, ", w->cost.cost_ns);
                byte_buffer_add(&ranked, " each", 5);
        }
        add_string_fact(f, "ranked_by", "ranked by", &ranked);
        add_ranked_without(f);
}

/* Uses words for people, and a fact for programs. */
static void add_python(const struct filling *f)
{
        if (!f->why->places.folds)
                return;
        if (f->options->has_title)
                view_document_add_string(
                        f->document, NULL, "python",
                        report_names_words(
                                "native code counts for the Python function that called it (--native: apart)"));
        else
                view_document_add_string(f->document, "view", NULL, report_names_words("python"));
}

static void add_facts(const struct filling *f)
{
        if (f->options->filter.n_bytes != 0)
                view_document_add_string(f->document, "filter", "only", f->options->filter);
        else if (!f->options->has_title)
                view_document_add_unknown(f->document, "filter", "only", VIEW_STRING);
        add_python(f);
        if (f->options->has_title) {
                add_summary(f);
                return;
        }
        add_groups(f);
        view_document_put(f->document, "unsampled_share", NULL, VIEW_SHARE,
                          report_heading_unsampled(&f->why->survey.unsampled));
}

static void add_answer(const struct filling *f)
{
        const struct why_owner *lead = why_owner_words_find_lead(f->why);
        const struct why_cause *answer = why_find_answer(f->why);
        struct byte_buffer words = { .data = NULL };
        char unsampled[UNSAMPLED_TIME_WORDS_BYTES];
        struct text_view sentence;

        why_words_answer(f->why, f->trace, &words);
        unsampled_time_clause(&f->why->survey.unsampled, NULL, unsampled);
        byte_buffer_add(&words, unsampled, strlen(unsampled));
        sentence = (struct text_view){ .bytes = (const char *)words.data, .n_bytes = words.used_bytes };
        view_document_set_title(f->document, "%.*s",
                                (int)(sentence.n_bytes < INT32_MAX ? sentence.n_bytes : INT32_MAX),
                                sentence.bytes ? sentence.bytes : "");
        if (!f->options->has_title) {
                const char *key = answer ? why_words_key(answer->kind) : "none";
                const char *confidence = answer ? why_words_confidence(answer->confidence) : "none";

                if (lead) { /* measured, not judged */
                        key = owners_view_key(lead->kind);
                        confidence = why_words_confidence(WHY_CONFIDENCE_HIGH);
                }

                view_document_add_string(f->document, "answer", "answer", sentence);
                view_document_add_string(f->document, "cause", "cause",
                                         (struct text_view){ .bytes = key, .n_bytes = strlen(key) });
                view_document_add_string(
                        f->document, "confidence", "confidence",
                        (struct text_view){ .bytes = confidence, .n_bytes = strlen(confidence) });
        }
        f->document->failed = f->document->failed || words.failed;
        byte_buffer_deinit(&words);
}

/* ------------------------------------------------------------------ causes */

static void put_cause_handle(const struct filling *f, struct view_table *t, const struct why_cause *cause)
{
        switch (cause->kind) {
        case WHY_CAUSE_FUNCTION:
        case WHY_CAUSE_FAULTS:
        case WHY_CAUSE_SAME:
                if (cause->id != 0) {
                        view_table_put_handle(f->document, t, 'f', cause->id);
                        return;
                }
                break;
        case WHY_CAUSE_ZONE:
                view_table_put_handle(f->document, t, 'z', cause->id);
                return;
        case WHY_CAUSE_LOCK:
        case WHY_CAUSE_WAIT:
        case WHY_CAUSE_MOVED:
        case WHY_CAUSE_SUSPENDED:
        case WHY_CAUSE_DISPLACED:
        case WHY_CAUSE_PREEMPTED:
        case WHY_CAUSE_DELAY:
        case WHY_CAUSE_STOPPED:
        case WHY_CAUSE_INTERRUPTS:
        case WHY_CAUSE_UNEXPLAINED:
                break;
        }
        view_table_put_unknown(f->document, t);
}

static void put_cause(const struct filling *f, struct view_table *t, const struct why_cause *cause)
{
        struct view_document *d = f->document;
        const struct why *w = f->why;

        view_table_put_words(d, t, why_words_key(cause->kind));
        view_table_put_words(d, t, why_words_kind(cause->kind));
        put_cause_handle(f, t, cause);
        view_table_put_string(d, t, why_words_name(w, cause->kind, cause->id));
        view_table_put_string(d, t,
                              cause->kind == WHY_CAUSE_WAIT ? why_words_kernel(w, cause->id)
                                                            : (struct text_view){ .n_bytes = 0 });
        view_table_put_real(d, t, cause->share.value);
        view_table_put_real(d, t, cause->share.low);
        view_table_put_real(d, t, cause->share.high);
        view_table_put_words(d, t, why_words_confidence(cause->confidence));
        view_table_put_delta(d, t, whole(cause->share.slow_ns - cause->share.typical_ns));
        view_table_put_number(d, t, whole_positive(cause->share.slow_ns));
        view_table_put_number(d, t, whole_positive(cause->share.typical_ns));
        view_table_put_real(d, t, (double)cause->n_slow / fmax((double)w->groups[WHY_SLOW].n, 1));
        view_table_put_real(d, t, (double)cause->n_typical / fmax((double)w->groups[WHY_TYPICAL].n, 1));
        if (why_cause_is_own(cause->kind))
                view_table_put_real(d, t, cause->p);
        else
                view_table_put_unknown(d, t);
}

static void add_causes(const struct filling *f)
{
        static const struct view_column columns[] = {
                { .key = "cause", .title = "cause", .type = VIEW_STRING, .n_columns_max = 11 },
                { .key = "words", .title = "what", .type = VIEW_STRING, .n_columns_max = 24 },
                { .key = "handle", .title = "", .type = VIEW_HANDLE },
                { .key = "name", .title = "of, in", .type = VIEW_STRING, .n_columns_max = 24 },
                { .key = "kernel", .title = "kernel", .type = VIEW_STRING, .n_columns_max = 16 },
                { .key = "share", .title = "share", .type = VIEW_CHANGE },
                { .key = "share_low", .title = "from", .type = VIEW_CHANGE },
                { .key = "share_high", .title = "to", .type = VIEW_CHANGE },
                { .key = "confidence", .title = "confidence", .type = VIEW_STRING },
                { .key = "extra_ns", .title = "extra", .type = VIEW_DELTA },
                { .key = "slow_ns", .title = "slow", .type = VIEW_DURATION },
                { .key = "typical_ns", .title = "others", .type = VIEW_DURATION },
                { .key = "slow_with", .title = "in slow", .type = VIEW_SHARE },
                { .key = "typical_with", .title = "in others", .type = VIEW_SHARE },
                { .key = "p", .title = "p", .type = VIEW_REAL },
        };
        const struct why *w = f->why;
        struct view_table *t;

        /* The table is added even without rows, so that CSV has its columns. */
        t = view_document_add_table(f->document, "causes", "Where the extra time goes", columns,
                                    sizeof(columns) / sizeof(columns[0]));
        if (w->n_causes == 0 || w->groups[WHY_SLOW].n == 0)
                return;
        view_table_set_about(f->document, t,
                             "shares of the extra time of a slow instance, with 95%% intervals; "
                             "times are means of an instance; parts do not overlap");
        for (size_t i = 0; i < w->n_causes; i++) {
                if (is_full(f, t) && t)
                        t->n_left_out++;
                else
                        put_cause(f, t, &w->causes[i]);
        }
}

/* ------------------------------------------------------------------ the call tree */

/* If slow instances spend less time on something else, a part may be larger than the whole extra time. */
static double limit_share(double share)
{
        return fmin(fmax(share, -1), 1);
}

static void put_node(const struct filling *f, struct view_table *t, uint32_t node, uint32_t depth)
{
        const struct why_node *n = &f->why->tree.nodes[node];
        uint32_t label = why_tree_key(&f->why->tree, node)->label;
        struct view_document *d = f->document;

        view_table_begin_row(d, t, depth);
        view_table_put_delta(d, t, whole(why_node_extra_ns(n)));
        view_table_put_real(d, t, limit_share(why_node_extra_ns(n) / f->why->extra_ns));
        view_table_put_number(d, t, whole_positive(n->ns[WHY_SLOW]));
        view_table_put_number(d, t, whole_positive(n->ns[WHY_TYPICAL]));
        view_table_put_handle(d, t, 'f', label);
        view_table_put_string(d, t, why_words_function(f->why, label));
}

static bool is_worth(const struct filling *f, uint32_t node)
{
        return node != 0 && why_node_extra_ns(&f->why->tree.nodes[node]) >= TREE_SHARE_MIN * f->why->extra_ns;
}

/* Walks down from the root, the largest branch first; the first sibling that is too small ends its level. */
static void put_nodes(const struct filling *f, struct view_table *t)
{
        const struct why_tree *tree = &f->why->tree;
        uint32_t way[TREE_DEPTH_MAX];
        uint32_t depth = 0;

        way[0] = tree->nodes[0].first_child;
        for (;;) {
                uint32_t node = way[depth];

                if (!is_worth(f, node)) {
                        if (depth == 0)
                                return;
                        depth--;
                        way[depth] = tree->nodes[way[depth]].next_sibling;
                        continue;
                }
                if (is_full(f, t)) {
                        if (t)
                                t->n_left_out++;
                } else {
                        put_node(f, t, node, depth);
                }
                if (depth + 1 < TREE_DEPTH_MAX)
                        way[++depth] = tree->nodes[node].first_child;
                else
                        way[depth] = tree->nodes[node].next_sibling;
        }
}

static void add_tree(const struct filling *f)
{
        static const struct view_column columns[] = {
                { .key = "extra_ns", .title = "extra", .type = VIEW_DELTA },
                { .key = "share", .title = "share", .type = VIEW_CHANGE },
                { .key = "slow_ns", .title = "slow", .type = VIEW_DURATION },
                { .key = "typical_ns", .title = "others", .type = VIEW_DURATION },
                { .key = "handle", .title = "", .type = VIEW_HANDLE },
                { .key = "function", .title = "function", .type = VIEW_STRING },
        };
        const struct why *w = f->why;
        struct view_table *t;

        if (!(w->extra_ns > 0) || !w->tree.nodes || !is_worth(f, w->tree.nodes[0].first_child))
                return;
        t = view_document_add_tree(f->document, "calls", "Call tree of the extra time on a CPU", columns,
                                   sizeof(columns) / sizeof(columns[0]));
        view_table_set_about(
                f->document, t,
                "by samples, in time of an instance; branches with at least %.0f%% of the extra time",
                100 * TREE_SHARE_MIN);
        put_nodes(f, t);
}

/* ------------------------------------------------------------------ waits, zones, counters */

static const char *doing(const struct why_steps *did)
{
        static const char *const words[] = {
                [WHY_DOING_UNKNOWN] = "",
                [WHY_DOING_RUN] = "running",
                [WHY_DOING_WAIT] = "waiting",
                [WHY_DOING_PREEMPTED] = "preempted",
        };

        return words[did->n != 0 ? did->steps[0].doing : WHY_DOING_UNKNOWN];
}

static void add_holders(const struct filling *f)
{
        static const struct view_column columns[] = {
                { .key = "lock", .title = "lock", .type = VIEW_STRING, .n_columns_max = 30 },
                { .key = "thread", .title = "", .type = VIEW_HANDLE },
                { .key = "thread_name", .title = "held by", .type = VIEW_STRING, .n_columns_max = 24 },
                { .key = "held_ns", .title = "held for", .type = VIEW_DURATION },
                { .key = "function", .title = "mostly in", .type = VIEW_STRING, .n_columns_max = 40 },
                { .key = "function_ns", .title = "of that", .type = VIEW_DURATION },
                { .key = "doing", .title = "doing", .type = VIEW_STRING },
        };
        const struct why *w = f->why;
        struct view_table *t;

        if (w->n_holders == 0)
                return;
        t = view_document_add_table(f->document, "holders",
                                    "Holders of the locks that slow instances waited for", columns,
                                    sizeof(columns) / sizeof(columns[0]));
        view_table_set_about(f->document, t, "time that fell into these waits, all slow instances together");
        for (size_t i = 0; i < w->n_holders; i++) {
                const struct why_holder *row = &w->holder_rows[i];

                if (is_full(f, t)) {
                        t->n_left_out++;
                        continue;
                }
                view_table_put_string(f->document, t, why_words_name(w, WHY_CAUSE_LOCK, row->lock));
                view_table_put_handle(f->document, t, 't', row->thread);
                view_table_put_string(f->document, t, loaded_trace_thread_name(f->trace, row->thread));
                view_table_put_number(f->document, t, row->held_ns);
                view_table_put_string(f->document, t, why_words_function(w, row->did.steps[0].label));
                view_table_put_number(f->document, t, row->did.steps[0].ns);
                view_table_put_words(f->document, t, doing(&row->did));
        }
}

static void add_wakers(const struct filling *f)
{
        static const struct view_column columns[] = {
                { .key = "cause", .title = "wait", .type = VIEW_STRING },
                { .key = "name", .title = "where", .type = VIEW_STRING, .n_columns_max = 40 },
                { .key = "thread", .title = "", .type = VIEW_HANDLE },
                { .key = "thread_name", .title = "ended by", .type = VIEW_STRING, .n_columns_max = 24 },
                { .key = "function", .title = "which was in", .type = VIEW_STRING, .n_columns_max = 40 },
                { .key = "count", .title = "waits", .type = VIEW_COUNT },
                { .key = "waited_ns", .title = "waited", .type = VIEW_DURATION },
                { .key = "doing", .title = "meanwhile", .type = VIEW_STRING },
                { .key = "meanwhile", .title = "mostly in", .type = VIEW_STRING, .n_columns_max = 40 },
        };
        const struct why *w = f->why;
        struct view_table *t;

        if (w->n_wakers == 0)
                return;
        t = view_document_add_table(f->document, "wakers", "Wakers that ended the waits of slow instances",
                                    columns, sizeof(columns) / sizeof(columns[0]));
        for (size_t i = 0; i < w->n_wakers; i++) {
                const struct why_waker *row = &w->waker_rows[i];

                if (is_full(f, t)) {
                        t->n_left_out++;
                        continue;
                }
                view_table_put_words(f->document, t, why_words_key(row->kind));
                view_table_put_string(f->document, t, why_words_name(w, row->kind, row->id));
                view_table_put_handle(f->document, t, 't', row->thread);
                view_table_put_string(f->document, t,
                                      row->thread != 0 ? loaded_trace_thread_name(f->trace, row->thread)
                                                       : trace_dictionary_text(w->dictionary, row->name));
                view_table_put_string(f->document, t, why_words_function(w, row->label));
                view_table_put_number(f->document, t, row->n);
                view_table_put_number(f->document, t, row->ns);
                view_table_put_words(f->document, t, doing(&row->did));
                view_table_put_string(f->document, t, why_words_function(w, row->did.steps[0].label));
        }
}

static void add_zones(const struct filling *f)
{
        static const struct view_column columns[] = {
                { .key = "zone", .title = "", .type = VIEW_HANDLE },
                { .key = "name", .title = "zone", .type = VIEW_STRING, .n_columns_max = 40 },
                { .key = "extra_ns", .title = "extra", .type = VIEW_DELTA },
                { .key = "share", .title = "share", .type = VIEW_CHANGE },
                { .key = "slow_ns", .title = "slow", .type = VIEW_DURATION },
                { .key = "typical_ns", .title = "others", .type = VIEW_DURATION },
                { .key = "slow_count", .title = "times, slow", .type = VIEW_REAL },
                { .key = "typical_count", .title = "times, others", .type = VIEW_REAL },
        };
        const struct why *w = f->why;
        struct view_table *t;

        if (w->n_zones == 0)
                return;
        t = view_document_add_table(f->document, "zones", "Zones inside", columns,
                                    sizeof(columns) / sizeof(columns[0]));
        view_table_set_about(f->document, t, "including the zones inside them, so that their shares overlap");
        for (size_t i = 0; i < w->n_zones; i++) {
                const struct why_part *part = &w->zones[i];

                if (is_full(f, t)) {
                        t->n_left_out++;
                        continue;
                }
                view_table_put_handle(f->document, t, 'z', part->id);
                view_table_put_string(f->document, t, why_words_name(w, WHY_CAUSE_ZONE, part->id));
                view_table_put_delta(f->document, t, whole(part->slow - part->typical));
                view_table_put_real(f->document, t, limit_share(part->share.value));
                view_table_put_number(f->document, t, whole_positive(part->slow));
                view_table_put_number(f->document, t, whole_positive(part->typical));
                view_table_put_real(f->document, t, part->slow_n);
                view_table_put_real(f->document, t, part->typical_n);
        }
}

static void add_counters(const struct filling *f)
{
        static const struct view_column columns[] = {
                { .key = "event", .title = "event", .type = VIEW_STRING, .n_columns_max = 40 },
                { .key = "slow", .title = "slow", .type = VIEW_REAL },
                { .key = "typical", .title = "others", .type = VIEW_REAL },
                { .key = "slow_per_ms", .title = "slow, a ms", .type = VIEW_REAL },
                { .key = "typical_per_ms", .title = "others, a ms", .type = VIEW_REAL },
        };
        const struct why *w = f->why;
        struct view_table *t;

        if (w->n_counters == 0)
                return;
        t = view_document_add_table(f->document, "counters", "Counters of an instance", columns,
                                    sizeof(columns) / sizeof(columns[0]));
        view_table_set_about(f->document, t, "by samples of these events; and of a millisecond on a CPU");
        for (size_t i = 0; i < w->n_counters; i++) {
                const struct why_part *part = &w->counters[i];
                const struct trace_sample_event *event = trace_dictionary_row(
                        w->dictionary, TRACE_TABLE_SAMPLE_EVENTS, part->id);

                view_table_put_string(f->document, t, trace_dictionary_text(w->dictionary, event->name));
                view_table_put_real(f->document, t, part->slow);
                view_table_put_real(f->document, t, part->typical);
                view_table_put_real(f->document, t, part->slow * 1e6 / fmax(w->on_cpu_ns[WHY_SLOW], 1));
                view_table_put_real(f->document, t, part->typical * 1e6 / fmax(w->on_cpu_ns[WHY_TYPICAL], 1));
        }
}

static int compare_durations(const void *a, const void *b)
{
        const struct why_instance *left = *(const struct why_instance *const *)a;
        const struct why_instance *right = *(const struct why_instance *const *)b;

        return (left->duration_ns < right->duration_ns) - (left->duration_ns > right->duration_ns);
}

static void put_instance(const struct filling *f, struct view_table *t, const struct why_instance *i)
{
        uint64_t start_ns = f->trace->start_ns;

        view_table_put_number(f->document, t, i->begin_ns > start_ns ? i->begin_ns - start_ns : 0);
        view_table_put_number(f->document, t, i->wall_ns);
        if (f->why->collector.has_switches)
                view_table_put_number(f->document, t, i->on_cpu_ns);
        else
                view_table_put_unknown(f->document, t);
        view_table_put_handle(f->document, t, 't', i->thread);
        view_table_put_string(f->document, t, loaded_trace_thread_name(f->trace, i->thread));
        view_table_put_number(f->document, t, i->n_moves);
        view_table_put_number(f->document, t, i->n_samples);
}

static void add_slowest(const struct filling *f)
{
        static const struct view_column columns[] = {
                { .key = "at_ns", .title = "at", .type = VIEW_TIME },
                { .key = "duration_ns", .title = "wall time", .type = VIEW_DURATION },
                { .key = "on_cpu_ns", .title = "on CPU", .type = VIEW_DURATION },
                { .key = "thread", .title = "", .type = VIEW_HANDLE },
                { .key = "thread_name", .title = "thread", .type = VIEW_STRING, .n_columns_max = 24 },
                { .key = "moves", .title = "moves", .type = VIEW_COUNT },
                { .key = "samples", .title = "samples", .type = VIEW_COUNT },
        };
        const struct why_instances *s = &f->why->collector.instances;
        const struct why_instance **slow = calloc(s->n_slow + 1, sizeof(const struct why_instance *));
        struct view_table *t;
        size_t n = 0;

        if (!slow || s->n_slow == 0) {
                f->document->failed = f->document->failed || !slow;
                free(slow);
                return;
        }
        for (size_t i = 0; i < s->n_items; i++)
                if (s->items[i].is_slow)
                        slow[n++] = &s->items[i];
        qsort(slow, n, sizeof(const struct why_instance *), compare_durations);
        t = view_document_add_table(f->document, "slowest", "The slowest instances", columns,
                                    sizeof(columns) / sizeof(columns[0]));
        for (size_t i = 0; i < n && i < SLOWEST_ROWS; i++)
                put_instance(f, t, slow[i]);
        if (t && n > SLOWEST_ROWS)
                t->n_left_out = n - SLOWEST_ROWS;
        free(slow);
}

/* ------------------------------------------------------------------ warnings, next commands */

static void add_warnings(const struct filling *f)
{
        char lost_words[LOST_ZONES_WORDS_BYTES];
        const struct why *w = f->why;
        const struct why_collector *c = &w->collector;
        struct view_document *d = f->document;

        report_heading_warn_recorded(d, w->dictionary, &w->survey.unsampled);
        if (w->survey.durations.n == 0)
                return;
        if (c->event == 0)
                view_document_warn(d, "no samples: what ran in the extra time is unknown");
        if (w->are_fibers)
                view_document_warn(
                        d,
                        "zones of fibers: what they waited for is not known, only how long they were suspended");
        if (c->event != 0 && w->n_samples[WHY_SLOW] < WHY_SAMPLES_MIN)
                view_document_warn(d,
                                   "not enough samples: %" PRIu64 " in slow instances, %d are needed to "
                                   "compare functions: record at a higher rate (-F), or for longer",
                                   w->n_samples[WHY_SLOW], WHY_SAMPLES_MIN);
        else if (c->event != 0 && w->n_samples[WHY_TYPICAL] < WHY_SAMPLES_MIN)
                view_document_warn(d,
                                   "not enough samples: %" PRIu64 " in instances that are not slow, %d are "
                                   "needed to compare functions: record at a higher rate (-F), or for longer",
                                   w->n_samples[WHY_TYPICAL], WHY_SAMPLES_MIN);
        if (!c->has_switches)
                view_document_warn(d, "no context switches: waiting and running cannot be told apart");
        else if (w->survey.n_wakeups == 0 && meta_value_number(w->dictionary, "off_cpu") == 0)
                view_document_warn(
                        d, "no wake-ups: places and wakers of waits are recorded only with --off-cpu");
        if (w->survey.lost.n_lost != 0) {
                lost_zones_words(&w->survey.lost, lost_words);
                view_document_warn(d, "the number of instances is %s", lost_words);
        }
        if (w->survey.n_unclosed != 0)
                view_document_warn(d, "%" PRIu64 " instances have no end and are left out",
                                   w->survey.n_unclosed);
        if (c->common.n_left_out != 0)
                view_document_warn(d,
                                   "left out for lack of room: %" PRIu64
                                   " texts, values or threads, in what slow instances have in common",
                                   c->common.n_left_out);
        if (c->n_slow > w->groups[WHY_SLOW].n || c->n_typical > w->groups[WHY_TYPICAL].n)
                view_document_warn(d,
                                   "a random sample of the instances is compared: %" PRIu64
                                   " slow and %" PRIu64 " others",
                                   w->groups[WHY_SLOW].n, w->groups[WHY_TYPICAL].n);
        if (c->instances.n_rows_left_out != 0 || c->waits_for.n_left_out != 0)
                view_document_warn(
                        d, "left out for lack of room: %" PRIu64 " pieces of evidence, %" PRIu64 " waits",
                        c->instances.n_rows_left_out, c->waits_for.n_left_out);
}

/* "hyprof BEFORE WHAT AFTER TRACE"; without WHAT if that is NULL. */
static void hint(const struct filling *f, const char *before, const struct text_view *what, const char *after)
{
        view_document_hint(f->document, "hyprof %s%s%s%s %s", before, what ? " " : "",
                           what ? shell_word_of_name(*what).text : "", after,
                           shell_word_of(f->options->path).text);
}

/* A round share that includes enough instances, if there is one. */
static const char *larger_share(const struct why *w)
{
        double n = (double)w->survey.durations.n;

        if (n * 0.1 >= WHY_SLOW_MIN)
                return " --slowest 10%";
        return n * 0.25 >= WHY_SLOW_MIN ? " --slowest 25%" : NULL;
}

static void add_hints(const struct filling *f)
{
        const struct why *w = f->why;
        const struct why_cause *answer = why_find_answer(w);
        struct text_view zone = { .bytes = w->request.zone, .n_bytes = strlen(w->request.zone) };
        bool has_slow = w->groups[WHY_SLOW].n != 0;

        if (answer && (answer->kind == WHY_CAUSE_FUNCTION || answer->kind == WHY_CAUSE_FAULTS) &&
            answer->id != 0) {
                struct text_view name = why_words_function(w, answer->id);

                hint(f, "annotate", &name, " -i");
        }
        if (answer && (answer->kind == WHY_CAUSE_LOCK || answer->kind == WHY_CAUSE_WAIT))
                hint(f, "report --off-cpu", NULL, "");
        if (has_slow)
                hint(f, "report --zone", &zone, "");
        if (has_slow && w->groups[WHY_SLOW].n < WHY_SLOW_MIN && larger_share(w))
                hint(f, "why --zone", &zone, larger_share(w));
        if (!why_compares_functions(w) && w->by != WHY_BY_WAITING)
                view_document_hint(f->document, "hyprof record -F 9999 --off-cpu COMMAND");
}

void why_view_fill(struct view_document *d, const struct why *w, const struct loaded_trace *trace,
                   const struct why_view_options *options)
{
        struct filling f = { .document = d, .why = w, .trace = trace, .options = options };

        add_answer(&f);
        add_facts(&f);
        add_causes(&f);
        why_owner_words_add_table(w, trace, d);
        why_common_add_table(&w->collector.common, trace, options->limit, d);
        add_tree(&f);
        add_holders(&f);
        add_wakers(&f);
        add_zones(&f);
        add_counters(&f);
        add_slowest(&f);
        add_warnings(&f);
        add_hints(&f);
}

const struct answer_schema why_view_schema = {
        .name = "hyprof.why/1",
        .command = "hyprof why --json",
        .parts = (const struct answer_part *const[]){ NULL },
};
