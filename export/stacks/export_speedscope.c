/* SPDX-License-Identifier: MIT */
/*
 * A file of speedscope: each thread has one profile of its samples and one of its zones.
 *
 * Samples and zones both go through an event_spool, since a profile belongs to one thread.  A frame is a
 * function without a line: with the sampled line, one function would become many frames.  Memory: the
 * functions, and the spool's buffers.
 */
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/walk/zone_stats.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/saturating.h"
#include "export/shared/event_spool.h"
#include "export/shared/export_event.h"
#include "export/shared/export_format.h"
#include "export/shared/export_frames.h"
#include "export/shared/json_out.h"
#include "export/shared/process_names.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA   "https://www.speedscope.app/file-format-schema.json"
#define EXPORTER "hyprof " HYPROF_VERSION

/* In the spool: chain 2 * (thread - 1). */
struct speedscope_sample {
        uint32_t path;
        uint32_t stack;
        uint64_t weight;
};

/* Chain 2 * (thread - 1) + 1. */
struct speedscope_event {
        uint64_t time_ns;
        uint32_t location;
        uint32_t is_close;
};

/* No padding: compared as bytes. */
struct speedscope_frame {
        uint32_t label;    /* of a function; 0 = a zone */
        uint32_t location; /* of a zone */
        uint32_t in_stack; /* a zone among the frames of a call stack, "zone:NAME" */
};

struct speedscope_export {
        struct loaded_trace *trace;
        const struct export_options *options;
        struct export_totals *totals;
        struct trace_walk walk;
        struct event_spool spool;
        struct export_frames frames;
        struct process_names names;
        struct intern used_frames; /* struct speedscope_frame; index in the file: id - 1 */
        struct json_out json;
        uint64_t largest_weight;
        uint32_t n_profiles, active_profile;
};

static uint32_t samples_chain(uint32_t thread)
{
        return 2 * (thread - 1);
}

static uint32_t zones_chain(uint32_t thread)
{
        return 2 * (thread - 1) + 1;
}

/* ------------------------------------------------------------------ while walking */

static int take_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                       struct error *err)
{
        struct speedscope_export *x = context;
        struct speedscope_sample sample = { .stack = (uint32_t)event->sample.stack };

        if (event->sample.event != x->options->event) {
                x->totals->left_out[EXPORT_LEFT_OUT_OTHER_EVENTS]++;
                return 0;
        }
        sample.weight = export_event_weight(x->trace->dictionary, x->options->event, event->sample.weight);
        if (x->options->zones_as_frames)
                sample.path = (uint32_t)event->sample.path;
        x->totals->n_samples++;
        x->totals->weight = saturating_add(x->totals->weight, sample.weight);
        return event_spool_add(&x->spool, samples_chain(thread->id), &sample, sizeof(sample), err);
}

static int add_zone_event(struct speedscope_export *x, uint32_t thread, uint64_t time_ns, uint32_t location,
                          bool is_close, struct error *err)
{
        struct speedscope_event event = { .time_ns = time_ns, .location = location, .is_close = is_close };

        return event_spool_add(&x->spool, zones_chain(thread), &event, sizeof(event), err);
}

static int begin_zone(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        return add_zone_event(context, thread->id, event->time_ns, (uint32_t)event->zone_begin.location,
                              false, err);
}

static int end_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                    struct error *err)
{
        struct speedscope_export *x = context;

        x->totals->n_zones++;
        return add_zone_event(x, thread->id, zone->end_ns, zone->location, true, err);
}

/* ------------------------------------------------------------------ frames */

static int find_frame(struct speedscope_export *x, const struct export_frame *frame, uint32_t *ret_index)
{
        struct speedscope_frame key = {
                .label = frame->label,
                .location = frame->location,
                .in_stack = frame->location != 0,
        };
        uint32_t id;
        int r = intern_add(&x->used_frames, &key, sizeof(key), &id);

        if (r >= 0)
                *ret_index = id - 1;
        return r < 0 ? r : 0;
}

static int find_zone(struct speedscope_export *x, uint32_t location, uint32_t *ret_index)
{
        struct speedscope_frame key = { .location = location };
        uint32_t id;
        int r = intern_add(&x->used_frames, &key, sizeof(key), &id);

        if (r >= 0)
                *ret_index = id - 1;
        return r < 0 ? r : 0;
}

/* The source file of a function is that of its first frame with a known file. */
static int find_files(struct speedscope_export *x, uint32_t *files)
{
        uint32_t n_frames = trace_dictionary_count(x->trace->dictionary, TRACE_TABLE_FRAMES);

        for (uint32_t i = 1; i <= n_frames; i++) {
                if (export_frames_of_frame(&x->frames, i) < 0)
                        return -ENOMEM;
                for (size_t k = 0; k < x->frames.n_items; k++) {
                        uint32_t line, label = x->frames.items[k].label;

                        if (files[label] == 0)
                                files[label] = export_frames_file(&x->frames, &x->frames.items[k], &line);
                }
        }
        return 0;
}

static void write_source(struct speedscope_export *x, uint32_t file, uint32_t line)
{
        struct text_view name = trace_dictionary_text(x->trace->dictionary, file);

        if (name.n_bytes > 0)
                json_out_pair_string(&x->json, "file", name.bytes, name.n_bytes);
        if (line != 0)
                json_out_pair_number(&x->json, "line", line);
}

static int write_frame(struct speedscope_export *x, const struct speedscope_frame *frame,
                       const uint32_t *files)
{
        struct export_frame of = { .label = frame->label, .location = frame->location };
        struct text_view name;
        uint32_t line = 0, file = frame->label != 0 ? files[frame->label] : 0;

        name.bytes = export_frames_name(&x->frames, &of, &name.n_bytes);
        if (!name.bytes)
                return -ENOMEM;
        if (frame->location != 0) {
                file = export_frames_file(&x->frames, &of, &line);
                if (!frame->in_stack)
                        name = export_frames_zone_name(x->trace->dictionary, frame->location);
        }
        json_out_open(&x->json, '{');
        json_out_pair_string(&x->json, "name", name.bytes, name.n_bytes);
        write_source(x, file, line);
        json_out_close(&x->json, '}');
        json_out_line(&x->json);
        return 0;
}

static int write_frames(struct speedscope_export *x)
{
        uint32_t *files = calloc((size_t)x->frames.functions.frames.n_labels + 1, sizeof(*files));
        int r = files ? find_files(x, files) : -ENOMEM;

        json_out_key(&x->json, "shared");
        json_out_open(&x->json, '{');
        json_out_key(&x->json, "frames");
        json_out_open(&x->json, '[');
        for (uint32_t i = 1; r == 0 && i <= x->used_frames.n_items; i++)
                r = write_frame(x, intern_get(&x->used_frames, i, NULL), files);
        json_out_close(&x->json, ']');
        json_out_close(&x->json, '}');
        free(files);
        return r;
}

/* ------------------------------------------------------------------ profiles */

static void begin_profile(struct speedscope_export *x, const char *type, uint32_t thread, const char *what,
                          const char *unit)
{
        struct text_view name = process_names_thread(&x->names, thread);
        char words[64];
        struct byte_buffer title = { .data = NULL };

        (void)snprintf(words, sizeof(words), "%s%" PRIu32 ": %s", name.n_bytes > 0 ? " " : "",
                       process_names_tid(&x->names, thread), what);
        byte_buffer_add(&title, name.bytes, name.n_bytes);
        byte_buffer_add(&title, words, strlen(words));
        if (title.failed)
                x->json.code = -ENOMEM;
        json_out_open(&x->json, '{');
        json_out_pair_words(&x->json, "type", type);
        json_out_pair_string(&x->json, "name", (const char *)title.data, title.used_bytes);
        json_out_pair_words(&x->json, "unit", unit);
        json_out_pair_number(&x->json, "startValue", 0);
        byte_buffer_deinit(&title);
        x->n_profiles++;
}

static int write_stack(struct speedscope_export *x, const struct speedscope_sample *sample)
{
        int r = export_frames_of(&x->frames, &x->walk.paths, sample->path, sample->stack);

        json_out_open(&x->json, '[');
        for (size_t i = 0; r == 0 && i < x->frames.n_items; i++) {
                uint32_t index;

                r = find_frame(x, &x->frames.items[i], &index);
                if (r == 0)
                        json_out_number(&x->json, index);
        }
        json_out_close(&x->json, ']');
        return r;
}

/* One of the two columns of a thread's samples. */
static int write_column(struct speedscope_export *x, uint32_t thread, bool wants_weights,
                        uint64_t *ret_weight, struct error *err)
{
        struct spool_cursor cursor;
        const void *at;
        int r;

        *ret_weight = 0;
        json_out_key(&x->json, wants_weights ? "weights" : "samples");
        json_out_open(&x->json, '[');
        spool_cursor_init(&cursor, &x->spool, samples_chain(thread));
        while ((r = spool_cursor_next(&cursor, sizeof(struct speedscope_sample), &at, err)) == 1) {
                const struct speedscope_sample *sample = at;

                *ret_weight = saturating_add(*ret_weight, sample->weight);
                if (wants_weights)
                        json_out_number(&x->json, sample->weight);
                else if (write_stack(x, sample) < 0)
                        r = error_set(err, -ENOMEM, "no memory for the frames");
                if (r < 0)
                        break;
        }
        spool_cursor_deinit(&cursor);
        json_out_close(&x->json, ']');
        json_out_line(&x->json);
        return r < 0 ? r : 0;
}

static int write_samples(struct speedscope_export *x, uint32_t thread, struct error *err)
{
        bool is_time = export_event_is_time(x->trace->dictionary, x->options->event);
        uint64_t weight;
        int r;

        begin_profile(x, "sampled", thread, "samples", is_time ? "nanoseconds" : "none");
        r = write_column(x, thread, false, &weight, err);
        if (r == 0)
                r = write_column(x, thread, true, &weight, err);
        json_out_pair_number(&x->json, "endValue", weight);
        json_out_close(&x->json, '}');
        json_out_line(&x->json);
        if (weight > x->largest_weight) {
                x->largest_weight = weight;
                x->active_profile = x->n_profiles - 1;
        }
        return r;
}

static uint64_t since_start(const struct speedscope_export *x, uint64_t time_ns)
{
        return time_ns > x->trace->start_ns ? time_ns - x->trace->start_ns : 0;
}

static int write_event(struct speedscope_export *x, const struct speedscope_event *event, uint64_t *last_ns)
{
        uint64_t time_ns = since_start(x, event->time_ns);
        uint32_t index = 0;
        int r = find_zone(x, event->location, &index);

        if (time_ns > *last_ns)
                *last_ns = time_ns;
        json_out_open(&x->json, '{');
        json_out_pair_words(&x->json, "type", event->is_close ? "C" : "O");
        json_out_pair_number(&x->json, "frame", index);
        json_out_pair_number(&x->json, "at", *last_ns);
        json_out_close(&x->json, '}');
        return r;
}

static int write_zones(struct speedscope_export *x, uint32_t thread, struct error *err)
{
        uint64_t last_ns = 0, end_ns = since_start(x, x->trace->end_ns);
        struct spool_cursor cursor;
        const void *at;
        int r;

        begin_profile(x, "evented", thread, "zones", "nanoseconds");
        json_out_key(&x->json, "events");
        json_out_open(&x->json, '[');
        spool_cursor_init(&cursor, &x->spool, zones_chain(thread));
        while ((r = spool_cursor_next(&cursor, sizeof(struct speedscope_event), &at, err)) == 1) {
                if (write_event(x, at, &last_ns) < 0) {
                        r = error_set(err, -ENOMEM, "no memory for the frames");
                        break;
                }
        }
        spool_cursor_deinit(&cursor);
        json_out_close(&x->json, ']');
        json_out_pair_number(&x->json, "endValue", last_ns > end_ns ? last_ns : end_ns);
        json_out_close(&x->json, '}');
        json_out_line(&x->json);
        return r < 0 ? r : 0;
}

/* speedscope would not open a file without profiles. */
static void write_no_profile(struct speedscope_export *x)
{
        json_out_open(&x->json, '{');
        json_out_pair_words(&x->json, "type", "sampled");
        json_out_pair_words(&x->json, "name", "nothing was recorded");
        json_out_pair_words(&x->json, "unit", "nanoseconds");
        json_out_pair_number(&x->json, "startValue", 0);
        json_out_pair_number(&x->json, "endValue", 0);
        json_out_key(&x->json, "samples");
        json_out_open(&x->json, '[');
        json_out_close(&x->json, ']');
        json_out_key(&x->json, "weights");
        json_out_open(&x->json, '[');
        json_out_close(&x->json, ']');
        json_out_close(&x->json, '}');
}

static int write_profiles(struct speedscope_export *x, struct error *err)
{
        int r = 0;

        json_out_key(&x->json, "profiles");
        json_out_open(&x->json, '[');
        for (uint32_t i = 1; r == 0 && i <= x->names.n_threads; i++) {
                if (event_spool_bytes(&x->spool, samples_chain(i)) > 0)
                        r = write_samples(x, i, err);
                if (r == 0 && event_spool_bytes(&x->spool, zones_chain(i)) > 0)
                        r = write_zones(x, i, err);
        }
        if (x->n_profiles == 0)
                write_no_profile(x);
        json_out_close(&x->json, ']');
        return r;
}

static int write_file(struct speedscope_export *x, struct error *err)
{
        struct text_view command = loaded_trace_meta(x->trace, "command");
        int r;

        json_out_open(&x->json, '{');
        json_out_pair_words(&x->json, "$schema", SCHEMA);
        json_out_pair_words(&x->json, "exporter", EXPORTER);
        json_out_pair_string(&x->json, "name", command.bytes, command.n_bytes);
        r = write_profiles(x, err);
        json_out_pair_number(&x->json, "activeProfileIndex", x->active_profile);
        if (r == 0 && write_frames(x) < 0)
                r = error_set(err, -ENOMEM, "no memory for the frames");
        json_out_close(&x->json, '}');
        json_out_line(&x->json);
        if (r == 0) {
                r = json_out_finish(&x->json);
                if (r < 0)
                        r = error_set(err, r, r == -ENOMEM ? "no memory to write" : "writing failed");
        }
        return r;
}

static int export_it(struct speedscope_export *x, FILE *out, struct error *err)
{
        struct trace_sink sink = {
                .context = x,
                .begin_zone = begin_zone,
                .zone = end_zone,
                .sample = take_sample,
                .may_skip = true,
        };
        int r = export_frames_init(&x->frames, x->trace->dictionary);

        if (r != 0)
                goto done;
        r = process_names_init(&x->names, x->trace->dictionary);
        if (r != 0)
                goto done;
        r = json_out_init(&x->json, out);
        if (r != 0)
                goto done;
        r = trace_walk_init(&x->walk, x->trace, x->options->filter, &sink);

done:
        if (r < 0)
                return error_set(err, r, "no memory to read the trace");
        r = loaded_trace_walk(x->trace, &x->walk, err);
        if (r < 0)
                return r;
        process_names_learn(&x->names, &x->walk);
        r = write_file(x, err);
        x->totals->left_out[EXPORT_LEFT_OUT_LONG_STACKS] += x->frames.n_cut;
        export_totals_leave_out(x->totals, &x->walk,
                                ~(1U << EXPORT_LEFT_OUT_SAMPLES | 1U << EXPORT_LEFT_OUT_ZONES));
        return r;
}

int export_speedscope(struct loaded_trace *trace, const struct export_options *options, FILE *out,
                      struct export_totals *ret_totals, struct error *err)
{
        struct speedscope_export x = { .trace = trace, .options = options, .totals = ret_totals };
        int r;

        *ret_totals = (struct export_totals){ .n_samples = 0 };
        event_spool_init(&x.spool);
        intern_init(&x.used_frames, sizeof(struct speedscope_frame), 0);
        r = export_it(&x, out, err);
        trace_walk_deinit(&x.walk);
        json_out_deinit(&x.json);
        process_names_deinit(&x.names);
        export_frames_deinit(&x.frames);
        intern_deinit(&x.used_frames);
        event_spool_deinit(&x.spool);
        return r;
}
