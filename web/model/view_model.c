/* SPDX-License-Identifier: MIT */
#include "web/model/view_content.h"

#include "analyze/devices/lane_names.h"
#include "analyze/trace/process_works.h"
#include "analyze/walk/loaded_trace.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "format/trace_spec.h"
#include "format/trace_version.h"
#include "timeline/timeline_builder.h"
#include "timeline/timeline_index.h"
#include "view/document/json_value.h"
#include "view/text/text_number.h"
#include "web/follow/live_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "hyprof.timeline/1"

static json_t *text_of(const struct loaded_trace *t, uint32_t string)
{
        return json_value_string(trace_dictionary_text(t->dictionary, string));
}

static json_t *handle_of(char letter, uint32_t id)
{
        return json_sprintf("%c%" PRIu32, letter, id);
}

/* Appends to a list; a value without memory makes the whole document fail. */
static int append(json_t *list, json_t *value)
{
        return value && json_array_append_new(list, value) == 0 ? 0 : -ENOMEM;
}

static json_t *list_events(const struct loaded_trace *t)
{
        json_t *list = json_array();
        uint32_t n = trace_dictionary_count(t->dictionary, TRACE_TABLE_SAMPLE_EVENTS);

        for (uint32_t i = 1; list && i <= n; i++) {
                const struct trace_sample_event *row = trace_dictionary_row(t->dictionary,
                                                                            TRACE_TABLE_SAMPLE_EVENTS, i);

                (void)append(list, text_of(t, row->name));
        }
        return list;
}

/* By process: the string of its name; 0 = it has none.  Heap. */
static uint32_t *read_process_names(const struct loaded_trace *t, uint32_t n_processes)
{
        uint32_t *names = calloc((size_t)n_processes + 1, sizeof(*names));

        for (uint32_t i = 1; names && i <= t->process_names.n_items; i++) {
                const struct process_name *item = intern_get(&t->process_names, i, NULL);

                if (item->process <= n_processes && names[item->process] == 0)
                        names[item->process] = item->name;
        }
        return names;
}

static json_t *list_processes(const struct loaded_trace *t)
{
        uint32_t n = trace_dictionary_count(t->dictionary, TRACE_TABLE_PROCESSES);
        uint32_t *names = read_process_names(t, n), *works = NULL;
        json_t *list = names && process_works_read(t->dictionary, &works) == 0 ? json_array() : NULL;

        for (uint32_t i = 1; list && i <= n; i++) {
                const struct trace_process *row = trace_dictionary_row(t->dictionary, TRACE_TABLE_PROCESSES,
                                                                       i);

                (void)append(list, json_pack("{s:I,s:I,s:o*,s:o*}", "id", (json_int_t)i, "pid",
                                             (json_int_t)row->pid, "name", text_of(t, names[i]), "works_on",
                                             works[i] ? text_of(t, works[i]) : json_null()));
        }
        free(names);
        free(works);
        return list;
}

static json_t *list_threads(const struct loaded_trace *t)
{
        json_t *list = json_array();

        for (uint32_t i = 1; list && i <= t->n_threads; i++) {
                const struct trace_thread *row = trace_dictionary_row(t->dictionary, TRACE_TABLE_THREADS, i);

                (void)append(list, json_pack("{s:I,s:o*,s:I,s:I,s:o*,s:b}", "id", (json_int_t)i, "handle",
                                             handle_of('t', i), "process", (json_int_t)row->process, "tid",
                                             (json_int_t)row->tid, "name",
                                             json_value_string(loaded_trace_thread_name(t, i)), "is_fiber",
                                             row->kind == TRACE_THREAD_FIBER));
        }
        return list;
}

/* "src/a.c:12"; null if the program did not say. */
static json_t *place_of(const struct loaded_trace *t, const struct trace_location *row)
{
        struct text_view file = trace_dictionary_text(t->dictionary, row->file);
        struct byte_buffer place = { .data = NULL };
        char line[16];
        json_t *value;

        if (file.n_bytes == 0)
                return json_null();
        byte_buffer_add(&place, file.bytes, file.n_bytes);
        if (row->line != 0)
                byte_buffer_add(&place, line, (size_t)snprintf(line, sizeof(line), ":%" PRIu32, row->line));
        value = place.failed
                        ? NULL
                        : json_value_string((struct text_view){ (const char *)place.data, place.used_bytes });
        byte_buffer_deinit(&place);
        return value;
}

json_t *view_model_list_locations(const struct view_content *c)
{
        const struct loaded_trace *t = c->trace;
        json_t *list = json_array();
        uint32_t n = trace_dictionary_count(t->dictionary, TRACE_TABLE_LOCATIONS);

        for (uint32_t i = 1; list && i <= n; i++) {
                const struct trace_location *row = trace_dictionary_row(t->dictionary, TRACE_TABLE_LOCATIONS,
                                                                        i);
                uint32_t name = row->name != 0 ? row->name : row->function;

                (void)append(list,
                             json_pack("{s:I,s:o*,s:o*,s:o*,s:o*,s:o*}", "id", (json_int_t)i, "handle",
                                       handle_of('z', i), "name", text_of(t, name), "function",
                                       text_of(t, row->function), "place", place_of(t, row), "color",
                                       row->color != 0 ? json_integer((json_int_t)row->color) : json_null()));
        }
        return list;
}

static json_t *list_wait_states(void)
{
        static const char *const words[] = {
#define X(id, name, text) [id] = (text),
                TRACE_WAIT_STATES(X)
#undef X
        };
        json_t *list = json_array();

        for (size_t i = 0; list && i < sizeof(words) / sizeof(words[0]); i++)
                (void)append(list, json_string(words[i]));
        return list;
}

static json_t *make_lane(const struct view_content *c, uint32_t lane)
{
        struct timeline_lane_facts facts = timeline_index_lane_facts(c->index, lane);
        struct timeline_raw_span spans[2];
        uint32_t n_open = c->builder ? timeline_builder_open_spans(c->builder, lane, c->trace->end_ns, spans)
                                     : 0;

        for (uint32_t i = 0; i < n_open; i++) {
                if (facts.n_items++ == 0)
                        facts.first_ns = spans[i].begin_ns - c->index->start_ns;
                facts.last_ns = spans[i].end_ns - c->index->start_ns;
        }
        if (c->builder && timeline_rates_count(&c->builder->rates, lane) != 0) {
                facts.n_items = timeline_rates_count(&c->builder->rates, lane);
                facts.last_ns = timeline_builder_known_ns(c->builder, facts.track, c->trace->end_ns);
        }
        return json_pack("{s:I,s:s,s:I,s:o*,s:b,s:o*,s:o*}", "id", (json_int_t)lane, "kind",
                         timeline_lane_kind_name(facts.kind), "depth", (json_int_t)facts.depth, "items",
                         json_value_number(facts.n_items), "has_values", (int)facts.has_values, "first_ns",
                         json_value_number(facts.first_ns), "last_ns", json_value_number(facts.last_ns));
}

static json_t *number_or_null(uint32_t number)
{
        return number != 0 ? json_integer((json_int_t)number) : json_null();
}

/* ["chip 0", "core 1,2", "BRISC"]; null for a track that is not a lane of a device. */
static json_t *path_of_lane(const struct lane_names *names, const struct timeline_track *track)
{
        struct byte_buffer part = { .data = NULL };
        json_t *list;

        if (track->kind != TIMELINE_TRACK_DEVICE)
                return NULL;
        list = json_array();
        for (size_t i = 0; list && lane_names_put_part(names, &part, track->number, track->lane, i); i++) {
                (void)append(list, json_value_string(
                                           (struct text_view){ (const char *)part.data, part.used_bytes }));
                byte_buffer_clear(&part);
        }
        byte_buffer_deinit(&part);
        return list;
}

/* While the trace grows: up to where the track is known. */
static json_t *known_of_track(const struct view_content *c, uint32_t id)
{
        return c->builder ? json_value_number(timeline_builder_known_ns(c->builder, id, c->trace->end_ns))
                          : NULL;
}

static json_t *make_track(const struct view_content *c, const struct lane_names *names, uint32_t id)
{
        const struct timeline_index *index = c->index;
        const struct timeline_track *track = &index->tracks[id];
        struct text_view unit = timeline_index_unit(index, id);
        bool is_device = track->kind == TIMELINE_TRACK_DEVICE;
        json_t *lane = is_device ? json_integer((json_int_t)track->lane) : NULL;
        json_t *busy = is_device ? json_value_number(track->busy_ns) : NULL;

        return json_pack("{s:I,s:s,s:o*,s:o*,s:o*,s:I,s:o*,s:o*,s:o*,s:o*,s:o*,s:[]}", "id", (json_int_t)id,
                         "kind", timeline_track_kind_name(track->kind), "title",
                         json_value_string(timeline_index_title(index, id)), "process",
                         number_or_null(track->process), "thread", number_or_null(track->thread), "number",
                         (json_int_t)track->number, "lane", lane, "path", path_of_lane(names, track),
                         "busy_ns", busy, "known_ns", known_of_track(c, id), "unit",
                         unit.n_bytes ? json_value_string(unit) : json_null(), "lanes");
}

static json_t *list_tracks(const struct view_content *c)
{
        const struct timeline_index *index = c->index;
        struct lane_names names;
        json_t *list = lane_names_init(&names, c->trace->dictionary) == 0 ? json_array() : NULL;

        for (uint32_t i = 0; index && list && i < index->n_tracks; i++)
                if (append(list, make_track(c, &names, i)) < 0)
                        break;
        lane_names_deinit(&names);
        if (index && json_array_size(list) < index->n_tracks)
                return list;
        for (uint32_t i = 0; index && list && i < index->n_lanes; i++) {
                json_t *track = json_array_get(list, timeline_index_lane_facts(index, i).track);

                (void)append(json_object_get(track, "lanes"), make_lane(c, i));
        }
        return list;
}

/* Adds how exact the times of other hosts are. */
static void add_unsure_clocks(json_t *list, const struct loaded_trace *t)
{
        uint32_t n = trace_dictionary_count(t->dictionary, TRACE_TABLE_RECORDINGS);

        for (uint32_t i = 1; list && i <= n; i++) {
                const struct trace_recording *row = trace_dictionary_row(t->dictionary,
                                                                         TRACE_TABLE_RECORDINGS, i);
                struct text_view label = trace_dictionary_text(t->dictionary, row->label);
                bool is_exchanged = row->clock == TRACE_ALIGNMENT_EXCHANGED;
                bool is_bound = is_exchanged || row->clock == TRACE_ALIGNMENT_REALTIME;

                if (row->clock == TRACE_ALIGNMENT_REFERENCE || row->clock == TRACE_ALIGNMENT_SAME_BOOT)
                        continue;
                (void)append(list,
                             json_sprintf("%.*s is placed by %s: its times against other hosts are %s%s%s",
                                          (int)(label.n_bytes & 0xff), label.n_bytes ? label.bytes : "",
                                          is_exchanged ? "clock readings over its capture's connection"
                                                       : "CLOCK_REALTIME",
                                          is_bound ? "within " : "not known to be exact",
                                          is_bound ? text_number_duration(row->error_ns).text : "",
                                          is_bound ? " of them" : ""));
        }
}

static json_t *list_warnings(const struct view_content *c)
{
        json_t *list = json_array();

        add_unsure_clocks(list, c->trace);
        if (list && c->failure[0] != '\0')
                (void)append(list, json_sprintf("there is no timeline: %s", c->failure));
        if (list && c->trace->ending_words && c->trace->ending_words[0] != '\0')
                (void)append(list, json_sprintf("%s; the part before is shown", c->trace->ending_words));
        if (list && c->trace->version && trace_version_is_newer(c->trace->version))
                (void)append(list,
                             json_sprintf("trace version %u.%u of a newer hyprof, read as %d.%d: what is "
                                          "new in it is left out",
                                          c->trace->version->major, c->trace->version->minor,
                                          TRACE_VERSION_MAJOR, TRACE_VERSION_MINOR));
        if (list && c->index && c->index->n_launches_left_out > 0)
                (void)append(list,
                             json_sprintf("%" PRIu64 " keys of zones, work of devices and events of flows "
                                          "are beyond the limit: they have no arrows",
                                          c->index->n_launches_left_out));
        if (list && c->index && c->index->n_left_out > 0)
                (void)append(list,
                             json_sprintf("%" PRIu64 " items are left out of the timeline: it has too many "
                                          "lanes, or they are no numbers",
                                          c->index->n_left_out));
        return list;
}

json_t *view_model_list_functions(const struct view_content *c)
{
        if (c->live)
                return live_frames_list_functions(c->live);
        return c->is_whole ? view_names_list_functions(&c->names) : json_array();
}

json_t *view_model_make(const struct view_content *c)
{
        const struct loaded_trace *t = c->trace;

        return json_pack("{s:s,s:b,s:b,s:o*,s:o*,s:o*,s:o*,s:o*,s:f,s:o*,s:o*,s:o*,s:o*,s:o*,s:o*,s:o*,s:o*}",
                         "schema", SCHEMA, "has_before", (int)c->has_before, "is_live",
                         (int)(c->live != NULL), "title", json_value_string(loaded_trace_meta(t, "command")),
                         "command", json_value_string(loaded_trace_meta(t, "command")), "host",
                         json_value_string(loaded_trace_meta(t, "hostname")), "duration_ns",
                         json_value_number(t->end_ns - t->start_ns), "n_cpus",
                         json_value_number(loaded_trace_meta_number(t, "cpus")), "progress", c->progress,
                         "warnings", list_warnings(c), "events", list_events(t), "processes",
                         list_processes(t), "threads", list_threads(t), "locations",
                         view_model_list_locations(c), "functions", view_model_list_functions(c),
                         "wait_states", list_wait_states(), "tracks", list_tracks(c));
}

int view_model_print(json_t *document, struct byte_buffer *out, struct error *err)
{
        char *text = document ? json_dumps(document, JSON_COMPACT) : NULL;
        int r = text ? 0 : error_set(err, -ENOMEM, "no memory for the model of the trace");

        if (text)
                byte_buffer_add(out, text, strlen(text));
        free(text);
        json_decref(document);
        return r;
}

int view_model_put(const struct view_content *c, struct byte_buffer *out, struct error *err)
{
        return view_model_print(view_model_make(c), out, err);
}
