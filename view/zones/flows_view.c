/* SPDX-License-Identifier: MIT */
#include "analyze/stats/flow_stats.h"
#include "analyze/trace/clock_step.h"
#include "analyze/walk/loaded_trace.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/event_names.h"
#include "view/shared/event_view.h"
#include "view/shared/family_words.h"
#include "view/shared/report_heading.h"
#include "view/text/text_number.h"

#define NO_ZONE "[no zone]"

/* clang-format off */
#define FLOW_FACTS(FACT)                                                                                      \
        FACT(COUNT, "begun", "begun", view_number(l->n_begun), NULL)                                          \
        FACT(COUNT, "ended", "ended", view_number(l->n_ended), "that were begun as well")                     \
        FACT(COUNT, "never_ended", NULL, view_number(l->n_open),                                              \
             "begun, and not over at the end, when they began again, or when too many others had begun")      \
        FACT(COUNT, "never_begun", NULL, view_number(l->n_ends_of_none), "ends without a begin")              \
        FACT(COUNT, "steps_never_begun", NULL, view_number(l->n_steps_of_none), "steps without a begin")
#define ROW_COLUMNS(COLUMN)                                                                                   \
        COLUMN(STRING, "from", "from", zone_name(n, key->from), "zone; [no zone] outside of zones")           \
        COLUMN(STRING, "to", "to", zone_name(n, key->to), "likewise")                                         \
        COLUMN(STRING, "kind", "kind", view_words(key->is_part != 0 ? "step" : "flow"),                       \
               "flow: from its begin to its end; step: from one thread that said something of it to the next, where there are steps",\
               .one_of = "flow|step", .n_columns_max = 5)                                                     \
        COLUMN(COUNT, "count", "count", view_number(h->n_values), NULL)                                       \
        COLUMN(DURATION, "p50_ns", "p50", view_number(histogram_quantile(h, 0.5)), NULL)                      \
        COLUMN(DURATION, "p99_ns", "p99", view_number(histogram_quantile(h, 0.99)), NULL)                     \
        COLUMN(DURATION, "max_ns", "max", view_number(h->largest), NULL)                                      \
        COLUMN(DURATION, "mean_ns", "mean", view_mean(h->sum, h->n_values), NULL)                             \
        COLUMN(DURATION, "min_ns", "min", view_number(h->smallest), NULL)                                     \
        COLUMN(DURATION, "total_ns", "total", view_number(h->sum), NULL)                                      \
        COLUMN(COUNT, "n_to_threads", "threads", view_number(row->n_to_threads), "to another thread")         \
        COLUMN(COUNT, "n_to_processes", "processes", view_number(row->n_to_processes), "to another process")  \
        COLUMN(TIME, "longest_at_ns", "longest at",                                                           \
               view_number(event_names_since_start(n, row->longest_from.time_ns)), "when the longest began")  \
        COLUMN(STRING, "longest_from", NULL, event_names_thread(n, row->longest_from.thread), "thread")       \
        COLUMN(STRING, "longest_to", NULL, event_names_thread(n, row->longest_to.thread), "thread")
/* clang-format on */

static struct view_value zone_name(const struct event_names *n, uint32_t location)
{
        return location != 0 ? view_text(event_names_zone(n, location)) : view_words(NO_ZONE);
}

static const struct view_column fact_columns[] = { FLOW_FACTS(VIEW_MEMBER) };
static const struct view_column row_columns[] = { ROW_COLUMNS(VIEW_COLUMN) };
static const struct answer_part facts_part = ANSWER_FACTS(fact_columns);
static const struct answer_part rows_part = ANSWER_TABLE("flows", row_columns,
                                                         "two zones that work went between");
const struct answer_schema flows_view_schema = {
        .name = "hyprof.flows/1",
        .command = "hyprof report --flows --json",
        .parts = (const struct answer_part *const[]){ &report_heading_events_part, &facts_part, &rows_part,
                                                      NULL },
};

static void put_row(struct event_names *n, struct view_table *t, const struct flow_stats *s,
                    const struct flow_row *row)
{
        const struct flow_row_key *key = flow_stats_key(s, row);
        const struct histogram *h = &row->durations_ns;
        struct view_document *d = n->document;

        ROW_COLUMNS(VIEW_CELL)
}

static struct answer_words make_answer(const struct event_names *n, const struct flow_stats *s)
{
        const struct flow_links *l = &s->links;
        const struct flow_row *first = s->keys.n_items != 0 ? &s->rows[0] : NULL;
        struct answer_words a = { .used_bytes = 0 };

        if (l->n_begun + l->n_links + l->n_ends_of_none + l->n_steps_of_none == 0) {
                answer_words_add(&a, "%s",
                                 n->options->is_filtered ? "no flow passes the filters"
                                                         : family_words_none(n->trace->dictionary, "zones",
                                                                             "the program reported no flows")
                                                                   .text);
                return a;
        }
        answer_words_add(&a, "%s ended", text_number_counted(l->n_ended, "flows").text);
        if (first) {
                const struct flow_row_key *key = flow_stats_key(s, first);

                answer_words_add(&a, "; from ");
                answer_words_add_name(&a, zone_name(n, key->from).text);
                answer_words_add(&a, " to ");
                answer_words_add_name(&a, zone_name(n, key->to).text);
                answer_words_add(&a, " it took %s, and at most %s",
                                 text_number_duration(histogram_quantile(&first->durations_ns, 0.5)).text,
                                 text_number_duration(first->durations_ns.largest).text);
        }
        return a;
}

static void say_missing(struct event_names *n, const struct flow_stats *s)
{
        const struct flow_links *l = &s->links;

        event_names_warn(n, l->n_open, "flows begun and never ended");
        event_names_warn(n, l->n_ends_of_none, "ends of flows that were never begun, or ended before");
        event_names_warn(n, l->n_steps_of_none, "steps of flows that were never begun, or ended before");
        event_names_warn(n, l->match.n_given_up,
                         "flows given up: more than 262,144 were begun and not ended at a time");
        event_names_warn(n, s->n_lost, "flows between zones beyond the limit of pairs; left out");
}

void flows_view_fill(struct view_document *d, const struct flow_stats *s, struct loaded_trace *trace,
                     const struct event_view_options *options)
{
        const struct flow_links *l = &s->links;
        struct answer_words answer;
        struct event_names n;
        struct view_table *t;
        size_t n_shown;

        event_names_init(&n, d, trace, NULL, options);
        answer = make_answer(&n, s);
        event_names_heading(&n, &answer, TRACE_LOSS_DROPPED_ZONES, l->n_late);
        say_missing(&n, s);
        FLOW_FACTS(VIEW_FACT)
        t = view_document_add_part(d, &rows_part, "Flows");
        n_shown = event_names_limit(&n, t, s->keys.n_items);
        view_table_set_about(
                d, t, "from where work was handed over to where it was taken; percentiles are within 1%%");
        for (size_t i = 0; i < n_shown; i++)
                put_row(&n, t, s, &s->rows[i]);
        if (s->keys.n_items != 0) {
                const struct flow_row *row = &s->rows[0];
                uint64_t at_ns = event_names_since_start(&n, row->longest_from.time_ns);

                report_heading_hint(d, options->path, "report --zones --from %lluns --to %lluns",
                                    (unsigned long long)at_ns,
                                    (unsigned long long)at_ns + row->durations_ns.largest);
        }
        event_names_hint_overview(&n);
        event_names_deinit(&n);
}
