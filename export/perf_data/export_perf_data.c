/* SPDX-License-Identifier: MIT */
/*
 * A perf.data file begins with the length of its records, so the export walks through the trace twice: once
 * to count, once to write.  The trace no longer contains the kernel's own records; the export makes them
 * anew from the tables and events of the trace: processes and mappings at their times, among samples and
 * context switches.
 */
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "base/error.h"
#include "base/saturating.h"
#include "export/perf_data/perf_data_parts.h"
#include "export/shared/export_event.h"
#include "export/shared/export_format.h"
#include "export/shared/export_frames.h"
#include "export/shared/export_stream.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* perf's own limit is 127 by default; a record cannot hold more than 8,180 frames. */
#define FRAMES_MAX 1024

/* A row of THREADS or MAPPINGS. */
struct table_row {
        uint64_t time_ns;
        uint32_t id;
        bool is_mapping;
};

struct perf_data_export {
        struct loaded_trace *trace;
        const struct export_options *options;
        struct frame_addresses addresses;
        struct export_frames frames; /* knows which code is the kernel's */
        struct perf_data_kernel kernel;
        struct export_stream out;
        struct export_totals totals;
        struct table_row *rows; /* heap; by time */
        size_t n_rows, next_row;
        struct perf_data_rounds rounds;
        size_t n_chunks;                    /* that were walked through */
        uint64_t callchain[FRAMES_MAX + 4]; /* with marks */
};

static int complain_of(int r, struct error *err)
{
        if (r == -ENOMEM || r == -EOVERFLOW)
                return error_set(err, r, "the export: not enough memory");
        return r < 0 ? error_set(err, r, "the output cannot be written") : 0;
}

/* After each record: its time counts in the walk that does not write. */
static int end_record(struct perf_data_export *e, uint64_t time_ns)
{
        if (!e->out.out)
                perf_data_rounds_note(&e->rounds, time_ns);
        return export_stream_flush_some(&e->out);
}

static const struct trace_thread *thread_row(const struct perf_data_export *e, uint32_t thread)
{
        return trace_dictionary_row(e->trace->dictionary, TRACE_TABLE_THREADS, thread);
}

static const struct trace_process *process_row(const struct perf_data_export *e, uint32_t process)
{
        return trace_dictionary_row(e->trace->dictionary, TRACE_TABLE_PROCESSES, process);
}

/* Records that are not samples belong to the first event. */
static struct perf_data_who who_of(const struct perf_data_export *e, uint32_t thread, uint64_t time_ns,
                                   uint64_t cpu)
{
        const struct trace_thread *row = thread_row(e, thread);
        uint32_t pid = process_row(e, row->process)->pid;

        return (struct perf_data_who){
                .time_ns = time_ns,
                .event = 1,
                .pid = pid,
                .tid = row->kind == TRACE_THREAD_FIBER ? pid : row->tid,
                .cpu = cpu <= UINT32_MAX ? (uint32_t)cpu : UINT32_MAX,
        };
}

/* ---- processes, threads, mappings ---------------------------------------------------------------------- */

static int put_thread(struct perf_data_export *e, uint32_t thread)
{
        const struct trace_thread *row = thread_row(e, thread);
        const struct trace_process *process = process_row(e, row->process);
        struct perf_data_who who = who_of(e, thread, row->start_ns, 0);
        struct text_view name = loaded_trace_thread_name(e->trace, thread);

        if (row->kind == TRACE_THREAD_FIBER)
                return 0;
        if (row->tid != process->pid) {
                perf_data_records_put_task(&e->out.buffer, PERF_DATA_FORK, &who, process->pid, process->pid);
        } else if (process->parent != 0) {
                uint32_t parent = process_row(e, process->parent)->pid;

                perf_data_records_put_task(&e->out.buffer, PERF_DATA_FORK, &who, parent, parent);
        }
        perf_data_records_put_comm(&e->out.buffer, &who, name.bytes, name.n_bytes);
        return end_record(e, who.time_ns);
}

static int put_mapping(struct perf_data_export *e, uint32_t id)
{
        const struct trace_dictionary *d = e->trace->dictionary;
        const struct trace_mapping *row = trace_dictionary_row(d, TRACE_TABLE_MAPPINGS, id);
        const struct trace_module *module = trace_dictionary_row(d, TRACE_TABLE_MODULES, row->module);
        uint32_t pid = process_row(e, row->process)->pid;
        struct perf_data_who who = { .time_ns = row->time_ns, .event = 1, .pid = pid, .tid = pid };
        struct perf_data_mapping mapping = {
                .start_avma = row->start_avma,
                .length_bytes = row->length_bytes,
                .file_offset_bytes = row->file_offset_bytes,
        };

        if (module->kind == TRACE_MODULE_KERNEL)
                return 0; /* put_kernel() */
        mapping.path = trace_dictionary_string(d, module->path, &mapping.path_bytes);
        mapping.build_id = trace_dictionary_string(d, module->build_id, &mapping.build_id_bytes);
        perf_data_records_put_mapping(&e->out.buffer, &who, &mapping);
        return end_record(e, who.time_ns);
}

/* perf looks for the kernel's names only if it is told where the kernel lies. */
static int put_kernel(struct perf_data_export *e)
{
        static const char path[] =
                "[kernel.kallsyms]_text"; /* with the symbol that file_offset_bytes is of */
        const struct perf_data_kernel *k = &e->kernel;
        const struct perf_data_who who = { .event = 1, .pid = PERF_DATA_PID_KERNEL };
        const struct perf_data_mapping mapping = {
                .start_avma = k->text_avma,
                .length_bytes = k->end_avma - k->text_avma,
                .file_offset_bytes = k->text_avma,
                .path = path,
                .path_bytes = sizeof(path) - 1,
                .build_id = (const char *)k->build_id,
                .build_id_bytes = k->build_id_bytes,
                .is_kernel = true,
        };

        if (!k->is_known)
                return 0;
        perf_data_records_put_mapping(&e->out.buffer, &who, &mapping);
        return export_stream_flush_some(&e->out);
}

static int compare_rows(const void *a, const void *b)
{
        const struct table_row *x = a, *y = b;

        if (x->time_ns != y->time_ns)
                return x->time_ns < y->time_ns ? -1 : 1;
        if (x->is_mapping != y->is_mapping)
                return x->is_mapping ? 1 : -1;
        return x->id < y->id ? -1 : x->id > y->id;
}

static int sort_tables(struct perf_data_export *e)
{
        const struct trace_dictionary *d = e->trace->dictionary;
        uint32_t n_mappings = trace_dictionary_count(d, TRACE_TABLE_MAPPINGS);

        e->rows = calloc((size_t)e->trace->n_threads + n_mappings + 1, sizeof(*e->rows));
        if (!e->rows)
                return -ENOMEM;
        for (uint32_t id = 1; id <= e->trace->n_threads; id++)
                e->rows[e->n_rows++] = (struct table_row){ thread_row(e, id)->start_ns, id, false };
        for (uint32_t id = 1; id <= n_mappings; id++) {
                const struct trace_mapping *row = trace_dictionary_row(d, TRACE_TABLE_MAPPINGS, id);

                e->rows[e->n_rows++] = (struct table_row){ row->time_ns, id, true };
        }
        qsort(e->rows, e->n_rows, sizeof(*e->rows), compare_rows);
        return 0;
}

/* Threads that were started, and mappings that were made, up to a time. */
static int put_tables(struct perf_data_export *e, uint64_t until_ns)
{
        int r = 0;

        for (; r == 0 && e->next_row < e->n_rows && e->rows[e->next_row].time_ns <= until_ns; e->next_row++) {
                const struct table_row *row = &e->rows[e->next_row];

                r = row->is_mapping ? put_mapping(e, row->id) : put_thread(e, row->id);
        }
        return r;
}

/* ---- samples ------------------------------------------------------------------------------------------- */

/*
 * Fills the call chain, innermost frame first; a mark stands at each switch between kernel and user code.
 */
static int fill_callchain(struct perf_data_export *e, uint32_t process, uint32_t stack,
                          struct perf_data_sample *sample)
{
        const struct trace_dictionary *d = e->trace->dictionary;
        uint64_t mark = 0;
        uint32_t n_frames = 0;

        sample->callchain = e->callchain;
        sample->mode = PERF_DATA_MISC_USER;
        for (; stack != 0 && n_frames < FRAMES_MAX; n_frames++) {
                const struct trace_stack *row = trace_dictionary_row(d, TRACE_TABLE_STACKS, stack);
                struct export_frame frame = { .frame = row->frame };
                bool is_kernel = export_frames_is_kernel(&e->frames, &frame);
                uint64_t wanted = is_kernel ? PERF_DATA_CONTEXT_KERNEL : PERF_DATA_CONTEXT_USER;
                int r;

                if (n_frames == 0 && is_kernel)
                        sample->mode = PERF_DATA_MISC_KERNEL;
                stack = row->parent;
                if (stack == 0 && export_frames_address(&e->frames, &frame) == 0)
                        break; /* a mark, as "[truncated]", is no code */
                if (wanted != mark && sample->n_callchain + 2 < FRAMES_MAX + 4)
                        e->callchain[sample->n_callchain++] = mark = wanted;
                if (sample->n_callchain >= FRAMES_MAX + 4)
                        break;
                r = frame_addresses_find(&e->addresses, process, row->frame,
                                         &e->callchain[sample->n_callchain]);
                if (r < 0)
                        return r;
                sample->n_callchain++;
        }
        e->totals.left_out[EXPORT_LEFT_OUT_LONG_STACKS] += stack != 0;
        return 0;
}

static int take_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                       struct error *err)
{
        struct perf_data_export *e = context;
        struct perf_data_who who = who_of(e, thread->id, event->time_ns, event->sample.cpu);
        struct perf_data_sample sample = { .n_callchain = 0 };
        int r = put_tables(e, event->time_ns);

        if (r == 0)
                r = fill_callchain(e, thread_row(e, thread->id)->process, (uint32_t)event->sample.stack,
                                   &sample);
        if (r < 0)
                return complain_of(r, err);
        who.event = event->sample.event;
        sample.period = export_event_weight(e->trace->dictionary, (uint32_t)event->sample.event,
                                            event->sample.weight);
        if (event->sample.event == e->options->event) {
                e->totals.n_samples++;
                e->totals.weight = saturating_add(e->totals.weight, sample.period);
        }
        perf_data_records_put_sample(&e->out.buffer, &who, &sample);
        return complain_of(end_record(e, who.time_ns), err);
}

/* ---- switches, names, ends ----------------------------------------------------------------------------- */

static void put_switch(struct perf_data_export *e, const struct perf_data_who *who,
                       const struct trace_event *event)
{
        uint16_t misc = 0;

        if (event->op == TRACE_OP_SWITCH_OUT) {
                misc = PERF_DATA_MISC_SWITCH_OUT;
                if (event->switch_out.preempted != 0 || event->switch_out.wait == TRACE_WAIT_PREEMPTED)
                        misc |= PERF_DATA_MISC_PREEMPTED;
        }
        perf_data_records_put_switch(&e->out.buffer, who, misc);
}

static int take_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct perf_data_export *e = context;
        struct perf_data_who who = who_of(e, thread->id, event->time_ns, thread->cpu);
        struct text_view name;
        int r = put_tables(e, event->time_ns);

        if (r < 0 || thread_row(e, thread->id)->kind == TRACE_THREAD_FIBER)
                return complain_of(r, err);
        switch (event->op) {
        case TRACE_OP_SWITCH_OUT:
        case TRACE_OP_SWITCH_IN:
                put_switch(e, &who, event);
                break;
        case TRACE_OP_THREAD_NAME:
                name = trace_dictionary_text(e->trace->dictionary, (uint32_t)event->thread_name.name);
                perf_data_records_put_comm(&e->out.buffer, &who, name.bytes, name.n_bytes);
                break;
        case TRACE_OP_THREAD_EXIT:
                perf_data_records_put_task(&e->out.buffer, PERF_DATA_EXIT, &who, who.pid, who.pid);
                break;
        default:
                return 0;
        }
        return complain_of(end_record(e, who.time_ns), err);
}

static int take_chunk(void *context, struct error *err)
{
        struct perf_data_export *e = context;

        if (!e->out.out)
                return complain_of(perf_data_rounds_end_chunk(&e->rounds), err);
        if (e->n_chunks < e->rounds.n && e->rounds.chunks[e->n_chunks++].has_mark)
                perf_data_records_put_round(&e->out.buffer);
        return complain_of(export_stream_flush_some(&e->out), err);
}

/* ---- twice --------------------------------------------------------------------------------------------- */

static int walk_trace(struct perf_data_export *e, struct error *err)
{
        const struct trace_sink sink = { .context = e,
                                         .sample = take_sample,
                                         .event = take_event,
                                         .chunk = take_chunk,
                                         .may_skip = true };
        struct trace_walk walk;
        int r = put_kernel(e);

        e->totals = (struct export_totals){ .n_samples = 0 };
        e->next_row = 0;
        if (r < 0)
                return complain_of(r, err);
        r = trace_walk_init(&walk, e->trace, e->options->filter, &sink);
        if (r < 0)
                (void)complain_of(r, err);
        else
                r = loaded_trace_walk(e->trace, &walk, err);
        if (r == 0)
                r = complain_of(put_tables(e, UINT64_MAX), err);
        if (r == 0)
                export_totals_leave_out(&e->totals, &walk,
                                        1U << EXPORT_LEFT_OUT_ZONES | 1U << EXPORT_LEFT_OUT_MESSAGES |
                                                1U << EXPORT_LEFT_OUT_PLOTS | 1U << EXPORT_LEFT_OUT_FRAMES |
                                                1U << EXPORT_LEFT_OUT_MEMORY | 1U << EXPORT_LEFT_OUT_LOCKS |
                                                1U << EXPORT_LEFT_OUT_DEVICES |
                                                1U << EXPORT_LEFT_OUT_DEVICE_VALUES |
                                                1U << EXPORT_LEFT_OUT_KEYS | 1U << EXPORT_LEFT_OUT_FLOWS);
        trace_walk_deinit(&walk);
        perf_data_records_put_round(&e->out.buffer);
        return r;
}

static int count_bytes(struct perf_data_export *e, uint64_t *ret_bytes, struct error *err)
{
        int r;

        export_stream_init(&e->out, NULL);
        r = walk_trace(e, err);
        if (r == 0)
                r = export_stream_finish(&e->out, err);
        *ret_bytes = e->out.n_bytes + PERF_DATA_ROUND_BYTES * perf_data_rounds_plan(&e->rounds);
        export_stream_deinit(&e->out);
        return r;
}

static int write_file(struct perf_data_export *e, FILE *out, uint64_t data_bytes, struct error *err)
{
        int r;

        export_stream_init(&e->out, out);
        perf_data_head_put(&e->out.buffer, e->trace, data_bytes);
        r = walk_trace(e, err);
        if (r == 0) {
                perf_data_head_put_features(&e->out.buffer, e->trace,
                                            perf_data_head_bytes(e->trace) + data_bytes);
                r = export_stream_finish(&e->out, err);
        }
        export_stream_deinit(&e->out);
        return r;
}

int export_perf_data(struct loaded_trace *trace, const struct export_options *options, FILE *out,
                     struct export_totals *ret_totals, struct error *err)
{
        struct perf_data_export e = {
                .trace = trace,
                .options = options,
                .kernel = perf_data_kernel_find(trace->dictionary),
        };
        uint64_t data_bytes;
        int r = loaded_trace_read_names(trace, err);

        if (r < 0)
                return r;
        r = export_frames_init(&e.frames, trace->dictionary);
        if (r == 0)
                r = sort_tables(&e);
        if (r == 0)
                r = frame_addresses_init(&e.addresses, trace->dictionary);
        if (r < 0) {
                (void)complain_of(r, err);
                goto fail;
        }
        r = count_bytes(&e, &data_bytes, err);
        if (r == 0)
                r = write_file(&e, out, data_bytes, err);
        if (r == 0)
                *ret_totals = e.totals;
fail:
        free(e.rows);
        perf_data_rounds_deinit(&e.rounds);
        frame_addresses_deinit(&e.addresses);
        export_frames_deinit(&e.frames);
        return r;
}
