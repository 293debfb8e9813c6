/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "base/error.h"
#include "base/io.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/files/replaced_file.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"
#include "format/trace_writer.h"
#include "merge/merge_input.h"
#include "merge/trace_merge.h"
#include "view/text/text_number.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct option_row option_rows[] = {
        COMMON_ROW_OUTPUT("write the trace to FILE, - for a pipe; needed"),
        COMMON_ROW_FORCE,
        COMMON_ROW_MODE,
        COMMON_ROW_QUIET,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof merge",
        .operands = "TRACE...",
        .n_operands_max = TRACE_MERGE_INPUTS_MAX,
        .about =
                "Writes one trace with one timeline from several: of the ranks of a job, of several recorders on\n"
                "one machine, of several hosts.  Recordings of one boot are placed exactly, by the clock that they\n"
                "share; those that one machine captured by the clock readings over the captures' connections;\n"
                "others by CLOCK_REALTIME.  The reports state how exact that is.\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing =
                "exit status: 0 = written, also if a trace was cut off or damaged: the part before that is in\n"
                "the result, and reports say so; 1 = a trace cannot be read or placed in time, two hold the same\n"
                "recording, or FILE cannot be written; 2 = usage\n",
};

/* "exact", "within 1.2 ms", "not known" */
static void describe_place(const struct merge_input *in, char *words, size_t n_bytes)
{
        const struct merge_part *part = &in->parts[0];
        bool is_unknown = part->clock == TRACE_ALIGNMENT_REALTIME_FREE;

        if (part->clock == TRACE_ALIGNMENT_REFERENCE || part->clock == TRACE_ALIGNMENT_SAME_BOOT)
                (void)snprintf(words, n_bytes, "exactly");
        else if (part->clock == TRACE_ALIGNMENT_EXCHANGED && in->n_readings != 0)
                (void)snprintf(
                        words, n_bytes, "within %s, by %s of clocks over the captures' connections",
                        text_number_duration(part->error_ns).text,
                        text_number_counted(in->n_readings, in->n_readings == 1 ? "reading" : "readings")
                                .text);
        else if (part->clock == TRACE_ALIGNMENT_EXCHANGED)
                (void)snprintf(words, n_bytes, "within %s", text_number_duration(part->error_ns).text);
        else
                (void)snprintf(words, n_bytes, "by CLOCK_REALTIME, %s%s",
                               is_unknown ? "not known to be synchronised" : "within ",
                               is_unknown ? "" : text_number_duration(part->error_ns).text);
}

/* Where an input lies on the timeline. */
static void find_span(const struct merge_input *in, int64_t *ret_from_ns, int64_t *ret_to_ns)
{
        uint64_t end_ns = in->last_ns;

        if (in->n_parts == 1 && in->parts[0].end_ns > end_ns)
                end_ns = in->parts[0].end_ns;
        if (__builtin_add_overflow(in->start_ns, in->shift_ns, ret_from_ns))
                *ret_from_ns = 0;
        if (__builtin_add_overflow(end_ns, in->shift_ns, ret_to_ns))
                *ret_to_ns = INT64_MAX;
}

static void warn_of_clock(const struct trace_merge *m, size_t index)
{
        const struct merge_input *in = &m->inputs[index];
        int64_t from_ns, to_ns;
        uint64_t nearest_ns = UINT64_MAX;

        if (in->has_other_clock)
                complain(
                        "warning: %s: same boot as another one, but its monotonic clock differs: a copy of a "
                        "machine, or its time was set",
                        in->path);
        find_span(in, &from_ns, &to_ns);
        for (size_t i = 0; i < m->n_inputs; i++) {
                int64_t other_from_ns, other_to_ns;
                uint64_t gap_ns;

                if (i == index || m->inputs[i].start_ns == 0)
                        continue;
                find_span(&m->inputs[i], &other_from_ns, &other_to_ns);
                /* Times of a hostile trace may differ by more than a signed number holds. */
                gap_ns = from_ns > other_to_ns   ? (uint64_t)from_ns - (uint64_t)other_to_ns
                         : other_from_ns > to_ns ? (uint64_t)other_from_ns - (uint64_t)to_ns
                                                 : 0;
                if (gap_ns < nearest_ns)
                        nearest_ns = gap_ns;
        }
        if (in->start_ns != 0 && nearest_ns > 0 && nearest_ns != UINT64_MAX)
                complain("note: %s does not overlap with another one: the nearest is %s away", in->path,
                         text_number_duration(nearest_ns).text);
}

static void report_inputs(const struct trace_merge *m)
{
        for (size_t i = 0; i < m->n_inputs; i++) {
                const struct merge_input *in = &m->inputs[i];
                char words[320];

                if (m->damages[i].code != 0)
                        complain("warning: %s: %s; the part before that is merged", in->path,
                                 m->damages[i].text);
                describe_place(in, words, sizeof(words));
                complain("%s is %s, placed %s", in->path, in->parts[0].label, words);
                warn_of_clock(m, i);
        }
        if (m->n_unknown != 0 || m->n_unknown_chunks != 0)
                complain("warning: %s and %s of a newer hyprof left out",
                         text_number_counted(m->n_unknown, "events").text,
                         text_number_counted(m->n_unknown_chunks, "chunks").text);
}

static int write_merged(const struct common_options *common, struct trace_merge *m, int *ret_bad,
                        struct error *err)
{
        const struct replaced_file_options options = { .only_new = !common->force,
                                                       .is_recording = true,
                                                       .mode = common->mode };
        struct replaced_file file = { .fd = -1, .folder_fd = -1 };
        struct trace_writer *writer = NULL;
        int r = replaced_file_open(&file, common->output, &options, err);

        if (r < 0)
                return r;
        r = trace_writer_new(file.fd, &writer, err);
        if (r == 0)
                r = trace_merge_run(m, (const char *const *)common->operands, (size_t)common->n_operands,
                                    writer, err);
        *ret_bad = m->n_inputs != 0 ? (int)m->n_inputs - 1 : 0;
        if (r < 0 && (!writer || trace_writer_has_failed(writer)))
                (void)error_prefix(err, r, "%s", common->output);
        if (r == 0)
                r = replaced_file_commit(&file, err);
        trace_writer_free(writer);
        replaced_file_close(&file);
        return r;
}

static int run(void *context, struct common_options *common)
{
        struct trace_merge m = { .inputs = NULL };
        struct error err = ERROR_NONE;
        int bad = 0, r;

        (void)context;
        if (common->n_operands < 2 || !common->output) {
                complain("error: %s", !common->output ? "-o FILE is missing" : "expected two traces or more");
                complain_try("hyprof merge a.hyp b.hyp -o merged.hyp");
                return EXIT_STATUS_USAGE;
        }
        if (strcmp(common->output, "-") == 0 && standard_output_check_bytes("a trace", &err) < 0) {
                complain("error: %s", err.text);
                complain_try("hyprof merge a.hyp b.hyp -o merged.hyp");
                return EXIT_STATUS_USAGE;
        }
        r = write_merged(common, &m, &bad, &err);
        if (r == -EEXIST && m.n_inputs == 0) {
                complain("error: %s", err.text);
                complain_try("hyprof merge --force, or another FILE");
        } else if (r < 0) {
                complain_of_trace(r, common->operands[bad], &err);
        } else if (!common->quiet) {
                report_inputs(&m);
                complain("%s of %zu traces are in %s", text_number_counted(m.n_events, "events").text,
                         m.n_inputs, common->output);
        }
        trace_merge_deinit(&m);
        return r < 0 ? EXIT_STATUS_FAILED : EXIT_STATUS_OK;
}

const struct option_table *cmd_merge_options(void)
{
        return &table;
}

int cmd_merge(int argc, char **argv)
{
        const struct command_frame frame = { .table = &table, .reading = COMMAND_WRITES_OUTPUT, .run = run };

        return command_frame_run(&frame, argc, argv);
}
