/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_shared.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PICTURE_FRAMES_MAX 256 /* so many frames back a picture may be: one byte says how many */

/* A set of frames with gaps is distinct from a set of the same name without gaps. */
#define HAS_GAPS (UINT32_C(1) << 31)

static int shared_no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "the index of the time line: out of memory");
}

/* ---- tracks -------------------------------------------------------------------------------------------- */

static uint32_t process_of(const struct timeline_shared *s, uint32_t thread)
{
        const struct trace_thread *row = trace_dictionary_row(s->dictionary, TRACE_TABLE_THREADS, thread);

        return row->process;
}

/*
 * The state of a track, and its id.
 * Returns 1 if it is new, 0, -EOVERFLOW (too many tracks, after it was counted) or -ENOMEM.
 */
static int find_track(struct timeline_shared *s, const struct timeline_track_key *key, uint32_t process,
                      uint32_t *ret_track, struct error *err)
{
        uint32_t n_before = s->index->n_tracks;
        size_t before = s->capacity;
        int track = timeline_index_track(s->index, key);

        if (track == -EOVERFLOW) {
                s->index->n_left_out++;
                return track;
        }
        if (track < 0 || array_reserve(&s->tracks, &s->capacity, (size_t)track + 1, sizeof(*s->tracks)) < 0)
                return shared_no_memory(err);
        if (s->capacity > before)
                memset(s->tracks + before, 0, (s->capacity - before) * sizeof(*s->tracks));
        *ret_track = (uint32_t)track;
        if (s->index->n_tracks == n_before)
                return 0;
        s->index->tracks[track].process = process;
        return 1;
}

static int name_track(struct timeline_shared *s, uint32_t track, uint32_t title, struct text_view unit,
                      const char *otherwise, struct error *err)
{
        struct text_view text = trace_dictionary_text(s->dictionary, title);

        if (title == 0)
                text = (struct text_view){ .bytes = otherwise, .n_bytes = strlen(otherwise) };
        if (timeline_index_set_title(s->index, track, text) < 0 ||
            timeline_index_set_unit(s->index, track, unit) < 0)
                return shared_no_memory(err);
        return 0;
}

static int shared_add_value(struct timeline_shared *s, uint32_t track, uint64_t time_ns, double value,
                            struct error *err)
{
        int lane = timeline_lane_list_get(&s->tracks[track].lanes, s->index, track, TIMELINE_LANE_PLOT, 0);

        if (lane == -EOVERFLOW) {
                s->index->n_left_out++;
                return 0;
        }
        if (lane < 0)
                return shared_no_memory(err);
        return timeline_index_add_value(s->index, (uint32_t)lane, time_ns, value, err);
}

/* ---- locks --------------------------------------------------------------------------------------------- */

static int shared_take_lock(void *context, const struct lock_span *lock, struct error *err)
{
        const struct timeline_raw_span span = { lock->begin_ns, lock->end_ns, lock->thread };
        const struct timeline_track_key key = { .kind = TIMELINE_TRACK_LOCK, .number = lock->lock };
        struct timeline_lane_place place = { .depth = lock->place,
                                             .kind = lock->holds ? TIMELINE_LANE_HOLDER
                                                                 : TIMELINE_LANE_WAITERS };
        struct timeline_shared *s = context;
        const struct trace_lock *row = trace_dictionary_row(s->dictionary, TRACE_TABLE_LOCKS, lock->lock);
        struct timeline_shared_track *state;
        uint32_t track = 0;
        int r = find_track(s, &key, row->process, &track, err);

        if (r < 0)
                return r == -EOVERFLOW ? 0 : r;
        state = &s->tracks[track];
        place.track = track;
        return timeline_lane_list_add(lock->holds ? &state->lanes : &state->waiters, s->index, place, &span,
                                      err);
}

/*
 * The last name of a lock counts, so all locks are named at the end.  While the trace grows, a lock has its
 * first name: a program that renames its locks again and again takes no memory by that.
 */
static int name_locks(struct timeline_shared *s, bool is_end, struct error *err)
{
        for (uint32_t i = 0; i < s->index->n_tracks && i < s->capacity; i++) {
                const struct timeline_track *track = &s->index->tracks[i];
                const struct trace_lock *row;
                const struct trace_location *location;
                bool *has_name = &s->tracks[i].has_name;
                uint32_t name;

                if (track->kind != TIMELINE_TRACK_LOCK || (*has_name && !is_end))
                        continue;
                row = trace_dictionary_row(s->dictionary, TRACE_TABLE_LOCKS, track->number);
                location = trace_dictionary_row(s->dictionary, TRACE_TABLE_LOCATIONS, row->location);
                name = s->locks.locks[track->number - 1].name;
                *has_name = name != 0;
                if (name == 0)
                        name = location->name != 0 ? location->name : location->function;
                if (!*has_name && track->title_bytes != 0)
                        continue;
                if (timeline_index_set_title(s->index, i, trace_dictionary_text(s->dictionary, name)) < 0)
                        return shared_no_memory(err);
        }
        return 0;
}

/* ---- plots, frames, memory ----------------------------------------------------------------------------- */

/* The last row of a name counts. */
static struct text_view plot_unit(const struct timeline_shared *s, uint32_t name)
{
        static const char *const units[] = { "", "bytes", "%", "W" };
        struct text_view unit = { .bytes = "", .n_bytes = 0 };

        for (uint32_t i = trace_dictionary_count(s->dictionary, TRACE_TABLE_PLOTS); i > 0; i--) {
                const struct trace_plot *row = trace_dictionary_row(s->dictionary, TRACE_TABLE_PLOTS, i);

                if (row->name != name)
                        continue;
                if (row->unit != 0)
                        return trace_dictionary_text(s->dictionary, row->unit);
                if (row->format < sizeof(units) / sizeof(units[0]))
                        unit = (struct text_view){ .bytes = units[row->format],
                                                   .n_bytes = strlen(units[row->format]) };
                break;
        }
        return unit;
}

static int shared_take_plot(struct timeline_shared *s, const struct ordered_event *event, struct error *err)
{
        uint32_t process = process_of(s, event->thread), track = 0;
        const struct timeline_track_key key = { .kind = TIMELINE_TRACK_PLOT,
                                                .owner = process,
                                                .number = event->subject };
        int r = find_track(s, &key, process, &track, err);
        double value = (double)(int64_t)event->value[0];

        if (event->op == TRACE_OP_PLOT_F64)
                memcpy(&value, &event->value[0], sizeof(value));
        if (r == 1)
                r = name_track(s, track, event->subject, plot_unit(s, event->subject), "", err);
        if (r < 0)
                return r == -EOVERFLOW ? 0 : r;
        return shared_add_value(s, track, event->time_ns, value, err);
}

/* Puts the picture of a frame beside it: `what` of the span.  One that comes late is left out. */
static int add_picture(struct timeline_shared *s, uint32_t track, uint32_t frame,
                       const struct timeline_raw_span *span, struct error *err)
{
        const struct timeline_lane_place place = { track, 0, TIMELINE_LANE_PICTURES };
        struct timeline_shared_track *state = &s->tracks[track];

        if (frame <= state->n_pictured)
                return 0;
        state->n_pictured = frame;
        return timeline_lane_list_add(&state->waiters, s->index, place, span, err);
}

/* A main frame ends: it may have a picture, and later pictures may be of it. */
static int close_main_frame(struct timeline_shared *s, uint32_t track, uint64_t end_ns, struct error *err)
{
        struct timeline_shared_track *state = &s->tracks[track];
        const struct timeline_raw_span span = { state->begin_ns, end_ns, state->picture };

        if (!state->begins_ns)
                state->begins_ns = calloc(PICTURE_FRAMES_MAX, sizeof(*state->begins_ns));
        if (!state->begins_ns)
                return shared_no_memory(err);
        state->begins_ns[state->n_frames % PICTURE_FRAMES_MAX] = state->begin_ns;
        state->picture = 0;
        return span.what != 0 ? add_picture(s, track, state->n_frames, &span, err) : 0;
}

static int shared_take_picture(struct timeline_shared *s, const struct ordered_event *event,
                               struct error *err)
{
        uint32_t process = process_of(s, event->thread), track = 0, frame;
        const struct timeline_track_key key = { .kind = TIMELINE_TRACK_FRAMES, .owner = process };
        struct timeline_raw_span span = { .what = event->subject };
        uint64_t n_back = event->value[0];
        int r = find_track(s, &key, process, &track, err);
        struct timeline_shared_track *state;

        if (r == 1)
                r = name_track(s, track, 0, (struct text_view){ .bytes = NULL }, "frames", err);
        if (r < 0)
                return r == -EOVERFLOW ? 0 : r;
        state = &s->tracks[track];
        if (!state->is_open || n_back > state->n_frames || n_back >= PICTURE_FRAMES_MAX)
                return 0;
        if (n_back == 0) {
                state->picture = event->subject;
                return 0;
        }
        frame = state->n_frames + 1 - (uint32_t)n_back;
        span.begin_ns = state->begins_ns[frame % PICTURE_FRAMES_MAX];
        span.end_ns = n_back == 1 ? state->begin_ns : state->begins_ns[(frame + 1) % PICTURE_FRAMES_MAX];
        return add_picture(s, track, frame, &span, err);
}

static int shared_take_frame(struct timeline_shared *s, const struct ordered_event *event, struct error *err)
{
        bool has_gaps = event->op != TRACE_OP_FRAME_MARK;
        uint32_t process = process_of(s, event->thread), track = 0;
        const struct timeline_track_key key = { .kind = TIMELINE_TRACK_FRAMES,
                                                .owner = process,
                                                .number = event->subject | (has_gaps ? HAS_GAPS : 0) };
        int r = find_track(s, &key, process, &track, err);
        struct timeline_shared_track *state;

        if (r == 1)
                r = name_track(s, track, event->subject, (struct text_view){ .bytes = NULL }, "frames", err);
        if (r < 0)
                return r == -EOVERFLOW ? 0 : r;
        state = &s->tracks[track];
        if (state->is_open && event->op != TRACE_OP_FRAME_BEGIN) {
                const struct timeline_lane_place place = { track, 0, TIMELINE_LANE_FRAMES };
                const struct timeline_raw_span span = { state->begin_ns, event->time_ns, ++state->n_frames };

                r = timeline_lane_list_add(&state->lanes, s->index, place, &span, err);
                if (r == 0 && event->op == TRACE_OP_FRAME_MARK && event->subject == 0)
                        r = close_main_frame(s, track, event->time_ns, err);
        }
        state->is_open = event->op != TRACE_OP_FRAME_END;
        state->has_gaps = has_gaps;
        state->begin_ns = event->time_ns;
        return r;
}

static int shared_take_memory(struct timeline_shared *s, const struct ordered_event *event, struct error *err)
{
        static const struct text_view bytes = { .bytes = "bytes", .n_bytes = 5 };
        uint32_t process = process_of(s, event->thread), track = 0, pool;
        const struct timeline_track_key key = { .kind = TIMELINE_TRACK_MEMORY,
                                                .owner = process,
                                                .number = event->subject };
        struct ordered_event plain = *event;
        int r;

        plain.stack = plain.path = 0; /* one site is enough */
        if (memory_stats_add(&s->memory, &plain, &pool) < 0)
                return shared_no_memory(err);
        if (pool == 0)
                return 0;
        r = find_track(s, &key, process, &track, err);
        if (r == 1)
                r = name_track(s, track, event->subject, bytes, "memory", err);
        if (r < 0)
                return r == -EOVERFLOW ? 0 : r;
        return shared_add_value(s, track, event->time_ns, (double)s->memory.pools[pool - 1].live_bytes, err);
}

/* ---- devices ------------------------------------------------------------------------------------------- */

/* The unit of a device's lane is how exact its places are. */
static int name_device_lane(struct timeline_shared *s, uint32_t track, uint32_t device, uint32_t lane,
                            struct error *err)
{
        const struct device_clock *clock = &s->devices.zones.clocks.clocks[device - 1];
        char words[CLOCK_FIT_WORDS_BYTES];
        const char *placed = clock_fit_words(&clock->fit, words);
        struct byte_buffer title = { .data = NULL };
        int r;

        lane_names_put_whole(&s->devices.names, &title, device, lane, 0);
        r = title.failed ? -ENOMEM
                         : timeline_index_set_title(s->index, track,
                                                    (struct text_view){ .bytes = (const char *)title.data,
                                                                        .n_bytes = title.used_bytes });
        byte_buffer_deinit(&title);
        if (r == 0)
                r = timeline_index_set_unit(s->index, track,
                                            (struct text_view){ .bytes = placed, .n_bytes = strlen(placed) });
        return r < 0 ? shared_no_memory(err) : 0;
}

/* The track of a lane.  Returns as find_track(), but never 1. */
static int find_device_track(struct timeline_shared *s, const struct device_zone *zone, uint32_t *ret_track,
                             struct error *err)
{
        const struct timeline_track_key key = { .kind = TIMELINE_TRACK_DEVICE,
                                                .owner = zone->device,
                                                .number = zone->lane };
        const struct trace_device *device = trace_dictionary_row(s->dictionary, TRACE_TABLE_DEVICES,
                                                                 zone->device);
        int r = find_track(s, &key, device->process, ret_track, err);

        if (r != 1)
                return r;
        s->index->tracks[*ret_track].number = zone->device;
        s->index->tracks[*ret_track].lane = zone->lane;
        return name_device_lane(s, *ret_track, zone->device, zone->lane, err);
}

/* Zones come by their begin. */
static void add_busy(struct timeline_shared *s, uint32_t track, const struct device_zone *zone)
{
        uint64_t *until_ns = &s->tracks[track].busy_until_ns;

        if (zone->end_ns <= *until_ns)
                return;
        s->index->tracks[track].busy_ns += zone->end_ns -
                                           (zone->begin_ns > *until_ns ? zone->begin_ns : *until_ns);
        *until_ns = zone->end_ns;
}

/* A track is a lane of a device; its rows are the depths of its first sub-lane, then those of the next. */
static int shared_take_device(void *context, const struct device_zone *zone, const struct device_place *place,
                              struct error *err)
{
        const struct timeline_raw_span span = { zone->begin_ns, zone->end_ns, zone->location };
        struct timeline_lane_place row = { .kind = TIMELINE_LANE_DEVICE,
                                           .depth = place->sublane * DEVICE_LANES_DEPTH_MAX + place->depth };
        struct timeline_shared *s = context;
        int r = find_device_track(s, zone, &row.track, err);

        if (r < 0)
                return r == -EOVERFLOW ? 0 : r;
        add_busy(s, row.track, zone);
        if (timeline_launches_add_zone(&s->launches, zone, row.track) < 0)
                return shared_no_memory(err);
        return timeline_lane_list_add(&s->tracks[row.track].lanes, s->index, row, &span, err);
}

/* "chip 0 / core 1,2: power". */
static int name_device_plot(struct timeline_shared *s, uint32_t track, const struct device_plot_key *key,
                            uint32_t name, struct error *err)
{
        struct text_view words = trace_dictionary_text(s->dictionary, name);
        struct byte_buffer title = { .data = NULL };
        int r;

        lane_names_put_whole(&s->devices.names, &title, key->device, key->lane, 0);
        byte_buffer_add(&title, ": ", 2);
        byte_buffer_add(&title, words.bytes, words.n_bytes);
        r = title.failed ? -ENOMEM
                         : timeline_index_set_title(s->index, track,
                                                    (struct text_view){ .bytes = (const char *)title.data,
                                                                        .n_bytes = title.used_bytes });
        byte_buffer_deinit(&title);
        if (r == 0)
                r = timeline_index_set_unit(s->index, track, plot_unit(s, name));
        return r < 0 ? shared_no_memory(err) : 0;
}

/* The owner of plots of a process is that: it never has this number. */
static int shared_take_device_value(struct timeline_shared *s, const struct ordered_event *event,
                                    struct error *err)
{
        const struct device_plot_key *plot = intern_get(&s->device_plots, event->subject, NULL);
        const struct trace_plot *row = trace_dictionary_row(s->dictionary, TRACE_TABLE_PLOTS, plot->plot);
        const struct trace_device *device = trace_dictionary_row(s->dictionary, TRACE_TABLE_DEVICES,
                                                                 plot->device);
        const struct timeline_track_key key = { .kind = TIMELINE_TRACK_PLOT,
                                                .owner = UINT32_MAX,
                                                .number = event->subject };
        uint32_t track = 0;
        double value;
        int r = find_track(s, &key, device->process, &track, err);

        if (r == 1) {
                s->index->tracks[track].number = row->name;
                r = name_device_plot(s, track, plot, row->name, err);
        }
        if (r < 0)
                return r == -EOVERFLOW ? 0 : r;
        memcpy(&value, &event->value[0], sizeof(value));
        return shared_add_value(s, track, event->time_ns, value, err);
}

/* A moment of a device: a message of its lane, "name: text". */
static int shared_take_device_instant(struct timeline_shared *s, const struct ordered_event *event,
                                      struct error *err)
{
        const struct device_zone lane = { .device = event->subject, .lane = event->path };
        const struct trace_location *location = trace_dictionary_row(s->dictionary, TRACE_TABLE_LOCATIONS,
                                                                     (uint32_t)event->value[0]);
        struct text_view name = trace_dictionary_text(s->dictionary, location->name);
        struct text_view text = trace_dictionary_text(s->dictionary, (uint32_t)event->value[1]);
        struct timeline_lane_place place = { .kind = TIMELINE_LANE_MESSAGES };
        struct timeline_raw_span span = { event->time_ns, event->time_ns, 0 };
        struct byte_buffer words = { .data = NULL };
        int r = find_device_track(s, &lane, &place.track, err);

        if (r < 0)
                return r == -EOVERFLOW ? 0 : r;
        byte_buffer_add(&words, name.bytes, name.n_bytes);
        if (name.n_bytes != 0 && text.n_bytes != 0)
                byte_buffer_add(&words, ": ", 2);
        byte_buffer_add(&words, text.bytes, text.n_bytes);
        r = words.failed ? -ENOMEM
                         : timeline_index_add_message(s->index,
                                                      (struct text_view){ .bytes = (const char *)words.data,
                                                                          .n_bytes = words.used_bytes },
                                                      &span.what);
        byte_buffer_deinit(&words);
        if (r < 0)
                return shared_no_memory(err);
        return timeline_lane_list_add(&s->tracks[place.track].waiters, s->index, place, &span, err);
}

static int shared_take_placed(void *context, const struct ordered_event *event, struct error *err)
{
        return event->op == TRACE_OP_DEVICE_VALUE ? shared_take_device_value(context, event, err)
                                                  : shared_take_device_instant(context, event, err);
}

/* Those of a device whose clock was never read have no place. */
static int shared_take_mark(void *context, const struct ordered_mark *mark, struct error *err)
{
        struct timeline_shared *s = context;
        const struct device_clocks *clocks = &s->devices.zones.clocks;
        const struct device_plot_key key = { mark->device, mark->lane, mark->plot };
        struct ordered_event placed = { .op = TRACE_OP_DEVICE_INSTANT,
                                        .subject = mark->device,
                                        .path = mark->lane,
                                        .value = { mark->location, mark->text } };
        int r = 0;

        if (mark->device > clocks->n_clocks || !clocks->clocks[mark->device - 1].is_placed) {
                s->index->n_left_out++;
                return 0;
        }
        placed.time_ns = device_clock_time_ns(&clocks->clocks[mark->device - 1], mark->ticks, mark->said_ns);
        if (mark->plot != 0) {
                placed.op = TRACE_OP_DEVICE_VALUE;
                memcpy(&placed.value[0], &mark->value, sizeof(mark->value));
                r = intern_add(&s->device_plots, &key, sizeof(key), &placed.subject);
        }
        if (r == -EOVERFLOW)
                s->index->n_left_out++;
        if (r < 0)
                return r == -EOVERFLOW ? 0 : shared_no_memory(err);
        return event_order_add(&s->device_marks, &placed, err);
}

/* ---- all together -------------------------------------------------------------------------------------- */

static int shared_take_event(void *context, const struct ordered_event *event, struct error *err)
{
        struct timeline_shared *s = context;

        switch (event->op) {
        case TRACE_OP_PLOT_I64:
        case TRACE_OP_PLOT_F64:
                return shared_take_plot(s, event, err);
        case TRACE_OP_FRAME_MARK:
        case TRACE_OP_FRAME_BEGIN:
        case TRACE_OP_FRAME_END:
                return shared_take_frame(s, event, err);
        case TRACE_OP_FRAME_PICTURE:
                return shared_take_picture(s, event, err);
        case TRACE_OP_MEMORY_ALLOC:
        case TRACE_OP_MEMORY_FREE:
        case TRACE_OP_MEMORY_DISCARD:
                return shared_take_memory(s, event, err);
        case TRACE_OP_DEVICE_ZONE_BEGIN:
        case TRACE_OP_DEVICE_ZONE_END:
        case TRACE_OP_DEVICE_TIME:
                return device_tracks_add(&s->devices, event, err);
        default:
                return lock_stats_add(&s->locks, event) < 0 ? shared_no_memory(err) : 0;
        }
}

static int shared_take_span(void *context, const struct ordered_span *span, struct error *err)
{
        struct timeline_shared *s = context;

        return device_tracks_add_span(&s->devices, span, err);
}

#define OPS(first, last) ((EVENT_WALK_OP((last) + 1) - 1) & ~(EVENT_WALK_OP(first) - 1))

int timeline_shared_init(struct timeline_shared *s, struct timeline_index *index,
                         const struct trace_dictionary *dictionary)
{
        const struct event_walk_request request = {
                .ops = OPS(TRACE_OP_LOCK_WAIT, TRACE_OP_LOCK_NAME) | EVENT_WALK_OP(TRACE_OP_PLOT_I64) |
                       EVENT_WALK_OP(TRACE_OP_PLOT_F64) | EVENT_WALK_OP(TRACE_OP_FRAME_MARK) |
                       EVENT_WALK_OP(TRACE_OP_FRAME_BEGIN) | EVENT_WALK_OP(TRACE_OP_FRAME_END) |
                       EVENT_WALK_OP(TRACE_OP_FRAME_PICTURE) |
                       OPS(TRACE_OP_MEMORY_ALLOC, TRACE_OP_MEMORY_DISCARD) |
                       OPS(TRACE_OP_DEVICE_ZONE_BEGIN, TRACE_OP_DEVICE_SPAN) |
                       OPS(TRACE_OP_DEVICE_VALUE, TRACE_OP_DEVICE_INSTANT),
                .take = shared_take_event,
                .take_span = shared_take_span,
                .take_mark = shared_take_mark,
                .context = s,
                .wants_give_up = true,
        };
        int r;

        *s = (struct timeline_shared){ .index = index, .dictionary = dictionary };
        ordered_events_init(&s->events, &request);
        timeline_launches_init(&s->launches, index, dictionary);
        memory_stats_init(&s->memory, dictionary, 0);
        intern_init(&s->device_plots, sizeof(struct device_plot_key), TIMELINE_LANES_MAX);
        event_order_init(&s->device_marks, 0, shared_take_placed, s);
        r = lock_stats_init(&s->locks, 0);
        s->locks.take = shared_take_lock;
        s->locks.context = s;
        if (r == 0)
                r = device_tracks_init(&s->devices, dictionary, shared_take_device, s);
        return r == 0 ? timeline_shared_reserve(s) : r;
}

void timeline_shared_deinit(struct timeline_shared *s)
{
        for (size_t i = 0; i < s->capacity; i++) {
                timeline_lane_list_deinit(&s->tracks[i].lanes);
                timeline_lane_list_deinit(&s->tracks[i].waiters);
                free(s->tracks[i].begins_ns);
        }
        free(s->tracks);
        ordered_events_deinit(&s->events);
        lock_stats_deinit(&s->locks);
        memory_stats_deinit(&s->memory);
        device_tracks_deinit(&s->devices);
        timeline_launches_deinit(&s->launches);
        intern_deinit(&s->device_plots);
        event_order_deinit(&s->device_marks);
        s->tracks = NULL;
        s->capacity = 0;
}

int timeline_shared_reserve(struct timeline_shared *s)
{
        int r = ordered_events_reserve(&s->events,
                                       trace_dictionary_count(s->dictionary, TRACE_TABLE_THREADS));

        return r == 0 ? lock_stats_reserve(&s->locks,
                                           trace_dictionary_count(s->dictionary, TRACE_TABLE_LOCKS))
                      : r;
}

int timeline_shared_grow_devices(struct timeline_shared *s, uint64_t until_ns, struct error *err)
{
        int r = device_tracks_grow(&s->devices, until_ns, err);

        return r == 0 ? event_order_hand_out(&s->device_marks, until_ns, err) : r;
}

int timeline_shared_grow(struct timeline_shared *s, uint64_t until_ns, struct error *err)
{
        return ordered_events_hand_out(&s->events, until_ns, err);
}

/* Lanes for which there is no room are left out, as the spans that end in them will be. */
static int add_open_lane(struct timeline_shared *s, struct timeline_lane_list *list, uint32_t track,
                         enum timeline_lane_kind kind, uint32_t depth, struct error *err)
{
        return timeline_lane_list_get(list, s->index, track, kind, depth) == -ENOMEM ? shared_no_memory(err)
                                                                                     : 0;
}

static int add_open_parties(struct timeline_shared *s, uint32_t lock, const struct lock_parties *parties,
                            bool holds, struct error *err)
{
        const struct timeline_track_key key = { .kind = TIMELINE_TRACK_LOCK, .number = lock };
        const struct trace_lock *row = trace_dictionary_row(s->dictionary, TRACE_TABLE_LOCKS, lock);
        uint64_t n_left_out = s->index->n_left_out;
        uint32_t track = 0;
        int r = parties->n != 0 ? find_track(s, &key, row->process, &track, err) : 0;

        s->index->n_left_out = n_left_out;
        for (uint32_t i = 0; i < parties->n && r >= 0; i++)
                r = add_open_lane(s, holds ? &s->tracks[track].lanes : &s->tracks[track].waiters, track,
                                  holds ? TIMELINE_LANE_HOLDER : TIMELINE_LANE_WAITERS,
                                  parties->items[i].place, err);
        return r == -EOVERFLOW || r > 0 ? 0 : r;
}

int timeline_shared_add_open(struct timeline_shared *s, struct error *err)
{
        int r = 0;

        for (uint32_t i = 0; i < s->locks.n_locks && r == 0; i++) {
                r = add_open_parties(s, i + 1, &s->locks.locks[i].holding, true, err);
                if (r == 0)
                        r = add_open_parties(s, i + 1, &s->locks.locks[i].waiting, false, err);
        }
        for (uint32_t i = 0; i < s->index->n_tracks && i < s->capacity && r == 0; i++)
                if (s->index->tracks[i].kind == TIMELINE_TRACK_FRAMES && s->tracks[i].is_open)
                        r = add_open_lane(s, &s->tracks[i].lanes, i, TIMELINE_LANE_FRAMES, 0, err);
        return r == 0 ? name_locks(s, false, err) : r;
}

static bool find_open_party(const struct lock_parties *parties, uint32_t place, uint64_t now_ns,
                            struct timeline_raw_span *ret_span)
{
        for (uint32_t i = 0; i < parties->n; i++)
                if (parties->items[i].place == place) {
                        *ret_span = (struct timeline_raw_span){ parties->items[i].since_ns, now_ns,
                                                                parties->items[i].thread };
                        return true;
                }
        return false;
}

bool timeline_shared_open(const struct timeline_shared *s, const struct timeline_lane_facts *lane,
                          uint64_t now_ns, struct timeline_raw_span *ret_span)
{
        const struct timeline_track *track = &s->index->tracks[lane->track];
        const struct timeline_shared_track *state = &s->tracks[lane->track];

        if (lane->kind == TIMELINE_LANE_HOLDER)
                return find_open_party(&s->locks.locks[track->number - 1].holding, lane->depth, now_ns,
                                       ret_span);
        if (lane->kind == TIMELINE_LANE_WAITERS)
                return find_open_party(&s->locks.locks[track->number - 1].waiting, lane->depth, now_ns,
                                       ret_span);
        if (lane->kind != TIMELINE_LANE_FRAMES || !state->is_open || !state->has_gaps)
                return false;
        *ret_span = (struct timeline_raw_span){ state->begin_ns, now_ns, state->n_frames + 1 };
        return true;
}

int timeline_shared_finish(struct timeline_shared *s, uint64_t end_ns, struct error *err)
{
        int r = ordered_events_finish(&s->events, err);

        if (r == 0 && lock_stats_finish(&s->locks, end_ns) < 0)
                r = shared_no_memory(err);
        if (r == 0)
                r = device_tracks_finish(&s->devices, err);
        if (r == 0)
                r = event_order_finish(&s->device_marks, err);
        if (r == 0 && timeline_launches_join(&s->launches) < 0)
                r = shared_no_memory(err);
        return r == 0 ? name_locks(s, true, err) : r;
}
