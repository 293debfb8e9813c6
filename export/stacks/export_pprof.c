/* SPDX-License-Identifier: MIT */
/*
 * The message Profile of pprof's profile.proto: samples first, because its fields may come in any order,
 * then the tables that the samples refer to.  A sample has five values, the same in every profile, because
 * pprof compares and merges only profiles with the same values; and a sixth one if wall times were asked for.
 */
#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "base/text_view.h"
#include "export/shared/callstack_sums.h"
#include "export/shared/export_event.h"
#include "export/shared/export_format.h"
#include "export/shared/export_frames.h"
#include "export/shared/export_stream.h"
#include "export/shared/protobuf_writer.h"
#include "export/stacks/pprof_places.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

/*
 * Only the innermost of nested zones become labels, so that one sample does not become longer than all the
 * rest.
 */
#define LABEL_ZONES_MAX 64

struct pprof_export {
        struct loaded_trace *trace;
        const struct export_options *options;
        struct callstack_sums sums;
        struct export_frames frames;
        struct pprof_places places;
        struct export_stream out;
        uint32_t keys[4]; /* strings: of the labels, by enum */
};

enum { KEY_THREAD, KEY_TID, KEY_PID, KEY_ZONE };

static int intern_words(struct pprof_export *e, const char *words, uint32_t *ret_number)
{
        return pprof_places_string(&e->places, words, strlen(words), ret_number);
}

/* A kind of number: "cpu" in "nanoseconds". */
static int put_value_type(struct pprof_export *e, uint32_t field, struct text_view type,
                          struct text_view unit)
{
        uint32_t numbers[2];
        size_t begin;
        int r = pprof_places_string(&e->places, type.bytes, type.n_bytes, &numbers[0]);

        if (r == 0)
                r = pprof_places_string(&e->places, unit.bytes, unit.n_bytes, &numbers[1]);
        if (r < 0)
                return r;
        begin = protobuf_writer_begin(&e->out.buffer, field);
        protobuf_writer_put_number(&e->out.buffer, PPROF_VALUE_TYPE_TYPE, numbers[0]);
        protobuf_writer_put_number(&e->out.buffer, PPROF_VALUE_TYPE_UNIT, numbers[1]);
        protobuf_writer_end(&e->out.buffer, begin);
        return 0;
}

static struct text_view words_of(const char *words)
{
        return (struct text_view){ .bytes = words, .n_bytes = strlen(words) };
}

/*
 * A time event gets the name that every profiler uses, regardless of the kernel clock that it was measured
 * with.
 */
static void name_event(const struct pprof_export *e, struct text_view *ret_type, struct text_view *ret_unit)
{
        const struct trace_dictionary *d = e->trace->dictionary;
        const struct trace_sample_event *row;

        *ret_type = words_of("cpu");
        *ret_unit = words_of("nanoseconds");
        if (e->options->event == 0 || export_event_is_time(d, e->options->event))
                return;
        row = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS, e->options->event);
        *ret_type = trace_dictionary_text(d, row->name);
        *ret_unit = trace_dictionary_text(d, row->unit);
        if (ret_unit->n_bytes == 0)
                *ret_unit = words_of("count");
}

/* The interval between two samples; 0 = unknown, because the kernel chose it. */
static uint64_t period_of(const struct pprof_export *e)
{
        const struct trace_sample_event *row;

        if (e->options->event == 0)
                return 0;
        row = trace_dictionary_row(e->trace->dictionary, TRACE_TABLE_SAMPLE_EVENTS, e->options->event);
        if (row->mode == TRACE_SAMPLE_MODE_PERIOD)
                return row->rate;
        if (row->mode == TRACE_SAMPLE_MODE_FREQUENCY_HZ && row->rate != 0)
                return NS_PER_S / row->rate;
        return 0;
}

static int write_head(struct pprof_export *e)
{
        struct byte_buffer *b = &e->out.buffer;
        struct text_view type, unit;
        uint32_t number;
        uint64_t realtime_ns = loaded_trace_meta_number(e->trace, "start_realtime_ns");
        struct text_view command = loaded_trace_meta(e->trace, "command");
        int r;

        name_event(e, &type, &unit);
        r = put_value_type(e, PPROF_PROFILE_SAMPLE_TYPE, words_of("samples"), words_of("count"));
        r = r < 0 ? r : put_value_type(e, PPROF_PROFILE_SAMPLE_TYPE, type, unit);
        r = r < 0 ? r
                  : put_value_type(e, PPROF_PROFILE_SAMPLE_TYPE, words_of("off-cpu"),
                                   words_of("nanoseconds"));
        r = r < 0 ? r
                  : put_value_type(e, PPROF_PROFILE_SAMPLE_TYPE, words_of("alloc_objects"),
                                   words_of("count"));
        r = r < 0 ? r
                  : put_value_type(e, PPROF_PROFILE_SAMPLE_TYPE, words_of("alloc_space"), words_of("bytes"));
        if (r == 0 && e->options->wall)
                r = put_value_type(e, PPROF_PROFILE_SAMPLE_TYPE, words_of("wall"), words_of("nanoseconds"));
        r = r < 0 ? r : put_value_type(e, PPROF_PROFILE_PERIOD_TYPE, type, unit);
        r = r < 0 ? r : pprof_places_string(&e->places, type.bytes, type.n_bytes, &number);
        if (r < 0)
                return r;
        protobuf_writer_put_number(b, PPROF_PROFILE_DEFAULT_SAMPLE_TYPE, number);
        protobuf_writer_put_number(b, PPROF_PROFILE_PERIOD, period_of(e));
        protobuf_writer_put_number(b, PPROF_PROFILE_TIME_NANOS, realtime_ns);
        protobuf_writer_put_number(b, PPROF_PROFILE_DURATION_NANOS, e->trace->end_ns - e->trace->start_ns);
        r = pprof_places_string(&e->places, command.bytes, command.n_bytes, &number);
        if (r == 0 && number != 0)
                protobuf_writer_put_number(b, PPROF_PROFILE_COMMENT, number);
        r = r < 0 ? r : intern_words(e, "thread", &e->keys[KEY_THREAD]);
        r = r < 0 ? r : intern_words(e, "tid", &e->keys[KEY_TID]);
        r = r < 0 ? r : intern_words(e, "pid", &e->keys[KEY_PID]);
        r = r < 0 ? r : intern_words(e, "zone", &e->keys[KEY_ZONE]);
        return r;
}

static void put_label(struct pprof_export *e, int key, uint32_t field, uint64_t number)
{
        struct byte_buffer *b = &e->out.buffer;
        size_t begin = protobuf_writer_begin(b, PPROF_SAMPLE_LABEL);

        protobuf_writer_put_number(b, PPROF_LABEL_KEY, e->keys[key]);
        protobuf_writer_put_number(b, field, number);
        protobuf_writer_end(b, begin);
}

static int put_thread(struct pprof_export *e, uint32_t thread)
{
        const struct trace_dictionary *d = e->trace->dictionary;
        const struct trace_thread *row = trace_dictionary_row(d, TRACE_TABLE_THREADS, thread);
        const struct trace_process *process = trace_dictionary_row(d, TRACE_TABLE_PROCESSES, row->process);
        struct text_view name = process_names_thread(&e->sums.names, thread);
        uint32_t number;
        int r = pprof_places_string(&e->places, name.bytes, name.n_bytes, &number);

        if (r < 0)
                return r;
        if (number != 0)
                put_label(e, KEY_THREAD, PPROF_LABEL_STRING, number);
        if (row->kind == TRACE_THREAD_KERNEL)
                put_label(e, KEY_TID, PPROF_LABEL_NUMBER, row->tid);
        put_label(e, KEY_PID, PPROF_LABEL_NUMBER, process->pid);
        return 0;
}

/*
 * Each enclosing zone is a value of the label, so that -tagfocus=zone=NAME selects everything that happened
 * inside it.
 */
static int put_zones(struct pprof_export *e, uint32_t path)
{
        const struct trace_dictionary *d = e->trace->dictionary;
        uint32_t seen[LABEL_ZONES_MAX];
        uint32_t n_seen = 0;
        uint32_t n_around = 0;

        for (; path != 0 && n_around < LABEL_ZONES_MAX; path = zone_paths_parent(&e->sums.walk.paths, path)) {
                const struct trace_location *row = trace_dictionary_row(
                        d, TRACE_TABLE_LOCATIONS, zone_paths_location(&e->sums.walk.paths, path));
                struct text_view name = trace_dictionary_text(d, row->name ? row->name : row->function);
                uint32_t number;
                uint32_t i = 0;
                int r = pprof_places_string(&e->places, name.bytes, name.n_bytes, &number);

                if (r < 0)
                        return r;
                n_around++;
                while (i < n_seen && seen[i] != number)
                        i++;
                if (i < n_seen || number == 0)
                        continue; /* recursion */
                seen[n_seen++] = number;
                put_label(e, KEY_ZONE, PPROF_LABEL_STRING, number);
        }
        return 0;
}

/* Leaf first; zones are around everything. */
static int put_locations(struct pprof_export *e, const struct callstack_key *key)
{
        uint32_t path = e->options->zones_as_frames ? key->path : 0;
        struct byte_buffer *b = &e->out.buffer;
        size_t begin;
        int r = export_frames_of(&e->frames, &e->sums.walk.paths, path, key->stack);

        if (r < 0)
                return r;
        begin = protobuf_writer_begin(b, PPROF_SAMPLE_LOCATION);
        for (size_t i = e->frames.n_items; i > 0; i--)
                if (e->frames.items[i - 1].inline_depth == 0)
                        byte_buffer_add_varint(b, pprof_places_location(&e->places, &e->frames.items[i - 1]));
        protobuf_writer_end(b, begin);
        return 0;
}

static int write_sample(struct pprof_export *e, const struct callstack_key *key,
                        const struct callstack_sum *sums)
{
        struct byte_buffer *b = &e->out.buffer;
        size_t sample = protobuf_writer_begin(b, PPROF_PROFILE_SAMPLE);
        size_t values;
        int r;

        r = put_locations(e, key);
        if (r < 0)
                return r;
        values = protobuf_writer_begin(b, PPROF_SAMPLE_VALUE);
        for (int i = 0; i < CALLSTACK_WALL_NS + e->options->wall; i++)
                byte_buffer_add_varint(b, sums->values[i] <= INT64_MAX ? sums->values[i] : INT64_MAX);
        protobuf_writer_end(b, values);
        r = put_thread(e, key->thread);
        if (r == 0)
                r = put_zones(e, key->path);
        protobuf_writer_end(b, sample);
        return r < 0 ? r : export_stream_flush_some(&e->out);
}

static int write_profile(struct pprof_export *e)
{
        int r = write_head(e);

        for (uint32_t i = 1; i <= callstack_sums_count(&e->sums) && r == 0; i++)
                r = write_sample(e, callstack_sums_key(&e->sums, i), &e->sums.sums[i - 1]);
        return r < 0 ? r : pprof_places_write(&e->places, &e->out);
}

int export_pprof(struct loaded_trace *trace, const struct export_options *options, FILE *out,
                 struct export_totals *ret_totals, struct error *err)
{
        struct pprof_export e = { .trace = trace, .options = options };
        int r;

        export_stream_init(&e.out, out);
        r = callstack_sums_read(&e.sums, trace, options, err);
        if (r == 0 && options->wall)
                r = callstack_sums_add_wall(&e.sums, trace, err);
        if (r < 0)
                goto fail;
        r = export_frames_init(&e.frames, trace->dictionary);
        e.frames.folds = callstack_sums_folds(&e.sums);
        if (r == 0)
                r = pprof_places_init(&e.places, &e.frames);
        if (r == 0)
                r = write_profile(&e);
        if (r == -ENOMEM || r == -EOVERFLOW)
                (void)error_set(err, r, "the profile: not enough memory");
        else
                r = export_stream_finish(&e.out, err);
        if (r == 0) {
                *ret_totals = e.sums.totals;
                ret_totals->left_out[EXPORT_LEFT_OUT_LONG_STACKS] = e.frames.n_cut;
        }
fail:
        export_stream_deinit(&e.out);
        pprof_places_deinit(&e.places);
        export_frames_deinit(&e.frames);
        callstack_sums_deinit(&e.sums);
        return r;
}
