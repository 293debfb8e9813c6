/* SPDX-License-Identifier: MIT */
#include "sampler/stacks/stack_end.h"

#include "format/trace_loss.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"

#define X86_RET 0xc3

bool stack_end_is_return_probe(const struct stack_walk *walk, const struct process_track *process)
{
        return walk->end == STACK_WALK_END_NOT_CODE &&
               walk->unread_avma - process->return_probes_avma < process->return_probes_bytes;
}

bool stack_end_read_probe(const struct process_track *process, uint64_t avma, uint8_t *ret_code)
{
        if (avma - process->return_probes_avma >= process->return_probes_bytes)
                return false;
        *ret_code = X86_RET;
        return true;
}

enum trace_stack_state stack_end_state_of(enum stack_walk_end end)
{
        switch (end) {
        case STACK_WALK_END_ROOT:
                return TRACE_STACK_COMPLETE;
        case STACK_WALK_END_TOO_DEEP:
                return TRACE_STACK_TOO_DEEP;
        case STACK_WALK_END_CUT:
                return TRACE_STACK_TRUNCATED;
        case STACK_WALK_END_OTHER_STACK:
                return TRACE_STACK_OTHER_STACK;
        case STACK_WALK_END_NO_TABLE:
                return TRACE_STACK_NO_TABLE;
        case STACK_WALK_END_NO_REGISTER:
                return TRACE_STACK_NO_REGISTER;
        case STACK_WALK_END_NOT_CODE:
        case STACK_WALK_END_BROKEN:
        case STACK_WALK_N_ENDS:
        default:
                return TRACE_STACK_BAD_MEMORY;
        }
}

void stack_end_count(struct loss_counter *losses, enum trace_stack_state state)
{
        enum trace_loss_reason reason = trace_loss_of_stack(state);

        if (reason != 0)
                loss_counter_add(losses, reason, 1);
}
