/* SPDX-License-Identifier: MIT */
/*
 * Programs get facts and tables; people get the lines at the head of the overview, which say the same:
 * numbers that belong together are on one line.
 */
#include "analyze/report/report.h"
#include "analyze/walk/lost_zones.h"
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "view/document/view_document.h"
#include "view/shared/family_words.h"
#include "view/shared/recording_view.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"
#include "view/text/text_number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void add_name(struct byte_buffer *line, struct text_view name)
{
        if (name.n_bytes != 0)
                byte_buffer_add(line, name.bytes, name.n_bytes);
}

static const char *separator_of(const struct byte_buffer *line, const char *separator)
{
        return line->used_bytes != 0 ? separator : "";
}

/* Adds the line as a fact for people only, unless the line is empty, and then clears it. */
static void put_line(struct view_document *d, const char *label, struct byte_buffer *line)
{
        d->failed = d->failed || line->failed;
        view_document_add_string(d, NULL, label,
                                 (struct text_view){ (const char *)line->data, line->used_bytes });
        byte_buffer_clear(line);
}

/* ------------------------------------------------------------------ where and how long */

static bool is_digits(struct text_view s)
{
        for (size_t i = 0; i < s.n_bytes; i++)
                if (s.bytes[i] < '0' || s.bytes[i] > '9')
                        return false;
        return s.n_bytes != 0 && s.n_bytes < 10;
}

static uint64_t number_of(struct text_view s)
{
        uint64_t number = 0;

        for (size_t i = 0; i < s.n_bytes; i++)
                number = number * 10 + (uint64_t)(s.bytes[i] - '0');
        return number;
}

static void add_place(struct view_document *d, const struct report_recording *r, struct byte_buffer *line)
{
        time_t seconds = (time_t)(r->start_realtime_ns / NS_PER_S);
        bool has_cpus = is_digits(r->cpus);
        char date[40] = "";
        struct tm utc;

        if (seconds != 0 && gmtime_r(&seconds, &utc))
                (void)strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &utc);
        byte_buffer_add_format(line, "%s", date);
        if (r->hostname.n_bytes != 0) {
                byte_buffer_add_format(line, "%son ", separator_of(line, " "));
                add_name(line, r->hostname);
        }
        if (has_cpus)
                byte_buffer_add_format(line, "%s%s", separator_of(line, ", "),
                                       text_number_counted(number_of(r->cpus), "CPUs").text);
        if (r->kernel.n_bytes != 0) {
                byte_buffer_add_format(line, "%s", separator_of(line, ", "));
                add_name(line, r->kernel);
        }
        if (r->machine.n_bytes != 0) {
                byte_buffer_add_format(line, "%s", separator_of(line, " "));
                add_name(line, r->machine);
        }
        if (r->hyprof_version.n_bytes != 0) {
                byte_buffer_add_format(line, "%shyprof ", separator_of(line, ", "));
                add_name(line, r->hyprof_version);
        }
        put_line(d, "recorded", line);
        view_document_add_known(d, "start_realtime_ns", NULL, VIEW_COUNT, r->start_realtime_ns,
                                r->start_realtime_ns != 0);
        view_document_add_string(d, "hostname", NULL, r->hostname);
        view_document_add_known(d, "n_cpus", NULL, VIEW_COUNT, has_cpus ? number_of(r->cpus) : 0, has_cpus);
        view_document_add_string(d, "kernel", NULL, r->kernel);
        view_document_add_string(d, "machine", NULL, r->machine);
        view_document_add_string(d, "hyprof_version", NULL, r->hyprof_version);
        view_document_add_string(d, "environment", NULL, r->environment);
}

static const char *ending_of(enum trace_ending ending)
{
        switch (ending) {
        case TRACE_ENDING_OPEN:
        case TRACE_ENDING_WHOLE:
                break;
        case TRACE_ENDING_CUT_OFF:
                return "cut_off";
        case TRACE_ENDING_GROWING:
                return "still_written";
        case TRACE_ENDING_DAMAGED:
                return "damaged";
        }
        return "whole";
}

static void add_length(struct view_document *d, const struct report *report, struct byte_buffer *line)
{
        const struct report_recording *r = &report->recording;

        byte_buffer_add_format(line, "%s", text_number_duration(r->range_ns).text);
        if (r->range.is_part)
                byte_buffer_add_format(line, " of a recording of %s",
                                       text_number_duration(r->duration_ns).text);
        byte_buffer_add_format(line, ", %s", text_number_counted(report->n_kernel_threads, "threads").text);
        byte_buffer_add_format(line, " in %s process%s", text_number_count(report->n_processes).text,
                               report->n_processes == 1 ? "" : "es");
        if (r->exit_status.n_bytes != 0) {
                /* "3" or "0, 3", or else words: "signal 9" */
                byte_buffer_add_format(line, is_digits((struct text_view){ r->exit_status.bytes, 1 })
                                                     ? ", exit status "
                                                     : ", ended by ");
                add_name(line, r->exit_status);
        }
        put_line(d, r->range.is_part ? "range" : "lasted", line);
        view_document_add_number(d, "duration_ns", NULL, VIEW_DURATION, r->duration_ns);
        view_document_add_known(d, "range_ns", NULL, VIEW_DURATION, r->range_ns, r->range.is_part);
        view_document_add_known(d, "range_at_ns", NULL, VIEW_TIME, r->range.from_ns, r->range.is_part);
        view_document_add_number(d, "n_processes", NULL, VIEW_COUNT, report->n_processes);
        view_document_add_number(d, "n_threads", NULL, VIEW_COUNT, report->n_kernel_threads);
        view_document_add_string(d, "exit_status", NULL, r->exit_status);
        view_document_add_string(d, "ending", NULL, report_names_words(ending_of(report->ending)));
        view_document_add_string(d, "ending_words", NULL, report_names_words(report->ending_words));
}

/* ------------------------------------------------------------------ merged traces */

static const char *const recording_alignments[TRACE_ALIGNMENT_COUNT] = {
#define X(id, name, words) [id] = (words),
        TRACE_ALIGNMENTS(X)
#undef X
};

static const char *alignment(uint32_t clock)
{
        return clock < TRACE_ALIGNMENT_COUNT && recording_alignments[clock] ? recording_alignments[clock]
                                                                            : "in a way of a newer version";
}

/* "node2: its times by CLOCK_REALTIME, which both hosts kept synchronised, within 1.2 ms; CPUs from 2 on" */
static void add_merged(struct view_document *d, const struct trace_dictionary *dictionary,
                       struct byte_buffer *line)
{
        uint32_t n = trace_dictionary_count(dictionary, TRACE_TABLE_RECORDINGS);

        for (uint32_t i = 1; i <= n; i++) {
                const struct trace_recording *row = trace_dictionary_row(dictionary, TRACE_TABLE_RECORDINGS,
                                                                         i);

                add_name(line, trace_dictionary_text(dictionary, row->label));
                byte_buffer_add_format(line, ": times %s", alignment(row->clock));
                if (row->clock == TRACE_ALIGNMENT_REALTIME_FREE)
                        byte_buffer_add_format(line, ", how far is not known");
                else if (row->error_ns != 0)
                        byte_buffer_add_format(line, ", within %s", text_number_duration(row->error_ns).text);
                if (row->n_cpus != 0)
                        byte_buffer_add_format(line, "; CPUs %" PRIu32 " to %" PRIu64, row->first_cpu,
                                               (uint64_t)row->first_cpu + row->n_cpus - 1);
                put_line(d, "merged", line);
        }
}

static void add_recordings(struct view_document *d, const struct trace_dictionary *dictionary)
{
        static const struct view_column columns[] = {
                { .key = "label", .type = VIEW_STRING },   { .key = "hostname", .type = VIEW_STRING },
                { .key = "command", .type = VIEW_STRING }, { .key = "trace", .type = VIEW_STRING },
                { .key = "clock", .type = VIEW_STRING },   { .key = "offset_ns", .type = VIEW_STRING },
                { .key = "error_ns", .type = VIEW_COUNT }, { .key = "start_ns", .type = VIEW_COUNT },
                { .key = "end_ns", .type = VIEW_COUNT },   { .key = "first_cpu", .type = VIEW_COUNT },
                { .key = "n_cpus", .type = VIEW_COUNT },
        };
        static const char *const names[TRACE_ALIGNMENT_COUNT] = {
#define X(id, name, words) [id] = #name,
                TRACE_ALIGNMENTS(X)
#undef X
        };
        struct view_table *t = view_document_add_table(d, "recordings", NULL, columns,
                                                       sizeof(columns) / sizeof(columns[0]));
        uint32_t n = trace_dictionary_count(dictionary, TRACE_TABLE_RECORDINGS);

        for (uint32_t i = 1; i <= n; i++) {
                const struct trace_recording *row = trace_dictionary_row(dictionary, TRACE_TABLE_RECORDINGS,
                                                                         i);
                char offset[24];

                (void)snprintf(offset, sizeof(offset), "%" PRId64, (int64_t)row->offset_ns);
                view_table_put_string(d, t, trace_dictionary_text(dictionary, row->label));
                report_heading_put_name(d, t, trace_dictionary_text(dictionary, row->hostname));
                report_heading_put_name(d, t, trace_dictionary_text(dictionary, row->command));
                report_heading_put_name(d, t, trace_dictionary_text(dictionary, row->trace));
                view_table_put_words(d, t,
                                     row->clock < TRACE_ALIGNMENT_COUNT && names[row->clock]
                                             ? names[row->clock]
                                             : "OTHER");
                view_table_put_words(d, t, offset);
                view_table_put_number(d, t, row->error_ns);
                view_table_put_number(d, t, row->start_ns);
                view_table_put_number(d, t, row->end_ns);
                view_table_put_number(d, t, row->first_cpu);
                view_table_put_number(d, t, row->n_cpus);
        }
}

/* ------------------------------------------------------------------ samples */

static void describe_event(const struct report *report, const struct report_event *event,
                           struct byte_buffer *line)
{
        char unsampled[UNSAMPLED_TIME_WORDS_BYTES] = "";

        byte_buffer_add_format(line, "%s of ", text_number_count(event->sum.n_samples).text);
        add_name(line, event->name);
        if (event->mode == TRACE_SAMPLE_MODE_FREQUENCY_HZ)
                byte_buffer_add_format(line, " at %s Hz", text_number_count(event->rate).text);
        else if (event->mode == TRACE_SAMPLE_MODE_PERIOD)
                byte_buffer_add_format(line, ", one every %s", text_number_count(event->rate).text);
        if (event == report->event)
                unsampled_time_brief(&report->unsampled, unsampled);
        if (unsampled[0] != '\0')
                byte_buffer_add_format(line, ", %s", unsampled);
        if (report->n_events > 1 && event == report->event)
                byte_buffer_add_format(line, " (shown below)");
        if (report->recording.fallback.n_bytes != 0 && event == report->event) {
                byte_buffer_add_format(line, " (");
                add_name(line, report->recording.fallback);
                byte_buffer_add_format(line, ")");
        }
}

static void add_leader(const struct report *report, uint32_t leader, struct byte_buffer *line)
{
        if (leader == 0)
                return;
        byte_buffer_add_format(line, " with each sample of ");
        add_name(line, report->events[leader - 1].name);
}

/* Adds a line for each event with samples of its own, then the events that were read with those samples. */
static void add_events(struct view_document *d, const struct report *report, struct byte_buffer *line)
{
        uint32_t leader = 0;

        for (uint32_t i = 0; i < report->n_events; i++) {
                const struct report_event *event = &report->events[i];

                if (event->mode == TRACE_SAMPLE_MODE_WITH_LEADER || event->mode == TRACE_SAMPLE_MODE_COUNTED)
                        continue;
                describe_event(report, event, line);
                put_line(d, "samples", line);
        }
        for (uint32_t i = 0; i < report->n_events; i++) {
                const struct report_event *event = &report->events[i];

                if (event->mode != TRACE_SAMPLE_MODE_WITH_LEADER || event->leader == 0)
                        continue; /* of those without a leader system calls were counted */
                if (leader != 0 && leader != event->leader)
                        add_leader(report, leader, line);
                byte_buffer_add_format(line, "%s", separator_of(line, ", "));
                add_name(line, event->name);
                leader = event->leader;
        }
        add_leader(report, leader, line);
        put_line(d, "counters", line);
        view_document_add_string(d, "event", NULL,
                                 report->event ? report->event->name : report_names_words(""));
        view_document_add_number(d, "n_samples", NULL, VIEW_COUNT,
                                 report->event ? report->event->sum.n_samples : 0);
        view_document_put(d, "unsampled_share", NULL, VIEW_SHARE,
                          report_heading_unsampled(&report->unsampled));
        view_document_add_string(d, "sample_event_fallback", NULL, report->recording.fallback);
}

/* ------------------------------------------------------------------ call stacks */

static void add_stack_part(struct byte_buffer *line, uint64_t n, uint64_t whole, const char *words)
{
        if (n != 0)
                byte_buffer_add_format(line, "%s%s %s", separator_of(line, ", "),
                                       text_number_share(report_share(n, whole)).text, words);
}

/* "95.2% complete (12.1% of them joined to the stack before, ...), 4.8% truncated: 4.0% deeper than ..." */
static void describe_stacks(const struct report_callstacks *c, struct byte_buffer *line)
{
        static const char *const words[TRACE_STACK_STATE_COUNT] = {
#define X(id, name, text) [id] = (text),
                TRACE_STACK_STATES(X)
#undef X
        };
        const char *separator = ": ";

        add_stack_part(line, c->n_complete, c->n_samples, "complete");
        if (c->n_stitched + c->n_approximate != 0)
                byte_buffer_add_format(line, " (%s of them joined to the stack before, %s approximate)",
                                       text_number_share(report_share(c->n_stitched, c->n_complete)).text,
                                       text_number_share(report_share(c->n_approximate, c->n_complete)).text);
        add_stack_part(line, c->n_frame_pointers, c->n_samples, words[TRACE_STACK_FRAME_POINTERS]);
        add_stack_part(line, c->n_truncated, c->n_samples, "truncated");
        for (uint32_t state = TRACE_STACK_TRUNCATED; state <= TRACE_STACK_STATE_COUNT; state++) {
                const char *why = state < TRACE_STACK_STATE_COUNT && words[state]
                                          ? strchr(words[state], ':') + 2
                                          : "for reasons of a newer version";

                if (c->by_state[state] == 0)
                        continue;
                byte_buffer_add_format(line, "%s%s %s", separator,
                                       text_number_share(report_share(c->by_state[state], c->n_samples)).text,
                                       why);
                separator = ", ";
        }
}

static void add_share(struct view_document *d, const char *key, uint64_t part, uint64_t whole)
{
        if (whole != 0)
                view_document_add_real(d, key, NULL, VIEW_SHARE, report_share(part, whole));
        else
                view_document_add_unknown(d, key, NULL, VIEW_SHARE);
}

static void add_stacks(struct view_document *d, const struct report_callstacks *c, struct byte_buffer *line)
{
        if (c->n_samples != 0)
                describe_stacks(c, line);
        put_line(d, "stacks", line);
        view_document_add_number(d, "n_callstacks", NULL, VIEW_COUNT, c->n_samples);
        view_document_add_number(d, "n_complete", NULL, VIEW_COUNT, c->n_complete);
        add_share(d, "complete_share", c->n_complete, c->n_samples);
        view_document_add_number(d, "n_truncated", NULL, VIEW_COUNT, c->n_truncated);
        add_share(d, "truncated_share", c->n_truncated, c->n_samples);
}

static void add_states(struct view_document *d, const struct report_callstacks *c)
{
        static const struct view_column columns[] = {
                { .key = "state", .type = VIEW_STRING },
                { .key = "count", .type = VIEW_COUNT },
                { .key = "share", .type = VIEW_SHARE },
        };
        static const char *const names[TRACE_STACK_STATE_COUNT + 1] = {
#define X(id, name, words) [id] = #name,
                TRACE_STACK_STATES(X)
#undef X
                        [TRACE_STACK_STATE_COUNT] = "OTHER",
        };
        struct view_table *t = view_document_add_table(d, "callstack_states", NULL, columns, 3);

        for (uint32_t i = 0; i <= TRACE_STACK_STATE_COUNT; i++) {
                if (c->by_state[i] == 0)
                        continue;
                view_table_put_words(d, t, names[i]);
                view_table_put_number(d, t, c->by_state[i]);
                report_heading_put_share(d, t, c->by_state[i], c->n_samples, true);
        }
}

/* ------------------------------------------------------------------ the recorder, zones, switches */

static void add_sampler(struct view_document *d, const struct report_recording *r, struct byte_buffer *line)
{
        bool has_cost = r->recorder_cpu_ns != 0 && r->duration_ns != 0;

        if (has_cost)
                byte_buffer_add_format(
                        line, "used %s of one core",
                        text_number_share(report_share(r->recorder_cpu_ns, r->duration_ns)).text);
        if (r->unwind.n_bytes != 0) {
                byte_buffer_add_format(line, "%sunwinding ", separator_of(line, ", "));
                add_name(line, r->unwind);
        }
        if (r->stack_copy_bytes != 0)
                byte_buffer_add_format(line, "%sstack copies of %s", separator_of(line, ", "),
                                       text_number_bytes(r->stack_copy_bytes).text);
        if (r->scope.n_bytes != 0) {
                byte_buffer_add_format(line, "%sevents by ", separator_of(line, ", "));
                add_name(line, r->scope);
        }
        if (r->n_descriptors != 0)
                byte_buffer_add_format(line, "%s%s", separator_of(line, ", "),
                                       text_number_counted(r->n_descriptors, "descriptors").text);
        put_line(d, "sampler", line);
        view_document_add_known(d, "recorder_cpu_ns", NULL, VIEW_DURATION, r->recorder_cpu_ns,
                                r->recorder_cpu_ns != 0);
        add_share(d, "recorder_share", r->recorder_cpu_ns, has_cost ? r->duration_ns : 0);
        view_document_add_string(d, "unwind", NULL, r->unwind);
        view_document_add_string(d, "scope", NULL, r->scope);
        view_document_add_known(d, "stack_copy_bytes", NULL, VIEW_BYTES, r->stack_copy_bytes,
                                r->stack_copy_bytes != 0);
        view_document_add_known(d, "n_descriptors", NULL, VIEW_COUNT, r->n_descriptors,
                                r->n_descriptors != 0);
}

static void add_zones(struct view_document *d, const struct report *report, struct byte_buffer *line)
{
        char lost_words[LOST_ZONES_WORDS_BYTES];

        lost_zones_words(&report->lost, lost_words);
        if (report->n_zone_events != 0)
                byte_buffer_add_format(line, "%s in %s of the source%s%s",
                                       text_number_count(report->n_zone_events).text,
                                       text_number_counted(report->n_zones, "places").text,
                                       lost_words[0] != '\0' ? ", " : "", lost_words);
        else if (report->recording.filter.n_bytes != 0)
                byte_buffer_add_format(line, "no zone passes the filters");
        else if (report->lost.n_lost != 0 || report->lost.has_others)
                byte_buffer_add_format(line, "none here: events are missing, see below");
        else
                byte_buffer_add_format(
                        line, "%s",
                        family_words_none(report->trace.dictionary, "zones",
                                          "none: no instrumented program, or no zone was reached")
                                .text);
        put_line(d, "zones", line);
        if (report->also.n_switches != 0)
                byte_buffer_add_format(line, "%s of threads, in and out",
                                       text_number_count(report->also.n_switches).text);
        put_line(d, "switches", line);
        view_document_add_number(d, "n_zones", NULL, VIEW_COUNT, report->n_zone_events);
        view_document_add_number(d, "n_unclosed", NULL, VIEW_COUNT, report->n_unclosed);
        view_document_add_known(d, "n_zones_lost", NULL, VIEW_COUNT, report->lost.n_lost,
                                report->lost.n_lost != 0);
        view_document_add_string(d, "lost", NULL,
                                 report_names_words(report->lost.n_lost != 0 ? lost_words : ""));
        view_document_add_number(d, "n_switches", NULL, VIEW_COUNT, report->also.n_switches);
}

void recording_view_add_facts(struct view_document *d, const struct report *report)
{
        struct byte_buffer line = { .data = NULL };

        report_heading_add_command(d, report->recording.command);
        view_document_add_string(d, "filter", "only", report->recording.filter);
        add_place(d, &report->recording, &line);
        add_length(d, report, &line);
        add_merged(d, report->trace.dictionary, &line);
        add_events(d, report, &line);
        add_stacks(d, &report->callstacks, &line);
        add_sampler(d, &report->recording, &line);
        add_zones(d, report, &line);
        byte_buffer_deinit(&line);
}

/* ------------------------------------------------------------------ for programs alone */

static const char *mode_of(uint32_t mode)
{
        switch (mode) {
        case TRACE_SAMPLE_MODE_PERIOD:
                return "period";
        case TRACE_SAMPLE_MODE_WITH_LEADER:
                return "with_leader";
        case TRACE_SAMPLE_MODE_COUNTED:
                return "counted";
        default:
                return "frequency_hz";
        }
}

void recording_view_add_tables(struct view_document *d, const struct report *report)
{
        static const struct view_column columns[] = {
                { .key = "name", .type = VIEW_STRING },  { .key = "unit", .type = VIEW_STRING },
                { .key = "mode", .type = VIEW_STRING },  { .key = "leader", .type = VIEW_STRING },
                { .key = "rate", .type = VIEW_COUNT },   { .key = "n_samples", .type = VIEW_COUNT },
                { .key = "weight", .type = VIEW_COUNT }, { .key = "shown", .type = VIEW_BOOL },
        };
        struct view_table *t = view_document_add_table(d, "sample_events", NULL, columns,
                                                       sizeof(columns) / sizeof(columns[0]));

        for (uint32_t i = 0; i < report->n_events; i++) {
                const struct report_event *event = &report->events[i];

                view_table_put_string(d, t, event->name);
                report_heading_put_name(d, t, event->unit);
                view_table_put_words(d, t, mode_of(event->mode));
                if (event->leader != 0)
                        view_table_put_string(d, t, report->events[event->leader - 1].name);
                else
                        view_table_put_unknown(d, t);
                view_table_put_number(d, t, event->rate);
                view_table_put_number(d, t, event->sum.n_samples);
                view_table_put_number(d, t, event->sum.weight);
                view_table_put_bool(d, t, event == report->event);
        }
        add_states(d, &report->callstacks);
        add_recordings(d, report->trace.dictionary);
}
