/* SPDX-License-Identifier: MIT */
#include "cli/views/report_text.h"

#include "analyze/report/report.h"
#include "analyze/walk/lost_zones.h"
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "cli/views/counters_text.h"
#include "view/answers/gap_advice.h"
#include "view/answers/report_names.h"
#include "view/text/text_charset.h"
#include "view/text/text_line.h"
#include "view/text/text_number.h"
#include "view/text/text_page.h"
#include "view/text/text_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#define INDENT TEXT_LINE_INDENT

static void describe_place(const struct report_recording *recording, struct byte_buffer *line)
{
        time_t seconds = (time_t)(recording->start_realtime_ns / NS_PER_S);
        char date[40] = "";
        struct tm utc;

        if (seconds != 0 && gmtime_r(&seconds, &utc))
                (void)strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S UTC", &utc);
        text_line_add(line, "%s", date);
        if (recording->hostname.n_bytes != 0) {
                text_line_add(line, "%son ", date[0] != '\0' ? " " : "");
                text_line_add_string(line, recording->hostname);
        }
        if (recording->cpus.n_bytes != 0) {
                text_line_add(line, "%s", line->used_bytes != 0 ? ", " : "");
                text_line_add_string(line, recording->cpus);
                text_line_add(line, recording->cpus.n_bytes == 1 && recording->cpus.bytes[0] == '1'
                                            ? " CPU"
                                            : " CPUs");
        }
        if (recording->kernel.n_bytes != 0) {
                text_line_add(line, "%s", line->used_bytes != 0 ? ", " : "");
                text_line_add_string(line, recording->kernel);
        }
        if (recording->machine.n_bytes != 0) {
                text_line_add(line, "%s", line->used_bytes != 0 ? " " : "");
                text_line_add_string(line, recording->machine);
        }
        if (recording->hyprof_version.n_bytes != 0) {
                text_line_add(line, "%shyprof ", line->used_bytes != 0 ? ", " : "");
                text_line_add_string(line, recording->hyprof_version);
        }
}

static void describe_length(const struct report *report, struct byte_buffer *line)
{
        const struct report_recording *recording = &report->recording;
        const struct report_string *status = &recording->exit_status;

        text_line_add(line, "%s", text_number_duration(recording->range_ns).text);
        if (recording->range.is_part)
                text_line_add(line, " of a recording of %s",
                              text_number_duration(recording->duration_ns).text);
        text_line_add(line, ", %s thread%s in %s process%s", text_number_count(report->n_kernel_threads).text,
                      text_line_plural(report->n_kernel_threads), text_number_count(report->n_processes).text,
                      report->n_processes == 1 ? "" : "es");
        if (status->n_bytes == 0)
                return;
        /* "3", or else words: "signal 9" */
        text_line_add(line,
                      status->bytes[0] >= '0' && status->bytes[0] <= '9' ? ", exit status " : ", ended by ");
        text_line_add_string(line, *status);
}

static void describe_event(const struct report *report, const struct report_event *event,
                           struct byte_buffer *line)
{
        text_line_add(line, "%s of ", text_number_count(event->sum.n_samples).text);
        text_line_add_string(line, event->name);
        if (event->mode == TRACE_SAMPLE_MODE_FREQUENCY_HZ)
                text_line_add(line, " at %s Hz", text_number_count(event->rate).text);
        else if (event->mode == TRACE_SAMPLE_MODE_PERIOD)
                text_line_add(line, ", one every %s", text_number_count(event->rate).text);
        if (report->n_events > 1 && event == report->event)
                text_line_add(line, " (shown below)");
        if (report->recording.fallback.n_bytes != 0 && event == report->event) {
                text_line_add(line, " (");
                text_line_add_string(line, report->recording.fallback);
                text_line_add(line, ")");
        }
}

static void add_leader(const struct report *report, uint32_t leader, struct byte_buffer *line)
{
        if (leader == 0)
                return;
        text_line_add(line, " with each sample of ");
        text_line_add_string(line, report->events[leader - 1].name);
}

/* Events with samples of their own, each on a line; then those that were read with them, and those only counted. */
static int print_events(const struct report *report, struct byte_buffer *line, const struct text_page *page)
{
        uint32_t leader = 0;

        for (uint32_t i = 0; i < report->n_events; i++) {
                const struct report_event *event = &report->events[i];
                int r;

                if (event->mode == TRACE_SAMPLE_MODE_WITH_LEADER || event->mode == TRACE_SAMPLE_MODE_COUNTED)
                        continue;
                describe_event(report, event, line);
                r = text_line_print("samples", line, page->out);
                if (r < 0)
                        return r;
        }
        for (uint32_t i = 0; i < report->n_events; i++) {
                const struct report_event *event = &report->events[i];

                if (event->mode != TRACE_SAMPLE_MODE_WITH_LEADER)
                        continue;
                if (leader != 0 && leader != event->leader)
                        add_leader(report, leader, line);
                text_line_add(line, "%s", line->used_bytes != 0 ? ", " : "");
                text_line_add_string(line, event->name);
                leader = event->leader;
        }
        add_leader(report, leader, line);
        return text_line_print("counters", line, page->out);
}

/* "95.2% complete (12.1% of them joined to the stack before, ...), 4.8% truncated: 4.0% deeper than ..." */
static void describe_callstacks(const struct report_callstacks *c, struct byte_buffer *line)
{
        static const char *const words[TRACE_STACK_STATE_COUNT] = {
#define X(id, name, text) [id] = (text),
                TRACE_STACK_STATES(X)
#undef X
        };
        const char *separator = ": ";

        if (c->n_samples == 0)
                return;
        if (c->n_complete != 0)
                text_line_add(line, "%s complete",
                              text_number_share(report_share(c->n_complete, c->n_samples)).text);
        if (c->n_stitched + c->n_approximate != 0)
                text_line_add(line, " (%s of them joined to the stack before, %s approximate)",
                              text_number_share(report_share(c->n_stitched, c->n_complete)).text,
                              text_number_share(report_share(c->n_approximate, c->n_complete)).text);
        if (c->n_frame_pointers != 0)
                text_line_add(line, "%s%s %s", line->used_bytes != 0 ? ", " : "",
                              text_number_share(report_share(c->n_frame_pointers, c->n_samples)).text,
                              words[TRACE_STACK_FRAME_POINTERS]);
        if (c->n_truncated != 0)
                text_line_add(line, "%s%s truncated", line->used_bytes != 0 ? ", " : "",
                              text_number_share(report_share(c->n_truncated, c->n_samples)).text);
        for (uint32_t state = TRACE_STACK_TRUNCATED; state <= TRACE_STACK_STATE_COUNT; state++) {
                const char *why = state < TRACE_STACK_STATE_COUNT && words[state]
                                          ? strchr(words[state], ':') + 2
                                          : "for reasons of a newer version";

                if (c->by_state[state] == 0)
                        continue;
                text_line_add(line, "%s%s %s", separator,
                              text_number_share(report_share(c->by_state[state], c->n_samples)).text, why);
                separator = ", ";
        }
}

static void describe_sampler(const struct report *report, struct byte_buffer *line)
{
        const struct report_recording *recording = &report->recording;

        if (recording->recorder_cpu_ns != 0 && recording->duration_ns != 0)
                text_line_add(
                        line, "used %s of one core",
                        text_number_share(report_share(recording->recorder_cpu_ns, recording->duration_ns))
                                .text);
        if (recording->unwind.n_bytes != 0) {
                text_line_add(line, "%sunwinding ", line->used_bytes != 0 ? ", " : "");
                text_line_add_string(line, recording->unwind);
        }
        if (recording->stack_copy_bytes != 0)
                text_line_add(line, "%sstack copies of %s", line->used_bytes != 0 ? ", " : "",
                              text_number_bytes(recording->stack_copy_bytes).text);
        if (recording->scope.n_bytes != 0) {
                text_line_add(line, "%sevents by ", line->used_bytes != 0 ? ", " : "");
                text_line_add_string(line, recording->scope);
        }
        if (recording->n_descriptors != 0)
                text_line_add(line, "%s%s descriptor%s", line->used_bytes != 0 ? ", " : "",
                              text_number_count(recording->n_descriptors).text,
                              text_line_plural(recording->n_descriptors));
}

static int print_header(const struct report *report, struct byte_buffer *line, const struct text_page *page)
{
        char lost_words[LOST_ZONES_WORDS_BYTES];
        int r;

        text_page_print_head(page, "recording");
        text_line_add_string(line, report->recording.command);
        r = text_line_print("command", line, page->out);
        if (r < 0)
                return r;
        text_line_add_string(line, report->recording.filter);
        r = text_line_print("only", line, page->out);
        if (r < 0)
                return r;
        describe_place(&report->recording, line);
        r = text_line_print("recorded", line, page->out);
        if (r < 0)
                return r;
        describe_length(report, line);
        r = text_line_print(report->recording.range.is_part ? "range" : "lasted", line, page->out);
        if (r < 0)
                return r;
        r = print_events(report, line, page);
        if (r < 0)
                return r;
        describe_callstacks(&report->callstacks, line);
        r = text_line_print("stacks", line, page->out);
        if (r < 0)
                return r;
        describe_sampler(report, line);
        r = text_line_print("sampler", line, page->out);
        if (r < 0)
                return r;
        lost_zones_words(&report->lost, lost_words);
        if (report->n_zone_events != 0)
                text_line_add(line, "%s in %s place%s of the source%s%s",
                              text_number_count(report->n_zone_events).text,
                              text_number_count(report->n_zones).text, text_line_plural(report->n_zones),
                              lost_words[0] != '\0' ? ", " : "", lost_words);
        else if (report->recording.filter.n_bytes != 0)
                text_line_add(line, "none passes the filters");
        else
                text_line_add(line, "none: no instrumented program, or none of its zones was reached");
        r = text_line_print("zones", line, page->out);
        if (r < 0)
                return r;
        if (report->also.n_switches != 0)
                text_line_add(line, "%s of threads, in and out",
                              text_number_count(report->also.n_switches).text);
        return text_line_print("switches", line, page->out);
}

/* "3 plots", behind a comma unless it is the first on the line; nothing for 0. */
static void add_count(struct byte_buffer *line, uint64_t count, const char *one, const char *several)
{
        if (count != 0)
                text_line_add(line, "%s%s %s", line->used_bytes != 0 ? ", " : "",
                              text_number_count(count).text, count == 1 ? one : several);
}

/* " in 3 pools" */
static void add_spread(struct byte_buffer *line, uint64_t count, const char *one, const char *several)
{
        if (count != 0 && line->used_bytes != 0)
                text_line_add(line, " in %s %s", text_number_count(count).text, count == 1 ? one : several);
}

static void describe_messages(const struct report_also *also, struct byte_buffer *line)
{
        if (also->n_messages != 0)
                text_line_add(line, "%s", text_number_count(also->n_messages).text);
}

static void describe_frames(const struct report_also *also, struct byte_buffer *line)
{
        add_count(line, also->n_frame_marks, "mark", "marks");
        add_count(line, also->n_frame_begins, "begin", "begins");
        add_count(line, also->n_frame_ends, "end", "ends");
        add_spread(line, also->n_frame_names, "sequence", "sequences");
}

static void describe_plots(const struct report_also *also, struct byte_buffer *line)
{
        add_count(line, also->n_plot_values, "value", "values");
        add_spread(line, also->n_plots, "plot", "plots");
}

static void describe_memory(const struct report_also *also, struct byte_buffer *line)
{
        add_count(line, also->n_allocations, "allocation", "allocations");
        add_count(line, also->n_frees, "free", "frees");
        add_count(line, also->n_discards, "discarded pool", "discarded pools");
        add_spread(line, also->n_pools, "pool", "pools");
}

static void describe_locks(const struct report_also *also, struct byte_buffer *line)
{
        add_count(line, also->n_locks, "lock", "locks");
        add_count(line, also->n_lock_obtains, "time obtained", "times obtained");
        add_count(line, also->n_lock_waits, "wait", "waits");
}

static void describe_fibers(const struct report_also *also, struct byte_buffer *line)
{
        add_count(line, also->n_fibers, "fiber", "fibers");
        add_count(line, also->n_fiber_enters, "time entered", "times entered");
}

static void describe_devices(const struct report_also *also, struct byte_buffer *line)
{
        add_count(line, also->n_devices, "device", "devices");
        add_count(line, also->n_device_zones, "zone", "zones");
        add_count(line, also->n_device_spans, "span", "spans");
}

static void describe_zone_details(const struct report_also *also, struct byte_buffer *line)
{
        add_count(line, also->n_zone_texts, "text", "texts");
        add_count(line, also->n_zone_names, "name", "names");
        add_count(line, also->n_zone_values, "value", "values");
        add_count(line, also->n_zone_colors, "color", "colors");
}

static void describe_sources(const struct report_also *also, struct byte_buffer *line)
{
        add_count(line, also->n_source_texts, "text", "texts");
        if (also->n_source_texts != 0)
                text_line_add(line, " of %s", text_number_bytes(also->n_source_bytes).text);
}

static void describe_code(const struct report_also *also, struct byte_buffer *line)
{
        add_count(line, also->n_code_regions, "region that the program made",
                  "regions that the program made");
}

/* A line a kind; what the trace has none of is left out. */
static int print_also(const struct report *report, struct byte_buffer *line, const struct text_page *page)
{
        static const struct {
                const char *label;
                void (*describe)(const struct report_also *also, struct byte_buffer *line);
        } kinds[] = {
                { "messages", describe_messages }, { "frames", describe_frames },
                { "plots", describe_plots },       { "memory", describe_memory },
                { "locks", describe_locks },       { "fibers", describe_fibers },
                { "devices", describe_devices },   { "in zones", describe_zone_details },
                { "source", describe_sources },    { "code", describe_code },
        };
        bool titled = false;

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                int r;

                kinds[i].describe(&report->also, line);
                if (line->used_bytes != 0 && !titled)
                        text_page_print_title(page, "also recorded");
                titled = titled || line->used_bytes != 0;
                r = text_line_print(kinds[i].label, line, page->out);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* "libfoo.so (31.0% of the samples) has no symbols"; "words (detail)"; "1,204 words" */
static void describe_gap(const struct report *report, const struct report_gap *gap, struct byte_buffer *line)
{
        if (gap->share > 0) {
                if (gap->detail.n_bytes != 0) {
                        text_line_add_string(line, gap->detail);
                        text_line_add(line, " (%s of the samples) %s", text_number_share(gap->share).text,
                                      gap->words);
                } else {
                        text_line_add(line, "%s: %s", gap->words, text_number_share(gap->share).text);
                }
                if (gap->advice)
                        text_line_add(line, "; %s", gap_advice_of(report, gap).text);
                return;
        }
        text_line_add(line, "%s",
                      gap->count != 0 ? text_number_counted(gap->count, gap->words).text : gap->words);
        if (gap->detail.n_bytes != 0) {
                text_line_add(line, " (");
                text_line_add_string(line, gap->detail);
                text_line_add(line, ")");
        }
}

static int print_gaps(const struct report *report, struct byte_buffer *line, const struct text_page *page)
{
        if (report->gaps.n_rows == 0) {
                text_page_print_title(page, "missing: nothing known");
                return 0;
        }
        text_page_print_title(page, report->recording.range.is_part
                                            ? "missing in the whole recording, and why"
                                            : "missing, and why");
        for (uint32_t i = 0; i < report->gaps.n_rows; i++) {
                describe_gap(report, &report->gaps.rows[i], line);
                if (line->failed)
                        return -ENOMEM;
                (void)fputs("  - ", page->out);
                text_wrap((const char *)line->data, line->used_bytes, 4, page->out);
                byte_buffer_clear(line);
        }
        return 0;
}

static void print_left_out(uint32_t n, const char *what, uint32_t n_indent, const struct text_page *page)
{
        if (n != 0)
                (void)fprintf(page->out, "%*s%s %s more %s%s, --limit 0 shows all\n", (int)n_indent, "",
                              text_charset_ellipsis(), text_number_count(n).text, what, text_line_plural(n));
}

static void add_string(struct text_table *table, struct report_string string)
{
        text_table_add(table, string.bytes, string.n_bytes);
}

static int print_functions(const struct report_functions *functions, uint64_t whole, uint32_t limit,
                           uint32_t n_indent, const struct text_page *page)
{
        static const struct text_column columns[] = {
                { .title = "self", .right = true, .n_columns_max = 6 },
                { .title = "total", .right = true, .n_columns_max = 6 },
                { .title = "function" },
                { .title = "module", .n_columns_max = 26 },
        };
        uint32_t n_rows = report_limited(functions->n_rows, limit);
        struct text_table table;
        int r;

        text_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
        for (uint32_t i = 0; i < n_rows; i++) {
                const struct report_function *function = &functions->rows[i];

                text_table_add_text(
                        &table, function->kind == FUNCTION_MARK
                                        ? "-"
                                        : text_number_share(report_share(function->self.weight, whole)).text);
                text_table_add_text(&table,
                                    text_number_share(report_share(function->total.weight, whole)).text);
                add_string(&table, report_names_function(function->name, function->kind));
                add_string(&table, report_names_file(function->module));
        }
        r = text_page_print_table(page, &table, n_indent);
        text_table_deinit(&table);
        print_left_out(functions->n_rows - n_rows + functions->n_left_out, "function", n_indent, page);
        return r;
}

static int print_top_functions(const struct report *report, uint32_t limit, struct byte_buffer *line,
                               const struct text_page *page)
{
        const struct report_event *event = report->event;

        if (!event || event->sum.n_samples == 0)
                return 0;
        text_line_add(line, "functions: %% of the %s of ",
                      text_number_counted(event->sum.n_samples, "samples").text);
        text_line_add_string(line, event->name);
        text_line_add(line, " (taken while on a CPU); total is with callees");
        if (text_page_print_title_line(page, line) < 0)
                return -ENOMEM;
        return print_functions(&report->functions, event->sum.weight, limit, INDENT, page);
}

static void add_duration(struct text_table *table, uint64_t duration_ns, bool known)
{
        text_table_add_text(table, known ? text_number_duration(duration_ns).text : "-");
}

static void add_zone(struct text_table *table, const struct report_zone *zone, bool on_cpu_known)
{
        struct text_number count = text_number_count(zone->n_closed);
        bool closed = zone->n_closed != 0;
        char text[72];

        (void)snprintf(text, sizeof(text), "%s", count.text);
        if (zone->n_unclosed != 0)
                (void)snprintf(text, sizeof(text), "%s+%s", count.text,
                               text_number_count(zone->n_unclosed).text);
        text_table_add_text(table, text);
        add_duration(table, zone->total_ns, true);
        add_duration(table, zone->self_ns, true);
        add_duration(table, zone->mean_ns, closed);
        add_duration(table, zone->p50_ns, closed);
        add_duration(table, zone->p99_ns, closed);
        add_duration(table, zone->max_ns, closed);
        text_table_add_text(table,
                            on_cpu_known && zone->total_ns != 0
                                    ? text_number_share(report_share(zone->on_cpu_ns, zone->total_ns)).text
                                    : "-");
        text_table_add(table, zone->name.bytes, zone->name.n_bytes);
}

static int print_zones(const struct report *report, uint32_t limit, const struct text_page *page)
{
        static const struct text_column columns[] = {
                { .title = "count", .right = true, .n_columns_max = 20 },
                { .title = "total", .right = true, .n_columns_max = 12 },
                { .title = "self", .right = true, .n_columns_max = 12 },
                { .title = "mean", .right = true, .n_columns_max = 12 },
                { .title = "p50", .right = true, .n_columns_max = 12 },
                { .title = "p99", .right = true, .n_columns_max = 12 },
                { .title = "max", .right = true, .n_columns_max = 12 },
                { .title = "on-CPU", .right = true, .n_columns_max = 6 },
                { .title = "zone" },
        };
        uint32_t n_rows = report_limited(report->n_zones, limit);
        char lost_words[LOST_ZONES_WORDS_BYTES], title[400];
        struct text_table table;
        int r;

        if (report->n_zones == 0)
                return 0;
        lost_zones_words(&report->lost, lost_words);
        (void)snprintf(title, sizeof(title), "%s%s%s",
                       report->n_unclosed != 0
                               ? "zones: time between begin and end, of all threads together; on-CPU is % "
                                 "of total; count +N: N more that never ended"
                               : "zones: time between begin and end, of all threads together; on-CPU is % "
                                 "of total",
                       lost_words[0] != '\0' ? "; counts and totals are " : "", lost_words);
        text_page_print_title(page, title);
        text_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
        for (uint32_t i = 0; i < n_rows; i++)
                add_zone(&table, &report->zones[i], report->on_cpu_known);
        r = text_page_print_table(page, &table, INDENT);
        text_table_deinit(&table);
        print_left_out(report->n_zones - n_rows, "zone", INDENT, page);
        return r;
}

static int print_inside_one(const struct report *report, const struct report_zone *zone, uint32_t limit,
                            struct byte_buffer *line, const struct text_page *page)
{
        text_line_add_string(line, zone->name);
        if (zone->file.n_bytes != 0) {
                text_line_add(line, " (");
                text_line_add_string(line, zone->file);
                text_line_add(line, ":%" PRIu32 ")", zone->line);
        }
        text_line_add(line, ": %s, %s of all", text_number_counted(zone->samples.n_samples, "samples").text,
                      text_number_share(report_share(zone->samples.weight, report->event->sum.weight)).text);
        if (line->failed)
                return -ENOMEM;
        (void)fputs("  ", page->out);
        text_wrap((const char *)line->data, line->used_bytes, INDENT + 2, page->out);
        byte_buffer_clear(line);
        return print_functions(&zone->functions, zone->samples.weight, limit, INDENT + 2, page);
}

static int print_inside(const struct report *report, uint32_t limit, struct byte_buffer *line,
                        const struct text_page *page)
{
        bool titled = false;

        for (uint32_t i = 0; i < report->n_zones; i++) {
                int r;

                if (!report->zones[i].has_functions)
                        continue;
                if (!titled)
                        text_page_print_title(
                                page, "functions in the top zones: % of the samples taken while the zone was "
                                      "open, also in zones inside");
                titled = true;
                r = print_inside_one(report, &report->zones[i], limit, line, page);
                if (r < 0)
                        return r;
        }
        return 0;
}

static void add_thread(struct text_table *table, const struct report_thread *thread, bool on_cpu_known)
{
        uint64_t lived_ns = thread->last_ns - thread->first_ns;
        char number[16];

        add_duration(table, thread->on_cpu_ns, on_cpu_known);
        text_table_add_text(table, on_cpu_known
                                           ? text_number_share(report_share(thread->on_cpu_ns, lived_ns)).text
                                           : "-");
        text_table_add_text(table, text_number_count(thread->n_samples).text);
        text_table_add_text(table, text_number_count(thread->n_zones).text);
        (void)snprintf(number, sizeof(number), "%" PRIu32, thread->pid);
        text_table_add_text(table, number);
        (void)snprintf(number, sizeof(number), "%" PRIu32, thread->tid);
        text_table_add_text(table, thread->is_fiber ? "fiber" : number);
        if (thread->name.n_bytes != 0)
                text_table_add(table, thread->name.bytes, thread->name.n_bytes);
        else
                text_table_add_text(table, "-");
}

static int print_threads(const struct report *report, uint32_t limit, const struct text_page *page)
{
        static const struct text_column columns[] = {
                { .title = "on-CPU", .right = true, .n_columns_max = 12 },
                { .title = "%", .right = true, .n_columns_max = 6 },
                { .title = "samples", .right = true, .n_columns_max = 14 },
                { .title = "zones", .right = true, .n_columns_max = 14 },
                { .title = "pid", .right = true, .n_columns_max = 10 },
                { .title = "tid", .right = true, .n_columns_max = 10 },
                { .title = "thread" },
        };
        uint32_t n_rows = report_limited(report->n_threads, limit);
        struct text_table table;
        int r;

        if (report->n_threads == 0)
                return 0;
        text_page_print_title(page, "threads: % of the time from a thread's first event to its last");
        text_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
        for (uint32_t i = 0; i < n_rows; i++)
                add_thread(&table, &report->threads[i], report->on_cpu_known);
        r = text_page_print_table(page, &table, INDENT);
        text_table_deinit(&table);
        print_left_out(report->n_threads - n_rows, "thread", INDENT, page);
        return r;
}

int report_text_print_header(const struct report *report, const struct text_page *page)
{
        struct byte_buffer line = { .data = NULL };
        int r = print_header(report, &line, page);

        if (r == 0)
                r = print_gaps(report, &line, page);
        byte_buffer_deinit(&line);
        return r;
}

int report_text_print(const struct report *report, uint32_t limit, const struct text_page *page)
{
        struct byte_buffer line = { .data = NULL };
        int r = print_header(report, &line, page);

        if (r == 0)
                r = print_also(report, &line, page);
        if (r == 0)
                r = print_gaps(report, &line, page);
        if (r == 0)
                r = print_top_functions(report, limit, &line, page);
        if (r == 0)
                r = print_zones(report, limit, page);
        if (r == 0)
                r = print_inside(report, limit, &line, page);
        if (r == 0)
                r = counters_text_print(report, limit, page);
        if (r == 0)
                r = print_threads(report, limit, page);
        byte_buffer_deinit(&line);
        return r;
}
