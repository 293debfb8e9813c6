/* SPDX-License-Identifier: MIT */
#include "analyze/stats/message_list.h"
#include "format/trace_dictionary.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "base/array.h"
#include "base/error.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const severities[MESSAGE_LIST_SEVERITIES] = { "trace", "debug", "info",   "warning",
                                                                 "error", "fatal", "unknown" };

const char *message_list_severity(uint32_t severity)
{
        return severities[severity < MESSAGE_LIST_SEVERITIES ? severity : MESSAGE_LIST_SEVERITIES - 1];
}

int message_list_parse_severity(const char *name)
{
        for (int i = 0; i < MESSAGE_LIST_SEVERITIES - 1; i++)
                if (strcmp(name, severities[i]) == 0)
                        return i;
        return -EINVAL;
}

void message_list_init(struct message_list *l, uint32_t severity_min, uint32_t n_max)
{
        *l = (struct message_list){ .severity_min = severity_min,
                                    .n_max = n_max != 0 ? n_max : MESSAGE_LIST_MAX };
}

void message_list_deinit(struct message_list *l)
{
        for (size_t i = l->first; i < l->n_messages; i++)
                free(l->messages[i].text);
        free(l->messages);
        l->messages = NULL;
        l->first = l->n_messages = 0;
}

/* Removes the oldest message; the rest moves down when half of the array is empty. */
static void make_room(struct message_list *l, uint32_t n_bytes)
{
        while (l->first < l->n_messages &&
               (l->n_messages - l->first >= l->n_max || l->n_bytes + n_bytes > MESSAGE_LIST_BYTES_MAX)) {
                struct message *oldest = &l->messages[l->first++];

                l->n_bytes -= oldest->n_bytes;
                free(oldest->text);
        }
        if (l->first > l->n_messages / 2) {
                l->n_messages -= l->first;
                memmove(l->messages, l->messages + l->first, l->n_messages * sizeof(*l->messages));
                l->first = 0;
        }
}

static int keep(struct message_list *l, struct message *message, struct text_view text)
{
        message->is_cut = text.n_bytes > MESSAGE_LIST_TEXT_MAX;
        message->n_bytes = message->is_cut ? MESSAGE_LIST_TEXT_MAX : (uint32_t)text.n_bytes;
        l->n_cut += message->is_cut;
        make_room(l, message->n_bytes);
        if (array_reserve(&l->messages, &l->capacity, l->n_messages + 1, sizeof(*l->messages)) < 0)
                return -ENOMEM;
        message->text = malloc((size_t)message->n_bytes + 1);
        if (!message->text)
                return -ENOMEM;
        if (message->n_bytes != 0)
                memcpy(message->text, text.bytes, message->n_bytes);
        l->n_bytes += message->n_bytes;
        l->messages[l->n_messages++] = *message;
        return 0;
}

struct taking {
        struct message_list *list;
        struct trace_walk *walk;
};

static int take_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct taking *t = context;
        struct message_list *l = t->list;
        uint64_t severity = event->operand[1];
        struct message message = { .time_ns = event->time_ns,
                                   .thread = thread->id,
                                   .color = (uint32_t)event->operand[2] };
        struct text_view text;

        if (event->op == TRACE_OP_MESSAGE)
                text = trace_dictionary_text(t->walk->dictionary, (uint32_t)event->message.text);
        else if (event->op == TRACE_OP_MESSAGE_TEXT)
                text = (struct text_view){ event->text, (size_t)event->message_text.text_bytes };
        else
                return 0;
        message.sequence = l->n_all++;
        message.severity = severity < MESSAGE_LIST_SEVERITIES ? (uint32_t)severity
                                                              : MESSAGE_LIST_SEVERITIES - 1;
        l->n_severities[message.severity]++;
        if (message.severity < l->severity_min)
                return 0;
        l->n_fit++;
        if (trace_walk_path(t->walk, thread, &message.path) < 0 || keep(l, &message, text) < 0)
                return error_set(err, -ENOMEM, "keeping messages: out of memory");
        return 0;
}

static int compare(const void *left, const void *right)
{
        const struct message *a = left, *b = right;

        if (a->time_ns != b->time_ns)
                return a->time_ns < b->time_ns ? -1 : 1;
        return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

int message_list_take(struct message_list *l, struct loaded_trace *trace, const struct trace_filter *filter,
                      struct trace_walk *walk, struct error *err)
{
        struct taking t = { .list = l, .walk = walk };
        struct trace_sink sink = {
                .context = &t, .event = take_event, .wants_paths = true, .may_skip = true
        };
        int r = trace_walk_init(walk, trace, filter, &sink);

        if (r < 0)
                return error_set(err, r, "keeping messages: out of memory");
        r = loaded_trace_walk(trace, walk, err);
        if (l->n_messages > l->first)
                qsort(l->messages + l->first, l->n_messages - l->first, sizeof(*l->messages), compare);
        return r;
}
