/* SPDX-License-Identifier: MIT */
/*
 * A processed profile of the Firefox Profiler: profiler.firefox.com, profiler-cli.
 *
 * The format stores a thread's samples and markers as columns, so the export collects both in an
 * event_spool.  Memory: stacks, frames and names (firefox_tables), 8 bytes for each of the zones that
 * --max-markers keeps, and the memory blocks that are live at the same time.
 */
#include "analyze/devices/device_tracks.h"
#include "analyze/trace/zone_words.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/zone_stats.h"
#include "base/array.h"
#include "base/error.h"
#include "base/saturating.h"
#include "export/firefox/firefox_profile.h"
#include "export/firefox/firefox_tables.h"
#include "export/shared/export_event.h"
#include "export/shared/export_format.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct error *err, int r)
{
        return r < 0 ? error_set(err, r, "no memory for the stacks and names of a profile") : 0;
}

void firefox_profile_put_ms(struct firefox_profile *p, uint64_t time_ns)
{
        uint64_t since_ns = time_ns > p->trace->start_ns ? time_ns - p->trace->start_ns : 0;

        json_out_decimal(&p->json, since_ns, FIREFOX_DIGITS_OF_MS);
}

/* ------------------------------------------------------------------ samples and waits */

static int add_sample(struct firefox_profile *p, struct walked_thread *thread, struct firefox_sample *sample,
                      uint64_t cpu_ns, struct error *err)
{
        struct firefox_thread *mine = &p->threads[thread->id - 1];

        if (sample->time_ns < mine->last_ns)
                sample->time_ns = mine->last_ns;
        if (mine->has_samples && cpu_ns > mine->cpu_ns)
                sample->cpu_ns = cpu_ns - mine->cpu_ns;
        mine->has_samples = true;
        mine->last_ns = sample->time_ns;
        mine->cpu_ns = cpu_ns;
        firefox_span_add(&p->samples, sample->time_ns, sample->time_ns);
        return event_spool_add(&p->spool, firefox_samples_chain(thread->id), sample, sizeof(*sample), err);
}

/* An event that was counted beside the samples becomes a graph. */
static int add_count(struct firefox_profile *p, uint32_t thread, const struct firefox_counter_key *key,
                     uint64_t time_ns, double value, struct error *err)
{
        struct timed_item item = { .time_ns = time_ns, .thread = thread };
        uint32_t counter;
        int r = intern_add(&p->counters, key, sizeof(*key), &counter);

        if (r < 0)
                return no_memory(err, r);
        memcpy(&item.bits, &value, sizeof(item.bits));
        return event_spool_add(&p->spool, firefox_counter_chain(p, counter), &item, sizeof(item), err);
}

static int take_other_event(struct firefox_profile *p, const struct walked_thread *thread,
                            const struct trace_event *event, struct error *err)
{
        const struct trace_sample_event *row = trace_dictionary_row(
                p->trace->dictionary, TRACE_TABLE_SAMPLE_EVENTS, (uint32_t)event->sample.event);
        struct firefox_counter_key key = {
                .process = process_names_process_of(&p->names, thread->id),
                .event = (uint32_t)event->sample.event,
        };

        if (row->mode != TRACE_SAMPLE_MODE_WITH_LEADER) {
                p->totals->left_out[EXPORT_LEFT_OUT_OTHER_EVENTS]++;
                return 0;
        }
        return add_count(p, thread->id, &key, event->time_ns, (double)event->sample.weight, err);
}

static int take_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                       struct error *err)
{
        struct firefox_profile *p = context;
        const struct thread_timeline *timeline = &thread->timeline;
        uint64_t cpu_ns = timeline->ran_ns;
        uint32_t path = p->options->zones_as_frames ? (uint32_t)event->sample.path : 0;
        struct firefox_sample sample = { .time_ns = event->time_ns };
        int r;

        if (event->sample.event != p->options->event)
                return take_other_event(p, thread, event, err);
        sample.weight = export_event_weight(p->trace->dictionary, p->options->event, event->sample.weight);
        if (timeline->running && event->time_ns > timeline->running_since_ns)
                cpu_ns += event->time_ns - timeline->running_since_ns;
        r = firefox_tables_stack(&p->tables, &p->walk.paths, path, (uint32_t)event->sample.stack, 0,
                                 &sample.stack);
        if (r < 0)
                return no_memory(err, r);
        p->totals->n_samples++;
        p->totals->weight = saturating_add(p->totals->weight, sample.weight);
        p->threads[thread->id - 1].weight = saturating_add(p->threads[thread->id - 1].weight, sample.weight);
        return add_sample(p, thread, &sample, cpu_ns, err);
}

/* Adds a sample where the thread left the CPU; its weight is the wait. */
static int take_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                     struct error *err)
{
        struct firefox_profile *p = context;
        uint32_t path = p->options->zones_as_frames ? wait->path : 0;
        struct firefox_sample sample = {
                .time_ns = wait->out_ns,
                .weight = wait->in_ns > wait->out_ns ? wait->in_ns - wait->out_ns : 0,
                .is_wait = 1,
        };
        uint32_t state = wait->preempted ? TRACE_WAIT_PREEMPTED : wait->state;
        int r = firefox_tables_stack(&p->tables, &p->walk.paths, path, wait->stack, state + 1, &sample.stack);

        if (r < 0)
                return no_memory(err, r);
        return add_sample(p, thread, &sample, thread->timeline.ran_ns, err);
}

/* ------------------------------------------------------------------ markers */

static int add_marker(struct firefox_profile *p, uint32_t thread, struct firefox_marker *marker,
                      struct text_view name, struct error *err)
{
        int r = firefox_tables_string(&p->tables, name.bytes, name.n_bytes, &marker->name);

        if (r < 0)
                return no_memory(err, r);
        firefox_span_add(&p->markers, marker->begin_ns, marker->end_ns);
        return event_spool_add(&p->spool, firefox_markers_chain(thread), marker, sizeof(*marker), err);
}

static int keep_words(struct firefox_profile *p, const void *bytes, size_t n_bytes, struct error *err)
{
        return event_spool_add(&p->spool, firefox_words_chain(p), bytes, n_bytes, err);
}

static int keep_zone_words(struct firefox_profile *p, const struct zone_words *words,
                           struct firefox_marker *marker, struct error *err)
{
        int r;

        marker->has_value = words->has_value;
        marker->value = words->value;
        marker->words_offset = event_spool_bytes(&p->spool, firefox_words_chain(p));
        marker->called_bytes = (uint32_t)words->name.used_bytes;
        marker->text_bytes = (uint32_t)words->text.used_bytes;
        r = keep_words(p, words->name.data, words->name.used_bytes, err);
        return r < 0 ? r : keep_words(p, words->text.data, words->text.used_bytes, err);
}

/* "file:line" as a string, made once for each location. */
static int find_source(struct firefox_profile *p, uint32_t location, uint32_t *ret_place)
{
        const struct trace_location *row = trace_dictionary_row(p->trace->dictionary, TRACE_TABLE_LOCATIONS,
                                                                location);
        struct text_view file = trace_dictionary_text(p->trace->dictionary, row->file);
        struct byte_buffer words = { .data = NULL };
        char line[16];
        uint32_t index;
        int r;

        *ret_place = p->place_names[location - 1];
        if (*ret_place != 0 || file.n_bytes == 0)
                return 0;
        (void)snprintf(line, sizeof(line), ":%" PRIu32, row->line);
        byte_buffer_add(&words, file.bytes, file.n_bytes);
        byte_buffer_add(&words, line, strlen(line));
        r = words.failed
                    ? -ENOMEM
                    : firefox_tables_string(&p->tables, (const char *)words.data, words.used_bytes, &index);
        byte_buffer_deinit(&words);
        if (r == 0)
                *ret_place = p->place_names[location - 1] = index + 1;
        return r;
}

/* Returns 1 if the marker may be among those that are kept; 0 if all kept markers are longer; -ENOMEM. */
static int offer(struct firefox_profile *p, const struct firefox_marker *marker)
{
        int r = longest_zones_offer(&p->longest, marker->end_ns - marker->begin_ns);

        p->n_short[marker->type] += r == 0;
        return r;
}

static int take_zone(void *context, struct walked_thread *thread, const struct zone_instance *zone,
                     struct error *err)
{
        struct firefox_profile *p = context;
        const struct zone_words *words = trace_walk_words(thread, zone);
        struct firefox_marker marker = {
                .type = FIREFOX_MARKER_ZONE,
                .begin_ns = zone->begin_ns,
                .end_ns = zone->begin_ns + zone_instance_duration_ns(zone),
                .on_cpu_ns = zone->on_cpu_ns,
                .is_unclosed = !zone->closed,
        };
        int r = offer(p, &marker);

        lock_waits_give_up(&p->lock_waits, thread->id);
        p->totals->n_zones++;
        if (r == 0)
                return 0;
        if (r == 1)
                r = find_source(p, zone->location, &marker.place);
        if (r < 0)
                return no_memory(err, r);
        if (words) {
                r = keep_zone_words(p, words, &marker, err);
                if (r < 0)
                        return r;
        }
        return add_marker(p, thread->id, &marker,
                          export_frames_zone_name(p->trace->dictionary, zone->location), err);
}

/* The call stack recorded right before an event belongs to the event. */
static uint32_t callstack_of(const struct firefox_profile *p, const struct walked_thread *thread,
                             const struct trace_event *event)
{
        const struct firefox_thread *mine = &p->threads[thread->id - 1];

        return mine->callstack != 0 && mine->callstack_ns == event->time_ns ? mine->callstack : 0;
}

static int find_callstack(struct firefox_profile *p, const struct walked_thread *thread,
                          const struct trace_event *event, uint32_t *ret_stack, struct error *err)
{
        uint32_t stack = callstack_of(p, thread, event);

        *ret_stack = 0;
        if (stack == 0)
                return 0;
        p->threads[thread->id - 1].callstack = 0;
        return no_memory(err, firefox_tables_stack(&p->tables, &p->walk.paths, 0, stack, 0, ret_stack));
}

static int take_message(struct firefox_profile *p, const struct walked_thread *thread,
                        const struct trace_event *event, struct error *err)
{
        struct text_view text = { .bytes = event->text };
        struct firefox_marker marker = {
                .type = FIREFOX_MARKER_MESSAGE,
                .begin_ns = event->time_ns,
                .end_ns = event->time_ns,
                .is_instant = 1,
                .severity = (uint32_t)event->message_text.severity,
                .words_offset = event_spool_bytes(&p->spool, firefox_words_chain(p)),
        };
        int r = find_callstack(p, thread, event, &marker.stack, err);

        if (event->op == TRACE_OP_MESSAGE)
                text = trace_dictionary_text(p->trace->dictionary, (uint32_t)event->message.text);
        else
                text.n_bytes = (size_t)event->message_text.text_bytes;
        marker.text_bytes = (uint32_t)text.n_bytes;
        if (r == 0)
                r = keep_words(p, text.bytes, text.n_bytes, err);
        return r < 0 ? r
                     : add_marker(p, thread->id, &marker,
                                  (struct text_view){ .bytes = "Message", .n_bytes = 7 }, err);
}

/* A mark ends the frame that the mark before it began; the first one is an instant. */
static int take_frame(struct firefox_profile *p, const struct walked_thread *thread,
                      const struct trace_event *event, struct error *err)
{
        struct text_view name = trace_dictionary_text(p->trace->dictionary, (uint32_t)event->frame_mark.name);
        struct firefox_counter_key key = {
                .process = process_names_process_of(&p->names, thread->id),
                .plot = (uint32_t)event->frame_mark.name,
                .event = event->op != TRACE_OP_FRAME_MARK,
        };
        struct firefox_marker marker = { .type = FIREFOX_MARKER_FRAME, .end_ns = event->time_ns };
        struct firefox_sequence *sequence;
        uint32_t id;
        int r = intern_add(&p->sequence_keys, &key, sizeof(key), &id);

        if (r >= 0 && array_reserve(&p->sequences, &p->sequences_capacity, id, sizeof(*sequence)) < 0)
                r = -ENOMEM;
        if (r < 0)
                return no_memory(err, r);
        if (r == 1)
                p->sequences[id - 1] = (struct firefox_sequence){ .any = false };
        sequence = &p->sequences[id - 1];
        marker.is_instant = !sequence->any || sequence->last_ns > event->time_ns;
        marker.begin_ns = marker.is_instant ? event->time_ns : sequence->last_ns;
        sequence->last_ns = event->time_ns;
        sequence->any = event->op != TRACE_OP_FRAME_END;
        if (event->op == TRACE_OP_FRAME_BEGIN)
                return 0;
        if (name.n_bytes == 0)
                name = (struct text_view){ .bytes = "Frame", .n_bytes = 5 };
        return add_marker(p, thread->id, &marker, name, err);
}

/* ------------------------------------------------------------------ locks and devices */

static int take_lock(struct firefox_profile *p, const struct walked_thread *thread,
                     const struct trace_event *event, struct error *err)
{
        static const char prefix[] = "wait for ";
        struct firefox_marker marker = { .type = FIREFOX_MARKER_LOCK, .end_ns = event->time_ns };
        struct byte_buffer words = { .data = NULL };
        struct text_view name;
        int r;

        if (!lock_waits_take(&p->lock_waits, thread->id, event, &marker.begin_ns))
                return 0;
        if (marker.end_ns < marker.begin_ns)
                marker.end_ns = marker.begin_ns;
        r = offer(p, &marker);
        if (r <= 0)
                return no_memory(err, r);
        name = lock_waits_name(&p->lock_waits, (uint32_t)event->lock_obtain.lock);
        byte_buffer_add(&words, prefix, sizeof(prefix) - 1);
        byte_buffer_add(&words, name.bytes, name.n_bytes);
        name = (struct text_view){ .bytes = (const char *)words.data, .n_bytes = words.used_bytes };
        r = words.failed ? no_memory(err, -ENOMEM) : add_marker(p, thread->id, &marker, name, err);
        byte_buffer_deinit(&words);
        return r;
}

/* Its index + 1, 0 for none.  Returns 0 or -ENOMEM. */
static int find_string(struct firefox_profile *p, struct text_view text, uint32_t *ret_index)
{
        int r = text.n_bytes != 0 ? firefox_tables_string(&p->tables, text.bytes, text.n_bytes, ret_index)
                                  : 0;

        if (r == 0 && text.n_bytes != 0)
                ++*ret_index;
        return r;
}

/* The path of a lane that has a name. */
static int find_lane(struct firefox_profile *p, const struct device_zone *zone, uint32_t *ret_index)
{
        struct byte_buffer path = { .data = NULL };
        int r;

        if (lane_names_track(&p->devices->names, zone->device, zone->lane) == 0)
                return 0;
        lane_names_put_path(&p->devices->names, &path, zone->device, zone->lane);
        r = path.failed ? -ENOMEM
                        : find_string(p, (struct text_view){ (const char *)path.data, path.used_bytes },
                                      ret_index);
        byte_buffer_deinit(&path);
        return r;
}

/* How exact the places of the zones of a device are. */
static struct text_view words_of_clock(const struct firefox_profile *p, uint32_t device,
                                       char words[CLOCK_FIT_WORDS_BYTES])
{
        const char *text = clock_fit_words(&p->devices->zones.clocks.clocks[device - 1].fit, words);

        return (struct text_view){ text, strlen(text) };
}

/* A device zone is a marker of the thread that handed the work over. */
static int take_device_zone(void *context, const struct device_zone *zone, const struct device_place *place,
                            struct error *err)
{
        struct firefox_profile *p = context;
        const struct trace_dictionary *d = p->trace->dictionary;
        const struct trace_device *device = trace_dictionary_row(d, TRACE_TABLE_DEVICES, zone->device);
        struct firefox_marker marker = {
                .type = FIREFOX_MARKER_DEVICE,
                .begin_ns = zone->begin_ns,
                .end_ns = zone->end_ns,
                .lane = zone->lane,
                .key = zone->key,
                .has_key = device_zone_has_key(zone),
        };
        struct text_view name = trace_dictionary_text(d, device->name);
        char words[CLOCK_FIT_WORDS_BYTES];
        int r = offer(p, &marker);

        (void)place; /* the Firefox Profiler finds rows for markers that cross by itself */
        if (r <= 0)
                return no_memory(err, r);
        r = find_source(p, zone->location, &marker.place);
        if (r == 0)
                r = firefox_tables_string(&p->tables, name.bytes, name.n_bytes, &marker.device);
        if (r == 0)
                r = find_lane(p, zone, &marker.track);
        if (r == 0)
                r = find_string(p, trace_dictionary_text(d, zone->space), &marker.key_kind);
        if (r == 0)
                r = find_string(p, trace_dictionary_text(d, zone->text), &marker.text);
        if (r == 0)
                r = find_string(p, words_of_clock(p, zone->device, words), &marker.placed);
        if (r < 0)
                return no_memory(err, r);
        return add_marker(p, zone->thread, &marker, export_frames_zone_name(d, zone->location), err);
}

static int add_devices(struct firefox_profile *p, struct error *err)
{
        struct device_tracks tracks;
        int r;

        p->devices = &tracks;
        r = device_tracks_init(&tracks, p->trace->dictionary, take_device_zone, p);
        r = r < 0 ? no_memory(err, r) : device_tracks_take(&tracks, p->trace, p->options->filter, err);
        p->totals->left_out[EXPORT_LEFT_OUT_DEVICE_ZONES] = device_tracks_left_out(&tracks);
        if (r == 0 && tracks.n_handed == 0)
                r = loaded_trace_check_found(p->trace, &p->walk, err);
        device_tracks_deinit(&tracks);
        p->devices = NULL;
        return r;
}

/* ------------------------------------------------------------------ plots and memory */

static int take_plot(struct firefox_profile *p, const struct walked_thread *thread,
                     const struct trace_event *event, struct error *err)
{
        struct firefox_counter_key key = {
                .process = process_names_process_of(&p->names, thread->id),
                .plot = (uint32_t)event->plot_i64.name,
        };
        double value;

        if (event->op == TRACE_OP_PLOT_I64)
                value = (double)event->plot_i64.value;
        else
                memcpy(&value, &event->plot_f64.bits, sizeof(value));
        return add_count(p, thread->id, &key, event->time_ns, value, err);
}

static int take_memory(struct firefox_profile *p, const struct walked_thread *thread,
                       const struct trace_event *event, struct error *err)
{
        uint32_t process = process_names_process_of(&p->names, thread->id);
        struct live_block block = {
                .address = event->memory_alloc.address,
                .process = process,
                .pool = (uint32_t)event->memory_alloc.pool,
        };
        struct timed_item item = {
                .time_ns = event->time_ns,
                .address = block.address,
                .thread = thread->id,
        };
        uint64_t size_bytes;
        int r = find_callstack(p, thread, event, &item.stack, err);

        if (r < 0)
                return r;
        if (event->op == TRACE_OP_MEMORY_ALLOC) {
                block.size_bytes = item.bits = event->memory_alloc.size_bytes;
                if (live_blocks_add(&p->blocks, &block) < 0)
                        return no_memory(err, -ENOMEM);
        } else if (live_blocks_remove(&p->blocks, &block, &size_bytes)) {
                item.bits = 0 - size_bytes;
        } else {
                p->totals->left_out[EXPORT_LEFT_OUT_NO_MEMORY_BLOCK]++;
                return 0;
        }
        return event_spool_add(&p->spool, firefox_memory_chain(p, process), &item, sizeof(item), err);
}

static int take_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct firefox_profile *p = context;

        switch (event->op) {
        case TRACE_OP_CALLSTACK:
                p->threads[thread->id - 1].callstack = (uint32_t)event->callstack.stack;
                p->threads[thread->id - 1].callstack_ns = event->time_ns;
                return 0;
        case TRACE_OP_MESSAGE:
        case TRACE_OP_MESSAGE_TEXT:
                return take_message(p, thread, event, err);
        case TRACE_OP_FRAME_MARK:
        case TRACE_OP_FRAME_BEGIN:
        case TRACE_OP_FRAME_END:
                return take_frame(p, thread, event, err);
        case TRACE_OP_PLOT_I64:
        case TRACE_OP_PLOT_F64:
                return take_plot(p, thread, event, err);
        case TRACE_OP_MEMORY_ALLOC:
        case TRACE_OP_MEMORY_FREE:
                return take_memory(p, thread, event, err);
        case TRACE_OP_LOCK_WAIT:
        case TRACE_OP_LOCK_OBTAIN:
        case TRACE_OP_LOCK_NAME:
                return take_lock(p, thread, event, err);
        case TRACE_OP_MEMORY_DISCARD:
                p->totals->left_out[EXPORT_LEFT_OUT_MEMORY]++;
                return 0;
        default:
                return 0;
        }
}

/* ------------------------------------------------------------------ all */

/*
 * A sample weighs 1 on average.  If the event does not measure time, a wait weighs as much as one sample in
 * each interval.
 */
static void find_weight(struct firefox_profile *p)
{
        uint64_t interval_ns = export_event_interval_ns(p->trace->dictionary, p->options->event);

        p->wait_weight_ns = interval_ns;
        p->sample_weight = p->totals->n_samples > 0 ? (double)p->totals->weight / (double)p->totals->n_samples
                                                    : 1;
        if (p->totals->n_samples > 0 && export_event_is_time(p->trace->dictionary, p->options->event))
                p->wait_weight_ns = p->totals->weight / p->totals->n_samples;
        if (p->wait_weight_ns == 0)
                p->wait_weight_ns = interval_ns;
        if (p->sample_weight <= 0)
                p->sample_weight = 1;
}

/* Events that are left out: short ones, and events of locks that are not waits. */
static void count_left_out(struct firefox_profile *p)
{
        uint64_t *left_out = p->totals->left_out;

        left_out[EXPORT_LEFT_OUT_SHORT_ZONES] = p->n_short[FIREFOX_MARKER_ZONE];
        left_out[EXPORT_LEFT_OUT_DEVICE_ZONES] += p->n_short[FIREFOX_MARKER_DEVICE];
        p->totals->n_zones -= p->n_short[FIREFOX_MARKER_ZONE];
        export_totals_leave_out(p->totals, &p->walk,
                                1U << EXPORT_LEFT_OUT_LOCKS | 1U << EXPORT_LEFT_OUT_DEVICE_VALUES |
                                        1U << EXPORT_LEFT_OUT_KEYS | 1U << EXPORT_LEFT_OUT_FLOWS);
        left_out[EXPORT_LEFT_OUT_LOCKS] -= 2 * (p->lock_waits.n_waits - p->n_short[FIREFOX_MARKER_LOCK]);
}

static int write_parts(struct firefox_profile *p, const struct firefox_threads *threads, struct error *err)
{
        int r;

        json_out_open(&p->json, '{');
        firefox_meta_write(p, threads);
        json_out_key(&p->json, "pages");
        json_out_open(&p->json, '[');
        json_out_close(&p->json, ']');
        r = firefox_threads_write(threads, p, err);
        if (r == 0)
                r = firefox_counters_write(threads, p, err);
        if (r == 0)
                r = firefox_shared_write(&p->tables, p->trace, &p->json,
                                         &p->totals->left_out[EXPORT_LEFT_OUT_SOURCES], err);
        json_out_close(&p->json, '}');
        json_out_line(&p->json);
        if (r == 0) {
                r = json_out_finish(&p->json);
                if (r < 0)
                        r = error_set(err, r, r == -ENOMEM ? "no memory to write" : "writing failed");
        }
        return r;
}

static int write_profile(struct firefox_profile *p, struct error *err)
{
        struct firefox_threads threads;
        int r;

        process_names_learn(&p->names, &p->walk);
        find_weight(p);
        r = firefox_threads_init(&threads, p);
        r = r < 0 ? no_memory(err, r) : write_parts(p, &threads, err);
        firefox_threads_deinit(&threads);
        count_left_out(p);
        return r;
}

static int init_profile(struct firefox_profile *p, FILE *out)
{
        struct trace_sink sink = {
                .context = p,
                .zone = take_zone,
                .sample = take_sample,
                .wait = p->options->no_waits ? NULL : take_wait,
                .event = take_event,
                .wants_paths = p->options->zones_as_frames,
                .wants_words = true,
                .may_skip = true,
                .devices_follow = true,
        };
        const struct trace_dictionary *d = p->trace->dictionary;
        int r = firefox_tables_init(&p->tables, d);

        if (r < 0)
                return r;
        r = process_names_init(&p->names, d);
        if (r < 0)
                return r;
        r = lock_waits_init(&p->lock_waits, d);
        if (r < 0)
                return r;
        r = json_out_init(&p->json, out);
        if (r < 0)
                return r;
        r = trace_walk_init(&p->walk, p->trace, p->options->filter, &sink);
        if (r < 0)
                return r;
        p->threads = calloc((size_t)p->names.n_threads + 1, sizeof(*p->threads));
        p->place_names = calloc((size_t)trace_dictionary_count(d, TRACE_TABLE_LOCATIONS) + 1,
                                sizeof(*p->place_names));
        return p->threads && p->place_names ? 0 : -ENOMEM;
}

static void deinit_profile(struct firefox_profile *p)
{
        trace_walk_deinit(&p->walk);
        json_out_deinit(&p->json);
        process_names_deinit(&p->names);
        firefox_tables_deinit(&p->tables);
        event_spool_deinit(&p->spool);
        longest_zones_deinit(&p->longest);
        lock_waits_deinit(&p->lock_waits);
        live_blocks_deinit(&p->blocks);
        intern_deinit(&p->counters);
        intern_deinit(&p->sequence_keys);
        free(p->sequences);
        free(p->threads);
        free(p->place_names);
}

int export_firefox(struct loaded_trace *trace, const struct export_options *options, FILE *out,
                   struct export_totals *ret_totals, struct error *err)
{
        struct firefox_profile p = {
                .samples = { .first_ns = UINT64_MAX },
                .markers = { .first_ns = UINT64_MAX },
                .trace = trace,
                .options = options,
                .totals = ret_totals,
                .longest = { .n_max = options->n_markers_max },
        };
        int r;

        *ret_totals = (struct export_totals){ .n_samples = 0 };
        event_spool_init(&p.spool);
        intern_init(&p.counters, sizeof(struct firefox_counter_key), 0);
        intern_init(&p.sequence_keys, sizeof(struct firefox_counter_key), 0);
        r = init_profile(&p, out);
        r = r < 0 ? no_memory(err, r) : loaded_trace_walk(trace, &p.walk, err);
        if (r == 0)
                r = add_devices(&p, err);
        if (r == 0)
                r = write_profile(&p, err);
        deinit_profile(&p);
        return r;
}
