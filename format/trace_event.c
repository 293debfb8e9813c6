/* SPDX-License-Identifier: MIT */
#include "format/trace_event.h"

#include "format/trace_schema.h"

#include <stddef.h>

#define TO(reference_kind, to) .reference = TRACE_REFERENCE_##reference_kind, .table = TRACE_TABLE_##to
#define DELTA                  .encoding = TRACE_ENCODING_DELTA

static const struct trace_op_schema schemas[TRACE_OP_COUNT] = {
        [TRACE_OP_ZONE_BEGIN] = { "zone_begin", 1, { { .name = "location", TO(REQUIRED, LOCATIONS) } } },
        [TRACE_OP_ZONE_END] = { "zone_end", 0, { { .name = NULL } } },
        [TRACE_OP_SAMPLE] = { "sample",
                              5,
                              { { .name = "event", TO(REQUIRED, SAMPLE_EVENTS) },
                                { .name = "cpu" },
                                { .name = "stack", DELTA, TO(OPTIONAL, STACKS) },
                                { .name = "path", DELTA, TO(OPTIONAL, ZONE_PATHS) },
                                { .name = "weight", DELTA } } },
        [TRACE_OP_SWITCH_OUT] = { "switch_out", 2, { { .name = "cpu" }, { .name = "preempted" } } },
        [TRACE_OP_SWITCH_IN] = { "switch_in", 1, { { .name = "cpu" } } },
        [TRACE_OP_MESSAGE] = { "message",
                               3,
                               { { .name = "text", TO(OPTIONAL, STRINGS) },
                                 { .name = "severity" },
                                 { .name = "color" } } },
        [TRACE_OP_PLOT_I64] = { "plot_i64",
                                2,
                                { { .name = "name", TO(OPTIONAL, STRINGS) }, { .name = "value", DELTA } } },
        [TRACE_OP_PLOT_F64] = { "plot_f64",
                                2,
                                { { .name = "name", TO(OPTIONAL, STRINGS) },
                                  { .name = "bits", .encoding = TRACE_ENCODING_FIXED64 } } },
        [TRACE_OP_FRAME_MARK] = { "frame_mark", 1, { { .name = "name", TO(OPTIONAL, STRINGS) } } },
        [TRACE_OP_THREAD_NAME] = { "thread_name", 1, { { .name = "name", TO(OPTIONAL, STRINGS) } } },
        [TRACE_OP_THREAD_EXIT] = { "thread_exit", 0, { { .name = NULL } } },
};

const struct trace_op_schema *trace_op_schema_find(uint64_t op)
{
        if (op >= TRACE_OP_COUNT || !schemas[op].name)
                return NULL;
        return &schemas[op];
}
