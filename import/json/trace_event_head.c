/* SPDX-License-Identifier: MIT */
#include "import/json/trace_event_head.h"

#include "import/json/trace_event_row.h"
#include "import/rows/import_clocks.h"

#include <string.h>

/* By its name, as import_clock_kind_name() says it. */
static enum import_clock_kind kind_of(struct text_view name)
{
        for (int kind = IMPORT_CLOCK_RAW; kind < IMPORT_CLOCK_TSC; kind++)
                if (text_view_is(name, import_clock_kind_name((enum import_clock_kind)kind)))
                        return (enum import_clock_kind)kind;
        return IMPORT_CLOCK_UNKNOWN;
}

void trace_event_clock_take_own(struct trace_event_clock *clock, struct json_value args)
{
        struct json_value name, start;

        if (json_pull_find(args, "clock", &name) != 1 || json_pull_find(args, "start_ns", &start) != 1)
                return;
        clock->own = json_pull_unsigned(start.text, &clock->own_ns) ? kind_of(name.text)
                                                                    : IMPORT_CLOCK_UNKNOWN;
        if (json_pull_find(args, "start_realtime_ns", &start) == 1)
                (void)json_pull_unsigned(start.text, &clock->own_realtime_ns);
}

void trace_event_clock_take(struct trace_event_clock *clock, struct text_view member, struct json_value value)
{
        struct json_value domain;

        if (text_view_is(member, "baseTimeNanoseconds")) {
                clock->has_base = json_pull_decimal(value.text, 0, &clock->base_ns);
        } else if (text_view_is(member, "beginningOfTime") && !clock->has_base) {
                clock->has_beginning = json_pull_decimal(value.text, 3, &clock->base_ns);
        } else if (text_view_is(member, "metadata") && json_pull_find(value, "clock-domain", &domain) == 1) {
                clock->is_monotonic = text_view_is(domain.text, "LINUX_CLOCK_MONOTONIC");
        }
}

/* ------------------------------------------------------------------ the events */

static bool is_one_of(struct text_view text, const char *const *words)
{
        for (; *words; words++)
                if (text_view_is(text, *words))
                        return true;
        return false;
}

static enum trace_event_writer writer_of(const struct trace_event_row *row)
{
        static const char *const kineto[] = {
                "cpu_op",     "cuda_runtime",    "cuda_driver", "kernel",       "gpu_memcpy",
                "gpu_memset", "user_annotation", "ac2g",        "mtia_runtime", NULL
        };
        struct json_value detail;

        if (row->category.kind == JSON_STRING && row->category.text.n_bytes > 0) {
                if (is_one_of(row->category.text, kineto))
                        return TRACE_EVENT_KINETO;
                if (text_view_begins_with(row->category.text, "node,"))
                        return TRACE_EVENT_NODE;
                if (text_view_is(row->category.text, "__metadata"))
                        return TRACE_EVENT_CHROMIUM;
        }
        if (!row->category.text.bytes && text_view_is(row->phase.text, "X") &&
            json_pull_find(row->args, "detail", &detail) == 1)
                return TRACE_EVENT_CLANG;
        return TRACE_EVENT_OTHER;
}

/* Node's traces have Chromium's metadata, so they are the stronger sign. */
static void judge_writer(struct trace_event_head *head, const struct trace_event_row *row)
{
        enum trace_event_writer writer = writer_of(row);

        if (head->writer == TRACE_EVENT_OTHER ||
            (head->writer == TRACE_EVENT_CHROMIUM && writer == TRACE_EVENT_NODE))
                head->writer = writer;
}

/* Returns whether one of them is an event, or there are none. */
static bool read_events(struct trace_event_head *head, struct json_pull *p)
{
        struct json_value value;
        bool is_empty = true, has_event = false;

        while (json_pull_next(p, &value) == 1) {
                struct trace_event_row row;
                int64_t ns;

                is_empty = false;
                if (trace_event_row_read(value, &row) < 0)
                        continue;
                has_event |= row.phase.kind == JSON_STRING && row.phase.text.n_bytes == 1;
                judge_writer(head, &row);
                if (text_view_is(row.phase.text, "M") || !trace_event_row_ns(row.time, &ns))
                        continue;
                if (ns < head->least_ns)
                        head->least_ns = ns;
        }
        return is_empty || has_event;
}

/* ------------------------------------------------------------------ what is around them */

static bool is_space(char c)
{
        return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Needs one event; or nothing at all; or the sign of one, where the first is longer than the head. */
static void read_array(struct trace_event_head *head, struct json_pull *p)
{
        struct json_pull first = *p;
        struct json_value value;

        while (p->at < p->end && is_space(*p->at))
                p->at++;
        if (p->at < p->end && *p->at == '{' && json_pull_next(&first, &value) < 0)
                head->is_trace_event = memmem(p->at, (size_t)(p->end - p->at), "\"ph\"", 4) != NULL;
        else
                head->is_trace_event = read_events(head, p);
}

static void read_object(struct trace_event_head *head, struct json_pull *p)
{
        static const char *const signs[] = { "displayTimeUnit",        "schemaVersion",   "deviceProperties",
                                             "controllerTraceDataKey", "beginningOfTime", NULL };
        static const char *const kineto[] = { "schemaVersion", "deviceProperties", "baseTimeNanoseconds",
                                              NULL };
        struct text_view key;

        while (json_pull_key(p, &key) == 1) {
                struct json_value value;

                if (is_one_of(key, kineto) && head->writer == TRACE_EVENT_OTHER)
                        head->writer = TRACE_EVENT_KINETO;
                head->is_trace_event |= is_one_of(key, signs);
                if (text_view_is(key, "traceEvents")) {
                        struct json_pull events = *p;

                        head->is_trace_event = *p->at == '[';
                        events.at++;
                        (void)read_events(head, &events);
                }
                if (json_pull_next(p, &value) != 1)
                        return;
                if (text_view_is(key, "schemaVersion"))
                        head->version = value.text;
        }
}

void trace_event_head_read(struct text_view head, struct trace_event_head *ret_head)
{
        struct json_pull p;

        *ret_head = (struct trace_event_head){ .writer = TRACE_EVENT_OTHER };
        if (text_view_begins_with(head, "\xef\xbb\xbf"))
                head = (struct text_view){ head.bytes + 3, head.n_bytes - 3 };
        p = json_pull_text(head);
        while (p.at < p.end && is_space(*p.at))
                p.at++;
        if (p.at == p.end || (*p.at != '[' && *p.at != '{'))
                return;
        if (*p.at++ == '[')
                read_array(ret_head, &p);
        else
                read_object(ret_head, &p);
}
