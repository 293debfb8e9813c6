/* SPDX-License-Identifier: MIT */
#include "import/json/trace_event_flows.h"

#include "format/trace_spec.h"
#include "import/rows/import_rows.h"

#include <errno.h>
#include <stdlib.h>

void trace_event_flows_init(struct trace_event_flows *flows)
{
        *flows = (struct trace_event_flows){ .ends = NULL };
        intern_init(&flows->ids, sizeof(uint64_t), TRACE_EVENT_FLOWS_MAX);
}

void trace_event_flows_deinit(struct trace_event_flows *flows)
{
        intern_deinit(&flows->ids);
        free(flows->ends);
}

uint32_t trace_event_flows_phase(char phase)
{
        switch (phase) {
        case 's':
                return TRACE_FLOW_BEGIN;
        case 't':
                return TRACE_FLOW_STEP;
        case 'f':
                return TRACE_FLOW_END;
        default:
                return 0;
        }
}

int trace_event_flows_add(struct trace_event_flows *flows, uint64_t id, char phase)
{
        uint32_t row;
        int r = intern_add_row(&flows->ids, &id, &flows->ends, &flows->capacity, sizeof(*flows->ends), &row);

        if (r < 0 && r != -EOVERFLOW)
                return r;
        if (r < 0) {
                flows->n_beyond++;
                return 0;
        }
        flows->ends[row - 1].n_starts += phase == 's';
        flows->ends[row - 1].n_ends += phase == 'f';
        return 0;
}

void trace_event_flows_finish(const struct trace_event_flows *flows, struct import_rows *rows)
{
        uint64_t n_starts = 0, n_ends = 0;

        for (uint32_t i = 0; i < flows->ids.n_items; i++) {
                n_starts += flows->ends[i].n_ends ? 0 : flows->ends[i].n_starts;
                n_ends += flows->ends[i].n_starts ? 0 : flows->ends[i].n_ends;
        }
        if (n_starts)
                import_rows_left_out(rows, "flow start without end", n_starts);
        if (n_ends)
                import_rows_left_out(rows, "flow end without start", n_ends);
        if (flows->n_beyond)
                import_rows_left_out(rows, "flow that was not matched", flows->n_beyond);
}
