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
#include "view/shared/asked_zone.h"
#include "view/shared/report_heading.h"
#include "view/text/shell_word.h"
#include "view/text/text_number.h"
#include "view/waits/owners_view.h"
#include "view/why/why_common_words.h"
#include "view/why/why_facts.h"
#include "view/why/why_owner_words.h"
#include "view/why/why_span_words.h"
#include "view/why/why_wait_words.h"
#include "view/why/why_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TREE_SHARE_MIN 0.02 /* of the extra time: smaller branches of the call tree are left out */
#define TREE_DEPTH_MAX 200
#define SLOWEST_ROWS   10

struct filling {
        struct view_document *document;
        const struct why *why;
        const struct loaded_trace *trace;
        const struct why_view_options *options;
};

/* Whether the table has as many rows as it may; then one more is counted as left out. */
static bool leave_out(const struct filling *f, struct view_table *t)
{
        bool is_full = f->options->limit != 0 && t && view_table_count(t) >= f->options->limit;

        if (is_full)
                t->n_left_out++;
        return is_full;
}

/* ------------------------------------------------------------------ causes */

static struct view_value handle_of(const struct why_cause *cause)
{
        switch (cause->kind) {
        case WHY_CAUSE_FUNCTION:
        case WHY_CAUSE_FAULTS:
        case WHY_CAUSE_SAME:
                return view_handle('f', cause->id);
        case WHY_CAUSE_ZONE:
        case WHY_CAUSE_BEHIND:
        case WHY_CAUSE_HOST_LATE:
                return view_handle('z', cause->id);
        case WHY_CAUSE_LOCK:
        case WHY_CAUSE_WAIT:
        case WHY_CAUSE_MOVED:
        case WHY_CAUSE_SUSPENDED:
        case WHY_CAUSE_DEVICE:
        case WHY_CAUSE_HANDED_OVER:
        case WHY_CAUSE_DISPLACED:
        case WHY_CAUSE_PREEMPTED:
        case WHY_CAUSE_DELAY:
        case WHY_CAUSE_STOPPED:
        case WHY_CAUSE_INTERRUPTS:
        case WHY_CAUSE_UNEXPLAINED:
                break;
        }
        return view_unknown();
}

static struct text_view kernel_of(const struct why *w, const struct why_cause *cause)
{
        return cause->kind == WHY_CAUSE_WAIT ? why_words_kernel(w, cause->id)
                                             : (struct text_view){ .n_bytes = 0 };
}

/* clang-format off */
#define CAUSE_COLUMNS(COLUMN)                                                                                 \
        COLUMN(STRING, "cause", "cause", view_words(why_words_key(cause->kind)), NULL,                        \
               .one_of = "function|lock|wait|page-faults|migration|suspended|zone|device|queue|host|launch|"  \
                         "displaced|preempted|delay|stopped|interrupts|same|unexplained",                     \
               .n_columns_max = 11)                                                                           \
        COLUMN(STRING, "words", "what", view_words(why_words_kind(cause->kind)), "the same for people",       \
               .n_columns_max = 24)                                                                           \
        COLUMN(HANDLE, "handle", "", handle_of(cause), NULL)                                                  \
        COLUMN(STRING, "name", "of, in", view_text(why_words_name(w, cause->kind, cause->id)),                \
               "function, lock, place, zone", .n_columns_max = 24)                                                  \
        COLUMN(STRING, "kernel", "kernel", view_text(kernel_of(w, cause)),                                    \
               "function in which the kernel waits", .n_columns_max = 16)                                     \
        COLUMN(CHANGE, "share", "share", view_real(cause->share.value),                                       \
               "of the extra time; the positive ones add up to 1")                                            \
        COLUMN(CHANGE, "share_low", "from", view_real(cause->share.low), "of its 95 % interval")              \
        COLUMN(CHANGE, "share_high", "to", view_real(cause->share.high), NULL)                                \
        COLUMN(STRING, "confidence", "confidence", view_words(why_words_confidence(cause->confidence)), NULL, \
               .one_of = "high|medium|low|too few|-")                                                         \
        COLUMN(DELTA, "extra_ns", "extra",                                                                    \
               why_facts_delta(cause->share.slow_ns - cause->share.typical_ns), NULL)                         \
        COLUMN(DURATION, "slow_ns", "slow", why_facts_duration(cause->share.slow_ns),                         \
               "mean of an instance")                                                                         \
        COLUMN(DURATION, "typical_ns", "others", why_facts_duration(cause->share.typical_ns), NULL)           \
        COLUMN(SHARE, "slow_with", "in slow",                                                                 \
               view_real((double)cause->n_slow / fmax((double)w->groups[WHY_SLOW].n, 1)),                     \
               "of the instances that have it")                                                               \
        COLUMN(SHARE, "typical_with", "in others",                                                            \
               view_real((double)cause->n_typical / fmax((double)w->groups[WHY_TYPICAL].n, 1)), NULL)         \
        COLUMN(REAL, "p", "p",                                                                                \
               view_real_known(cause->p, why_cause_is_own(cause->kind) && !w->are_spans),                     \
               "corrected for the number of candidates; null if it is not judged")
/* clang-format on */

static const struct view_column cause_columns[] = { CAUSE_COLUMNS(VIEW_COLUMN) };
static const struct answer_part causes_part = ANSWER_TABLE("causes", cause_columns,
                                                           "a part of the extra time; they do not overlap");

static void add_causes(const struct filling *f)
{
        /* The table is added even without rows, so that CSV has its columns. */
        struct view_table *t = view_document_add_part(f->document, &causes_part, "Where the extra time goes");
        struct view_document *d = f->document;
        const struct why *w = f->why;

        if (w->n_causes == 0 || w->groups[WHY_SLOW].n == 0)
                return;
        view_table_set_about(d, t,
                             "shares of the extra time of a slow instance, with 95%% intervals; "
                             "times are means of an instance; parts do not overlap");
        for (size_t i = 0; i < w->n_causes; i++) {
                const struct why_cause *cause = &w->causes[i];

                if (!leave_out(f, t)) {
                        CAUSE_COLUMNS(VIEW_CELL)
                }
        }
}

/* ------------------------------------------------------------------ the call tree */

/* If slow instances spend less time on something else, a part may be larger than the whole extra time. */
static double limit_share(double share)
{
        return fmin(fmax(share, -1), 1);
}

/* clang-format off */
#define CALL_COLUMNS(COLUMN)                                                                                  \
        COLUMN(DELTA, "extra_ns", "extra", why_facts_delta(why_node_extra_ns(n)), NULL)                       \
        COLUMN(CHANGE, "share", "share", view_real(limit_share(why_node_extra_ns(n) / f->why->extra_ns)),     \
               "of the extra time")                                                                           \
        COLUMN(DURATION, "slow_ns", "slow", why_facts_duration(n->ns[WHY_SLOW]),                              \
               "estimated from samples, per instance")                                                        \
        COLUMN(DURATION, "typical_ns", "others", why_facts_duration(n->ns[WHY_TYPICAL]), NULL)                \
        COLUMN(HANDLE, "handle", "", view_handle('f', label), NULL)                                           \
        COLUMN(STRING, "function", "function", view_text(why_words_function(f->why, label)), NULL)
/* clang-format on */

static const struct view_column call_columns[] = { CALL_COLUMNS(VIEW_COLUMN) };
static const struct answer_part calls_part = ANSWER_TABLE(
        "calls", call_columns,
        "a function in the call tree of the extra time on a CPU; there where a branch of calls has enough of it",
        .is_tree = true, .may_be_absent = true);

static void put_node(const struct filling *f, struct view_table *t, uint32_t node, uint32_t depth)
{
        const struct why_node *n = &f->why->tree.nodes[node];
        uint32_t label = why_tree_key(&f->why->tree, node)->label;
        struct view_document *d = f->document;

        view_table_begin_row(d, t, depth);
        CALL_COLUMNS(VIEW_CELL)
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
                if (!leave_out(f, t))
                        put_node(f, t, node, depth);
                if (depth + 1 < TREE_DEPTH_MAX)
                        way[++depth] = tree->nodes[node].first_child;
                else
                        way[depth] = tree->nodes[node].next_sibling;
        }
}

static void add_tree(const struct filling *f)
{
        const struct why *w = f->why;
        struct view_table *t;

        if (!(w->extra_ns > 0) || !w->tree.nodes || !is_worth(f, w->tree.nodes[0].first_child))
                return;
        t = view_document_add_part(f->document, &calls_part, "Call tree of the extra time on a CPU");
        view_table_set_about(
                f->document, t,
                "by samples, in time of an instance; branches with at least %.0f%% of the extra time",
                100 * TREE_SHARE_MIN);
        put_nodes(f, t);
}

/* ------------------------------------------------------------------ waits, zones, counters */

static struct text_view name_of(const struct filling *f, uint32_t thread)
{
        return loaded_trace_thread_name(f->trace, thread);
}

static const char *doing(const struct why_steps *did)
{
        static const char *const words[] = {
                [WHY_DOING_UNKNOWN] = "",      [WHY_DOING_RUN] = "running",
                [WHY_DOING_WAIT] = "waiting",  [WHY_DOING_PREEMPTED] = "preempted",
                [WHY_DOING_DEVICE] = "device", [WHY_DOING_EARLIER] = "queue",
                [WHY_DOING_LAUNCH] = "launch",
        };

        return words[did->n != 0 ? did->steps[0].doing : WHY_DOING_UNKNOWN];
}

static struct text_view meanwhile(const struct why *w, const struct why_step *step)
{
        return step->device != 0 ? why_wait_words_work(w, step) : why_words_function(w, step->label);
}

/* clang-format off */
#define HOLDER_COLUMNS(COLUMN)                                                                                \
        COLUMN(STRING, "lock", "lock", view_text(why_words_name(w, WHY_CAUSE_LOCK, row->lock)), NULL,         \
               .n_columns_max = 30)                                                                           \
        COLUMN(HANDLE, "thread", "", view_handle('t', row->thread), NULL)                                     \
        COLUMN(STRING, "thread_name", "held by", view_text(name_of(f, row->thread)), NULL,                    \
               .n_columns_max = 24)                                                                           \
        COLUMN(DURATION, "held_ns", "held for", view_number(row->held_ns),                                    \
               "that fell into these waits, all slow instances together")                                     \
        COLUMN(STRING, "function", "mostly in",                                                               \
               view_text(why_words_function(w, row->did.steps[0].label)), NULL, .n_columns_max = 40)          \
        COLUMN(DURATION, "function_ns", "of that", view_number(row->did.steps[0].ns), "in `function`")        \
        COLUMN(STRING, "doing", "doing", view_words(doing(&row->did)),                                        \
               "in that time; null = not known", .one_of = "running|waiting|preempted", .may_be_null = true)
#define WAKER_COLUMNS(COLUMN)                                                                                 \
        COLUMN(STRING, "cause", "wait", view_words(why_words_key(row->kind)), NULL, .one_of = "lock|wait")    \
        COLUMN(STRING, "name", "where", view_text(why_words_name(w, row->kind, row->id)), NULL,               \
               .n_columns_max = 40)                                                                           \
        COLUMN(HANDLE, "thread", "", view_handle('t', row->thread), NULL)                                     \
        COLUMN(STRING, "thread_name", "ended by",                                                             \
               view_text(row->thread != 0 ? name_of(f, row->thread)                                           \
                                          : trace_dictionary_text(w->dictionary, row->name)), NULL,           \
               .n_columns_max = 24)                                                                           \
        COLUMN(STRING, "function", "which was in", view_text(why_words_function(w, row->label)), NULL,        \
               .n_columns_max = 40)                                                                           \
        COLUMN(COUNT, "count", "waits", view_number(row->n), NULL)                                            \
        COLUMN(DURATION, "waited_ns", "waited", view_number(row->ns), NULL)                                   \
        COLUMN(STRING, "doing", "meanwhile", view_words(doing(&row->did)),                                    \
               "what the thread did in that time, or a device for whose work it was: ran it, ran earlier "    \
               "work in its queue, had not begun it; null = not known",                                       \
               .one_of = "running|waiting|preempted|device|queue|launch", .may_be_null = true)                \
        COLUMN(STRING, "meanwhile", "mostly in", view_text(meanwhile(w, &row->did.steps[0])),                 \
               "the function, or the work", .n_columns_max = 40)                                              \
        COLUMN(STRING, "device", "on", view_text(why_wait_words_device(w, &row->did.steps[0])),               \
               "the device", .n_columns_max = 24)
#define ZONE_COLUMNS(COLUMN)                                                                                  \
        COLUMN(HANDLE, "zone", "", view_handle('z', part->id), NULL)                                          \
        COLUMN(STRING, "name", "zone", view_text(why_words_name(w, WHY_CAUSE_ZONE, part->id)), NULL,          \
               .n_columns_max = 40)                                                                           \
        COLUMN(DELTA, "extra_ns", "extra", why_facts_delta(part->slow - part->typical), NULL)                 \
        COLUMN(CHANGE, "share", "share", view_real(limit_share(part->share.value)), "of the extra time")      \
        COLUMN(DURATION, "slow_ns", "slow", why_facts_duration(part->slow), "mean of an instance")            \
        COLUMN(DURATION, "typical_ns", "others", why_facts_duration(part->typical), NULL)                     \
        COLUMN(REAL, "slow_count", "times, slow", view_real(part->slow_n), "times in an instance")            \
        COLUMN(REAL, "typical_count", "times, others", view_real(part->typical_n), NULL)
#define COUNTER_COLUMNS(COLUMN)                                                                               \
        COLUMN(STRING, "event", "event", view_text(trace_dictionary_text(w->dictionary, event->name)), NULL,  \
               .n_columns_max = 40)                                                                           \
        COLUMN(REAL, "slow", "slow", view_real(part->slow), "weight in an instance")                          \
        COLUMN(REAL, "typical", "others", view_real(part->typical), NULL)                                     \
        COLUMN(REAL, "slow_per_ms", "slow, a ms",                                                             \
               view_real(part->slow * 1e6 / fmax(w->on_cpu_ns[WHY_SLOW], 1)), "of its time on a CPU")         \
        COLUMN(REAL, "typical_per_ms", "others, a ms",                                                        \
               view_real(part->typical * 1e6 / fmax(w->on_cpu_ns[WHY_TYPICAL], 1)), NULL)
/* clang-format on */

static const struct view_column holder_columns[] = { HOLDER_COLUMNS(VIEW_COLUMN) };
static const struct view_column waker_columns[] = { WAKER_COLUMNS(VIEW_COLUMN) };
static const struct view_column zone_columns[] = { ZONE_COLUMNS(VIEW_COLUMN) };
static const struct view_column counter_columns[] = { COUNTER_COLUMNS(VIEW_COLUMN) };
static const struct answer_part holders_part = ANSWER_TABLE(
        "holders", holder_columns, "a thread that held a lock while slow instances waited for it",
        .may_be_absent = true);
static const struct answer_part wakers_part = ANSWER_TABLE(
        "wakers", waker_columns, "who ended waits of slow instances", .may_be_absent = true);
static const struct answer_part zones_part = ANSWER_TABLE(
        "zones", zone_columns, "a zone inside of instances, with the zones inside it: shares overlap",
        .may_be_absent = true);
static const struct answer_part counters_part = ANSWER_TABLE("counters", counter_columns,
                                                             "another sample event", .may_be_absent = true);

static void add_holders(const struct filling *f)
{
        struct view_document *d = f->document;
        const struct why *w = f->why;
        struct view_table *t;

        if (w->n_holders == 0)
                return;
        t = view_document_add_part(d, &holders_part, "Holders of the locks that slow instances waited for");
        view_table_set_about(d, t, "time that fell into these waits, all slow instances together");
        for (size_t i = 0; i < w->n_holders; i++) {
                const struct why_holder *row = &w->holder_rows[i];

                if (!leave_out(f, t)) {
                        HOLDER_COLUMNS(VIEW_CELL)
                }
        }
}

static void add_wakers(const struct filling *f)
{
        struct view_document *d = f->document;
        const struct why *w = f->why;
        struct view_table *t;

        if (w->n_wakers == 0)
                return;
        t = view_document_add_part(d, &wakers_part, "Wakers that ended the waits of slow instances");
        for (size_t i = 0; i < w->n_wakers; i++) {
                const struct why_waker *row = &w->waker_rows[i];

                if (!leave_out(f, t)) {
                        WAKER_COLUMNS(VIEW_CELL)
                }
        }
}

static void add_zones(const struct filling *f)
{
        struct view_document *d = f->document;
        const struct why *w = f->why;
        struct view_table *t;

        if (w->n_zones == 0)
                return;
        t = view_document_add_part(d, &zones_part, "Zones inside");
        view_table_set_about(d, t, "including the zones inside them, so that their shares overlap");
        for (size_t i = 0; i < w->n_zones; i++) {
                const struct why_part *part = &w->zones[i];

                if (!leave_out(f, t)) {
                        ZONE_COLUMNS(VIEW_CELL)
                }
        }
}

static void add_counters(const struct filling *f)
{
        struct view_document *d = f->document;
        const struct why *w = f->why;
        struct view_table *t;

        if (w->n_counters == 0)
                return;
        t = view_document_add_part(d, &counters_part, "Counters of an instance");
        view_table_set_about(d, t, "by samples of these events; and of a millisecond on a CPU");
        for (size_t i = 0; i < w->n_counters; i++) {
                const struct why_part *part = &w->counters[i];
                const struct trace_sample_event *event = trace_dictionary_row(
                        w->dictionary, TRACE_TABLE_SAMPLE_EVENTS, part->id);

                COUNTER_COLUMNS(VIEW_CELL)
        }
}

static int compare_durations(const void *a, const void *b)
{
        const struct why_instance *left = *(const struct why_instance *const *)a;
        const struct why_instance *right = *(const struct why_instance *const *)b;

        return (left->duration_ns < right->duration_ns) - (left->duration_ns > right->duration_ns);
}

/* clang-format off */
#define INSTANCE_COLUMNS(COLUMN)                                                                              \
        COLUMN(TIME, "at_ns", "at", view_number(i->begin_ns > start_ns ? i->begin_ns - start_ns : 0), NULL)   \
        COLUMN(DURATION, "duration_ns", "wall time", view_number(i->wall_ns), NULL)                           \
        COLUMN(DURATION, "on_cpu_ns", "on CPU",                                                               \
               view_known(i->on_cpu_ns, f->why->collector.has_switches), NULL)                                \
        COLUMN(HANDLE, "thread", "", view_handle('t', i->thread), NULL)                                       \
        COLUMN(STRING, "thread_name", "thread", view_text(name_of(f, i->thread)), NULL,                       \
               .n_columns_max = 24)                                                                           \
        COLUMN(COUNT, "moves", "moves", view_number(i->n_moves), "to another CPU")                            \
        COLUMN(COUNT, "samples", "samples", view_number(i->n_samples), NULL)
/* clang-format on */

static const struct view_column instance_columns[] = { INSTANCE_COLUMNS(VIEW_COLUMN) };
static const struct answer_part slowest_part = ANSWER_TABLE(
        "slowest", instance_columns, "one of the ten slowest instances", .may_be_absent = true);

static void put_instance(const struct filling *f, struct view_table *t, const struct why_instance *i)
{
        struct view_document *d = f->document;
        uint64_t start_ns = f->trace->start_ns;

        INSTANCE_COLUMNS(VIEW_CELL)
}

static void add_slowest(const struct filling *f)
{
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
        t = view_document_add_part(f->document, &slowest_part, "The slowest instances");
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

        if (w->are_spans) {
                why_span_words_add_warnings(w, d);
                return;
        }
        report_heading_warn_recorded(d, w->dictionary, &w->survey.unsampled);
        if (w->survey.durations.n == 0)
                return;
        if (w->n_other_spans != 0)
                view_document_warn(d,
                                   "%" PRIu64 " zones of devices fit as well, and are left out: --devices "
                                   "compares these",
                                   w->n_other_spans);
        if (c->event == 0)
                view_document_warn(d, "no samples: what ran in the extra time is unknown");
        if (w->are_fibers)
                view_document_warn(
                        d,
                        "zones of fibers: how long they were suspended is known here, and not for whom: hyprof path "
                        "follows these waits");
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
                view_document_warn(d, "left out: %s without an end",
                                   text_number_counted(w->survey.n_unclosed, "instances").text);
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
        if (c->instances.n_rows_left_out != 0 || w->meanwhile.n_left_out != 0)
                view_document_warn(
                        d, "left out for lack of room: %" PRIu64 " pieces of evidence, %" PRIu64 " waits",
                        c->instances.n_rows_left_out, w->meanwhile.n_left_out);
        if (w->meanwhile.works.n_vague != 0)
                view_document_warn(d,
                                   "%" PRIu64 " works of devices whose clocks are not known well enough: "
                                   "waits for them are not found",
                                   w->meanwhile.works.n_vague);
        if (w->meanwhile.works.n_lost != 0)
                view_document_warn(d,
                                   "%" PRIu64 " works of devices had no room: waits for them are not found",
                                   w->meanwhile.works.n_lost);
}

/* "hyprof BEFORE WHAT AFTER TRACE"; without WHAT if that is NULL. */
static void hint(const struct filling *f, const char *before, const struct shell_word *what,
                 const char *after)
{
        view_document_hint(f->document, "hyprof %s%s%s%s %s", before, what ? " " : "", what ? what->text : "",
                           after, shell_word_of(f->options->path).text);
}

/* A round share that includes enough instances, if there is one. */
static const char *larger_share(const struct why *w)
{
        double n = (double)w->survey.durations.n;

        if (n * 0.1 >= WHY_SLOW_MIN)
                return " --slowest 10%";
        return n * 0.25 >= WHY_SLOW_MIN ? " --slowest 25%" : NULL;
}

/* The path says more of waits, and something where instances cannot be compared. */
static bool points_to_path(const struct why *w, const struct why_cause *answer)
{
        if (answer && !w->are_fibers)
                return answer->kind == WHY_CAUSE_LOCK || answer->kind == WHY_CAUSE_WAIT;
        return w->survey.durations.n != 0 &&
               (w->are_fibers || why_words_are_alike(w) || w->groups[WHY_SLOW].n < WHY_SLOW_MIN ||
                w->groups[WHY_TYPICAL].n < WHY_SLOW_MIN);
}

static void add_hints(const struct filling *f)
{
        const struct why *w = f->why;
        const struct why_cause *answer = why_find_answer(w);
        struct shell_word zone = asked_zone_option(w->dictionary, w->request.zone);
        bool has_slow = w->groups[WHY_SLOW].n != 0;

        if (w->are_spans) {
                hint(f, "report --devices", NULL, "");
                if (has_slow && w->groups[WHY_SLOW].n < WHY_SLOW_MIN && larger_share(w))
                        hint(f, "why --zone", &zone, larger_share(w));
                return;
        }
        if (w->n_other_spans != 0)
                hint(f, "why --devices --zone", &zone, "");
        if (answer && (answer->kind == WHY_CAUSE_FUNCTION || answer->kind == WHY_CAUSE_FAULTS) &&
            answer->id != 0) {
                struct shell_word name = shell_word_of_name(why_words_function(w, answer->id));

                hint(f, "annotate", &name, " -i");
        }
        if (answer && (answer->kind == WHY_CAUSE_LOCK || answer->kind == WHY_CAUSE_WAIT))
                hint(f, "report --off-cpu", NULL, "");
        if (points_to_path(w, answer))
                hint(f, "path --zone", &zone, "");
        if (has_slow)
                hint(f, "report --zone", &zone, "");
        if (has_slow && w->groups[WHY_SLOW].n < WHY_SLOW_MIN && larger_share(w))
                hint(f, "why --zone", &zone, larger_share(w));
        if (!why_compares_functions(w) && w->by != WHY_BY_WAITING)
                view_document_hint(f->document, "hyprof record -F 9999 --off-cpu COMMAND");
}

const struct answer_schema why_view_schema = {
        .name = "hyprof.why/1",
        .command = "hyprof why --json",
        .parts = (const struct answer_part *const[]){ &why_facts_answer_part, &why_facts_python_part,
                                                      &why_span_words_facts_part, &why_facts_instances_part,
                                                      &report_heading_lost_part, &why_facts_groups_part,
                                                      &causes_part, &why_owner_words_part,
                                                      &why_common_words_part, &calls_part, &holders_part,
                                                      &wakers_part, &zones_part, &counters_part,
                                                      &slowest_part, &why_span_words_delays_part,
                                                      &why_span_words_slowest_part, NULL },
};

void why_view_fill(struct view_document *d, const struct why *w, const struct loaded_trace *trace,
                   const struct why_view_options *options)
{
        struct filling f = { .document = d, .why = w, .trace = trace, .options = options };

        why_facts_add(d, w, trace, options->filter);
        add_causes(&f);
        why_owner_words_add_table(w, trace, d);
        why_common_words_add_table(&w->collector.common, trace, options->limit, d);
        add_tree(&f);
        add_holders(&f);
        add_wakers(&f);
        add_zones(&f);
        add_counters(&f);
        if (w->are_spans) {
                why_span_words_add_delays(w, options->limit, d);
                why_span_words_add_slowest(w, trace, d);
        } else {
                add_slowest(&f);
        }
        add_warnings(&f);
        add_hints(&f);
}
