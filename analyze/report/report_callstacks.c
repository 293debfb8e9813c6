/* SPDX-License-Identifier: MIT */
#include "analyze/report/report_callstacks.h"

#include <stdbool.h>

struct report_callstacks report_callstacks_of(const uint64_t n_stacks[TRACE_STACK_STATE_COUNT + 1])
{
        /* The other states are those of newer versions, and mean nothing to this one. */
        static const bool is_known[TRACE_STACK_STATE_COUNT + 1] = {
#define X(id, name, words) [id] = true,
                TRACE_STACK_STATES(X)
#undef X
                        [TRACE_STACK_STATE_COUNT] = true,
        };
        struct report_callstacks c = { .n_samples = 0 };

        for (uint32_t state = TRACE_STACK_COMPLETE; state <= TRACE_STACK_STATE_COUNT; state++) {
                if (!is_known[state])
                        continue;
                c.by_state[state] = n_stacks[state];
                c.n_samples += n_stacks[state];
                if (state >= TRACE_STACK_TRUNCATED)
                        c.n_truncated += n_stacks[state];
        }
        c.n_stitched = n_stacks[TRACE_STACK_STITCHED];
        c.n_approximate = n_stacks[TRACE_STACK_APPROXIMATE];
        c.n_complete = n_stacks[TRACE_STACK_COMPLETE] + c.n_stitched + c.n_approximate;
        c.n_frame_pointers = n_stacks[TRACE_STACK_FRAME_POINTERS];
        return c;
}
