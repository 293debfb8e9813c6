/* SPDX-License-Identifier: MIT */
#include "view/why/why_span_words.h"

#include "analyze/trace/zone_pattern.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/why/why.h"
#include "base/byte_buffer.h"
#include "format/trace_dictionary.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/text/text_number.h"
#include "view/why/why_common_words.h"
#include "view/why/why_facts.h"
#include "view/why/why_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define SLOWEST_ROWS 10
#define HALF         0.5
/* A part of a cause that is all of it, but for rounding. */
#define NEARLY_ALL 0.95
/* Smaller parts of the extra time are not in the sentence. */
#define OTHER_SHARE_MIN 0.05

/* ------------------------------------------------------------------ the sentence */

/* The part of a cause that its first delay has. */
static double part_named(const struct why *w, const struct why_cause *cause)
{
        double extra = cause->share.slow_ns - cause->share.typical_ns;

        for (size_t i = 0; i < w->n_delays; i++)
                if (w->delays[i].kind == cause->kind && w->delays[i].location == cause->id)
                        return extra > 0 ? (w->delays[i].slow_ns - w->delays[i].typical_ns) / extra : 0;
        return 0;
}

/* ", 'gemm'"; ", mostly 'gemm'"; nothing where no one zone has half of it. */
static void add_named(const struct why *w, const struct why_cause *cause, const char *before,
                      const char *before_most, struct byte_buffer *out)
{
        double part = part_named(w, cause);

        if (cause->id == 0 || part < HALF)
                return;
        byte_buffer_add_format(out, "%s", part >= NEARLY_ALL ? before : before_most);
        why_words_add_quoted(out, zone_pattern_name_of(w->dictionary, cause->id));
}

static void add_cause(const struct why *w, const struct why_cause *cause, struct byte_buffer *out)
{
        if (cause->kind == WHY_CAUSE_DEVICE) {
                byte_buffer_add_format(out, "themselves run longer on the device");
        } else if (cause->kind == WHY_CAUSE_BEHIND) {
                byte_buffer_add_format(out, "wait for earlier work on their lane");
                add_named(w, cause, ", ", ", mostly ", out);
        } else if (cause->kind == WHY_CAUSE_HOST_LATE) {
                byte_buffer_add_format(out, "begin late: their lane was idle while the host was in ");
                if (cause->id == 0 || part_named(w, cause) < HALF)
                        byte_buffer_add_format(out, "the zone that handed them over");
                add_named(w, cause, "the zone ", "the zone ", out);
        } else {
                byte_buffer_add_format(out,
                                       "begin late, though they were handed over and their lane was idle");
        }
        byte_buffer_add_format(out, " (");
        why_words_add_share(out, cause->share.value);
}

/* After the first cause, others until half of the extra time is named. */
static void add_others(const struct why *w, struct byte_buffer *out)
{
        double said = w->causes[0].share.value;

        for (size_t i = 1; i < w->n_causes && said < HALF; i++) {
                if (w->causes[i].share.value < OTHER_SHARE_MIN)
                        continue;
                byte_buffer_add_format(out, "; they ");
                add_cause(w, &w->causes[i], out);
                byte_buffer_add_format(out, ")");
                said += w->causes[i].share.value;
        }
}

static void add_extra(const struct why *w, struct byte_buffer *out)
{
        if (w->extra_ns > 0 && w->rank.median_ns > 0)
                byte_buffer_add_format(out, ", +%s beside a median of %s",
                                       text_number_duration((uint64_t)w->extra_ns).text,
                                       text_number_duration((uint64_t)w->rank.median_ns).text);
}

/* Running longer goes with another size, or another device. */
static void add_common(const struct why *w, const struct loaded_trace *trace, struct byte_buffer *out)
{
        if (w->collector.common.n_rows == 0)
                return;
        byte_buffer_add_format(out, "; ");
        why_common_words(&w->collector.common, trace, 1, out);
}

void why_span_words_answer(const struct why *w, const struct loaded_trace *trace, struct byte_buffer *out)
{
        const struct why_cause *answer = why_find_answer(w), *largest = why_find_largest(w);

        if (answer) {
                byte_buffer_add_format(out, "Slow instances ");
                if (answer->confidence != WHY_CONFIDENCE_HIGH)
                        byte_buffer_add_format(out, "probably ");
                add_cause(w, answer, out);
                byte_buffer_add_format(out, " of the extra time)");
                add_others(w, out);
                if (answer->kind == WHY_CAUSE_DEVICE)
                        add_common(w, trace, out);
        } else if (why_words_are_alike(w)) {
                byte_buffer_add_format(out, "the instances are alike (%s)",
                                       w->groups[WHY_SLOW].n == 0
                                               ? "none takes longer than the others"
                                               : "the slow ones take as long as the others");
        } else if (w->groups[WHY_SLOW].n < WHY_SLOW_MIN || w->groups[WHY_TYPICAL].n < WHY_SLOW_MIN) {
                byte_buffer_add_format(out,
                                       "not enough instances: %" PRIu64 " slow and %" PRIu64
                                       " others, at least %d of each are needed; record for longer",
                                       w->groups[WHY_SLOW].n, w->groups[WHY_TYPICAL].n, WHY_SLOW_MIN);
        } else if (largest) {
                byte_buffer_add_format(out, "no cause stands out; slow instances ");
                add_cause(w, largest, out);
                byte_buffer_add_format(out, " of the extra time");
                add_extra(w, out);
                byte_buffer_add_format(out, "), but that varies in all of them");
                add_common(w, trace, out);
        } else {
                byte_buffer_add_format(out, "no cause stands out");
        }
}

/* ------------------------------------------------------------------ facts */

static void add_number(struct byte_buffer *out, const char *words, uint64_t n)
{
        if (n != 0)
                byte_buffer_add_format(out, "; %s: %s", words, text_number_count(n).text);
}

void why_span_words_measured(const struct why *w, struct byte_buffer *out)
{
        const struct why_spans *s = &w->spans;

        byte_buffer_add_format(out, "time until their end on the device");
        add_number(out, "from the begin of the zone of a thread with their key", s->n_hosts);
        add_number(out, "from when they were handed over", s->n_said);
        add_number(out, "from their begin on the device", s->n_instances - s->n_hosts - s->n_said);
}

/* clang-format off */
#define SPAN_FACTS(FACT)                                                                                      \
        FACT(STRING, "instances_of", NULL, view_words("devices"),                                             \
             "only where instances are zones of devices", .one_of = "devices")                                \
        FACT(COUNT, "with_host_operation", NULL, view_number(w->spans.n_hosts),                               \
             "of these: measured from the begin of the zone of a thread with their key")                      \
        FACT(COUNT, "with_submission", NULL, view_number(w->spans.n_said),                                    \
             "of these: measured from when they were handed over")                                            \
        FACT(COUNT, "early", NULL, view_number(w->spans.n_early),                                             \
             "of these: begin before their zone of a thread, and are measured from their own begin")
#define DELAY_COLUMNS(COLUMN)                                                                                 \
        COLUMN(STRING, "cause", "cause", view_words(why_words_key(row->kind)), NULL, .one_of = "queue|host")  \
        COLUMN(STRING, "words", "what", view_words(why_words_kind(row->kind)), "the same for people",         \
               .n_columns_max = 24)                                                                           \
        COLUMN(HANDLE, "zone", "", view_handle('z', row->location), NULL)                                     \
        COLUMN(STRING, "name", "zone", view_text(zone_pattern_name_of(w->dictionary, row->location)),         \
               "queue: the earlier work; host: the innermost zone of the thread", .n_columns_max = 40)        \
        COLUMN(DELTA, "extra_ns", "extra", why_facts_delta(row->slow_ns - row->typical_ns), NULL)             \
        COLUMN(CHANGE, "share", "share", view_real(fmin(fmax(row->share, -1), 1)), "of the extra time")       \
        COLUMN(DURATION, "slow_ns", "slow", why_facts_duration(row->slow_ns), "mean of an instance")          \
        COLUMN(DURATION, "typical_ns", "others", why_facts_duration(row->typical_ns), NULL)                   \
        COLUMN(SHARE, "slow_with", "in slow",                                                                 \
               view_real((double)row->n_slow / fmax((double)w->groups[WHY_SLOW].n, 1)),                       \
               "of the instances that have it")                                                               \
        COLUMN(SHARE, "typical_with", "in others",                                                            \
               view_real((double)row->n_typical / fmax((double)w->groups[WHY_TYPICAL].n, 1)), NULL)
#define SLOWEST_COLUMNS(COLUMN)                                                                               \
        COLUMN(TIME, "at_ns", "at", view_number(i->begin_ns > start_ns ? i->begin_ns - start_ns : 0),         \
               "since when it is measured")                                                                   \
        COLUMN(DURATION, "duration_ns", "time", view_number(i->duration_ns), "until its end")                 \
        COLUMN(DURATION, "device_ns", "device", view_number(sums[WHY_ON_DEVICE]),                             \
               "from its begin to its end")                                                                   \
        COLUMN(DURATION, "queue_ns", "queue", view_number(sums[WHY_BEHIND]),                                  \
               "earlier work lasted on its lane")                                                             \
        COLUMN(DURATION, "host_ns", "host", view_number(sums[WHY_HOST_LATE]),                                 \
               "its lane was idle, and the zone of the thread lasted")                                        \
        COLUMN(DURATION, "launch_ns", "launch", view_number(sums[WHY_HANDED_OVER]),                           \
               "its lane was idle nevertheless")                                                              \
        COLUMN(STRING, "lane", "lane",                                                                        \
               view_text((struct text_view){ (const char *)lane.data, lane.used_bytes }),                     \
               "with its device", .n_columns_max = 24)                                                        \
        COLUMN(HANDLE, "host_zone", "",                                                                       \
               why_spans_has_host(span) ? view_handle('z', span->host) : view_unknown(), NULL, .may_be_null = true)    \
        COLUMN(STRING, "host_name", "handed over in",                                                         \
               why_spans_has_host(span) ? view_text(zone_pattern_name_of(w->dictionary, span->host)) : view_unknown(), \
               "the zone of a thread with its key; null = none", .n_columns_max = 20, .may_be_null = true)    \
        COLUMN(STRING, "thread_name", NULL, view_text(loaded_trace_thread_name(trace, i->thread)),            \
               "of that zone, else the one that reported the work")
/* clang-format on */

static const struct view_column fact_columns[] = { SPAN_FACTS(VIEW_MEMBER) };
static const struct view_column delay_columns[] = { DELAY_COLUMNS(VIEW_COLUMN) };
static const struct view_column slowest_columns[] = { SLOWEST_COLUMNS(VIEW_COLUMN) };
const struct answer_part why_span_words_facts_part = ANSWER_FACTS_ABSENT(fact_columns);
const struct answer_part why_span_words_delays_part = ANSWER_TABLE(
        "delays", delay_columns,
        "what zones of devices waited for before they began; a part of the causes queue and host",
        .may_be_absent = true);
const struct answer_part why_span_words_slowest_part = ANSWER_TABLE(
        "slowest_spans", slowest_columns, "one of the ten slowest zones of devices", .may_be_absent = true);

void why_span_words_add_facts(const struct why *w, struct view_document *d)
{
        SPAN_FACTS(VIEW_FACT)
}

/* ------------------------------------------------------------------ tables */

void why_span_words_add_delays(const struct why *w, uint64_t limit, struct view_document *d)
{
        struct view_table *t;

        if (w->n_delays == 0 || w->groups[WHY_SLOW].n == 0)
                return;
        t = view_document_add_part(d, &why_span_words_delays_part, "What they waited for before they began");
        view_table_set_about(
                d, t, "means of an instance; earlier work of their lane, and the host while that was idle");
        for (size_t i = 0; i < w->n_delays; i++) {
                const struct why_delay *row = &w->delays[i];

                if (limit != 0 && t && view_table_count(t) >= limit) {
                        t->n_left_out++;
                } else {
                        DELAY_COLUMNS(VIEW_CELL)
                }
        }
}

static int compare_durations(const void *a, const void *b)
{
        const struct why_instance *left = *(const struct why_instance *const *)a;
        const struct why_instance *right = *(const struct why_instance *const *)b;

        if (left->duration_ns != right->duration_ns)
                return left->duration_ns < right->duration_ns ? 1 : -1;
        return (left->begin_ns > right->begin_ns) - (left->begin_ns < right->begin_ns);
}

static void put_slowest(const struct why *w, const struct loaded_trace *trace, const struct why_instance *i,
                        struct view_document *d, struct view_table *t)
{
        const struct device_work *span = &w->spans.works.works[i->span - 1];
        uint64_t start_ns = trace->start_ns, sums[WHY_KINDS] = { 0 };
        struct byte_buffer lane = { .data = NULL };

        for (size_t k = 0; k < i->n_rows; k++) {
                const struct why_row *row = &w->collector.instances.rows[i->first_row + k];

                sums[row->kind] += row->amount;
        }
        lane_names_put_whole(&w->spans.names, &lane, span->device, span->lane, 0);
        SLOWEST_COLUMNS(VIEW_CELL)
        d->failed = d->failed || lane.failed;
        byte_buffer_deinit(&lane);
}

void why_span_words_add_slowest(const struct why *w, const struct loaded_trace *trace,
                                struct view_document *d)
{
        const struct why_instances *s = &w->collector.instances;
        const struct why_instance **slow = calloc(s->n_slow + 1, sizeof(const struct why_instance *));
        struct view_table *t;
        size_t n = 0;

        if (!slow || s->n_slow == 0) {
                d->failed = d->failed || !slow;
                free((void *)slow);
                return;
        }
        for (size_t i = 0; i < s->n_items; i++)
                if (s->items[i].is_slow)
                        slow[n++] = &s->items[i];
        qsort((void *)slow, n, sizeof(const struct why_instance *), compare_durations);
        t = view_document_add_part(d, &why_span_words_slowest_part, "The slowest instances");
        view_table_set_about(d, t, "its time: on the device, and before that by the causes above");
        for (size_t i = 0; i < n && i < SLOWEST_ROWS; i++)
                put_slowest(w, trace, slow[i], d, t);
        if (t && n > SLOWEST_ROWS)
                t->n_left_out = n - SLOWEST_ROWS;
        free((void *)slow);
}

void why_span_words_add_warnings(const struct why *w, struct view_document *d)
{
        const struct why_spans *s = &w->spans;
        const struct why_collector *c = &w->collector;

        if (s->n_unplaced != 0)
                view_document_warn(d,
                                   "%" PRIu64
                                   " instances are on devices whose clock was never read: how long they "
                                   "waited is unknown, and their times are not those of the host",
                                   s->n_unplaced);
        if (s->n_early != 0)
                view_document_warn(d,
                                   "%" PRIu64
                                   " instances begin before the zone that handed them over: one of the "
                                   "clocks is wrong, and they are measured from their own begin",
                                   s->n_early);
        if (s->works.n_lost != 0)
                view_document_warn(d, "left out for lack of room: %" PRIu64 " zones of devices",
                                   s->works.n_lost);
        if (c->n_slow > w->groups[WHY_SLOW].n || c->n_typical > w->groups[WHY_TYPICAL].n)
                view_document_warn(d,
                                   "a random sample of the instances is compared: %" PRIu64
                                   " slow and %" PRIu64 " others",
                                   w->groups[WHY_SLOW].n, w->groups[WHY_TYPICAL].n);
}
