/* SPDX-License-Identifier: MIT */
#include "export/left_events.h"

#include "analyze/trace_walk.h"

#include <stddef.h>

struct kind_op {
        enum export_left_out kind;
        enum trace_op op;
};

static const struct kind_op ops[] = {
        { EXPORT_LEFT_OUT_ZONES, TRACE_OP_ZONE_BEGIN },
        { EXPORT_LEFT_OUT_WAITS, TRACE_OP_SWITCH_OUT },
        { EXPORT_LEFT_OUT_MESSAGES, TRACE_OP_MESSAGE },
        { EXPORT_LEFT_OUT_MESSAGES, TRACE_OP_MESSAGE_TEXT },
        { EXPORT_LEFT_OUT_PLOTS, TRACE_OP_PLOT_I64 },
        { EXPORT_LEFT_OUT_PLOTS, TRACE_OP_PLOT_F64 },
        { EXPORT_LEFT_OUT_FRAMES, TRACE_OP_FRAME_MARK },
        { EXPORT_LEFT_OUT_FRAMES, TRACE_OP_FRAME_BEGIN },
        { EXPORT_LEFT_OUT_MEMORY, TRACE_OP_MEMORY_ALLOC },
        { EXPORT_LEFT_OUT_MEMORY, TRACE_OP_MEMORY_FREE },
        { EXPORT_LEFT_OUT_MEMORY, TRACE_OP_MEMORY_DISCARD },
        { EXPORT_LEFT_OUT_LOCKS, TRACE_OP_LOCK_WAIT },
        { EXPORT_LEFT_OUT_LOCKS, TRACE_OP_LOCK_OBTAIN },
        { EXPORT_LEFT_OUT_LOCKS, TRACE_OP_LOCK_RELEASE },
        { EXPORT_LEFT_OUT_DEVICES, TRACE_OP_DEVICE_ZONE_BEGIN },
        { EXPORT_LEFT_OUT_DEVICES, TRACE_OP_DEVICE_SPAN },
};

void left_events_count(struct export_totals *totals, const struct trace_walk *walk, enum export_left_out kind)
{
        for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
                if (ops[i].kind == kind)
                        totals->left_out[kind] += walk->n_events[ops[i].op];
}
