/* SPDX-License-Identifier: MIT */
/*
 * import/rows/import_state.h - the inside of struct import_rows, for the files that make it
 *
 * Way of the data:  import_rows.c fills it -> [import_state] -> import_tracks.c, import_trace.c
 */
#ifndef IMPORT_IMPORT_STATE_H
#define IMPORT_IMPORT_STATE_H

#include "base/intern.h"
#include "format/trace_dictionary.h"
#include "import/rows/import_clocks.h"
#include "import/rows/import_key_spaces.h"
#include "import/rows/import_lanes.h"
#include "import/rows/import_namesakes.h"
#include "import/rows/import_rows.h"
#include "import/rows/import_samples.h"
#include "import/rows/import_sort.h"
#include "import/rows/import_texts.h"
#include "import/rows/import_trace.h"

struct import_events;
struct trace_event;

/* A process or thread of the host has rows of the trace when something happens on it. */
struct import_place {
        enum import_track_kind kind;
        uint32_t parent, clock, file; /* file: index + 1 */
        uint64_t number;
        bool has_number;
        uint32_t name; /* string; 0 = none */
        uint32_t root; /* the track of its process or device; itself if it is one */
        bool is_of_device;
        uint32_t forked_from; /* of a PROCESS: the track of its parent; 0 = not said */

        /* when something happens on it: */
        uint32_t process; /* row of PROCESSES; of a PROCESS */
        uint32_t thread;  /* its host thread: index + 1 */
        uint32_t device;  /* row of DEVICES */
        uint32_t track;   /* row of TRACKS */
        uint32_t lane;    /* its number there */
};

/* A thread of the host: several tracks may be one. */
struct import_host_thread {
        uint32_t thread; /* row of THREADS */
        uint32_t lane;   /* the first, index + 1; 0 = it has no zones yet */
        uint32_t process, name;
        uint32_t n_lanes;
};

/*
 * Two tracks with one key are one; with another clock a track is another one, which may be the same process,
 * thread or device of the trace.  A track with neither number nor name has no key.
 */
struct import_track_key {
        uint64_t number;
        uint32_t kind; /* enum import_track_kind << 1 | has_number */
        uint32_t parent, name, file, clock;
        uint32_t reserved; /* 0: keys are compared as bytes */
};

/* A process without a PID. */
struct import_process_key {
        uint32_t file, name;
};

/* A device has a row for each clock that its tracks have. */
struct import_device_key {
        uint32_t root, clock;
};

struct import_thread_key {
        uint32_t process, tid;
};

/* A plot is told apart by its name: one process has it as it is, others with theirs added. */
struct import_plot_key {
        uint32_t name, unit, root;
};

/* A location that was added, to be found again without the dictionary. */
struct import_recent_location {
        uint32_t name, file, line, id; /* id: row of LOCATIONS; 0 = none */
};

#define IMPORT_RECENT_LOCATIONS 1024

/* A string that was added, likewise; of 16 bytes at most, both ends say all. */
struct import_recent_string {
        uint64_t first, last; /* eight bytes of it, or what there is */
        uint32_t n_bytes, id; /* id: 0 = none */
};

#define IMPORT_RECENT_STRINGS 4096

/*
 * So many texts of work on devices stay in memory, to be found again.  Where there are more, hardly any comes
 * twice: further ones are forgotten once they are in the trace.
 */
#define IMPORT_DEVICE_TEXTS_KEPT (UINT32_C(1) << 12)

/* One of several keys of a span. */
struct import_listed_key {
        struct import_key key;
        uint32_t next; /* index + 1; of the last one the first */
};

struct import_rows {
        struct import_options options;
        struct trace_dictionary own; /* without a recording */
        struct trace_dictionary *dictionary;
        /* Rows of the recording, and of imports into it before this one. */
        uint32_t n_processes_before, n_strings_before, n_imports_before;
        uint64_t n_string_bytes;
        uint64_t n_device_texts; /* different ones, as far as they are known */
        struct import_recent_location recent_locations[IMPORT_RECENT_LOCATIONS];
        struct import_recent_string recent_strings[IMPORT_RECENT_STRINGS];
        uint32_t last_located; /* no location has a name (string) after this one */

        struct import_sort *sort;
        struct import_texts *texts;
        struct import_clocks clocks;
        struct import_place *tracks; /* heap; by id - 1 */
        uint32_t n_tracks, n_keys;
        size_t tracks_capacity;
        struct intern track_keys; /* struct import_track_key -> */
        uint32_t *tracks_by_key;  /* heap; by id of the key - 1 */
        size_t tracks_by_key_capacity;

        struct import_key_spaces key_spaces;
        struct import_namesakes namesakes;
        struct import_listed_key *keys; /* heap; of spans that have several */
        size_t keys_capacity;
        struct import_file *files; /* heap */
        size_t n_files, files_capacity;
        bool has_failed; /* no memory in a call that cannot say so */

        struct import_lanes lanes;
        struct import_host_thread *threads; /* heap */
        uint32_t n_threads;
        size_t threads_capacity;
        struct intern thread_keys;  /* struct import_thread_key -> index + 1 of `threads` */
        struct intern process_keys; /* pid -> */
        uint32_t *processes;        /* heap: row of PROCESSES */
        size_t processes_capacity;
        struct intern named_keys; /* struct import_process_key -> */
        uint32_t *named;          /* heap: the same */
        size_t named_capacity;
        struct intern device_keys; /* struct import_device_key -> */
        uint32_t *devices;         /* heap: row of DEVICES */
        size_t devices_capacity;
        struct intern plot_names; /* string -> the root that has it as it is */
        uint32_t *plot_roots;
        size_t plot_roots_capacity;
        struct intern plot_keys; /* struct import_plot_key -> row of PLOTS */
        uint32_t *plots;
        size_t plots_capacity;
        uint32_t *carriers; /* heap; by file: the thread that device's events are on; 0 = none yet */
        size_t carriers_capacity;
        struct import_mapping *mappings; /* heap */
        uint32_t parent;                 /* row of PROCESSES, of the process that is being added */
        size_t n_mappings, mappings_capacity;
        uint32_t n_numbers; /* made up, for tracks without a number */
        uint64_t n_device_clocks;

        struct import_events *events; /* while it is written */
        struct import_sums sums;
        uint64_t unplaced_ns; /* what has no place is here */
        uint32_t file_now;    /* whose record is being written: index + 1 */
};

/* ------------------------------------------------------------------ import_rows.c */

/* "core 3": what a track is called that has no name. */
int import_rows_name_of(struct import_rows *rows, const struct import_place *track, uint32_t *ret_string);

/* As import_rows_string(), of a file (index + 1). */
int import_rows_add_string(struct import_rows *rows, uint32_t file, struct text_view text, uint32_t *ret_id,
                           struct error *err);

/* The same for the text of work on a device, whose id is used for that alone. */
int import_rows_add_device_text(struct import_rows *rows, uint32_t file, struct text_view text,
                                uint32_t *ret_id, struct error *err);

/* Each key of a span, in their order.  @at: 0 before the first.  Returns false at the end. */
bool import_rows_next_key(const struct import_rows *rows, struct import_key keys, uint32_t *at,
                          struct import_key *ret_key);

void import_rows_lose(struct import_rows *rows, uint32_t file, const char *kind, uint64_t n);

/* ------------------------------------------------------------------ import_tracks.c */

/*
 * The host thread of a track: @ret_index + 1 of `threads`.  A new one is added with its name, at @time_ns.
 * Return 0, -ENOMEM, -EOVERFLOW, -errno, with words.
 */
int import_tracks_thread(struct import_rows *rows, uint32_t id, uint64_t time_ns, uint32_t *ret_index,
                         struct error *err);

/* The same for a track of a process, or of none: a row of PROCESSES. */
int import_tracks_process(struct import_rows *rows, uint32_t root, uint64_t time_ns, uint32_t *ret_process,
                          struct error *err);

/* A further lane of a host thread: a thread of its own in the trace, which is the lane's. */
int import_tracks_add_lane(struct import_rows *rows, uint32_t index, uint32_t last, uint64_t time_ns,
                           uint32_t *ret_lane, struct error *err);

/* Fills in `device`, `track` and `lane` of a track of a device. */
int import_tracks_device(struct import_rows *rows, uint32_t id, uint64_t time_ns, struct error *err);

/* The thread on which the events of devices of a file are. */
int import_tracks_carrier(struct import_rows *rows, uint32_t file, uint64_t time_ns, uint32_t *ret_thread,
                          struct error *err);

/* The row of PLOTS of a value. */
int import_tracks_plot(struct import_rows *rows, const struct import_value *value, uint32_t *ret_plot,
                       struct error *err);

/* ------------------------------------------------------------------ import_samples.c */

/* Records from IMPORT_RECORD_SAMPLE on.  Returns as import_tracks_thread(). */
int import_samples_put(struct import_rows *rows, const struct import_record *record, uint64_t time_ns,
                       struct error *err);

/* The processes that a track of a process was forked from have rows before it; sets `parent`. */
int import_samples_place_parents(struct import_rows *rows, uint32_t track, uint64_t time_ns,
                                 struct error *err);

/* The mappings of processes that are in the trace, after all events. */
int import_samples_put_mappings(struct import_rows *rows, struct error *err);

#endif /* IMPORT_IMPORT_STATE_H */
