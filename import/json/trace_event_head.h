/* SPDX-License-Identifier: MIT */
/*
 * import/json/trace_event_head.h - the beginning of trace-event JSON: whether it is that, who wrote it, and
 * how its times begin
 *
 * Way of the data:  import_source_head() -> [trace_event_head] -> import_trace_event
 *
 * Clocks are often named at the end of the file, after the events.  So the writer is recognised by its first
 * events, and the clock is known at the end.
 */
#ifndef IMPORT_TRACE_EVENT_HEAD_H
#define IMPORT_TRACE_EVENT_HEAD_H

#include "base/text_view.h"
#include "import/file/json_pull.h"
#include "import/rows/import_rows.h"

#include <stdbool.h>
#include <stdint.h>

enum trace_event_writer {
        TRACE_EVENT_OTHER,
        TRACE_EVENT_KINETO,   /* PyTorch's profiler: CLOCK_REALTIME */
        TRACE_EVENT_CLANG,    /* -ftime-trace: from beginningOfTime, of CLOCK_REALTIME */
        TRACE_EVENT_CHROMIUM, /* and what is made of it: metadata say the clock */
        TRACE_EVENT_NODE,     /* CLOCK_MONOTONIC */
};

/* All that the file says about its clock, in any order. */
struct trace_event_clock {
        bool has_base, has_beginning, is_monotonic;
        int64_t base_ns; /* of CLOCK_REALTIME: the zero of all times */
        /* As hyprof says it: the zero of all times, of that clock and of CLOCK_REALTIME; 0 = not said. */
        enum import_clock_kind own;
        uint64_t own_ns, own_realtime_ns;
};

struct trace_event_head {
        bool is_trace_event;
        enum trace_event_writer writer;
        int64_t least_ns;         /* the earliest time of an event; at most 0 */
        struct text_view version; /* borrowed; empty = the file says none */
};

/* @head: the first bytes of a file, cut off anywhere. */
void trace_event_head_read(struct text_view head, struct trace_event_head *ret_head);

/* Takes what a member of the file's object says about its clock. */
void trace_event_clock_take(struct trace_event_clock *clock, struct text_view member,
                            struct json_value value);

/* The same of the metadata that hyprof's export has about it. */
void trace_event_clock_take_own(struct trace_event_clock *clock, struct json_value args);

#endif /* IMPORT_TRACE_EVENT_HEAD_H */
