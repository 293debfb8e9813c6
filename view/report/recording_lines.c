/* SPDX-License-Identifier: MIT */
/*
 * Programs get facts and tables; people get the lines at the head of the overview, which say the same:
 * numbers that belong together are on one line.
 */
#include "analyze/report/report.h"
#include "analyze/trace/meta_value.h"
#include "analyze/walk/lost_zones.h"
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/family_words.h"
#include "view/shared/recording_view.h"
#include "view/shared/report_heading.h"
#include "view/text/text_number.h"

#include <inttypes.h>
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
        view_document_put(d, NULL, label, VIEW_STRING,
                          view_text((struct text_view){ (const char *)line->data, line->used_bytes }));
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

/* clang-format off */
#define PLACE_FACTS(FACT)                                                                                     \
        FACT(DURATION, "start_realtime_ns", NULL,                                                             \
             view_known(r->start_realtime_ns, r->start_realtime_ns != 0),                                     \
             "when it began, since 1970-01-01 UTC", .may_be_null = true)                                      \
        FACT(STRING, "hostname", NULL, view_name(r->hostname), NULL)                                          \
        FACT(COUNT, "n_cpus", NULL, view_known(has_cpus ? number_of(r->cpus) : 0, has_cpus), NULL,            \
             .may_be_null = true)                                                                             \
        FACT(STRING, "kernel", NULL, view_name(r->kernel), NULL)                                              \
        FACT(STRING, "machine", NULL, view_name(r->machine), NULL)                                            \
        FACT(STRING, "hyprof_version", NULL, view_name(r->hyprof_version), "of the recorder")                 \
        FACT(STRING, "environment", NULL, view_name(r->environment),                                          \
             "variables that programs are faster or slower by: GOGC=2 LC_ALL=C; none if none is set; null "   \
             "in traces before 1.6")                                                                          \
        FACT(BOOL, "has_kernel_addresses", NULL, view_number(r->has_kernel_addresses),                        \
             "the trace says where code of the kernel is in memory, which most users may not know")
/* clang-format on */

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
        if (r->has_kernel_addresses)
                byte_buffer_add_format(line, "%s%s", separator_of(line, ", "), "with kernel addresses");
        put_line(d, "recorded", line);
        PLACE_FACTS(VIEW_FACT)
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

/* clang-format off */
#define LENGTH_FACTS(FACT)                                                                                    \
        FACT(DURATION, "duration_ns", NULL, view_number(r->duration_ns), "of the recording")                  \
        FACT(DURATION, "range_ns", NULL, view_known(r->range_ns, r->range.is_part),                           \
             "of the part that --from and --to leave; null = all of it")                                      \
        FACT(TIME, "range_at_ns", NULL, view_known(r->range.from_ns, r->range.is_part),                       \
               "where the range begins")                                                                      \
        FACT(COUNT, "n_processes", NULL, view_number(report->n_processes),                                    \
             "with filters, those that they leave")                                                           \
        FACT(COUNT, "n_threads", NULL, view_number(report->n_kernel_threads),                                 \
             "those with events, without fibers; with filters, those that they leave")                        \
        FACT(STRING, "exit_status", NULL, view_name(r->exit_status), "0; 3; signal 9")                        \
        FACT(STRING, "ending", NULL, view_words(ending_of(report->ending)),                                   \
             "of the file", .one_of = "whole|cut_off|still_written|damaged")                                  \
        FACT(STRING, "ending_words", NULL, view_words(report->ending_words), "where and how the file ends")
/* clang-format on */

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
        LENGTH_FACTS(VIEW_FACT)
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

static const char *clock_of(uint32_t clock)
{
        static const char *const names[TRACE_ALIGNMENT_COUNT] = {
#define X(id, name, words) [id] = #name,
                TRACE_ALIGNMENTS(X)
#undef X
        };

        return clock < TRACE_ALIGNMENT_COUNT && names[clock] ? names[clock] : "OTHER";
}

/* clang-format off */
#define RECORDING_COLUMNS(COLUMN)                                                                             \
        COLUMN(STRING, "label", NULL, view_text(trace_dictionary_text(dictionary, row->label)), NULL)         \
        COLUMN(STRING, "hostname", NULL, view_name(trace_dictionary_text(dictionary, row->hostname)), NULL)   \
        COLUMN(STRING, "command", NULL, view_name(trace_dictionary_text(dictionary, row->command)), NULL)     \
        COLUMN(STRING, "trace", NULL, view_name(trace_dictionary_text(dictionary, row->trace)), "its file")   \
        COLUMN(STRING, "clock", NULL, view_words(clock_of(row->clock)), "how its times were aligned")         \
        COLUMN(STRING, "offset_ns", NULL, view_format(d, "%" PRId64, (int64_t)row->offset_ns),                \
               "a signed number as text")                                                                     \
        COLUMN(DURATION, "error_ns", NULL, view_number(row->error_ns), NULL)                                  \
        COLUMN(DURATION, "start_ns", NULL, view_number(row->start_ns), NULL)                                  \
        COLUMN(DURATION, "end_ns", NULL, view_number(row->end_ns), NULL)                                      \
        COLUMN(COUNT, "first_cpu", NULL, view_number(row->first_cpu), NULL)                                   \
        COLUMN(COUNT, "n_cpus", NULL, view_number(row->n_cpus), NULL)
/* clang-format on */

static const struct view_column recording_columns[] = { RECORDING_COLUMNS(VIEW_COLUMN) };
const struct answer_part recording_view_recordings_part = ANSWER_TABLE(
        "recordings", recording_columns, "a recording of a merged trace; other traces have no rows");

static void add_recordings(struct view_document *d, const struct trace_dictionary *dictionary)
{
        struct view_table *t = view_document_add_part(d, &recording_view_recordings_part, NULL);
        uint32_t n = trace_dictionary_count(dictionary, TRACE_TABLE_RECORDINGS);

        for (uint32_t i = 1; i <= n; i++) {
                const struct trace_recording *row = trace_dictionary_row(dictionary, TRACE_TABLE_RECORDINGS,
                                                                         i);

                RECORDING_COLUMNS(VIEW_CELL)
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

/* clang-format off */
#define SAMPLES_FACTS(FACT)                                                                                   \
        FACT(STRING, "event", NULL, report->event ? view_name(report->event->name) : view_unknown(),          \
             "whose samples are shown")                                                                       \
        FACT(COUNT, "n_samples", NULL, view_number(report->event ? report->event->sum.n_samples : 0),         \
             "how many passed the filter")                                                                    \
        FACT(SHARE, "unsampled_share", NULL, report_heading_unsampled(&report->unsampled),                    \
             "how much of the time, or of the count, has no samples; null = less than 1 %, or nothing is "    \
             "known to be missing")                                                                           \
        FACT(STRING, "sample_event_fallback", NULL, view_name(report->recording.fallback),                    \
             "why another event was sampled than usual")
/* clang-format on */

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
                        continue; /* without a leader, the samples are counted system calls */
                if (leader != 0 && leader != event->leader)
                        add_leader(report, leader, line);
                byte_buffer_add_format(line, "%s", separator_of(line, ", "));
                add_name(line, event->name);
                leader = event->leader;
        }
        add_leader(report, leader, line);
        put_line(d, "counters", line);
        SAMPLES_FACTS(VIEW_FACT)
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

/* clang-format off */
#define STACKS_FACTS(FACT)                                                                                    \
        FACT(COUNT, "n_callstacks", NULL, view_number(c->n_samples),                                          \
             "samples whose recorder said how far their call stack goes")                                     \
        FACT(COUNT, "n_complete", NULL, view_number(c->n_complete),                                           \
             "those that reach the thread's root, also where the outer part was joined")                      \
        FACT(SHARE, "complete_share", NULL, report_heading_share(c->n_complete, c->n_samples), NULL)          \
        FACT(COUNT, "n_truncated", NULL, view_number(c->n_truncated), "where callers are missing")            \
        FACT(SHARE, "truncated_share", NULL, report_heading_share(c->n_truncated, c->n_samples), NULL)
#define STATE_COLUMNS(COLUMN)                                                                                 \
        COLUMN(STRING, "state", NULL, view_words(names[i]),                                                   \
               "its name in the trace; OTHER of a newer version")                                             \
        COLUMN(COUNT, "count", NULL, view_number(c->by_state[i]), "samples")                                  \
        COLUMN(SHARE, "share", NULL, report_heading_share(c->by_state[i], c->n_samples), "of n_callstacks")
/* clang-format on */

static const struct view_column state_columns[] = { STATE_COLUMNS(VIEW_COLUMN) };
const struct answer_part recording_view_states_part = ANSWER_TABLE("callstack_states", state_columns,
                                                                   "how complete call stacks are");

static void add_stacks(struct view_document *d, const struct report_callstacks *c, struct byte_buffer *line)
{
        if (c->n_samples != 0)
                describe_stacks(c, line);
        put_line(d, "stacks", line);
        STACKS_FACTS(VIEW_FACT)
}

static void add_states(struct view_document *d, const struct report_callstacks *c)
{
        static const char *const names[TRACE_STACK_STATE_COUNT + 1] = {
#define X(id, name, words) [id] = #name,
                TRACE_STACK_STATES(X)
#undef X
                        [TRACE_STACK_STATE_COUNT] = "OTHER",
        };
        struct view_table *t = view_document_add_part(d, &recording_view_states_part, NULL);

        for (uint32_t i = 0; i <= TRACE_STACK_STATE_COUNT; i++) {
                if (c->by_state[i] == 0)
                        continue;
                STATE_COLUMNS(VIEW_CELL)
        }
}

/* ------------------------------------------------------------------ the recorder, zones, switches */

/* clang-format off */
#define SAMPLER_FACTS(FACT)                                                                                   \
        FACT(DURATION, "recorder_cpu_ns", NULL, view_known(r->recorder_cpu_ns, r->recorder_cpu_ns != 0),      \
             "processor time of the recorder itself while it recorded")                                       \
        FACT(SHARE, "recorder_share", NULL,                                                                   \
             report_heading_share(r->recorder_cpu_ns, has_cost ? r->duration_ns : 0),                         \
               "the same as a share of one CPU")                                                              \
        FACT(STRING, "unwind", NULL, view_name(r->unwind),                                                    \
             "how call stacks were made: auto, dwarf, fp, none")                                              \
        FACT(STRING, "scope", NULL, view_name(r->scope), "whose events these are: cgroup, cpus, threads")     \
        FACT(BYTES, "stack_copy_bytes", NULL, view_known(r->stack_copy_bytes, r->stack_copy_bytes != 0),      \
             "of the copy of the stack with each sample")                                                     \
        FACT(COUNT, "n_descriptors", NULL, view_known(r->n_descriptors, r->n_descriptors != 0),               \
             "of events and BPF programs", .may_be_null = true)                                               \
        FACT(BYTES, "pinned_bytes", NULL, view_known(r->pinned_bytes, r->pinned_bytes != 0),                  \
             "of the rings in the kernel, of all CPUs", .may_be_null = true)
/* clang-format on */

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
        if (r->pinned_bytes != 0)
                byte_buffer_add_format(line, "%s%s pinned", separator_of(line, ", "),
                                       text_number_bytes(r->pinned_bytes).text);
        put_line(d, "sampler", line);
        SAMPLER_FACTS(VIEW_FACT)
}

/* clang-format off */
#define ZONES_FACTS(FACT)                                                                                     \
        FACT(COUNT, "n_zones", NULL, view_number(report->n_zone_events),                                      \
             "that began; with filters, those that they leave")                                               \
        FACT(COUNT, "n_unclosed", NULL, view_number(report->n_unclosed), NULL)                                \
        FACT(COUNT, "n_zones_lost", NULL, view_known(report->lost.n_lost, report->lost.n_lost != 0),          \
             "that the programs dropped in the whole recording; null if none were", .may_be_null = true)      \
        FACT(STRING, "lost", NULL, report->lost.n_lost != 0 ? view_words(lost_words) : view_unknown(),        \
             "the number of lost zones in words")                                                             \
        FACT(COUNT, "n_switches", NULL, view_number(report->also.n_switches), "of threads, in and out")       \
        FACT(REAL, "cpus_used", NULL, view_real_known(cpus_used, cpus_used > 0),                              \
             "how many CPUs ran the threads shown, on average; null = not known", .may_be_null = true)
/* clang-format on */

double recording_view_cpus_used(const struct report *report)
{
        double ran_ns = 0;

        for (uint32_t i = 0; i < report->n_threads; i++)
                if (!report->threads[i].is_fiber)
                        ran_ns += (double)report->threads[i].on_cpu_ns;
        return report->on_cpu_known && report->recording.range_ns != 0 && report->recording.cpus.n_bytes != 0
                       ? ran_ns / (double)report->recording.range_ns
                       : 0;
}

double recording_view_idle_share(const struct report *report)
{
        double n_cpus = (double)meta_value_number(report->trace.dictionary, "cpus");
        double used = recording_view_cpus_used(report);

        return n_cpus > 0 && used > 0 ? 1 - used / n_cpus : 0;
}

static void add_zones(struct view_document *d, const struct report *report, struct byte_buffer *line)
{
        double cpus_used = recording_view_cpus_used(report);
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
        if (cpus_used > 0)
                byte_buffer_add_format(line, "%s%.2f of %.*s CPUs ran threads, on average",
                                       separator_of(line, "; "), cpus_used,
                                       (int)report->recording.cpus.n_bytes, report->recording.cpus.bytes);
        put_line(d, "switches", line);
        ZONES_FACTS(VIEW_FACT)
}

static const struct view_column fact_columns[] = { PLACE_FACTS(VIEW_MEMBER) LENGTH_FACTS(
        VIEW_MEMBER) SAMPLES_FACTS(VIEW_MEMBER) STACKS_FACTS(VIEW_MEMBER) SAMPLER_FACTS(VIEW_MEMBER)
                                                           ZONES_FACTS(VIEW_MEMBER) };
const struct answer_part recording_view_facts_part = ANSWER_FACTS(fact_columns);

void recording_view_add_facts(struct view_document *d, const struct report *report)
{
        struct byte_buffer line = { .data = NULL };

        report_heading_add_command(d, report->recording.command);
        report_heading_add_filter(d, report->recording.filter);
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

/* clang-format off */
#define EVENT_COLUMNS(COLUMN)                                                                                 \
        COLUMN(STRING, "name", NULL, view_text(event->name), "as the user wrote it")                          \
        COLUMN(STRING, "unit", NULL, view_name(event->unit), "of the weight")                                 \
        COLUMN(STRING, "mode", NULL, view_words(mode_of(event->mode)),                                        \
               "frequency_hz or period: the unit of `rate`; with_leader: read with each sample of `leader`",  \
               .one_of = "frequency_hz|period|with_leader|counted")                                           \
        COLUMN(STRING, "leader", NULL, event->leader != 0 ? view_text(report->events[event->leader - 1].name) \
                                                          : view_unknown(), NULL)                             \
        COLUMN(COUNT, "rate", NULL, view_number(event->rate), NULL)                                           \
        COLUMN(COUNT, "n_samples", NULL, view_number(event->sum.n_samples), NULL)                             \
        COLUMN(COUNT, "weight", NULL, view_number(event->sum.weight), NULL)                                   \
        COLUMN(BOOL, "shown", NULL, view_number(event == report->event),                                      \
               "the functions and the samples of zones are of this event")
/* clang-format on */

static const struct view_column event_columns[] = { EVENT_COLUMNS(VIEW_COLUMN) };
const struct answer_part recording_view_events_part = ANSWER_TABLE("sample_events", event_columns,
                                                                   "an event that was sampled or counted");

void recording_view_add_tables(struct view_document *d, const struct report *report)
{
        struct view_table *t = view_document_add_part(d, &recording_view_events_part, NULL);

        for (uint32_t i = 0; i < report->n_events; i++) {
                const struct report_event *event = &report->events[i];

                EVENT_COLUMNS(VIEW_CELL)
        }
        add_states(d, &report->callstacks);
        add_recordings(d, report->trace.dictionary);
}
