/* SPDX-License-Identifier: MIT */
#include "merge/merge_input.h"

#include "analyze/trace/meta_value.h"
#include "base/error.h"
#include "format/trace_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "runs/rank0.hyp" -> "rank0" */
static struct text_view stem(const char *path)
{
        const char *slash = strrchr(path, '/');
        const char *name = slash ? slash + 1 : path;
        const char *dot = strrchr(name, '.');

        if (strcmp(path, "-") == 0)
                return (struct text_view){ "stdin", strlen("stdin") };
        return (struct text_view){ name, dot && dot != name ? (size_t)(dot - name) : strlen(name) };
}

static void fill_own(struct merge_input *in)
{
        const struct trace_dictionary *d = in->dictionary;
        uint64_t n_cpus = meta_value_number(d, "cpus");

        in->parts[0] = (struct merge_part){
                .hostname = meta_value_find(d, "hostname"),
                .boot_id = meta_value_find(d, "boot_id"),
                .command = meta_value_find(d, "command"),
                .trace = stem(in->path),
                .start_ns = in->start_ns,
                .end_ns = meta_value_number(d, "end_raw_ns"),
                .clock = TRACE_ALIGNMENT_REFERENCE,
                .n_cpus = n_cpus <= UINT16_MAX ? (uint32_t)n_cpus : UINT16_MAX,
        };
        if (in->parts[0].end_ns == 0)
                in->parts[0].end_ns = in->last_ns;
}

/* A drift that no clock has, as in a hostile trace, counts as none. */
static int64_t believe_drift(uint64_t drift)
{
        int64_t d = (int64_t)drift, most = INT64_C(1) << (MERGE_DRIFT_BITS - 6);

        return d >= -most && d <= most ? d : 0;
}

static void fill_merged(struct merge_input *in)
{
        const struct trace_dictionary *d = in->dictionary;

        for (uint32_t i = 0; i < in->n_parts; i++) {
                const struct trace_recording *row = trace_dictionary_row(d, TRACE_TABLE_RECORDINGS, i + 1);
                struct text_view label = trace_dictionary_text(d, row->label);

                in->parts[i] = (struct merge_part){
                        .hostname = trace_dictionary_text(d, row->hostname),
                        .boot_id = trace_dictionary_text(d, row->boot_id),
                        .command = trace_dictionary_text(d, row->command),
                        .trace = trace_dictionary_text(d, row->trace),
                        .start_ns = row->start_ns,
                        .end_ns = row->end_ns,
                        .offset_ns = (int64_t)row->offset_ns,
                        .drift = believe_drift(row->drift),
                        .error_ns = row->error_ns,
                        .clock = row->clock,
                        .first_cpu = row->first_cpu,
                        .n_cpus = row->n_cpus <= UINT16_MAX ? row->n_cpus : UINT16_MAX,
                };
                (void)snprintf(in->parts[i].label, MERGE_LABEL_BYTES, "%.*s", (int)(label.n_bytes & 0xff),
                               label.bytes ? label.bytes : "");
        }
}

static int64_t to_signed(uint64_t ns)
{
        return ns <= INT64_MAX ? (int64_t)ns : INT64_MAX;
}

/* How far CLOCK_REALTIME drifted from the monotonic clock during the recording. */
static uint64_t drift(const struct trace_dictionary *d, int64_t realtime_ns)
{
        uint64_t end_raw_ns = meta_value_number(d, "end_raw_ns");
        uint64_t end_realtime_ns = meta_value_number(d, "end_realtime_ns");
        int64_t at_end_ns;

        if (end_raw_ns == 0 || end_realtime_ns == 0)
                return 0;
        at_end_ns = to_signed(end_realtime_ns) - to_signed(end_raw_ns);
        if (__builtin_sub_overflow(at_end_ns, realtime_ns, &at_end_ns))
                return INT64_MAX;
        return at_end_ns < 0 ? 0 - (uint64_t)at_end_ns : (uint64_t)at_end_ns;
}

static void fill_clock(struct merge_input *in)
{
        const struct trace_dictionary *d = in->dictionary;
        uint64_t start_raw_ns = meta_value_number(d, "start_raw_ns");
        uint64_t start_realtime_ns = meta_value_number(d, "start_realtime_ns");
        uint64_t kernel_error_ns = meta_value_number(d, "realtime_error_ns");

        in->start_ns = start_raw_ns != 0 ? start_raw_ns : in->first_ns;
        in->has_realtime = start_raw_ns != 0 && start_realtime_ns != 0;
        in->realtime_ns = to_signed(start_realtime_ns) - to_signed(start_raw_ns);
        in->is_synchronised = kernel_error_ns != 0;
        in->clock_error_ns = drift(d, in->realtime_ns);
        if (__builtin_add_overflow(in->clock_error_ns, kernel_error_ns, &in->clock_error_ns))
                in->clock_error_ns = UINT64_MAX;
}

static int allocate(struct merge_input *in)
{
        uint32_t n_rows = trace_dictionary_count(in->dictionary, TRACE_TABLE_RECORDINGS);

        in->n_parts = n_rows != 0 ? n_rows : 1;
        in->parts = calloc(in->n_parts, sizeof(*in->parts));
        in->labelled = calloc((size_t)trace_dictionary_count(in->dictionary, TRACE_TABLE_STRINGS) + 1,
                              sizeof(*in->labelled));
        if (!in->parts || !in->labelled)
                return -ENOMEM;
        for (uint32_t i = 0; i < TRACE_TABLE_COUNT; i++) {
                uint32_t n = trace_dictionary_count(in->dictionary,
                                                    (enum trace_table)(i + TRACE_TABLE_FIRST));

                in->ids[i] = calloc((size_t)n + 1, sizeof(*in->ids[i]));
                if (!in->ids[i])
                        return -ENOMEM;
        }
        return 0;
}

int merge_input_open(struct merge_input *in, const char *path, struct error *err)
{
        int r;

        *in = (struct merge_input){ .path = path };
        r = trace_reader_open(path, &in->reader, err);
        if (r < 0)
                return r;
        in->dictionary = trace_reader_dictionary(in->reader);
        r = trace_reader_read_tables(in->reader, &in->first_ns, &in->last_ns, err);
        if (r < 0)
                return r;
        if (allocate(in) < 0)
                return error_set(err, -ENOMEM, "%s: out of memory", path);
        fill_clock(in);
        if (trace_dictionary_count(in->dictionary, TRACE_TABLE_RECORDINGS) != 0)
                fill_merged(in);
        else
                fill_own(in);
        return merge_exchange_read(in, err);
}

void merge_input_close(struct merge_input *in)
{
        trace_reader_close(in->reader);
        for (uint32_t i = 0; i < TRACE_TABLE_COUNT; i++)
                free(in->ids[i]);
        merge_exchange_deinit(in);
        free(in->labelled);
        free(in->parts);
        *in = (struct merge_input){ .path = NULL };
}

uint32_t merge_input_part_of(const struct merge_input *in, uint32_t process)
{
        const struct trace_process *row = trace_dictionary_row(in->dictionary, TRACE_TABLE_PROCESSES,
                                                               process);

        return in->n_parts == 1 || row->recording == 0 ? 0 : row->recording - 1;
}
