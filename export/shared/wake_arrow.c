/* SPDX-License-Identifier: MIT */
#include "export/shared/wake_arrow.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "base/byte_buffer.h"
#include "base/text_view.h"
#include "format/trace_dictionary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool wake_arrow_is_wanted(const struct thread_wait *wait, const struct trace_filter *filter)
{
        if (!wait->ended || !wait->is_woken || wait->waker_thread == 0 || wait->woken_ns > wait->in_ns)
                return false;
        return !filter || (trace_filter_wants_thread(filter, wait->waker_thread) &&
                           trace_filter_wants_time(filter, wait->in_ns));
}

void wake_arrow_put_name(struct byte_buffer *b, const struct loaded_trace *trace, enum wake_arrow_end end,
                         uint32_t other)
{
        static const char *const words[] = {
                [WAKE_ARROW_WAKER] = "wakes ",
                [WAKE_ARROW_WOKEN] = "woken by ",
        };
        const struct trace_thread *row = trace_dictionary_row(trace->dictionary, TRACE_TABLE_THREADS, other);
        struct text_view name = trace_dictionary_text(trace->dictionary, trace->thread_names[other - 1]);
        char number[16];

        if (name.n_bytes == 0)
                name = (struct text_view){ .bytes = "thread", .n_bytes = 6 };
        (void)snprintf(number, sizeof(number), " %" PRIu32, row->tid);
        byte_buffer_add(b, words[end], strlen(words[end]));
        byte_buffer_add(b, name.bytes, name.n_bytes);
        byte_buffer_add(b, number, strlen(number));
}
