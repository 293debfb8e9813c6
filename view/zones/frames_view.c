/* SPDX-License-Identifier: MIT */
#include "analyze/stats/frame_stats.h"
#include "analyze/stats/frame_zones.h"
#include "analyze/stats/histogram_bins.h"
#include "analyze/trace/clock_step.h"
#include "analyze/walk/loaded_trace.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/event_names.h"
#include "view/shared/event_view.h"
#include "view/shared/family_words.h"
#include "view/shared/histogram_rows.h"
#include "view/shared/report_heading.h"
#include "view/text/text_number.h"
#include "view/zones/frame_zones_view.h"

#define HINTS_MAX 3

/* clang-format off */
#define SET_COLUMNS(COLUMN)                                                                                   \
        COLUMN(STRING, "name", "frames", view_text(frame_zones_view_name(n, s, id)),                          \
               "frames without a name are called [main]")                                                     \
        COLUMN(COUNT, "count", "count", view_number(h->n_values), NULL)                                       \
        COLUMN(REAL, "fps", "per second",                                                                     \
               view_real_known((double)h->n_values * 1e9 / (double)span_ns, any && span_ns != 0), NULL)       \
        COLUMN(DURATION, "mean_ns", "mean", view_mean(h->sum, h->n_values), NULL)                             \
        COLUMN(DURATION, "p50_ns", "p50", view_known(histogram_quantile(h, 0.5), any), NULL)                  \
        COLUMN(DURATION, "p99_ns", "p99", view_known(histogram_quantile(h, 0.99), any), NULL)                 \
        COLUMN(DURATION, "max_ns", "max", view_known(h->largest, any), NULL)                                  \
        COLUMN(DURATION, "min_ns", "min", view_known(h->smallest, any), NULL)                                 \
        COLUMN(DURATION, "total_ns", "total", view_number(h->sum), NULL)                                      \
        COLUMN(STRING, "kind", "kind", view_words(key->has_gaps != 0 ? "with gaps" : "marks"),                \
               "marks, with gaps", .n_columns_max = 10)                                                       \
        COLUMN(COUNT, "n_marks", "marks", view_number(set->n_marks), NULL)                                    \
        COLUMN(COUNT, "n_unmatched", "unmatched", view_number(set->n_unmatched), NULL)
#define SLOW_COLUMNS(COLUMN)                                                                                  \
        COLUMN(STRING, "name", "frames", view_text(frame_zones_view_name(n, s, i)), NULL)                     \
        COLUMN(DURATION, "duration_ns", "took", view_number(frame->duration_ns), NULL)                        \
        COLUMN(TIME, "at_ns", "began at", view_number(event_names_since_start(n, frame->begin_ns)), NULL)     \
        COLUMN(COUNT, "number", "number", view_number(frame->number), "of its set, from 1")
/* clang-format on */

static const struct view_column set_columns[] = { SET_COLUMNS(VIEW_COLUMN) };
static const struct view_column slow_columns[] = { SLOW_COLUMNS(VIEW_COLUMN) };
static const struct answer_part sets_part = ANSWER_TABLE("frames", set_columns, "a set of frames");
static const struct answer_part slowest_part = ANSWER_TABLE("slowest", slow_columns,
                                                            "a slow frame, ten a set", .may_be_absent = true);
const struct answer_schema frames_view_schema = {
        .name = "hyprof.frames/1",
        .command = "hyprof report --frames --json",
        .parts = (const struct answer_part *const[]){ &report_heading_events_part, &sets_part,
                                                      &frame_zones_view_part, &slowest_part,
                                                      &frame_zones_view_slowest_part,
                                                      &histogram_rows_named_part, NULL },
};

static void put_set(struct event_names *n, struct view_table *t, const struct frame_stats *s, uint32_t id)
{
        const struct frame_set_key *key = intern_get(&s->keys, id, NULL);
        const struct frame_set *set = &s->sets[id - 1];
        const struct histogram *h = &set->durations_ns;
        struct view_document *d = n->document;
        uint64_t span_ns = set->last_ns - set->first_ns;
        bool any = h->n_values != 0;

        SET_COLUMNS(VIEW_CELL)
}

static void add_sets(struct event_names *n, const struct frame_stats *s, size_t n_shown, struct view_table *t)
{
        view_table_set_about(
                n->document, t,
                "a frame lasts from one mark to the next, or from its begin to its end; percentiles are within 1%%");
        for (uint32_t i = 1; i <= n_shown; i++)
                put_set(n, t, s, i);
}

static void add_slowest(struct event_names *n, const struct frame_stats *s, size_t n_shown)
{
        struct view_document *d = n->document;
        struct view_table *t = view_document_add_part(d, &slowest_part, "The slowest frames");

        for (uint32_t i = 1; i <= n_shown; i++) {
                const struct frame_set *set = &s->sets[i - 1];

                for (uint32_t k = 0; k < set->n_slowest; k++) {
                        const struct slow_frame *frame = &set->slowest[k];

                        SLOW_COLUMNS(VIEW_CELL)
                }
        }
}

/* Whether any zone has time in the slowest frame of the set. */
static bool has_zones(const struct frame_zones *z, size_t set)
{
        for (uint32_t id = 1; id <= z->keys.n_items; id++) {
                const struct frame_zone_key *key = intern_get(&z->keys, id, NULL);

                if (key->set == set && z->rows[id - 1].slowest_ns[0] != 0)
                        return true;
        }
        return false;
}

/* Suggests where to go on: a report about the slowest frame of each of the first sets. */
static void add_hints(struct event_names *n, const struct frame_zones *z, size_t n_shown)
{
        const struct frame_stats *s = z->stats;

        for (size_t i = 0; i < n_shown && i < HINTS_MAX; i++) {
                const struct slow_frame *frame = &s->sets[i].slowest[0];
                uint64_t at_ns;

                if (s->sets[i].n_slowest == 0 || !has_zones(z, i + 1))
                        continue;
                at_ns = event_names_since_start(n, frame->begin_ns);
                report_heading_hint(n->document, n->options->path, "report --zones --from %lluns --to %lluns",
                                    (unsigned long long)at_ns,
                                    (unsigned long long)at_ns + frame->duration_ns);
        }
}

static struct answer_words make_answer(const struct event_names *n, const struct frame_stats *s)
{
        struct answer_words a = { .used_bytes = 0 };
        uint64_t n_frames = 0;
        uint32_t slowest = 0;

        for (uint32_t i = 0; i < s->n_sets; i++) {
                n_frames += s->sets[i].durations_ns.n_values;
                if (s->sets[i].durations_ns.largest > s->sets[slowest].durations_ns.largest)
                        slowest = i;
        }
        if (s->n_sets == 0) {
                answer_words_add(&a, "%s",
                                 n->options->is_filtered ? "no frame passes the filters"
                                                         : family_words_none(n->trace->dictionary, "frames",
                                                                             "the program marked no frames")
                                                                   .text);
                return a;
        }
        answer_words_add(&a, "%s; the longest took %s, of ", text_number_counted(n_frames, "frames").text,
                         text_number_duration(s->sets[slowest].durations_ns.largest).text);
        answer_words_add_name(&a, frame_zones_view_name(n, s, slowest + 1));
        return a;
}

void frames_view_fill(struct view_document *d, const struct frame_zones *z, struct loaded_trace *trace,
                      const struct event_view_options *options)
{
        const struct frame_stats *s = z->stats;
        struct answer_words answer;
        struct event_names n;
        struct view_table *t;
        size_t n_shown;

        event_names_init(&n, d, trace, NULL, options);
        answer = make_answer(&n, s);
        event_names_heading(&n, &answer, TRACE_LOSS_DROPPED_FRAMES, s->n_late);
        event_names_warn(&n, s->n_lost, "events of sets of frames beyond the limit; left out");
        t = view_document_add_part(d, &sets_part, "Frames");
        n_shown = event_names_limit(&n, t, s->n_sets);
        add_sets(&n, s, n_shown, t);
        if (n_shown != 0) {
                frame_zones_view_add(&n, z, (uint32_t)n_shown);
                add_slowest(&n, s, n_shown);
                frame_zones_view_add_slowest(&n, z, (uint32_t)n_shown);
                t = histogram_rows_begin(d, "Durations", true);
                for (uint32_t i = 1; i <= n_shown; i++)
                        histogram_rows_add(d, t, 0, frame_zones_view_name(&n, s, i),
                                           &s->sets[i - 1].durations_ns, clock_step_ns(trace->dictionary));
                add_hints(&n, z, n_shown);
        }
        event_names_hint_overview(&n);
        event_names_deinit(&n);
}
