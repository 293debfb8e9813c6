/* SPDX-License-Identifier: MIT */
#include "export/shared/waiting_words.h"

#include "format/trace_spec.h"

#include <stddef.h>

static const char *const waiting_words[] = {
        [TRACE_WAIT_UNKNOWN] = "[off CPU]",  [TRACE_WAIT_PREEMPTED] = "[preempted]",
        [TRACE_WAIT_SLEEPING] = "[waiting]", [TRACE_WAIT_UNINTERRUPTIBLE] = "[waiting, uninterruptible]",
        [TRACE_WAIT_STOPPED] = "[stopped]",  [TRACE_WAIT_ENDED] = "[off CPU]",
        [TRACE_WAIT_IDLE] = "[off CPU]",     [TRACE_WAIT_STATE_COUNT] = "[off CPU]",
};

const char *waiting_words_of(uint32_t state)
{
        return waiting_words[state < TRACE_WAIT_STATE_COUNT ? state : TRACE_WAIT_STATE_COUNT];
}

bool waiting_words_has(struct text_view name)
{
        for (size_t i = 0; i < sizeof(waiting_words) / sizeof(waiting_words[0]); i++)
                if (text_view_is(name, waiting_words[i]))
                        return true;
        return false;
}
