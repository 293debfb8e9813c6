/* SPDX-License-Identifier: MIT */
/*
 * import/json/trace_event_flows.h - which flows of trace-event JSON have both ends
 *
 * Way of the data:  import_trace_event -> [trace_event_flows] -> import_rows: what was left out
 *
 * Memory: 16 bytes a flow, at most TRACE_EVENT_FLOWS_MAX of them.
 */
#ifndef IMPORT_TRACE_EVENT_FLOWS_H
#define IMPORT_TRACE_EVENT_FLOWS_H

#include "base/intern.h"

#include <stddef.h>
#include <stdint.h>

struct import_rows;

#define TRACE_EVENT_FLOWS_MAX (UINT32_C(1) << 22)

struct trace_event_flows {
        struct intern ids; /* uint64_t: number of category and id */
        struct flow_ends {
                uint32_t n_starts, n_ends;
        } * ends; /* by id - 1 */
        size_t capacity;
        uint64_t n_beyond; /* ends of further flows */
};

void trace_event_flows_init(struct trace_event_flows *flows);
void trace_event_flows_deinit(struct trace_event_flows *flows);

/* The enum trace_flow_phase of s, t or f; 0 of another phase. */
uint32_t trace_event_flows_phase(char phase);

/* @phase: s, t or f.  Returns 0 or -ENOMEM. */
int trace_event_flows_add(struct trace_event_flows *flows, uint64_t id, char phase);

/* Counts starts of flows without an end, and ends without a start. */
void trace_event_flows_finish(const struct trace_event_flows *flows, struct import_rows *rows);

#endif /* IMPORT_TRACE_EVENT_FLOWS_H */
