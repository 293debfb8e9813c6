/* SPDX-License-Identifier: MIT */
#include "import/rows/import_trace.h"

#include "analyze/trace/meta_value.h"
#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/trace_event.h"
#include "format/trace_reader.h"
#include "format/trace_writer.h"
#include "import/rows/import_boot.h"
#include "import/rows/import_events.h"
#include "import/rows/import_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIKE_MAX 64 /* spans of one begin and end that are put in the order of parents */

/* The place of a record on the timeline; both are equal if it is no span. */
struct placed_times {
        uint64_t begin_ns, end_ns;
};

static int out_of_memory(int code, struct error *err)
{
        return error_set(err, code, code == -EOVERFLOW ? "a table of the trace is full" : "out of memory");
}

/* ---- from the beginning to the end --------------------------------------------------------------------- */

static void init_keys(struct import_rows *rows)
{
        intern_init(&rows->track_keys, sizeof(struct import_track_key), 0);
        intern_init(&rows->thread_keys, sizeof(struct import_thread_key), 0);
        intern_init(&rows->process_keys, sizeof(uint32_t), 0);
        intern_init(&rows->named_keys, sizeof(struct import_process_key), 0);
        intern_init(&rows->device_keys, sizeof(struct import_device_key), 0);
        intern_init(&rows->plot_names, sizeof(uint32_t), 0);
        intern_init(&rows->plot_keys, sizeof(struct import_plot_key), 0);
        import_key_spaces_init(&rows->key_spaces);
        import_namesakes_init(&rows->namesakes);
}

int import_trace_new(struct import_rows **ret_rows, const struct import_options *options, struct error *err)
{
        struct import_rows *rows = calloc(1, sizeof(*rows));
        int r;

        if (!rows)
                return error_set(err, -ENOMEM, "no memory to import");
        rows->options = *options;
        trace_dictionary_init(&rows->own, 0);
        init_keys(rows);
        rows->dictionary = options->into ? trace_reader_edit(options->into) : &rows->own;
        rows->n_processes_before = trace_dictionary_count(rows->dictionary, TRACE_TABLE_PROCESSES);
        rows->n_strings_before = trace_dictionary_count(rows->dictionary, TRACE_TABLE_STRINGS);
        rows->last_located = rows->n_strings_before;
        rows->n_imports_before = trace_dictionary_count(rows->dictionary, TRACE_TABLE_IMPORTS);
        r = import_sort_new(&rows->sort, options->runs_fd > 0 ? options->runs_fd : -1, options->run_bytes,
                            err);
        if (r == 0)
                r = import_texts_new(&rows->texts, options->texts_fd > 0 ? options->texts_fd : -1, err);
        if (r < 0) {
                import_trace_free(rows);
                return r;
        }
        *ret_rows = rows;
        return 0;
}

void import_trace_free(struct import_rows *rows)
{
        if (!rows)
                return;
        for (size_t i = 0; i < rows->n_files; i++)
                free(rows->files[i].left_out);
        trace_dictionary_deinit(&rows->own);
        intern_deinit(&rows->track_keys);
        intern_deinit(&rows->thread_keys);
        intern_deinit(&rows->process_keys);
        intern_deinit(&rows->named_keys);
        intern_deinit(&rows->device_keys);
        intern_deinit(&rows->plot_names);
        intern_deinit(&rows->plot_keys);
        import_key_spaces_deinit(&rows->key_spaces);
        import_namesakes_deinit(&rows->namesakes);
        import_sort_free(rows->sort);
        import_texts_free(rows->texts);
        import_clocks_deinit(&rows->clocks);
        import_lanes_deinit(&rows->lanes);
        free(rows->tracks);
        free(rows->tracks_by_key);
        free(rows->files);
        free(rows->threads);
        free(rows->processes);
        free(rows->named);
        free(rows->devices);
        free(rows->plot_roots);
        free(rows->plots);
        free(rows->carriers);
        free(rows->mappings);
        free(rows->keys);
        free(rows);
}

int import_trace_begin_file(struct import_rows *rows, const char *path, struct error *err)
{
        struct import_file file = { .path = path,
                                    .set = (uint32_t)rows->n_files + 1,
                                    .first_clock = rows->clocks.n_clocks + 1,
                                    .end_clock = rows->clocks.n_clocks + 1 };

        if (array_reserve(&rows->files, &rows->files_capacity, rows->n_files + 1, sizeof(file)) < 0 ||
            array_extend(&rows->carriers, &rows->carriers_capacity, rows->n_files, rows->n_files + 1,
                         sizeof(*rows->carriers)) < 0)
                return out_of_memory(-ENOMEM, err);
        rows->files[rows->n_files++] = file;
        return 0;
}

int import_trace_place(struct import_rows *rows, struct error *err)
{
        const struct import_placing how = {
                .into = rows->options.into ? rows->dictionary : NULL,
                .said = rows->options.said,
                .error_ns = rows->options.clock_error_ns,
        };
        int r;

        if (rows->options.into) {
                rows->sums.start_ns = meta_value_number(rows->dictionary, "start_raw_ns");
                rows->sums.end_ns = meta_value_number(rows->dictionary, "end_raw_ns");
        }
        rows->unplaced_ns = rows->sums.start_ns != 0 ? rows->sums.start_ns : 1;
        r = import_clocks_place(&rows->clocks, &how, err);
        /* --clock raw takes the times as they are, of whatever clock. */
        if (r == 0 && how.into && how.said != IMPORT_CLOCK_RAW)
                r = import_boot_check(rows, err);
        return r;
}

size_t import_trace_count_files(const struct import_rows *rows)
{
        return rows->n_files;
}

const struct import_file *import_trace_file(const struct import_rows *rows, size_t index)
{
        return &rows->files[index];
}

const struct import_clocks *import_trace_clocks(const struct import_rows *rows)
{
        return &rows->clocks;
}

const struct import_sums *import_trace_sums(const struct import_rows *rows)
{
        return &rows->sums;
}

const struct trace_dictionary *import_trace_dictionary(const struct import_rows *rows)
{
        return rows->dictionary;
}

/* ---- events of the host -------------------------------------------------------------------------------- */

static uint64_t place(const void *context, uint32_t clock, uint64_t ticks)
{
        const struct import_rows *rows = context;
        uint64_t time_ns;

        if (!rows->clocks.clocks[clock - 1].is_placed)
                return rows->unplaced_ns;
        time_ns = import_clocks_time(&rows->clocks, clock, ticks);
        return time_ns != 0 ? time_ns : 1;
}

static int end_zones(struct import_rows *rows, uint64_t now_ns, struct error *err)
{
        struct trace_event event = { .op = TRACE_OP_ZONE_END };
        uint32_t thread;

        while (import_lanes_end(&rows->lanes, now_ns, &thread, &event.time_ns)) {
                int r = import_events_add(rows->events, thread, &event, err);

                if (r < 0)
                        return r;
        }
        return 0;
}

/* The text of a span or instant; a trace has no text beyond its limit. */
static int find_text(struct import_rows *rows, uint32_t id, struct text_view *ret_text, struct error *err)
{
        int r = 0;

        if (import_texts_has(id))
                r = import_texts_get(rows->texts, id, ret_text, err);
        else
                *ret_text = trace_dictionary_text(rows->dictionary, id);
        if (r == 0 && ret_text->n_bytes > TRACE_TEXT_BYTES_MAX)
                ret_text->n_bytes = TRACE_TEXT_BYTES_MAX;
        return r;
}

static uint32_t find_space(struct import_rows *rows, uint32_t track, uint32_t kind)
{
        uint32_t file = rows->tracks[track - 1].file;

        return kind == 0 ? 0 : import_key_spaces_find(&rows->key_spaces, rows->files[file - 1].set, kind);
}

static int put_keys(struct import_rows *rows, const struct import_record *record, uint64_t time_ns,
                    uint32_t thread, struct error *err)
{
        const struct import_key keys = { record->key_kind, record->key };
        struct import_key key;
        uint32_t at = 0;
        int r = 0;

        while (r == 0 && import_rows_next_key(rows, keys, &at, &key)) {
                struct trace_event event = { .op = TRACE_OP_ZONE_KEY, .time_ns = time_ns };

                event.zone_key.space = find_space(rows, record->track, key.kind);
                event.zone_key.key = key.value;
                r = import_events_add(rows->events, thread, &event, err);
        }
        return r;
}

/* Work of a device has one key. */
static void find_key(struct import_rows *rows, const struct import_record *record, uint64_t *ret_key,
                     uint64_t *ret_space)
{
        const struct import_key keys = { record->key_kind, record->key };
        struct import_key key = keys;
        uint32_t at = 0;

        (void)import_rows_next_key(rows, keys, &at, &key);
        *ret_key = key.value;
        *ret_space = find_space(rows, record->track, key.kind);
}

static int put_zone(struct import_rows *rows, const struct import_record *record, uint64_t time_ns,
                    uint32_t thread, struct error *err)
{
        struct trace_event begin = { .op = TRACE_OP_ZONE_BEGIN, .time_ns = time_ns };
        int r;

        begin.zone_begin.location = record->what;
        r = import_events_add(rows->events, thread, &begin, err);
        if (r == 0)
                r = put_keys(rows, record, time_ns, thread, err);
        if (r == 0 && record->text != 0) {
                struct trace_event event = { .op = TRACE_OP_ZONE_TEXT, .time_ns = time_ns };
                struct text_view text;

                r = find_text(rows, record->text, &text, err);
                if (r < 0)
                        return r;
                event.text = text.bytes;
                event.operand[0] = text.n_bytes;
                r = import_events_add(rows->events, thread, &event, err);
        }
        return r;
}

static int put_span(struct import_rows *rows, const struct import_record *record, struct placed_times at,
                    uint32_t index, struct error *err)
{
        uint32_t file = rows->tracks[record->track - 1].file, lane = 0;
        uint64_t time_ns = at.begin_ns, end_ns = at.end_ns;
        struct import_nesting nesting = { 0, 0 };
        int r = 0;

        if (record->key_kind == 0)
                nesting = (struct import_nesting){ (uint32_t)(record->key >> 32), (uint32_t)record->key };
        switch (import_lanes_fit(&rows->lanes, rows->threads[index - 1].lane, end_ns, nesting, &lane)) {
        case IMPORT_FIT_NESTED:
                break;
        case IMPORT_FIT_NONE:
                r = import_tracks_add_lane(rows, index, lane, time_ns, &lane, err);
                break;
        case IMPORT_FIT_TOO_DEEP:
                import_rows_lose(rows, file, "span nested deeper than 4,095", 1);
                return 0;
        case IMPORT_FIT_TOO_MANY:
                import_rows_lose(rows, file, "span that crosses 256 others of its thread", 1);
                return 0;
        }
        if (r == 0)
                r = put_zone(rows, record, time_ns, rows->lanes.lanes[lane - 1].thread, err);
        if (r == 0 && import_lanes_open(&rows->lanes, lane, end_ns, nesting.id) < 0)
                r = out_of_memory(-ENOMEM, err);
        return r;
}

static int put_message(struct import_rows *rows, const struct import_record *record, uint64_t time_ns,
                       uint32_t thread, struct error *err)
{
        const struct trace_location *location = trace_dictionary_row(rows->dictionary, TRACE_TABLE_LOCATIONS,
                                                                     record->what);
        struct trace_event event = { .op = TRACE_OP_MESSAGE, .time_ns = time_ns };
        struct byte_buffer words = { .data = NULL };
        struct text_view name = trace_dictionary_text(rows->dictionary, location->name), text;
        int r;

        event.message.text = location->name;
        event.message.severity = 2; /* info */
        if (record->text == 0)
                return import_events_add(rows->events, thread, &event, err);
        r = find_text(rows, record->text, &text, err);
        if (r < 0)
                return r;
        byte_buffer_add(&words, name.bytes, name.n_bytes);
        byte_buffer_add(&words, ": ", 2);
        byte_buffer_add(&words, text.bytes, text.n_bytes);
        event = (struct trace_event){ .op = TRACE_OP_MESSAGE_TEXT, .time_ns = time_ns };
        event.text = (const char *)words.data;
        event.message_text.text_bytes = words.used_bytes < TRACE_TEXT_BYTES_MAX ? words.used_bytes
                                                                                : TRACE_TEXT_BYTES_MAX;
        event.message_text.severity = 2;
        r = words.failed ? out_of_memory(-ENOMEM, err) : import_events_add(rows->events, thread, &event, err);
        byte_buffer_deinit(&words);
        return r;
}

static bool is_of_flow(const struct import_record *record)
{
        return record->kind == IMPORT_RECORD_INSTANT && record->end != 0;
}

static int put_flow(struct import_rows *rows, const struct import_record *record, uint64_t time_ns,
                    uint32_t thread, struct error *err)
{
        struct trace_event event = { .op = TRACE_OP_FLOW, .time_ns = time_ns };

        event.flow.space = find_space(rows, record->track, record->key_kind);
        event.flow.id = record->key;
        event.flow.phase = record->end;
        return import_events_add(rows->events, thread, &event, err);
}

static int put_plot(struct import_rows *rows, const struct import_record *record, uint64_t time_ns,
                    uint32_t thread, struct error *err)
{
        const struct trace_plot *plot = trace_dictionary_row(rows->dictionary, TRACE_TABLE_PLOTS,
                                                             record->what);
        struct trace_event event = { .op = TRACE_OP_PLOT_I64, .time_ns = time_ns };

        event.plot_i64.name = plot->name;
        event.plot_i64.value = (int64_t)record->end;
        if (record->key == IMPORT_VALUE_DOUBLE ||
            (record->key == IMPORT_VALUE_UNSIGNED && record->end > INT64_MAX)) {
                double value = (double)record->end;

                event.op = TRACE_OP_PLOT_F64;
                event.plot_f64.name = plot->name;
                if (record->key == IMPORT_VALUE_UNSIGNED)
                        memcpy(&event.plot_f64.bits, &value, sizeof(value));
                else
                        event.plot_f64.bits = record->end;
        }
        return import_events_add(rows->events, thread, &event, err);
}

static int put_on_host(struct import_rows *rows, const struct import_record *record, struct placed_times at,
                       struct error *err)
{
        uint64_t time_ns = at.begin_ns;
        uint32_t index, thread;
        int r;

        if (record->kind >= IMPORT_RECORD_SAMPLE)
                return import_samples_put(rows, record, time_ns, err);
        r = import_tracks_thread(rows, record->track, time_ns, &index, err);

        if (r < 0)
                return r;
        thread = rows->threads[index - 1].thread;
        if (record->kind == IMPORT_RECORD_SPAN)
                return put_span(rows, record, at, index, err);
        if (is_of_flow(record))
                return put_flow(rows, record, time_ns, thread, err);
        return record->kind == IMPORT_RECORD_INSTANT ? put_message(rows, record, time_ns, thread, err)
                                                     : put_plot(rows, record, time_ns, thread, err);
}

/* ---- events of devices --------------------------------------------------------------------------------- */

/* Texts of devices are strings in a trace. */
static int find_string(struct import_rows *rows, const struct import_record *record, uint32_t *ret_string,
                       struct error *err)
{
        struct text_view text;
        int r;

        *ret_string = record->text;
        if (!import_texts_has(record->text))
                return 0;
        r = find_text(rows, record->text, &text, err);
        return r < 0 ? r
                     : import_rows_add_device_text(rows, rows->tracks[record->track - 1].file, text,
                                                   ret_string, err);
}

static int put_on_device(struct import_rows *rows, const struct import_record *record, uint64_t time_ns,
                         struct error *err)
{
        const struct import_place *track = &rows->tracks[record->track - 1];
        struct trace_event event = { .time_ns = time_ns };
        uint32_t thread, text = 0;
        int r = import_tracks_carrier(rows, track->file, time_ns, &thread, err);

        if (r == 0)
                r = import_tracks_device(rows, record->track, time_ns, err);
        if (r == 0)
                r = find_string(rows, record, &text, err);
        if (r < 0)
                return r;
        if (record->kind == IMPORT_RECORD_SPAN) {
                event.op = TRACE_OP_DEVICE_SPAN;
                event.device_span.device = track->device;
                event.device_span.location = record->what;
                event.device_span.begin_ticks = record->begin;
                event.device_span.length_ticks = record->end - record->begin;
                event.device_span.lane = track->lane;
                find_key(rows, record, &event.device_span.key, &event.device_span.space);
                event.device_span.text = text;
        } else if (record->kind == IMPORT_RECORD_INSTANT) {
                event.op = TRACE_OP_DEVICE_INSTANT;
                event.device_instant.device = track->device;
                event.device_instant.location = record->what;
                event.device_instant.ticks = record->begin;
                event.device_instant.lane = track->lane;
                find_key(rows, record, &event.device_instant.key, &event.device_instant.space);
                event.device_instant.text = text;
        } else {
                event.op = TRACE_OP_DEVICE_VALUE;
                event.device_value.device = track->device;
                event.device_value.plot = record->what;
                event.device_value.ticks = record->begin;
                event.device_value.lane = track->lane;
                event.device_value.kind = record->key; /* both enums have one order */
                event.device_value.bits = record->end;
        }
        return import_events_add(rows->events, thread, &event, err);
}

_Static_assert((int)IMPORT_VALUE_DOUBLE == (int)TRACE_VALUE_DOUBLE &&
                       (int)IMPORT_VALUE_SIGNED == (int)TRACE_VALUE_SIGNED &&
                       (int)IMPORT_VALUE_UNSIGNED == (int)TRACE_VALUE_UNSIGNED,
               "values are written as they come");

/* ---- all ----------------------------------------------------------------------------------------------- */

static void count_place(struct import_rows *rows, const struct import_record *record, struct placed_times at)
{
        const struct import_clocks *clocks = &rows->clocks;
        uint64_t bound_ns = clocks->clocks[rows->tracks[record->track - 1].clock - 1].line.bound_ns;
        struct import_sums *sums = &rows->sums;

        /* A reader of the trace places ticks by all readings: up to the bound before this place. */
        if (sums->first_ns == 0 && bound_ns != IMPORT_BOUND_UNKNOWN && bound_ns < at.begin_ns)
                sums->first_ns = at.begin_ns - bound_ns;
        if (sums->first_ns == 0)
                sums->first_ns = at.begin_ns;
        if (at.end_ns > sums->last_ns)
                sums->last_ns = at.end_ns;
        if (record->kind == IMPORT_RECORD_SPAN && sums->start_ns != 0 &&
            (at.end_ns < sums->start_ns || (sums->end_ns != 0 && at.begin_ns > sums->end_ns)))
                sums->n_outside++;
}

/* Ends what ended before it, if that is not done yet. */
static int put_record(struct import_rows *rows, const struct import_record *record, struct placed_times at,
                      bool may_end, struct error *err)
{
        /* An event of a flow is within a zone that ends at its time. */
        uint64_t ended_ns = at.begin_ns - (is_of_flow(record) && at.begin_ns != 0);
        int r = 0;

        rows->file_now = rows->tracks[record->track - 1].file;
        count_place(rows, record, at);
        if (may_end && import_lanes_has_end(&rows->lanes, ended_ns))
                r = end_zones(rows, ended_ns, err);
        if (r < 0)
                return r;
        return rows->tracks[record->track - 1].is_of_device ? put_on_device(rows, record, at.begin_ns, err)
                                                            : put_on_host(rows, record, at, err);
}

/* Spans that say which one they are a part of, and have one begin and one end.  Parents may come last. */
struct alike {
        struct import_record records[ALIKE_MAX];
        size_t n;
        struct placed_times at;
};

static bool has_nesting(const struct import_record *record)
{
        return record->kind == IMPORT_RECORD_SPAN && record->key_kind == 0 && record->key != 0;
}

/* The first one whose parent is not among them. */
static size_t find_outermost(const struct alike *a)
{
        for (size_t i = 0; i < a->n; i++) {
                uint32_t parent = (uint32_t)a->records[i].key;
                size_t at = 0;

                while (at < a->n && (at == i || (uint32_t)(a->records[at].key >> 32) != parent))
                        at++;
                if (at == a->n)
                        return i;
        }
        return 0;
}

static int put_alike(struct import_rows *rows, struct alike *a, struct error *err)
{
        bool is_first = true;
        int r = 0;

        for (; r >= 0 && a->n > 0; is_first = false) {
                size_t i = find_outermost(a);

                r = put_record(rows, &a->records[i], a->at, is_first, err);
                a->n--;
                memmove(&a->records[i], &a->records[i + 1], (a->n - i) * sizeof(a->records[0]));
        }
        return r;
}

static int put_records(struct import_rows *rows, struct error *err)
{
        struct import_record record;
        struct placed_times at;
        struct alike alike = { .n = 0 };
        int r = import_sort_begin(rows->sort, place, rows, err);

        while (r >= 0 && (r = import_sort_next(rows->sort, &record, &at.begin_ns, &at.end_ns, err)) == 1) {
                bool waits = has_nesting(&record);

                if (alike.n == ALIKE_MAX || !waits || at.begin_ns != alike.at.begin_ns ||
                    at.end_ns != alike.at.end_ns)
                        r = put_alike(rows, &alike, err);
                if (r < 0)
                        break;
                if (waits) {
                        alike.records[alike.n++] = record;
                        alike.at = at;
                } else {
                        r = put_record(rows, &record, at, true, err);
                }
        }
        if (r >= 0)
                r = put_alike(rows, &alike, err);
        return r < 0 ? r : end_zones(rows, UINT64_MAX, err);
}

static int add_meta(struct import_rows *rows, const char *key, const char *value)
{
        struct trace_meta row;
        uint32_t id;
        int r = trace_dictionary_add_string(rows->dictionary, key, strlen(key), &row.key);

        if (r == 0)
                r = trace_dictionary_add_string(rows->dictionary, value, strlen(value), &row.value);
        return r < 0 ? r : trace_dictionary_add(rows->dictionary, TRACE_TABLE_META, &row, &id);
}

static int add_meta_number(struct import_rows *rows, const char *key, uint64_t value)
{
        char text[24];

        (void)snprintf(text, sizeof(text), "%" PRIu64, value);
        return add_meta(rows, key, text);
}

/* A trace without a recording has these facts about itself. */
static int add_all_meta(struct import_rows *rows)
{
        const struct import_options *o = &rows->options;
        uint64_t start_ns = rows->clocks.start_ns != 0 && rows->clocks.start_ns < rows->sums.first_ns
                                    ? rows->clocks.start_ns
                                    : rows->sums.first_ns;
        int r = add_meta(rows, "timeline_clock", import_clock_kind_name(rows->clocks.timeline));

        if (r == 0 && o->command)
                r = add_meta(rows, "command", o->command);
        if (r == 0 && o->hyprof_version)
                r = add_meta(rows, "hyprof_version", o->hyprof_version);
        if (r == 0)
                r = add_meta_number(rows, "start_raw_ns", start_ns);
        if (r == 0)
                r = add_meta_number(rows, "end_raw_ns", rows->sums.last_ns);
        if (r == 0 && rows->clocks.timeline == IMPORT_CLOCK_REALTIME)
                r = add_meta_number(rows, "start_realtime_ns", rows->sums.first_ns);
        return r;
}

static int add_file_row(struct import_rows *rows, const struct import_file *file)
{
        struct trace_dictionary *d = rows->dictionary;
        struct trace_import row = {
                .n_rows = file->n_rows,
                .n_malformed = file->n_malformed,
                .first_malformed_at = file->first_malformed_at,
                .n_dropped = file->n_dropped,
                .cut_at = file->is_cut && file->cut_at == 0 ? 1 : file->cut_at,
                .version = file->version,
        };
        const char *clock = NULL;
        uint32_t import, id;
        int r = trace_dictionary_add_string(d, file->path, strlen(file->path), &row.file);

        for (uint32_t i = file->first_clock; i < file->end_clock; i++) {
                const struct placed_clock *p = &rows->clocks.clocks[i - 1];

                if (p->first > p->last)
                        continue;
                clock = clock && !p->is_for_host ? clock : import_clock_kind_name(p->clock.kind);
                if (!p->is_placed || p->line.bound_ns > row.error_ns)
                        row.error_ns = p->is_placed ? p->line.bound_ns : IMPORT_BOUND_UNKNOWN;
        }
        if (r == 0)
                r = trace_dictionary_add_string(d, file->format, strlen(file->format), &row.format);
        if (r == 0 && file->n_malformed != 0)
                r = trace_dictionary_add_string(d, file->first_malformed, strlen(file->first_malformed),
                                                &row.first_malformed);
        if (r == 0 && clock)
                r = trace_dictionary_add_string(d, clock, strlen(clock), &row.clock);
        if (r == 0)
                r = trace_dictionary_add(d, TRACE_TABLE_IMPORTS, &row, &import);
        for (size_t i = 0; i < file->n_left_out && r == 0; i++) {
                struct trace_import_loss loss = { file->left_out[i].n, import, file->left_out[i].kind };

                r = trace_dictionary_add(d, TRACE_TABLE_IMPORT_LOSSES, &loss, &id);
        }
        return r;
}

static bool is_table(const struct trace_chunk_header *header)
{
        return header->kind >= TRACE_TABLE_FIRST;
}

/* The recording's tables first, so that new rows have ids after theirs in every chunk that follows. */
static int copy_tables(struct import_rows *rows, struct trace_writer *writer, struct error *err)
{
        struct trace_reader *reader = rows->options.into;
        struct trace_item item;
        int r = trace_reader_rewind(reader, err);

        while (r >= 0 && (r = trace_reader_next_wanted(reader, is_table, &item, err)) == 1)
                r = trace_writer_copy(writer, &item, err);
        return r < 0 ? r : trace_reader_rewind(reader, err);
}

static int write_end(struct import_rows *rows, struct trace_writer *writer, struct error *err)
{
        int r = import_samples_put_mappings(rows, err);

        if (r < 0)
                return r;
        r = rows->options.into ? 0 : add_all_meta(rows);

        for (size_t i = 0; i < rows->n_files && r == 0; i++)
                r = add_file_row(rows, &rows->files[i]);
        if (r < 0 || rows->has_failed)
                return out_of_memory(r < 0 ? r : -ENOMEM, err);
        r = trace_writer_put_tables(writer, rows->dictionary, err);
        return r < 0 ? r : trace_writer_finish(writer, err);
}

int import_trace_write(struct import_rows *rows, struct trace_writer *writer, struct error *err)
{
        int r;

        trace_writer_pack_fast(writer);
        r = rows->options.into ? copy_tables(rows, writer, err) : 0;
        if (r == 0 && import_key_spaces_name(rows) < 0)
                r = out_of_memory(-ENOMEM, err);
        if (r == 0)
                r = import_events_new(&rows->events, writer, rows->dictionary, rows->options.into, err);
        if (r == 0)
                r = put_records(rows, err);
        if (r == 0)
                r = import_events_finish(rows->events, err);
        import_events_free(rows->events);
        rows->events = NULL;
        return r < 0 ? r : write_end(rows, writer, err);
}
