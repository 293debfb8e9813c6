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

static const struct view_column columns[] = {
        { .key = "at_ns", .title = "time", .type = VIEW_TIME, .n_columns_max = 18 },
        { .key = "thread", .title = "", .type = VIEW_HANDLE, .n_columns_max = 9 },
        { .key = "severity", .title = "severity", .type = VIEW_STRING, .n_columns_max = 8 },
        { .key = "text", .title = "message", .type = VIEW_STRING },
        { .key = "thread_name", .title = "thread", .type = VIEW_STRING, .n_columns_max = 20 },
        { .key = "zones", .title = "in zone", .type = VIEW_STRING, .n_columns_max = 40 },
        { .key = "color", .title = "color", .type = VIEW_STRING, .n_columns_max = 7 },
};

static const struct view_column severity_columns[] = {
        { .key = "severity", .title = "severity", .type = VIEW_STRING, .n_columns_max = 10 },
        { .key = "count", .title = "messages", .type = VIEW_COUNT, .n_columns_max = 14 },
};

static void put_message(struct event_names *n, struct view_table *t, const struct message *message)
{
        struct view_document *d = n->document;

        event_names_put_time(n, t, message->time_ns);
        view_table_put_handle(d, t, 't', message->thread);
        view_table_put_words(d, t, message_list_severity(message->severity));
        view_table_put_string(d, t, (struct text_view){ message->text, message->n_bytes });
        event_names_put_thread(n, t, message->thread);
        event_names_put_path(n, t, message->path);
        if (message->color != 0)
                view_table_put_format(d, t, "#%06x", message->color & 0xffffff);
        else
                view_table_put_unknown(d, t);
}

static void add_severities(struct event_names *n, const struct message_list *l)
{
        struct view_table *t;

        if (l->n_all == 0)
                return;
        t = view_document_add_table(n->document, "severities", "All messages, by severity", severity_columns,
                                    sizeof(severity_columns) / sizeof(severity_columns[0]));
        for (uint32_t i = MESSAGE_LIST_SEVERITIES; i > 0; i--) {
                if (l->n_severities[i - 1] == 0)
                        continue;
                view_table_put_words(n->document, t, message_list_severity(i - 1));
                view_table_put_number(n->document, t, l->n_severities[i - 1]);
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
        view_document_add_number(d, "n_messages", "messages", VIEW_COUNT, l->n_fit);
        event_names_warn(&n, l->n_fit - n_kept, "older messages, for which there was no room");
        event_names_warn(&n, l->n_cut, "texts longer than 65,536 bytes, cut there");
        t = view_document_add_table(d, "messages", "Messages, the newest last", columns,
                                    sizeof(columns) / sizeof(columns[0]));
        n_shown = event_names_limit(&n, t, n_kept);
        if (n_shown < l->n_fit)
                view_table_set_about(d, t, "the newest %zu of %llu", n_shown, (unsigned long long)l->n_fit);
        if (t)
                t->n_left_out = l->n_fit - n_shown;
        for (size_t i = l->n_messages - n_shown; i < l->n_messages; i++)
                put_message(&n, t, &l->messages[i]);
        add_severities(&n, l);
        add_hints(&n, l);
        event_names_deinit(&n);
}

const struct answer_schema messages_view_schema = {
        .name = "hyprof.messages/1",
        .command = "hyprof report --messages --json",
        .parts = (const struct answer_part *const[]){ NULL },
};
