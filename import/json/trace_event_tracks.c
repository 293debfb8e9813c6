/* SPDX-License-Identifier: MIT */
#include "import/json/trace_event_tracks.h"

#include "base/array.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The first byte of an id in `ids`: of what it is the track. */
enum { HOST_PROCESS = 'p', HOST_THREAD = 't', DEVICE = 'd', DEVICE_STREAM = 's', ASYNC = 'a' };

/* A key of `ids`: the kind, the process' id, NUL, and the thread's id or the category. */
struct track_key {
        char bytes[2 * TRACE_EVENT_ID_BYTES + 2];
        size_t n_bytes, n_process_bytes;
};

void trace_event_tracks_init(struct trace_event_tracks *t, struct import_rows *rows, uint32_t clock)
{
        *t = (struct trace_event_tracks){ .rows = rows, .clock = clock };
        intern_init(&t->ids, 0, TRACE_EVENT_TRACKS_MAX);
        intern_init(&t->named, 0, TRACE_EVENT_TRACKS_MAX);
        intern_init(&t->texts, 0, TRACE_EVENT_TRACKS_MAX);
        intern_init(&t->devices, 0, TRACE_EVENT_TRACKS_MAX);
        t->texts.items_bytes_max = TRACE_EVENT_NAMES_BYTES;
}

void trace_event_tracks_deinit(struct trace_event_tracks *t)
{
        intern_deinit(&t->ids);
        intern_deinit(&t->named);
        intern_deinit(&t->texts);
        intern_deinit(&t->devices);
        free(t->tracks);
        free(t->names);
        byte_buffer_deinit(&t->room);
}

/* A full table is the file's matter; no memory is not. */
static int fail(int r, struct error *err)
{
        return r == -EOVERFLOW ? -E2BIG : r == -ENOMEM ? error_set(err, r, "no memory for tracks") : r;
}

/* ------------------------------------------------------------------ keys */

static int begin_key(struct track_key *key, char kind, struct json_value process)
{
        int n = trace_event_row_id(process, &key->bytes[1], TRACE_EVENT_ID_BYTES);

        if (n < 0)
                return n;
        key->bytes[0] = kind;
        key->n_process_bytes = (size_t)n;
        key->bytes[1 + n] = '\0';
        key->n_bytes = key->n_process_bytes + 2;
        return 0;
}

static int add_thread(struct track_key *key, struct json_value thread)
{
        int n = trace_event_row_id(thread, key->bytes + key->n_bytes, TRACE_EVENT_ID_BYTES);

        if (n < 0)
                return n;
        key->n_bytes += (size_t)n;
        return 0;
}

static int add_text(struct track_key *key, struct text_view text)
{
        if (text.n_bytes > TRACE_EVENT_ID_BYTES)
                return -E2BIG;
        if (text.n_bytes > 0)
                memcpy(key->bytes + key->n_bytes, text.bytes, text.n_bytes);
        key->n_bytes += text.n_bytes;
        return 0;
}

static struct text_view process_of(const struct track_key *key)
{
        return (struct text_view){ key->bytes + 1, key->n_process_bytes };
}

static struct text_view thread_of(const struct track_key *key)
{
        size_t at = key->n_process_bytes + 2;

        return (struct text_view){ key->bytes + at, key->n_bytes - at };
}

/* The text of an id, without the quote before it. */
static struct text_view shown(struct text_view id)
{
        if (text_view_begins_with(id, "\""))
                return (struct text_view){ id.bytes + 1, id.n_bytes - 1 };
        return id;
}

/* ------------------------------------------------------------------ devices */

static bool is_in(struct json_value category, const char *const *words)
{
        if (category.kind != JSON_STRING || !category.text.bytes)
                return false;
        for (; *words; words++)
                if (text_view_is(category.text, *words))
                        return true;
        return false;
}

int trace_event_tracks_add_device(struct trace_event_tracks *t, struct json_value id, struct error *err)
{
        char bytes[TRACE_EVENT_ID_BYTES];
        int n = trace_event_row_id(id, bytes, sizeof(bytes)), r;
        uint32_t ignored;

        if (n <= 0)
                return n;
        r = intern_add(&t->devices, bytes, (size_t)n, &ignored);
        if (r == 1) /* what had been a process may be a device */
                memset(t->recent, 0, sizeof(t->recent));
        return r < 0 ? fail(r, err) : 0;
}

/*
 * By the category, for a process in a container may have the number of a device; where that says nothing, by
 * the number.
 */
static bool is_on_device(struct trace_event_tracks *t, const struct trace_event_row *row)
{
        static const char *const of_devices[] = { "kernel",          "gpu_memcpy",
                                                  "gpu_memset",      "gpu_user_annotation",
                                                  "cuda_sync",       "cuda_profiler_range",
                                                  "mtia_ccp_events", NULL };
        static const char *const of_hosts[] = { "cpu_op",          "cuda_runtime",
                                                "cuda_driver",     "user_annotation",
                                                "python_function", "fwdbwd",
                                                "overhead",        NULL };
        struct track_key key;

        if (!t->may_have_devices || is_in(row->category, of_hosts))
                return false;
        if (is_in(row->category, of_devices)) {
                (void)trace_event_tracks_add_device(t, row->process, NULL);
                return true;
        }
        return begin_key(&key, DEVICE, row->process) == 0 && key.n_process_bytes > 0 &&
               intern_find(&t->devices, key.bytes + 1, key.n_process_bytes) != 0;
}

/* ------------------------------------------------------------------ tracks */

/* Describes a track without parent. */
static struct import_track describe_process(const struct track_key *key)
{
        struct text_view id = process_of(key);
        struct import_track track = { .kind = key->bytes[0] == DEVICE ? IMPORT_TRACK_DEVICE
                                                                      : IMPORT_TRACK_PROCESS };

        track.has_number = json_pull_unsigned(id, &track.number);
        if (track.has_number)
                return track;
        track.name = shown(id);
        if (track.name.n_bytes == 0)
                track.name = (struct text_view){ "no process", strlen("no process") };
        if (track.kind == IMPORT_TRACK_PROCESS)
                track.kind = IMPORT_TRACK_OTHER;
        return track;
}

static struct import_track describe_thread(const struct track_key *key, uint32_t parent)
{
        struct text_view id = thread_of(key);
        struct import_track track = { .kind = IMPORT_TRACK_OTHER, .parent = parent };
        uint64_t number;
        bool has_process = json_pull_unsigned(process_of(key), &number);

        if (key->bytes[0] == ASYNC) {
                track.name = id.n_bytes ? id : (struct text_view){ "async", strlen("async") };
                return track;
        }
        track.has_number = json_pull_unsigned(id, &track.number);
        track.name = track.has_number && has_process ? (struct text_view){ NULL, 0 } : shown(id);
        if (!track.has_number && track.name.n_bytes == 0)
                track.name = (struct text_view){ "no thread", strlen("no thread") };
        if (key->bytes[0] == DEVICE_STREAM)
                track.kind = IMPORT_TRACK_STREAM;
        else if (has_process && track.has_number)
                track.kind = IMPORT_TRACK_THREAD;
        return track;
}

/* The track of a key, which is made if it is new. */
static int find_track(struct trace_event_tracks *t, const struct track_key *key, struct import_track track,
                      uint32_t *ret_track, struct error *err)
{
        uint32_t id = intern_find(&t->ids, key->bytes, key->n_bytes);
        int r;

        if (id) {
                *ret_track = t->tracks[id - 1];
                return 0;
        }
        r = array_reserve(&t->tracks, &t->tracks_capacity, (size_t)t->ids.n_items + 1, sizeof(*t->tracks));
        if (r == 0 && t->ids.n_items == TRACE_EVENT_TRACKS_MAX)
                r = -EOVERFLOW;
        if (r < 0)
                return fail(r, err);
        track.clock = t->clock;
        r = import_rows_track(t->rows, &track, ret_track, err);
        if (r < 0)
                return r;
        r = intern_add_new(&t->ids, key->bytes, key->n_bytes, &id);
        if (r < 0)
                return fail(r, err);
        t->tracks[id - 1] = *ret_track;
        return 0;
}

static int find_process(struct trace_event_tracks *t, struct json_value process, bool is_device,
                        uint32_t *ret_track, struct error *err)
{
        struct track_key key;
        int r = begin_key(&key, is_device ? DEVICE : HOST_PROCESS, process);

        return r < 0 ? r : find_track(t, &key, describe_process(&key), ret_track, err);
}

int trace_event_tracks_process(struct trace_event_tracks *t, const struct trace_event_row *row,
                               uint32_t *ret_track, struct error *err)
{
        return find_process(t, row->process, is_on_device(t, row), ret_track, err);
}

/* Most events are of a thread that had others lately.  Returns 0 for one that is not kept. */
static size_t put_recent_key(const struct trace_event_tracks *t, const struct trace_event_row *row,
                             char bytes[TRACE_EVENT_RECENT_BYTES])
{
        const struct json_value *process = &row->process, *thread = &row->thread;
        struct text_view category = t->may_have_devices && row->category.kind == JSON_STRING
                                            ? row->category.text
                                            : (struct text_view){ NULL, 0 };
        size_t n_process = process->text.n_bytes, n_thread = thread->text.n_bytes, at = 4;

        if ((process->kind != JSON_NUMBER && process->kind != JSON_STRING) ||
            (thread->kind != JSON_NUMBER && thread->kind != JSON_STRING) || n_process == 0 || n_thread == 0 ||
            n_process > 16 || n_thread > 16 || category.n_bytes > 24)
                return 0;
        bytes[0] = (char)n_process;
        bytes[1] = (char)n_thread;
        bytes[2] = (char)category.n_bytes;
        bytes[3] = (char)((unsigned)process->kind << 4 | (unsigned)thread->kind);
        memcpy(bytes + at, process->text.bytes, n_process);
        at += n_process;
        memcpy(bytes + at, thread->text.bytes, n_thread);
        at += n_thread;
        if (category.n_bytes > 0)
                memcpy(bytes + at, category.bytes, category.n_bytes);
        return at + category.n_bytes;
}

/* Threads mostly differ in their last digits. */
static struct trace_event_recent *find_recent(struct trace_event_tracks *t, struct text_view thread,
                                              size_t n_bytes)
{
        const char *end = thread.bytes + thread.n_bytes;
        size_t hash = (unsigned char)end[-1] + 10 * (size_t)(unsigned char)end[-(thread.n_bytes > 1) - 1];

        return &t->recent[(hash + 3 * n_bytes) % TRACE_EVENT_RECENT];
}

static int find_thread(struct trace_event_tracks *t, const struct trace_event_row *row, uint32_t *ret_track,
                       struct error *err)
{
        bool is_device = is_on_device(t, row);
        struct track_key key;
        uint32_t parent, id;
        int r = begin_key(&key, is_device ? DEVICE_STREAM : HOST_THREAD, row->process);

        if (r == 0)
                r = add_thread(&key, row->thread);
        if (r < 0)
                return r;
        id = intern_find(&t->ids, key.bytes, key.n_bytes);
        if (id) {
                *ret_track = t->tracks[id - 1];
                return 0;
        }
        r = find_process(t, row->process, is_device, &parent, err);
        if (r < 0 || thread_of(&key).n_bytes == 0) {
                *ret_track = r < 0 ? 0 : parent;
                return r;
        }
        return find_track(t, &key, describe_thread(&key, parent), ret_track, err);
}

int trace_event_tracks_thread(struct trace_event_tracks *t, const struct trace_event_row *row,
                              uint32_t *ret_track, struct error *err)
{
        char bytes[TRACE_EVENT_RECENT_BYTES];
        size_t n_bytes = put_recent_key(t, row, bytes);
        struct trace_event_recent *recent;
        int r;

        if (n_bytes == 0)
                return find_thread(t, row, ret_track, err);
        recent = find_recent(t, row->thread.text, n_bytes);
        if (memcmp(recent->bytes, bytes, n_bytes) == 0) {
                *ret_track = recent->track;
                return 0;
        }
        r = find_thread(t, row, ret_track, err);
        if (r < 0)
                return r;
        memcpy(recent->bytes, bytes, n_bytes);
        recent->track = *ret_track;
        return 0;
}

int trace_event_tracks_async(struct trace_event_tracks *t, const struct trace_event_row *row,
                             uint32_t *ret_track, struct error *err)
{
        struct track_key key;
        uint32_t parent = 0;
        int r = begin_key(&key, ASYNC, row->process);

        if (r == 0 && row->category.kind == JSON_STRING)
                r = add_text(&key, row->category.text);
        if (r == 0)
                r = find_process(t, row->process, false, &parent, err);
        return r < 0 ? r : find_track(t, &key, describe_thread(&key, parent), ret_track, err);
}

/* ------------------------------------------------------------------ names */

int trace_event_tracks_name(struct trace_event_tracks *t, const struct trace_event_row *row,
                            enum trace_event_name what, struct text_view text, struct error *err)
{
        bool is_thread = what == TRACE_EVENT_THREAD_NAME;
        struct track_key key;
        uint32_t id, name = 0;
        int r = begin_key(&key, is_thread ? HOST_THREAD : HOST_PROCESS, row->process);

        if (r == 0 && is_thread)
                r = add_thread(&key, row->thread);
        if (r == 0)
                r = json_pull_string(text, &t->room, &text);
        while (r == 0 && text.n_bytes > 0 && text.bytes[text.n_bytes - 1] == ' ')
                text.n_bytes--;
        if (r == 0)
                r = array_reserve(&t->names, &t->names_capacity, (size_t)t->named.n_items + 1,
                                  sizeof(*t->names));
        if (r == 0 && text.n_bytes > 0)
                r = intern_add(&t->texts, text.bytes, text.n_bytes, &name);
        if (r >= 0)
                r = intern_add(&t->named, key.bytes, key.n_bytes, &id);
        if (r < 0)
                return fail(r, err);
        if (r == 1)
                t->names[id - 1] = (struct named_id){ .name = 0 };
        if (what == TRACE_EVENT_PROCESS_LABELS)
                t->names[id - 1].labels = name;
        else
                t->names[id - 1].name = name;
        return 0;
}

static struct text_view text_of(const struct trace_event_tracks *t, uint32_t id)
{
        struct text_view text = { NULL, 0 };

        if (id)
                text.bytes = intern_get(&t->texts, id, &text.n_bytes);
        return text;
}

/* "Renderer (title of a page)"; PyTorch's labels of its devices are better than the name of the program. */
static struct text_view name_of(struct trace_event_tracks *t, struct named_id names, bool is_device)
{
        struct text_view name = text_of(t, names.name), labels = text_of(t, names.labels);

        if (labels.n_bytes == 0 || (name.n_bytes > 0 && text_view_is(labels, "CPU")))
                return name;
        if (is_device || name.n_bytes == 0)
                return labels;
        byte_buffer_clear(&t->room);
        byte_buffer_add(&t->room, name.bytes, name.n_bytes);
        byte_buffer_add(&t->room, " (", 2);
        byte_buffer_add(&t->room, labels.bytes, labels.n_bytes);
        byte_buffer_add_u8(&t->room, ')');
        if (t->room.failed)
                return name;
        return (struct text_view){ (const char *)t->room.data, t->room.used_bytes };
}

static int name_track(struct trace_event_tracks *t, struct track_key *key, struct named_id names,
                      struct error *err)
{
        uint32_t id = intern_find(&t->ids, key->bytes, key->n_bytes);
        struct text_view name;

        if (!id)
                return 0;
        name = name_of(t, names, key->bytes[0] == DEVICE);
        return name.n_bytes ? import_rows_name_track(t->rows, t->tracks[id - 1], name, err) : 0;
}

int trace_event_tracks_finish(struct trace_event_tracks *t, struct error *err)
{
        int r = 0;

        for (uint32_t id = 1; r == 0 && id <= t->named.n_items; id++) {
                struct track_key key = { .n_bytes = 0 };
                const char *bytes = intern_get(&t->named, id, &key.n_bytes);

                memcpy(key.bytes, bytes, key.n_bytes);
                r = name_track(t, &key, t->names[id - 1], err);
                if (r < 0)
                        break;
                key.bytes[0] = key.bytes[0] == HOST_PROCESS ? DEVICE : DEVICE_STREAM;
                r = name_track(t, &key, t->names[id - 1], err);
        }
        return r;
}
