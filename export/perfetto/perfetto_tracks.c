/* SPDX-License-Identifier: MIT */
#include "export/perfetto/perfetto_parts.h"

#include "analyze/walk/loaded_trace.h"
#include "base/byte_buffer.h"
#include "export/perfetto/perfetto_fields.h"
#include "export/shared/protobuf_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Track numbers have 64 bits: the kind in the upper half, the id in the lower. */
#define UUID_PROCESS(id) (UINT64_C(1) << 32 | (id))
#define UUID_THREAD(id)  (UINT64_C(2) << 32 | (id))
#define UUID_NAMED(id)   (UINT64_C(3) << 32 | (id))

static const struct trace_thread *thread_row(const struct perfetto_tracks *t, uint32_t thread)
{
        return trace_dictionary_row(t->trace->dictionary, TRACE_TABLE_THREADS, thread);
}

static const struct trace_process *process_row(const struct perfetto_tracks *t, uint32_t process)
{
        return trace_dictionary_row(t->trace->dictionary, TRACE_TABLE_PROCESSES, process);
}

/* A later row of a plot replaces an earlier one. */
static int find_plots(struct perfetto_tracks *t)
{
        const struct trace_dictionary *d = t->trace->dictionary;
        uint32_t n_plots = trace_dictionary_count(d, TRACE_TABLE_PLOTS);

        if (n_plots == 0)
                return 0;
        t->plots = calloc((size_t)trace_dictionary_count(d, TRACE_TABLE_STRINGS) + 1, sizeof(*t->plots));
        if (!t->plots)
                return -ENOMEM;
        for (uint32_t i = 1; i <= n_plots; i++) {
                const struct trace_plot *row = trace_dictionary_row(d, TRACE_TABLE_PLOTS, i);

                t->plots[row->name] = i;
        }
        return 0;
}

/* The thread whose tid is the pid of the process, else the first thread. */
static void find_main_threads(struct perfetto_tracks *t)
{
        for (uint32_t i = t->trace->n_threads; i >= 1; i--) {
                const struct trace_thread *row = thread_row(t, i);
                uint32_t *main_thread = &t->main_threads[row->process];
                uint32_t pid = process_row(t, row->process)->pid;

                if (row->kind == TRACE_THREAD_KERNEL &&
                    (row->tid == pid || *main_thread == 0 || thread_row(t, *main_thread)->tid != pid))
                        *main_thread = i;
        }
}

int perfetto_tracks_init(struct perfetto_tracks *t, const struct loaded_trace *trace,
                         struct perfetto_packets *packets)
{
        size_t n_processes = trace_dictionary_count(trace->dictionary, TRACE_TABLE_PROCESSES);

        *t = (struct perfetto_tracks){ .trace = trace, .packets = packets };
        intern_init(&t->named, sizeof(struct perfetto_track_key), 0);
        intern_init(&t->names, sizeof(struct perfetto_name_key), 0);
        t->threads = calloc((size_t)trace->n_threads + 1, sizeof(*t->threads));
        t->processes = calloc(n_processes + 1, sizeof(*t->processes));
        t->main_threads = calloc(n_processes + 1, sizeof(*t->main_threads));
        if (!t->threads || !t->processes || !t->main_threads)
                return -ENOMEM;
        find_main_threads(t);
        if (lane_names_init(&t->lane_names, trace->dictionary) < 0 ||
            device_clocks_init(&t->clocks, trace->dictionary) < 0)
                return -ENOMEM;
        return find_plots(t);
}

void perfetto_tracks_deinit(struct perfetto_tracks *t)
{
        intern_deinit(&t->named);
        intern_deinit(&t->names);
        lane_names_deinit(&t->lane_names);
        device_clocks_deinit(&t->clocks);
        free(t->threads);
        free(t->processes);
        free(t->main_threads);
        free(t->plots);
        free(t->open);
        *t = (struct perfetto_tracks){ .trace = NULL };
}

uint64_t perfetto_tracks_sequence(uint32_t thread)
{
        return (uint64_t)PERFETTO_SEQUENCE_THREADS + thread;
}

/* ---- processes and threads ----------------------------------------------------------------------------- */

static void put_string(const struct perfetto_tracks *t, struct byte_buffer *b, uint32_t field,
                       uint32_t string)
{
        size_t n_bytes;
        const char *text = trace_dictionary_string(t->trace->dictionary, string, &n_bytes);

        if (n_bytes != 0)
                protobuf_writer_put_text(b, field, text, n_bytes);
}

static int tell_process(struct perfetto_tracks *t, uint32_t process)
{
        uint32_t main_thread = t->main_threads[process];
        struct byte_buffer *b;
        size_t track, description;

        if (t->processes[process])
                return 0;
        t->processes[process] = true;
        b = perfetto_packets_begin(t->packets, PERFETTO_SEQUENCE_HEAD, t->trace->start_ns);
        track = protobuf_writer_begin(b, PERFETTO_PACKET_TRACK);
        protobuf_writer_put_number(b, PERFETTO_TRACK_UUID, UUID_PROCESS(process));
        description = protobuf_writer_begin(b, PERFETTO_TRACK_PROCESS);
        protobuf_writer_put_number(b, PERFETTO_PROCESS_PID, process_row(t, process)->pid);
        if (main_thread != 0)
                put_string(t, b, PERFETTO_PROCESS_NAME, t->trace->thread_names[main_thread - 1]);
        protobuf_writer_end(b, description);
        protobuf_writer_end(b, track);
        return perfetto_packets_end(t->packets);
}

/* A fiber has no thread id of the kernel; it is shown as a track of its process. */
static void put_fiber(const struct perfetto_tracks *t, struct byte_buffer *b, uint32_t thread)
{
        const struct trace_thread *row = thread_row(t, thread);
        uint32_t name = t->trace->thread_names[thread - 1];

        protobuf_writer_put_number(b, PERFETTO_TRACK_PARENT, UUID_PROCESS(row->process));
        if (name != 0)
                put_string(t, b, PERFETTO_TRACK_NAME, name);
        else
                protobuf_writer_put_words(b, PERFETTO_TRACK_NAME, "fiber");
}

static void put_kernel_thread(const struct perfetto_tracks *t, struct byte_buffer *b, uint32_t thread)
{
        const struct trace_thread *row = thread_row(t, thread);
        uint32_t main_thread = t->main_threads[row->process];
        uint32_t name = t->trace->thread_names[thread - 1];
        size_t description = protobuf_writer_begin(b, PERFETTO_TRACK_THREAD);

        if (name == 0 && main_thread != 0)
                name = t->trace->thread_names[main_thread - 1];
        protobuf_writer_put_number(b, PERFETTO_THREAD_PID, process_row(t, row->process)->pid);
        protobuf_writer_put_number(b, PERFETTO_THREAD_TID, row->tid);
        put_string(t, b, PERFETTO_THREAD_NAME, name);
        protobuf_writer_end(b, description);
}

static void put_defaults(struct byte_buffer *b, uint64_t uuid)
{
        size_t defaults = perfetto_packets_begin_defaults(b);
        size_t events = protobuf_writer_begin(b, PERFETTO_DEFAULTS_TRACK_EVENT);

        protobuf_writer_put_number(b, PERFETTO_EVENT_DEFAULTS_TRACK, uuid);
        protobuf_writer_end(b, events);
        protobuf_writer_end(b, defaults);
}

static void put_category(struct byte_buffer *b)
{
        size_t interned = protobuf_writer_begin(b, PERFETTO_PACKET_INTERNED);
        size_t item = protobuf_writer_begin(b, PERFETTO_INTERNED_CATEGORY);

        protobuf_writer_put_number(b, PERFETTO_IID, PERFETTO_CATEGORY_IID_WAKE_UP);
        protobuf_writer_put_words(b, PERFETTO_INTERNED_TEXT, WAKE_ARROW_CATEGORY);
        protobuf_writer_end(b, item);
        protobuf_writer_end(b, interned);
}

int perfetto_tracks_thread(struct perfetto_tracks *t, uint32_t thread)
{
        const struct trace_thread *row = thread_row(t, thread);
        struct byte_buffer *b;
        size_t track;
        int r;

        if (t->threads[thread])
                return 0;
        t->threads[thread] = true;
        r = tell_process(t, row->process);
        if (r < 0)
                return r;
        b = perfetto_packets_start(t->packets, perfetto_tracks_sequence(thread));
        put_defaults(b, UUID_THREAD(thread));
        put_category(b);
        track = protobuf_writer_begin(b, PERFETTO_PACKET_TRACK);
        protobuf_writer_put_number(b, PERFETTO_TRACK_UUID, UUID_THREAD(thread));
        if (row->kind == TRACE_THREAD_FIBER)
                put_fiber(t, b, thread);
        else
                put_kernel_thread(t, b, thread);
        protobuf_writer_end(b, track);
        return perfetto_packets_end(t->packets);
}

/* ---- names of zones and of arrows ---------------------------------------------------------------------- */

int perfetto_tracks_put_zone(struct perfetto_tracks *t, struct byte_buffer *b, uint32_t thread,
                             uint32_t location)
{
        const struct trace_location *row = trace_dictionary_row(t->trace->dictionary, TRACE_TABLE_LOCATIONS,
                                                                location);
        struct perfetto_name_key key = { .thread = thread, .iid = location };
        size_t interned, item;
        uint32_t id;
        int r = intern_add(&t->names, &key, sizeof(key), &id);

        if (r <= 0)
                return r;
        interned = protobuf_writer_begin(b, PERFETTO_PACKET_INTERNED);
        item = protobuf_writer_begin(b, PERFETTO_INTERNED_EVENT_NAME);
        protobuf_writer_put_number(b, PERFETTO_IID, location);
        put_string(t, b, PERFETTO_INTERNED_TEXT, row->name ? row->name : row->function);
        protobuf_writer_end(b, item);
        item = protobuf_writer_begin(b, PERFETTO_INTERNED_LOCATION);
        protobuf_writer_put_number(b, PERFETTO_IID, location);
        put_string(t, b, PERFETTO_LOCATION_FILE, row->file);
        put_string(t, b, PERFETTO_LOCATION_FUNCTION, row->function);
        protobuf_writer_put_number(b, PERFETTO_LOCATION_LINE, row->line);
        protobuf_writer_end(b, item);
        protobuf_writer_end(b, interned);
        return 0;
}

int perfetto_tracks_put_wake(struct perfetto_tracks *t, struct byte_buffer *b, uint32_t thread,
                             enum wake_arrow_end end, uint32_t other, uint32_t *ret_iid)
{
        struct perfetto_name_key key = { .thread = thread };
        struct byte_buffer name = { .data = NULL };
        size_t interned, item;
        uint32_t id;
        int r;

        key.iid = trace_dictionary_count(t->trace->dictionary, TRACE_TABLE_LOCATIONS) + 2 * other + end;
        *ret_iid = key.iid;
        r = intern_add(&t->names, &key, sizeof(key), &id);
        if (r <= 0)
                return r;
        wake_arrow_put_name(&name, t->trace, end, other);
        interned = protobuf_writer_begin(b, PERFETTO_PACKET_INTERNED);
        item = protobuf_writer_begin(b, PERFETTO_INTERNED_EVENT_NAME);
        protobuf_writer_put_number(b, PERFETTO_IID, key.iid);
        protobuf_writer_put_text(b, PERFETTO_INTERNED_TEXT, (const char *)name.data, name.used_bytes);
        protobuf_writer_end(b, item);
        protobuf_writer_end(b, interned);
        r = name.failed ? -ENOMEM : 0;
        byte_buffer_deinit(&name);
        return r;
}

/* ---- plots, frames, waits for locks, devices ----------------------------------------------------------- */

static void put_counter(const struct perfetto_tracks *t, struct byte_buffer *b, uint32_t name)
{
        const struct trace_plot *row = NULL;
        size_t counter = protobuf_writer_begin(b, PERFETTO_TRACK_COUNTER);

        if (t->plots && t->plots[name] != 0)
                row = trace_dictionary_row(t->trace->dictionary, TRACE_TABLE_PLOTS, t->plots[name]);
        if (row && row->format == TRACE_PLOT_BYTES)
                protobuf_writer_put_number(b, PERFETTO_COUNTER_UNIT, PERFETTO_UNIT_BYTES);
        else if (row && row->format == TRACE_PLOT_PERCENT)
                protobuf_writer_put_words(b, PERFETTO_COUNTER_UNIT_NAME, "%");
        else if (row && row->format == TRACE_PLOT_WATTS)
                protobuf_writer_put_words(b, PERFETTO_COUNTER_UNIT_NAME, "W");
        else if (row)
                put_string(t, b, PERFETTO_COUNTER_UNIT_NAME, row->unit);
        protobuf_writer_end(b, counter);
}

/*
 * A lane is in its parent in TRACKS, which may be a track without slices, or in the device.
 * @depth: of the lanes below this one that need it: a file may nest them without end.
 */
static struct perfetto_track_key key_above(const struct perfetto_tracks *t,
                                           const struct perfetto_track_key *lane, uint32_t depth)
{
        const struct trace_dictionary *d = t->trace->dictionary;
        const struct trace_device *device = trace_dictionary_row(d, TRACE_TABLE_DEVICES, lane->owner);
        uint32_t id = lane_names_track(&t->lane_names, lane->owner, lane->name);
        const struct trace_track *row = id != 0 ? trace_dictionary_row(d, TRACE_TABLE_TRACKS, id) : NULL;
        struct perfetto_track_key key = { .kind = PERFETTO_TRACK_LANE, .owner = lane->owner };

        if (!row || row->parent == 0 || depth == LANE_NAMES_DEPTH_MAX) {
                key.kind = PERFETTO_TRACK_DEVICE;
                key.name = device->name;
        } else {
                row = trace_dictionary_row(d, TRACE_TABLE_TRACKS, row->parent);
                key.name = row->number;
        }
        return key;
}

/* Perfetto shows lanes in the order of their numbers; sub-lanes of one have the same rank. */
static int tell_lane(struct perfetto_tracks *t, const struct perfetto_track_key *key, uint64_t uuid,
                     uint64_t parent)
{
        struct byte_buffer name = { .data = NULL };
        struct byte_buffer *b;
        size_t track;
        int r;

        lane_names_put_own(&t->lane_names, &name, key->owner, key->name, key->sublane);
        b = perfetto_packets_begin(t->packets, PERFETTO_SEQUENCE_HEAD, t->trace->start_ns);
        track = protobuf_writer_begin(b, PERFETTO_PACKET_TRACK);
        protobuf_writer_put_number(b, PERFETTO_TRACK_UUID, uuid);
        protobuf_writer_put_number(b, PERFETTO_TRACK_PARENT, parent);
        protobuf_writer_put_text(b, PERFETTO_TRACK_NAME, (const char *)name.data, name.used_bytes);
        if (key->sublane != 0)
                protobuf_writer_put_words(b, PERFETTO_TRACK_DESCRIPTION, PERFETTO_SUBLANE_WORDS);
        protobuf_writer_put_number(b, PERFETTO_TRACK_CHILD_ORDER, PERFETTO_ORDER_EXPLICIT);
        protobuf_writer_put_number(b, PERFETTO_TRACK_RANK,
                                   key->name < INT32_MAX ? key->name : (uint64_t)INT32_MAX);
        protobuf_writer_end(b, track);
        r = name.failed ? -ENOMEM : perfetto_packets_end(t->packets);
        byte_buffer_deinit(&name);
        return r;
}

/*
 * "hyprof device; placed within 0.3 us; bound 312 ns": hyprof import makes a device of it by the first words,
 * and a bound, if it is proven, of the last ones.
 */
static void describe_device(const struct perfetto_tracks *t, struct byte_buffer *b, uint32_t device)
{
        const struct clock_fit *fit = &t->clocks.clocks[device - 1].fit;
        char placed[CLOCK_FIT_WORDS_BYTES];
        char words[CLOCK_FIT_WORDS_BYTES + sizeof(PERFETTO_DEVICE_WORDS PERFETTO_BOUND_WORDS) + 32];
        int n = snprintf(words, sizeof(words), PERFETTO_DEVICE_WORDS "; %s", clock_fit_words(fit, placed));

        if (fit->quality == CLOCK_PROVEN)
                (void)snprintf(words + n, sizeof(words) - (size_t)n, PERFETTO_BOUND_WORDS "%" PRIu64 " ns",
                               fit->bound_ns);
        protobuf_writer_put_number(b, PERFETTO_TRACK_CHILD_ORDER, PERFETTO_ORDER_EXPLICIT);
        protobuf_writer_put_words(b, PERFETTO_TRACK_DESCRIPTION, words);
}

static int tell_named(struct perfetto_tracks *t, const struct perfetto_track_key *key, uint64_t uuid)
{
        static const char *const words[] = {
                [PERFETTO_TRACK_PLOT] = "plot",
                [PERFETTO_TRACK_FRAMES] = "frames",
                [PERFETTO_TRACK_LOCKS] = "waits for locks",
                [PERFETTO_TRACK_DEVICE] = "device",
        };
        bool is_of_thread = key->kind == PERFETTO_TRACK_LOCKS;
        uint32_t owner = key->owner;
        struct byte_buffer *b;
        size_t track;
        int r;

        if (key->kind == PERFETTO_TRACK_DEVICE) {
                const struct trace_device *row = trace_dictionary_row(t->trace->dictionary,
                                                                      TRACE_TABLE_DEVICES, owner);

                owner = row->process;
        }
        if (is_of_thread)
                r = perfetto_tracks_thread(t, owner);
        else
                r = owner == 0 ? 0 : tell_process(t, owner); /* a device may have no process */
        if (r < 0)
                return r;
        b = perfetto_packets_begin(t->packets, PERFETTO_SEQUENCE_HEAD, t->trace->start_ns);
        track = protobuf_writer_begin(b, PERFETTO_PACKET_TRACK);
        protobuf_writer_put_number(b, PERFETTO_TRACK_UUID, uuid);
        if (owner != 0)
                protobuf_writer_put_number(b, PERFETTO_TRACK_PARENT,
                                           is_of_thread ? UUID_THREAD(owner) : UUID_PROCESS(owner));
        if (key->kind == PERFETTO_TRACK_DEVICE)
                describe_device(t, b, key->owner);
        if (key->name != 0)
                put_string(t, b, PERFETTO_TRACK_NAME, key->name);
        else
                protobuf_writer_put_words(b, PERFETTO_TRACK_NAME, words[key->kind]);
        if (key->kind == PERFETTO_TRACK_PLOT)
                put_counter(t, b, key->name);
        protobuf_writer_end(b, track);
        return perfetto_packets_end(t->packets);
}

/* Returns 1 if it is new. */
static int add_key(struct perfetto_tracks *t, const struct perfetto_track_key *key, uint32_t *ret_id)
{
        return intern_add_row(&t->named, key, &t->open, &t->open_capacity, sizeof(*t->open), ret_id);
}

/* A lane, after the tracks that it is in. */
static int tell_lanes(struct perfetto_tracks *t, const struct perfetto_track_key *lane, uint32_t id)
{
        struct perfetto_track_key keys[LANE_NAMES_DEPTH_MAX + 2] = { *lane }; /* each in the next one */
        uint32_t ids[LANE_NAMES_DEPTH_MAX + 2] = { id }, n = 0;
        int r;

        do {
                n++;
                keys[n] = key_above(t, &keys[n - 1], n - 1);
                r = add_key(t, &keys[n], &ids[n]);
        } while (r == 1 && keys[n].kind == PERFETTO_TRACK_LANE);
        if (r == 1)
                r = tell_named(t, &keys[n], UUID_NAMED(ids[n]));
        while (r >= 0 && n-- > 0)
                r = tell_lane(t, &keys[n], UUID_NAMED(ids[n]), UUID_NAMED(ids[n + 1]));
        return r;
}

/* A counter, below the lane that its values are of. */
static int tell_device_plot(struct perfetto_tracks *t, const struct perfetto_track_key *key, uint64_t uuid)
{
        const struct perfetto_track_key lane = { .kind = PERFETTO_TRACK_LANE,
                                                 .owner = key->owner,
                                                 .name = key->sublane };
        struct byte_buffer *b;
        size_t track;
        uint32_t id;
        int r = add_key(t, &lane, &id);

        if (r == 1)
                r = tell_lanes(t, &lane, id);
        if (r < 0)
                return r;
        b = perfetto_packets_begin(t->packets, PERFETTO_SEQUENCE_HEAD, t->trace->start_ns);
        track = protobuf_writer_begin(b, PERFETTO_PACKET_TRACK);
        protobuf_writer_put_number(b, PERFETTO_TRACK_UUID, uuid);
        protobuf_writer_put_number(b, PERFETTO_TRACK_PARENT, UUID_NAMED(id));
        put_string(t, b, PERFETTO_TRACK_NAME, key->name);
        put_counter(t, b, key->name);
        protobuf_writer_end(b, track);
        return perfetto_packets_end(t->packets);
}

int perfetto_tracks_named(struct perfetto_tracks *t, const struct perfetto_track_key *key, uint64_t *ret_uuid,
                          bool **ret_open)
{
        uint32_t id;
        int r = add_key(t, key, &id);

        if (r == 1)
                r = key->kind == PERFETTO_TRACK_LANE          ? tell_lanes(t, key, id)
                    : key->kind == PERFETTO_TRACK_DEVICE_PLOT ? tell_device_plot(t, key, UUID_NAMED(id))
                                                              : tell_named(t, key, UUID_NAMED(id));
        if (r < 0)
                return r;
        *ret_uuid = UUID_NAMED(id);
        if (ret_open)
                *ret_open = &t->open[id - 1];
        return r;
}
