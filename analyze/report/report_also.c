/* SPDX-License-Identifier: MIT */
#include "analyze/report/report_also.h"

#include "analyze/zones/trace_totals.h"
#include "format/trace_dictionary.h"

static void count_sources(struct report_also *also, const struct trace_dictionary *d)
{
        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_ATTACHMENTS); i++) {
                const struct trace_attachment *row = trace_dictionary_row(d, TRACE_TABLE_ATTACHMENTS, i);

                if (row->kind != TRACE_ATTACHMENT_SOURCE_TEXT)
                        continue;
                also->n_source_texts++;
                also->n_source_bytes += row->size_bytes;
        }
}

static void count_code_regions(struct report_also *also, const struct trace_dictionary *d)
{
        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_CODE_REGIONS); i++) {
                const struct trace_code_region *row = trace_dictionary_row(d, TRACE_TABLE_CODE_REGIONS, i);

                also->n_code_regions += row->gone == 0;
        }
}

static void count_fibers(struct report_also *also, const struct trace_totals *totals,
                         const struct trace_dictionary *d)
{
        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_THREADS); i++) {
                const struct trace_thread *row = trace_dictionary_row(d, TRACE_TABLE_THREADS, i);

                also->n_fibers += row->kind == TRACE_THREAD_FIBER && trace_totals_wants_thread(totals, i);
        }
}

struct report_also report_also_of(const struct trace_totals *totals,
                                  const struct trace_dictionary *dictionary)
{
        const uint64_t *n = totals->walk.n_events;
        bool is_part = totals->walk.filter != NULL;
        struct report_also also = {
                .n_messages = n[TRACE_OP_MESSAGE] + n[TRACE_OP_MESSAGE_TEXT],
                .n_frame_marks = n[TRACE_OP_FRAME_MARK],
                .n_frame_begins = n[TRACE_OP_FRAME_BEGIN],
                .n_frame_ends = n[TRACE_OP_FRAME_END],
                .n_frame_names = totals->frame_names.n_ids,
                .n_plot_values = n[TRACE_OP_PLOT_I64] + n[TRACE_OP_PLOT_F64],
                .n_plots = totals->plot_names.n_ids,
                .n_allocations = n[TRACE_OP_MEMORY_ALLOC],
                .n_frees = n[TRACE_OP_MEMORY_FREE],
                .n_discards = n[TRACE_OP_MEMORY_DISCARD],
                .n_pools = totals->pool_names.n_ids,
                .n_locks = is_part ? totals->locks.n_ids
                                   : trace_dictionary_count(dictionary, TRACE_TABLE_LOCKS),
                .n_lock_waits = n[TRACE_OP_LOCK_WAIT],
                .n_lock_obtains = n[TRACE_OP_LOCK_OBTAIN],
                .n_fiber_enters = n[TRACE_OP_FIBER_ENTER],
                .n_devices = is_part ? totals->devices.n_ids
                                     : trace_dictionary_count(dictionary, TRACE_TABLE_DEVICES),
                .n_device_zones = n[TRACE_OP_DEVICE_ZONE_BEGIN],
                .n_device_spans = n[TRACE_OP_DEVICE_SPAN],
                .n_zone_texts = n[TRACE_OP_ZONE_TEXT],
                .n_zone_names = n[TRACE_OP_ZONE_NAME],
                .n_zone_values = n[TRACE_OP_ZONE_VALUE],
                .n_zone_colors = n[TRACE_OP_ZONE_COLOR],
                .n_switches = totals->n_switches,
        };

        count_fibers(&also, totals, dictionary);
        count_sources(&also, dictionary);
        count_code_regions(&also, dictionary);
        return also;
}
