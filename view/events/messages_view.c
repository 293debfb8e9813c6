/* SPDX-License-Identifier: MIT */
#include "analyze/stats/message_list.h"
#include "analyze/walk/loaded_trace.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/event_names.h"
#include "view/shared/event_view.h"
#include "view/shared/family_words.h"
#include "view/shared/report_heading.h"
#include "view/text/text_number.h"

#define SEVERITY_ERROR 4 /* its number; the next is fatal */

/* clang-format off */
#define MESSAGE_COLUMNS(COLUMN)                                                                               \
        COLUMN(TIME, "at_ns", "time", view_number(event_names_since_start(n, message->time_ns)), NULL)        \
        COLUMN(HANDLE, "thread", "", view_handle('t', message->thread), NULL)                                 \
        COLUMN(STRING, "severity", "severity", view_words(message_list_severity(message->severity)), NULL,    \
               .one_of = "trace|debug|info|warning|error|fatal|unknown", .n_columns_max = 8)                  \
        COLUMN(STRING, "text", "message",                                                                     \
               view_text((struct text_view){ message->text, message->n_bytes }), NULL)                        \
        COLUMN(STRING, "thread_name", "thread", event_names_thread(n, message->thread), NULL,                 \
               .n_columns_max = 20)                                                                           \
        COLUMN(STRING, "zones", "in zone", event_names_path(n, message->path), NULL, .n_columns_max = 40)     \
        COLUMN(STRING, "color", "color", message->color != 0                                                  \
               ? view_format(d, "#%06x", message->color & 0xffffff) : view_unknown(), "#rrggbb",              \
               .n_columns_max = 7)
#define SEVERITY_COLUMNS(COLUMN)                                                                              \
        COLUMN(STRING, "severity", "severity", view_words(message_list_severity(i - 1)), NULL,                \
               .n_columns_max = 10)                                                                           \
        COLUMN(COUNT, "count", "messages", view_number(l->n_severities[i - 1]), NULL)
#define MESSAGES_FACTS(FACT)                                                                                  \
        FACT(COUNT, "n_messages", "messages", view_number(l->n_fit), "of that severity at least")
/* clang-format on */

static const struct view_column message_columns[] = { MESSAGE_COLUMNS(VIEW_COLUMN) };
static const struct view_column severity_columns[] = { SEVERITY_COLUMNS(VIEW_COLUMN) };
static const struct view_column fact_columns[] = { MESSAGES_FACTS(VIEW_MEMBER) };
static const struct answer_part facts = ANSWER_FACTS(fact_columns);
static const struct answer_part messages_part = ANSWER_TABLE("messages", message_columns,
                                                             "a message, the newest last");
static const struct answer_part severities_part = ANSWER_TABLE(
        "severities", severity_columns, "a severity, of all messages; not there if there is no message",
        .may_be_absent = true);
const struct answer_schema messages_view_schema = {
        .name = "hyprof.messages/1",
        .command = "hyprof report --messages --json",
        .parts = (const struct answer_part *const[]){ &report_heading_events_part, &facts, &messages_part,
                                                      &severities_part, NULL },
};

static void put_message(struct event_names *n, struct view_table *t, const struct message *message)
{
        struct view_document *d = n->document;

        MESSAGE_COLUMNS(VIEW_CELL)
}

static void add_severities(struct view_document *d, const struct message_list *l)
{
        struct view_table *t;

        if (l->n_all == 0)
                return;
        t = view_document_add_part(d, &severities_part, "All messages, by severity");
        for (uint32_t i = MESSAGE_LIST_SEVERITIES; i > 0; i--)
                if (l->n_severities[i - 1] != 0) {
                        SEVERITY_COLUMNS(VIEW_CELL)
                }
}

static uint64_t count_grave(const struct message_list *l)
{
        return l->n_severities[SEVERITY_ERROR] + l->n_severities[SEVERITY_ERROR + 1];
}

/* The next commands: only severe messages, and the zone of the newest message that was in one. */
static void add_hints(const struct event_names *n, const struct message_list *l)
{
        if (l->severity_min < SEVERITY_ERROR && count_grave(l) != 0)
                report_heading_hint(n->document, n->options->path, "report --severity %s",
                                    message_list_severity(SEVERITY_ERROR));
        for (size_t i = l->n_messages; i > l->first; i--) {
                if (l->messages[i - 1].path == 0)
                        continue;
                event_names_hint_zone(n, l->messages[i - 1].path);
                break;
        }
        event_names_hint_overview(n);
}

static struct answer_words make_answer(const struct message_list *l, const struct trace_dictionary *d,
                                       bool is_filtered)
{
        uint64_t n_grave = count_grave(l);
        struct answer_words a = { .used_bytes = 0 };

        if (l->n_fit == 0)
                answer_words_add(
                        &a, "%s",
                        l->n_all != 0 || is_filtered
                                ? "no message passes the filters"
                                : family_words_none(d, "messages", "the program wrote no messages").text);
        else
                answer_words_add(&a, "%s, %s", text_number_counted(l->n_fit, "messages").text,
                                 n_grave != 0 ? text_number_counted(n_grave, "errors among them").text
                                              : "no error among them");
        return a;
}

void messages_view_fill(struct view_document *d, const struct message_list *l, const struct zone_paths *paths,
                        struct loaded_trace *trace, const struct event_view_options *options)
{
        const struct answer_words answer = make_answer(l, trace->dictionary, options->is_filtered);
        size_t n_kept = l->n_messages - l->first, n_shown;
        struct event_names n;
        struct view_table *t;

        event_names_init(&n, d, trace, paths, options);
        event_names_heading(&n, &answer, TRACE_LOSS_DROPPED_MESSAGES, 0);
        MESSAGES_FACTS(VIEW_FACT)
        event_names_warn(&n, l->n_fit - n_kept, "older messages, for which there was no room");
        event_names_warn(&n, l->n_cut, "texts longer than 65,536 bytes, cut there");
        t = view_document_add_part(d, &messages_part, "Messages, the newest last");
        n_shown = event_names_limit(&n, t, n_kept);
        if (n_shown < l->n_fit)
                view_table_set_about(d, t, "the newest %zu of %llu", n_shown, (unsigned long long)l->n_fit);
        if (t)
                t->n_left_out = l->n_fit - n_shown;
        for (size_t i = l->n_messages - n_shown; i < l->n_messages; i++)
                put_message(&n, t, &l->messages[i]);
        add_severities(d, l);
        add_hints(&n, l);
        event_names_deinit(&n);
}
