/* SPDX-License-Identifier: MIT */
#include "view/why/why_rank_words.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/why/why.h"
#include "base/byte_buffer.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "view/text/text_number.h"

#include <inttypes.h>

void why_rank_words(const struct why *w, const struct loaded_trace *trace, struct byte_buffer *out)
{
        const struct zone_ranks *z = &w->collector.ranks;
        const struct trace_process *process;
        const struct zone_rank *rank;
        struct text_view name;

        if (z->late == 0)
                return;
        rank = &z->ranks[z->late - 1];
        process = trace_dictionary_row(w->dictionary, TRACE_TABLE_PROCESSES, rank->process);
        name = loaded_trace_thread_name(trace, rank->thread);
        byte_buffer_add(out, name.bytes, name.n_bytes);
        byte_buffer_add_format(out, " (PID %" PRIu32 "): last %s in %s of %s%s, by %s in the median",
                               process->pid, zone_gate_words(z->gate), text_number_count(rank->n_last).text,
                               z->judged_from_ns != 0 ? "the slowest " : "",
                               text_number_count(z->n_judged).text, text_number_duration(rank->late_ns).text);
}
