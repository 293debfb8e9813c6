/* SPDX-License-Identifier: MIT */
/*
 * import/json/trace_event_tracks.h - tracks of trace-event JSON, by ids of processes and threads
 *
 * Way of the data:  import_trace_event -> [trace_event_tracks] -> import_rows
 *
 * Ids are numbers or text.  The small numbers of PyTorch's devices look like processes.  They are devices by
 * the categories of what is on them and by the file's list of devices, and never one with a process of that
 * number.  Names come at any place of the file; those of tracks that have nothing on them are forgotten.
 * Memory: a row for each track and each name, at most TRACE_EVENT_TRACKS_MAX.
 */
#ifndef IMPORT_TRACE_EVENT_TRACKS_H
#define IMPORT_TRACE_EVENT_TRACKS_H

#include "base/byte_buffer.h"
#include "base/intern.h"
#include "import/json/trace_event_row.h"
#include "import/rows/import_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_EVENT_TRACKS_MAX  (UINT32_C(1) << 20) /* and as many names; more of them are -E2BIG */
#define TRACE_EVENT_ID_BYTES    256                 /* of a process' or thread's id; longer ones are -E2BIG */
#define TRACE_EVENT_NAMES_BYTES ((size_t)64 << 20)  /* of all names */

#define TRACE_EVENT_RECENT       64
#define TRACE_EVENT_RECENT_BYTES 64

/* The track of a thread, found again by what events say of theirs. */
struct trace_event_recent {
        char bytes[TRACE_EVENT_RECENT_BYTES]; /* lengths and kinds, process, thread, category; 0 = none */
        uint32_t track;
};

struct trace_event_tracks {
        struct import_rows *rows; /* borrowed */
        uint32_t clock;
        struct intern ids;   /* of tracks: what kind, process, thread or category */
        uint32_t *tracks;    /* of import_rows, by id - 1; 0 = not made yet */
        struct intern named; /* ids of processes and threads that have names */
        struct intern texts; /* names and labels */
        struct named_id {
                uint32_t name, labels; /* ids in `texts`; 0 = none */
        } * names;                     /* by id in `named` - 1 */
        size_t tracks_capacity, names_capacity;
        struct intern devices; /* ids of processes that are devices */
        bool may_have_devices; /* PyTorch's profiler wrote the file */
        struct trace_event_recent recent[TRACE_EVENT_RECENT];
        struct byte_buffer room;
};

/* The caller's storage.  @clock: of all tracks. */
void trace_event_tracks_init(struct trace_event_tracks *t, struct import_rows *rows, uint32_t clock);
void trace_event_tracks_deinit(struct trace_event_tracks *t);

/*
 * All below return 0, -E2BIG without words for an id that is too long or one too many, or -errno with words.
 */

/* The file says that there is a device with this number. */
int trace_event_tracks_add_device(struct trace_event_tracks *t, struct json_value id, struct error *err);

/* The track of an event: of its thread; of its process, if it names no thread. */
int trace_event_tracks_thread(struct trace_event_tracks *t, const struct trace_event_row *row,
                              uint32_t *ret_track, struct error *err);
int trace_event_tracks_process(struct trace_event_tracks *t, const struct trace_event_row *row,
                               uint32_t *ret_track, struct error *err);

/* For asynchronous work: one for each category of a process. */
int trace_event_tracks_async(struct trace_event_tracks *t, const struct trace_event_row *row,
                             uint32_t *ret_track, struct error *err);

enum trace_event_name { TRACE_EVENT_PROCESS_NAME, TRACE_EVENT_PROCESS_LABELS, TRACE_EVENT_THREAD_NAME };

/* Keeps a name; @text: as a JSON string's text. */
int trace_event_tracks_name(struct trace_event_tracks *t, const struct trace_event_row *row,
                            enum trace_event_name what, struct text_view text, struct error *err);

/* Gives the tracks their names. */
int trace_event_tracks_finish(struct trace_event_tracks *t, struct error *err);

#endif /* IMPORT_TRACE_EVENT_TRACKS_H */
