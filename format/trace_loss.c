/* SPDX-License-Identifier: MIT */
#include "format/trace_loss.h"

#include "base/saturating.h"
#include "format/trace_dictionary.h"

/* CLIENT_JOINED is not a loss: it is unknown whether such a program lost anything. */
bool trace_loss_is_lost(uint32_t reason)
{
        static const bool is_lost[TRACE_LOSS_COUNT] = {
                [TRACE_LOSS_KERNEL_RING_FULL] = true, [TRACE_LOSS_CLIENT_RING_FULL] = true,
                [TRACE_LOSS_CLIENT_NO_RING] = true,   [TRACE_LOSS_CLIENT_GONE] = true,
                [TRACE_LOSS_ZONE_TOO_DEEP] = true,    [TRACE_LOSS_RECORD_GARBAGE] = true,
                [TRACE_LOSS_DROPPED_ZONES] = true,    [TRACE_LOSS_DROPPED_MESSAGES] = true,
                [TRACE_LOSS_DROPPED_PLOTS] = true,    [TRACE_LOSS_DROPPED_FRAMES] = true,
                [TRACE_LOSS_DROPPED_MEMORY] = true,   [TRACE_LOSS_DROPPED_LOCKS] = true,
                [TRACE_LOSS_DROPPED_DEVICES] = true,  [TRACE_LOSS_STRING_TABLE_FULL] = true,
                [TRACE_LOSS_BLOB_REFUSED] = true,     [TRACE_LOSS_BLOB_DAMAGED] = true,
                [TRACE_LOSS_ATTACHMENTS_FULL] = true, [TRACE_LOSS_SAMPLES_LOST] = true,
                [TRACE_LOSS_SWITCHES_LOST] = true,    [TRACE_LOSS_CLIENT_NO_FILES] = true,
                [TRACE_LOSS_THREAD_UNKNOWN] = true,   [TRACE_LOSS_CLIENT_NO_SPACE] = true,
        };

        return reason < TRACE_LOSS_COUNT && is_lost[reason];
}

enum trace_loss_reason trace_loss_of_stack(enum trace_stack_state state)
{
        static const enum trace_loss_reason reasons[TRACE_STACK_STATE_COUNT] = {
                [TRACE_STACK_TRUNCATED] = TRACE_LOSS_STACK_TRUNCATED,
                [TRACE_STACK_TOO_DEEP] = TRACE_LOSS_STACK_TOO_DEEP,
                [TRACE_STACK_NO_TABLE] = TRACE_LOSS_STACK_NO_TABLE,
                [TRACE_STACK_BAD_MEMORY] = TRACE_LOSS_STACK_BAD_MEMORY,
                [TRACE_STACK_NO_REGISTER] = TRACE_LOSS_STACK_NO_REGISTER,
                [TRACE_STACK_OTHER_STACK] = TRACE_LOSS_STACK_OTHER,
                [TRACE_STACK_TABLE_LATE] = TRACE_LOSS_STACK_TABLE_LATE,
                [TRACE_STACK_LEFT_CODE] = TRACE_LOSS_STACK_LEFT_CODE,
                [TRACE_STACK_NO_COPY] = TRACE_LOSS_STACK_NO_COPY,
                [TRACE_STACK_RETURN_PROBE] = TRACE_LOSS_STACK_RETURN_PROBE,
        };

        return reasons[state];
}

uint64_t trace_loss_total(const struct trace_dictionary *dictionary)
{
        uint64_t sum = 0;

        for (uint32_t i = 1; i <= trace_dictionary_count(dictionary, TRACE_TABLE_LOSSES); i++) {
                const struct trace_loss *row = trace_dictionary_row(dictionary, TRACE_TABLE_LOSSES, i);

                if (trace_loss_is_lost(row->reason))
                        sum = saturating_add(sum, row->count);
        }
        return sum;
}
