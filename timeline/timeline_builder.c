/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_builder.h"

#include "analyze/trace/zone_words.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/zone_stats.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdlib.h>

#define CALLS_PER_PROGRESS (UINT32_C(1) << 16)

static int builder_no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "the index of the time line: out of memory");
}

/* ---- threads ------------------------------------------------------------------------------------------- */

int timeline_builder_reserve(struct timeline_builder *b)
{
        uint32_t n_threads = trace_dictionary_count(b->dictionary, TRACE_TABLE_THREADS);

        if (n_threads <= b->n_threads)
                return timeline_shared_reserve(&b->shared);
        if (array_extend(&b->threads, &b->threads_capacity, b->n_threads, n_threads, sizeof(*b->threads)) < 0)
                return -ENOMEM;
        b->n_threads = n_threads;
        if (timeline_states_reserve(&b->states, n_threads) < 0)
                return -ENOMEM;
        if (timeline_ghosts_reserve(&b->ghosts, n_threads) < 0)
                return -ENOMEM;
        return timeline_shared_reserve(&b->shared);
}

static int make_thread_track(struct timeline_builder *b, uint32_t id)
{
        const struct trace_thread *row = trace_dictionary_row(b->dictionary, TRACE_TABLE_THREADS, id);
        const struct timeline_track_key key = { .kind = TIMELINE_TRACK_THREAD, .owner = id };
        int track = timeline_index_track(b->index, &key);

        if (track < 0)
                return track;
        b->index->tracks[track].process = row->process;
        b->index->tracks[track].thread = id;
        b->threads[id - 1].track = (uint32_t)track + 1;
        return track;
}

/*
 * Finds the track of a thread.  Returns its id; -EOVERFLOW if there are too many tracks, which is counted;
 * -ENOMEM.
 */
int timeline_builder_thread_track(struct timeline_builder *b, uint32_t id, struct error *err)
{
        uint32_t track = b->threads[id - 1].track;
        int r = track != 0 ? (int)(track - 1) : make_thread_track(b, id);

        if (r == -EOVERFLOW)
                b->index->n_left_out++;
        else if (r < 0)
                return builder_no_memory(err);
        return r;
}

/* Reports how far the walk is, by the time of the last event that it met. */
static int report(struct timeline_builder *b, uint64_t time_ns, struct error *err)
{
        const struct timeline_index *t = b->index;
        double part = 0;

        b->n_until_progress = b->options.calls_per_progress ? b->options.calls_per_progress
                                                            : CALLS_PER_PROGRESS;
        if (!b->options.progress)
                return 0;
        if (time_ns > t->start_ns && t->duration_ns != 0)
                part = (double)(time_ns - t->start_ns) / (double)t->duration_ns;
        if (b->options.progress(b->options.context, part < 1 ? part : 1) != 0)
                return error_set(err, -ECANCELED, "the index of the time line: stopped");
        return 0;
}

static inline int builder_count(struct timeline_builder *b, uint64_t time_ns, struct error *err)
{
        return --b->n_until_progress == 0 ? report(b, time_ns, err) : 0;
}

/* ---- what a thread does -------------------------------------------------------------------------------- */

/* The name that the program gave this zone, and its lines of text. */
static struct text_view text_of_zone(struct timeline_builder *b, const struct zone_words *words)
{
        const struct byte_buffer *own = &words->name, *text = &words->text;

        if (own->used_bytes == 0 || text->used_bytes == 0) {
                text = own->used_bytes == 0 ? text : own;
        } else {
                byte_buffer_clear(&b->text);
                byte_buffer_add(&b->text, own->data, own->used_bytes);
                byte_buffer_add_u8(&b->text, '\n');
                byte_buffer_add(&b->text, text->data, text->used_bytes);
                text = &b->text;
        }
        return (struct text_view){ (const char *)text->data, text->used_bytes };
}

/* @place: of the zone */
static int add_zone_text(struct timeline_builder *b, const struct walked_thread *thread,
                         const struct zone_words *words, struct timeline_lane_place place,
                         struct timeline_raw_span span, struct error *err)
{
        struct text_view text = text_of_zone(b, words);

        if (text.n_bytes == 0 && !b->text.failed)
                return 0;
        if (b->text.failed || timeline_index_add_zone_text(b->index, text, &span.what) < 0)
                return builder_no_memory(err);
        place.kind = TIMELINE_LANE_TEXTS;
        return span.what == 0 ? 0
                              : timeline_lane_list_add(&b->threads[thread->id - 1].texts, b->index, place,
                                                       &span, err);
}

static int builder_take_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                             struct error *err)
{
        const struct timeline_raw_span span = { zone->begin_ns, zone->end_ns, zone->location };
        struct timeline_lane_place place = { .depth = zone->depth, .kind = TIMELINE_LANE_ZONES };
        const struct zone_words *words = trace_walk_words(thread, zone);
        struct timeline_builder *b = context;
        int track = timeline_builder_thread_track(b, thread->id, err), r;

        if (track < 0)
                return track == -EOVERFLOW ? 0 : track;
        place.track = (uint32_t)track;
        r = timeline_lane_list_add(&b->threads[thread->id - 1].zones, b->index, place, &span, err);
        if (r == 0 && words)
                r = add_zone_text(b, thread, words, place, span, err);
        if (r == 0 && b->has_locks && zone->closed)
                r = ordered_events_end_zone(&b->shared.events, &b->walk, thread, zone->end_ns, err);
        return r < 0 ? r : builder_count(b, zone->end_ns, err);
}

/* Called only for a trace with locks: a thread that begins a zone is not waiting for a lock. */
static int builder_take_begin(void *context, struct walked_thread *thread, const struct trace_event *event,
                              struct error *err)
{
        struct timeline_builder *b = context;

        return ordered_events_begin_zone(&b->shared.events, &b->walk, thread, event->time_ns, err);
}

static int add_sample(struct timeline_builder *b, uint32_t track, uint32_t thread,
                      const struct trace_event *event, struct error *err)
{
        const struct timeline_raw_span span = { event->time_ns, event->time_ns,
                                                (uint32_t)event->sample.stack };
        const struct timeline_lane_place place = { track, (uint32_t)event->sample.event,
                                                   TIMELINE_LANE_SAMPLES };
        const struct trace_sample_event *row = trace_dictionary_row(b->dictionary, TRACE_TABLE_SAMPLE_EVENTS,
                                                                    (uint32_t)event->sample.event);

        if (row->mode == TRACE_SAMPLE_MODE_WITH_LEADER)
                return 0;
        return timeline_lane_list_add(&b->threads[thread - 1].samples, b->index, place, &span, err);
}

static int builder_take_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                               struct error *err)
{
        struct timeline_builder *b = context;
        int track = timeline_builder_thread_track(b, thread->id, err), r;

        if (track < 0)
                return track == -EOVERFLOW ? 0 : track;
        r = timeline_states_event(&b->states, (uint32_t)track, thread, event, err);
        if (r == 0)
                r = add_sample(b, (uint32_t)track, thread->id, event, err);
        if (r == 0)
                r = timeline_ghosts_sample(&b->ghosts, (uint32_t)track, thread->id, event, err);
        if (r == 0)
                r = timeline_rates_sample(&b->rates, thread, event, err);
        return r < 0 ? r : builder_count(b, event->time_ns, err);
}

static int builder_take_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                             struct error *err)
{
        struct timeline_builder *b = context;
        int track = timeline_builder_thread_track(b, thread->id, err), r;

        if (track < 0)
                return track == -EOVERFLOW ? 0 : track;
        r = timeline_states_wait(&b->states, (uint32_t)track, thread, wait, err);
        return r == 0 ? timeline_ghosts_wait(&b->ghosts, (uint32_t)track, thread->id, wait, err) : r;
}

static int add_message(struct timeline_builder *b, uint32_t track, uint32_t thread,
                       const struct trace_event *event, struct error *err)
{
        const struct timeline_lane_place place = { track, 0, TIMELINE_LANE_MESSAGES };
        struct timeline_raw_span span = { event->time_ns, event->time_ns, 0 };
        struct text_view text = { .bytes = event->text, .n_bytes = event->message_text.text_bytes };

        if (event->op == TRACE_OP_MESSAGE)
                text = trace_dictionary_text(b->dictionary, (uint32_t)event->message.text);
        if (timeline_index_add_message(b->index, text, &span.what) < 0)
                return builder_no_memory(err);
        return timeline_lane_list_add(&b->threads[thread - 1].messages, b->index, place, &span, err);
}

static int builder_take_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                              struct error *err)
{
        struct timeline_builder *b = context;
        int track = timeline_builder_thread_track(b, thread->id, err), r;

        if (track < 0)
                return track == -EOVERFLOW ? 0 : track;
        r = timeline_states_event(&b->states, (uint32_t)track, thread, event, err);
        if (r == 0 && (event->op == TRACE_OP_MESSAGE || event->op == TRACE_OP_MESSAGE_TEXT))
                r = add_message(b, (uint32_t)track, thread->id, event, err);
        if (r == 0 && (event->op == TRACE_OP_ZONE_KEY || event->op == TRACE_OP_FLOW) && b->has_devices &&
            timeline_launches_add_key(&b->shared.launches, thread, event) < 0)
                r = builder_no_memory(err);
        if (r == 0 && event->op == TRACE_OP_FLOW &&
            timeline_launches_add_flow(&b->shared.launches, thread, event) < 0)
                r = builder_no_memory(err);
        if (r == 0)
                r = ordered_events_add(&b->shared.events, &b->walk, thread, event, err);
        return r < 0 ? r : builder_count(b, event->time_ns, err);
}

/* ---- all together -------------------------------------------------------------------------------------- */

static struct trace_sink builder_sink(struct timeline_builder *b)
{
        return (struct trace_sink){
                .context = b,
                .wants_words = true,
                .begin_zone = b->has_locks ? builder_take_begin : NULL,
                .zone = builder_take_zone,
                .sample = builder_take_sample,
                .wait = builder_take_wait,
                .event = builder_take_event,
        };
}

static int builder_begin(struct timeline_builder *b, struct timeline_index *index,
                         const struct trace_dictionary *dictionary, bool is_growing)
{
        *b = (struct timeline_builder){ .index = index,
                                        .dictionary = dictionary,
                                        .n_until_progress = CALLS_PER_PROGRESS };
        b->has_locks = is_growing || trace_dictionary_count(dictionary, TRACE_TABLE_LOCKS) != 0;
        b->has_devices = is_growing || trace_dictionary_count(dictionary, TRACE_TABLE_DEVICES) != 0;
        timeline_states_init(&b->states, index);
        b->states.rates = &b->rates;
        if (timeline_rates_init(&b->rates, index, dictionary) < 0 ||
            timeline_ghosts_init(&b->ghosts, index, dictionary) < 0 ||
            timeline_shared_init(&b->shared, index, dictionary) < 0)
                return -ENOMEM;
        return timeline_builder_reserve(b);
}

int timeline_builder_init(struct timeline_builder *b, struct timeline_index *index,
                          const struct trace_dictionary *dictionary, struct error *err)
{
        struct trace_sink sink;
        int r = builder_begin(b, index, dictionary, true);

        sink = builder_sink(b);
        if (r == 0)
                r = trace_walk_init_plain(&b->walk, dictionary, &sink);
        return r < 0 ? builder_no_memory(err) : 0;
}

void timeline_builder_deinit(struct timeline_builder *b)
{
        for (uint32_t i = 0; i < b->n_threads; i++) {
                timeline_lane_list_deinit(&b->threads[i].zones);
                timeline_lane_list_deinit(&b->threads[i].samples);
                timeline_lane_list_deinit(&b->threads[i].messages);
                timeline_lane_list_deinit(&b->threads[i].texts);
        }
        free(b->threads);
        byte_buffer_deinit(&b->text);
        timeline_states_deinit(&b->states);
        timeline_shared_deinit(&b->shared);
        timeline_ghosts_deinit(&b->ghosts);
        timeline_rates_deinit(&b->rates);
        trace_walk_deinit(&b->walk);
        *b = (struct timeline_builder){ .threads = NULL };
}

int timeline_builder_add(struct timeline_builder *b, const struct trace_item *item, struct error *err)
{
        uint64_t first_ns = item->header.first_ns;
        int r = timeline_builder_reserve(b) < 0 ? builder_no_memory(err) : 0;

        if (r == 0)
                r = timeline_shared_grow_devices(
                        &b->shared,
                        first_ns > TIMELINE_DEVICES_LATE_NS ? first_ns - TIMELINE_DEVICES_LATE_NS : 0, err);
        return r == 0 ? trace_walk_chunk(&b->walk, item, err) : r;
}

/* A thread may be named several times: the last name counts. */
static int name(struct timeline_builder *b, const struct walked_thread *thread)
{
        return timeline_index_set_title(b->index, b->threads[thread->id - 1].track - 1,
                                        trace_dictionary_text(b->dictionary, thread->timeline.name));
}

/* After the walk: ends the threads that live still, and sets all names. */
static int builder_end(struct timeline_builder *b, uint64_t end_ns, struct error *err)
{
        int r = 0;

        if (end_ns < b->walk.last_ns)
                end_ns = b->walk.last_ns;
        for (uint32_t i = 0; i < b->walk.n_threads && r == 0; i++) {
                const struct walked_thread *thread = &b->walk.threads[i];

                if (b->threads[i].track == 0)
                        continue;
                if (name(b, thread) < 0)
                        r = builder_no_memory(err);
                if (r == 0)
                        r = timeline_ghosts_finish(&b->ghosts, b->threads[i].track - 1, thread->id, end_ns,
                                                   err);
                if (r == 0 && b->walk.n_switches != 0)
                        r = timeline_states_finish_thread(
                                &b->states, b->threads[i].track - 1, thread,
                                thread->has_ended ? thread->timeline.last_ns : end_ns, err);
        }
        if (r == 0 && b->walk.n_switches != 0)
                r = timeline_states_finish(&b->states, end_ns, err);
        if (r == 0)
                r = timeline_rates_finish(&b->rates, end_ns, err);
        return r == 0 ? timeline_shared_finish(&b->shared, end_ns, err) : r;
}

int timeline_builder_finish(struct timeline_builder *b, uint64_t end_ns, struct error *err)
{
        int r = trace_walk_finish(&b->walk, end_ns, err);

        return r == 0 ? builder_end(b, end_ns, err) : r;
}

int timeline_builder_build(struct timeline_index *index, struct loaded_trace *trace,
                           const struct timeline_build_options *options, struct error *err)
{
        struct timeline_builder b;
        struct trace_sink sink;
        int r = builder_begin(&b, index, trace->dictionary, false);

        if (options)
                b.options = *options;
        if (b.options.calls_per_progress != 0)
                b.n_until_progress = b.options.calls_per_progress;
        sink = builder_sink(&b);
        if (r == 0)
                r = trace_walk_init(&b.walk, trace, NULL, &sink);
        if (r < 0)
                (void)builder_no_memory(err);
        if (r == 0)
                r = loaded_trace_walk(trace, &b.walk, err);
        if (r == 0)
                r = builder_end(&b, trace->end_ns, err);
        timeline_builder_deinit(&b);
        return r;
}
