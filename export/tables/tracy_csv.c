/* SPDX-License-Identifier: MIT */
#include "export/tables/tracy_csv.h"

#include "analyze/devices/device_zones.h"
#include "analyze/stats/message_list.h"
#include "analyze/trace/zone_words.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/lost_zones.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/walk/zone_stats.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/name_guess.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "view/document/csv_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DOUBLE_DIGITS 17 /* tell any two apart */

/*
 * The sums of a location's zones.  Sums of squares by Welford's method: B. P. Welford, Technometrics 4
 * (1962).
 */
struct location_sum {
        uint64_t n_zones, total_ns, min_ns, max_ns;
        double mean_ns, squares;
};

struct writing {
        struct csv_writer out;
        const struct tracy_csv_options *options;
        struct loaded_trace *trace;
        struct trace_walk walk;
        bool *wanted;              /* heap; by location id - 1 */
        struct location_sum *sums; /* heap; by location id - 1 */
        uint32_t n_locations;
        struct byte_buffer line; /* scratch */
};

/* Turns an error of the output into words; returns 0 if all went well. */
static int check_output(int code, struct error *err)
{
        if (code >= 0)
                return 0;
        errno = -code;
        return error_errno(err, "writing the table");
}

static const struct trace_location *location_of(const struct writing *w, uint32_t location)
{
        return trace_dictionary_row(w->trace->dictionary, TRACE_TABLE_LOCATIONS, location);
}

/* A zone without a name takes the name of its function. */
static struct text_view name_of(const struct writing *w, uint32_t location)
{
        const struct trace_location *row = location_of(w, location);

        return trace_dictionary_text(w->trace->dictionary, row->name != 0 ? row->name : row->function);
}

static void put_string(struct writing *w, struct text_view string)
{
        csv_writer_put_bytes(&w->out, string.bytes, string.n_bytes);
}

static void put_place(struct writing *w, uint32_t location)
{
        const struct trace_location *row = location_of(w, location);

        put_string(w, name_of(w, location));
        put_string(w, trace_dictionary_text(w->trace->dictionary, row->file));
        csv_writer_put_number(&w->out, row->line);
}

static void put_header(struct writing *w, const char *const *names)
{
        for (; *names; names++)
                csv_writer_put_words(&w->out, *names);
        csv_writer_end_row(&w->out);
}

static uint64_t since_start(const struct writing *w, uint64_t time_ns)
{
        return time_ns > w->trace->start_ns ? time_ns - w->trace->start_ns : 0;
}

static void put_thread(struct writing *w, uint32_t thread)
{
        const struct trace_thread *row = trace_dictionary_row(w->trace->dictionary, TRACE_TABLE_THREADS,
                                                              thread);

        csv_writer_put_number(&w->out, row->tid);
        put_string(w, loaded_trace_thread_name(w->trace, thread));
}

/* ------------------------------------------------------------------ zones */

static void add_to_sum(struct location_sum *sum, uint64_t ns)
{
        double difference = (double)ns - sum->mean_ns;

        sum->n_zones++;
        sum->total_ns += ns;
        if (sum->n_zones == 1 || ns < sum->min_ns)
                sum->min_ns = ns;
        if (ns > sum->max_ns)
                sum->max_ns = ns;
        sum->mean_ns += difference / (double)sum->n_zones;
        sum->squares += difference * ((double)ns - sum->mean_ns);
}

static uint64_t time_of(const struct writing *w, const struct zone_instance *zone)
{
        return w->options->self ? zone->self_ns : zone_instance_duration_ns(zone);
}

static int sum_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                    struct error *err)
{
        struct writing *w = context;

        (void)thread, (void)err;
        if (zone->closed && w->wanted[zone->location - 1])
                add_to_sum(&w->sums[zone->location - 1], time_of(w, zone));
        return 0;
}

/* The texts of a zone, and its value as Tracy has it: "42 [0x2a]", on a line of its own. */
static void put_words(struct writing *w, const struct zone_words *words)
{
        struct byte_buffer *line = &w->line;
        char value[48];

        if (!words || !words->has_value) {
                csv_writer_put_bytes(&w->out, words ? (const char *)words->text.data : "",
                                     words ? words->text.used_bytes : 0);
                return;
        }
        byte_buffer_clear(line);
        byte_buffer_add(line, words->text.data, words->text.used_bytes);
        if (line->used_bytes != 0)
                byte_buffer_add(line, "\n", 1);
        (void)snprintf(value, sizeof(value), "%" PRIi64 " [0x%" PRIx64 "]", words->value,
                       (uint64_t)words->value);
        byte_buffer_add(line, value, strlen(value));
        csv_writer_put_bytes(&w->out, (const char *)line->data, line->used_bytes);
}

/* Writes each row during the walk, so that a full disk ends the walk at once. */
static int put_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                    struct error *err)
{
        const struct zone_words *words = trace_walk_words(thread, zone);
        struct writing *w = context;

        if (!zone->closed || !w->wanted[zone->location - 1])
                return 0;
        put_place(w, zone->location);
        csv_writer_put_number(&w->out, since_start(w, zone->begin_ns));
        csv_writer_put_number(&w->out, time_of(w, zone));
        csv_writer_put_number(&w->out, thread->id);
        put_words(w, words);
        put_thread(w, thread->id);
        csv_writer_put_bytes(&w->out, words ? (const char *)words->name.data : "",
                             words ? words->name.used_bytes : 0);
        csv_writer_end_row(&w->out);
        return check_output(w->out.code, err);
}

static void put_statistics(struct writing *w)
{
        uint64_t length_ns = w->trace->end_ns - w->trace->start_ns;

        for (uint32_t i = 1; i <= w->n_locations; i++) {
                const struct location_sum *sum = &w->sums[i - 1];
                double n = (double)sum->n_zones;

                if (sum->n_zones == 0)
                        continue;
                put_place(w, i);
                csv_writer_put_number(&w->out, sum->total_ns);
                csv_writer_put_real(&w->out,
                                    length_ns != 0 ? 100.0 * (double)sum->total_ns / (double)length_ns : 0.0,
                                    DOUBLE_DIGITS);
                csv_writer_put_number(&w->out, sum->n_zones);
                csv_writer_put_number(&w->out, sum->total_ns / sum->n_zones);
                csv_writer_put_number(&w->out, sum->min_ns);
                csv_writer_put_number(&w->out, sum->max_ns);
                csv_writer_put_real(&w->out, sum->n_zones > 1 ? sqrt(sum->squares / (n - 1.0)) : 0.0,
                                    DOUBLE_DIGITS);
                csv_writer_end_row(&w->out);
        }
}

/* ------------------------------------------------------------------ messages and plots */

static void put_message(struct writing *w, uint32_t thread, const struct trace_event *event)
{
        const char *severity = message_list_severity((uint32_t)event->operand[1]);

        if (event->op == TRACE_OP_MESSAGE_TEXT)
                csv_writer_put_bytes(&w->out, event->text, (size_t)event->message_text.text_bytes);
        else
                put_string(w, trace_dictionary_text(w->trace->dictionary, (uint32_t)event->message.text));
        csv_writer_put_number(&w->out, since_start(w, event->time_ns));
        put_thread(w, thread);
        csv_writer_put_bytes(&w->out, severity, strlen(severity));
        csv_writer_end_row(&w->out);
}

static void put_plot(struct writing *w, uint32_t thread, const struct trace_event *event)
{
        double real;

        put_string(w, trace_dictionary_text(w->trace->dictionary, (uint32_t)event->operand[0]));
        csv_writer_put_empty(&w->out);
        csv_writer_put_empty(&w->out);
        csv_writer_put_number(&w->out, since_start(w, event->time_ns));
        csv_writer_put_empty(&w->out);
        csv_writer_put_number(&w->out, thread);
        if (event->op == TRACE_OP_PLOT_I64) {
                csv_writer_put_signed(&w->out, event->plot_i64.value);
        } else {
                memcpy(&real, &event->plot_f64.bits, sizeof(real));
                csv_writer_put_real(&w->out, real, DOUBLE_DIGITS);
        }
        for (int i = 0; i < 3; i++)
                csv_writer_put_empty(&w->out);
        csv_writer_end_row(&w->out);
}

static int put_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                     struct error *err)
{
        struct writing *w = context;

        if (w->options->messages) {
                if (event->op == TRACE_OP_MESSAGE || event->op == TRACE_OP_MESSAGE_TEXT)
                        put_message(w, thread->id, event);
        } else if (event->op == TRACE_OP_PLOT_I64 || event->op == TRACE_OP_PLOT_F64) {
                put_plot(w, thread->id, event);
        }
        return check_output(w->out.code, err);
}

/* ------------------------------------------------------------------ devices */

static int put_device_zone(void *context, const struct device_zone *zone, struct error *err)
{
        struct writing *w = context;
        const struct trace_device *device = trace_dictionary_row(w->trace->dictionary, TRACE_TABLE_DEVICES,
                                                                 zone->device);

        if (!w->wanted[zone->location - 1])
                return 0;
        put_string(w, name_of(w, zone->location));
        put_string(w, trace_dictionary_text(w->trace->dictionary, location_of(w, zone->location)->file));
        csv_writer_put_number(&w->out, since_start(w, zone->begin_ns));
        csv_writer_put_number(&w->out, zone->end_ns - zone->begin_ns);
        put_string(w, trace_dictionary_text(w->trace->dictionary, device->name));
        csv_writer_put_number(&w->out, zone->lane);
        if (device_zone_has_key(zone))
                csv_writer_put_number(&w->out, zone->key);
        else
                csv_writer_put_empty(&w->out);
        put_string(w, trace_dictionary_text(w->trace->dictionary, zone->space));
        put_string(w, trace_dictionary_text(w->trace->dictionary, zone->text));
        csv_writer_end_row(&w->out);
        return check_output(w->out.code, err);
}

static int write_devices(struct writing *w, struct error *err)
{
        static const char *const names[] = { "name",
                                             "src_file",
                                             "Time from start of program",
                                             "GPU execution time",
                                             "device",
                                             "lane",
                                             "key",
                                             "key_kind",
                                             "text",
                                             NULL };
        struct device_zones zones;
        int r = device_zones_init(&zones, w->trace->dictionary, put_device_zone, w);

        put_header(w, names);
        r = r < 0 ? error_set(err, r, "writing the table: out of memory")
                  : device_zones_take(&zones, w->trace, w->options->filter, err);
        device_zones_deinit(&zones);
        return r;
}

/* ------------------------------------------------------------------ all of it */

static bool has_part(struct text_view name, const char *part, bool case_sensitive)
{
        size_t n = strlen(part);

        if (case_sensitive)
                return memmem(name.bytes ? name.bytes : "", name.n_bytes, part, n) != NULL;
        for (size_t i = 0; i + n <= name.n_bytes; i++)
                if (strncasecmp(name.bytes + i, part, n) == 0)
                        return true;
        return n == 0;
}

static int prepare(struct writing *w)
{
        w->n_locations = trace_dictionary_count(w->trace->dictionary, TRACE_TABLE_LOCATIONS);
        w->wanted = calloc((size_t)w->n_locations + 1, sizeof(*w->wanted));
        w->sums = calloc((size_t)w->n_locations + 1, sizeof(*w->sums));
        if (!w->wanted || !w->sums)
                return -ENOMEM;
        for (uint32_t i = 1; i <= w->n_locations; i++)
                w->wanted[i - 1] = !w->options->name ||
                                   has_part(name_of(w, i), w->options->name, w->options->case_sensitive);
        return 0;
}

/* A name that matches no zone is an error, unless messages or plots are to be printed as well. */
static int check_name(const struct writing *w, struct error *err)
{
        const char *name = w->options->name;
        struct name_guess guess;

        if (!name || w->options->messages || w->options->plots)
                return 0;
        name_guess_init(&guess, name, strlen(name));
        for (uint32_t i = 1; i <= w->n_locations; i++) {
                struct text_view zone = name_of(w, i);

                if (w->wanted[i - 1])
                        return 0;
                name_guess_offer_bytes(&guess, zone.bytes ? zone.bytes : "", zone.n_bytes);
        }
        return error_set(err, -ENOENT, "no zone of this trace has '%s' in its name%s%s%s", name,
                         guess.best[0] != '\0' ? "; did you mean '" : "", guess.best,
                         guess.best[0] != '\0' ? "'?" : "");
}

static int walk_trace(struct writing *w, const struct trace_sink *sink, struct error *err)
{
        int r = trace_walk_init(&w->walk, w->trace, w->options->filter, sink);

        if (r < 0)
                return error_set(err, r, "writing the table: out of memory");
        r = loaded_trace_walk(w->trace, &w->walk, err);
        if (r == 0 && w->options->ret_lost && lost_zones_find(w->options->ret_lost, &w->walk) < 0)
                r = error_set(err, -ENOMEM, "writing the table: out of memory");
        trace_walk_deinit(&w->walk);
        return r;
}

static int write_table(struct writing *w, struct error *err)
{
        static const char *const statistics[] = { "name",       "src_file", "src_line", "total_ns",
                                                  "total_perc", "counts",   "mean_ns",  "min_ns",
                                                  "max_ns",     "std_ns",   NULL };
        static const char *const every[] = { "name",         "src_file",  "src_line", "ns_since_start",
                                             "exec_time_ns", "thread",    "value",    "tid",
                                             "thread_name",  "zone_name", NULL };
        static const char *const messages[] = { "MessageName", "total_ns", "tid",
                                                "thread_name", "severity", NULL };
        struct trace_sink sink = { .context = w, .may_skip = true };

        if (w->options->devices)
                return write_devices(w, err);
        if (w->options->messages) {
                sink.event = put_event;
                put_header(w, messages);
                return walk_trace(w, &sink, err);
        }
        if (!w->options->unwrap) {
                int r;

                sink.zone = sum_zone;
                put_header(w, statistics);
                r = walk_trace(w, &sink, err);
                if (r == 0)
                        put_statistics(w);
                return r;
        }
        sink.zone = put_zone;
        sink.event = w->options->plots ? put_event : NULL;
        sink.wants_words = true;
        put_header(w, every);
        return walk_trace(w, &sink, err);
}

int tracy_csv_write(struct loaded_trace *trace, const struct tracy_csv_options *options, FILE *out,
                    struct error *err)
{
        struct writing w = { .options = options, .trace = trace };
        int r = loaded_trace_read_names(trace, err);

        csv_writer_init(&w.out, out, options->separator);
        w.out.is_safe = options->is_safe;
        if (r != 0)
                goto done;
        if (prepare(&w) < 0)
                r = error_set(err, -ENOMEM, "writing the table: out of memory");
        if (r != 0)
                goto done;
        r = check_name(&w, err);
        if (r != 0)
                goto done;
        r = write_table(&w, err);
        if (r != 0)
                goto done;
        r = csv_writer_finish(&w.out);
        r = check_output(r, err);

done:
        csv_writer_deinit(&w.out);
        byte_buffer_deinit(&w.line);
        free(w.wanted);
        free(w.sums);
        return r;
}
