/* SPDX-License-Identifier: MIT */
/*
 * import/perfetto/pftrace_tracks.h - the tracks of a Perfetto trace, by their numbers
 *
 * Way of the data:  import_pftrace -> [pftrace_tracks] -> import_rows
 *
 * A track is made when something happens on it.  Its description comes before, or never: then it has its
 * number for a name.  Memory: a row a track and a process, at most PFTRACE_TRACKS_MAX.  Not thread-safe.
 */
#ifndef IMPORT_PFTRACE_TRACKS_H
#define IMPORT_PFTRACE_TRACKS_H

#include "base/intern.h"
#include "base/text_view.h"
#include "import/perfetto/pftrace_clocks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFTRACE_TRACKS_MAX  (UINT32_C(1) << 20)
#define PFTRACE_NAMES_BYTES ((size_t)64 << 20) /* of all names */
#define PFTRACE_TRACK_DEPTH 14                 /* parents that are further away do not count */

enum pftrace_track_kind {
        PFTRACE_TRACK_UNKNOWN, /* not described */
        PFTRACE_TRACK_IS_PROCESS,
        PFTRACE_TRACK_IS_THREAD,
        PFTRACE_TRACK_IS_COUNTER,
        PFTRACE_TRACK_IS_NAMED,
        PFTRACE_TRACK_IS_DEVICE, /* of hyprof's export; what is below it is a lane of the device */
};

struct pftrace_track {
        enum pftrace_track_kind kind;
        uint64_t uuid, parent; /* 0 = none */
        uint64_t pid, tid;
        uint32_t name;           /* id in `names`; 0 = none */
        uint32_t known, track;   /* the clock of what is on it, and the track of import_rows; 0 = not made */
        uint32_t unit, title;    /* strings of a counter */
        int64_t multiplier, sum; /* of a counter; the sum of one that says differences */
        bool is_incremental;
        bool is_below_device; /* since it has a track of import_rows */
        uint64_t bound_ns;    /* of a device: of its places, if `has_bound` */
        bool has_bound, is_estimated;
        uint32_t clock; /* of what is on a device, since it has a track */
};

struct pftrace_tracks {
        struct import_rows *rows;      /* borrowed */
        struct pftrace_clocks *clocks; /* the same */
        struct intern uuids;           /* uint64_t */
        struct pftrace_track *tracks;  /* by id - 1 */
        struct intern pids;            /* uint64_t */
        struct named_process {
                uint32_t name, track; /* id in `names`, of import_rows */
        } * processes;
        struct intern names;
        size_t tracks_capacity, processes_capacity;
        uint64_t n_devices, n_no_bound; /* n_no_bound: whose places have an estimated bound */
        uint64_t n_undescribed;         /* tracks on which something happened */
};

/* The caller's storage. */
void pftrace_tracks_init(struct pftrace_tracks *t, struct import_rows *rows, struct pftrace_clocks *clocks);
void pftrace_tracks_deinit(struct pftrace_tracks *t);

/*
 * All below return 0, or without words -EBADMSG: it is malformed, -E2BIG: there are too many tracks, or
 * -errno with words.
 */

/* Takes a description. */
int pftrace_tracks_describe(struct pftrace_tracks *t, struct text_view message, struct error *err);

/*
 * Reads the description of a thread, as files before 2020 say it of a sequence.
 * @ret_time_us: the time from which the sequence counts
 */
int pftrace_tracks_read_thread(struct text_view message, uint64_t *ret_pid, uint64_t *ret_tid,
                               uint64_t *ret_time_us);

/*
 * The track of an event, whose own clock is that of its first event.
 * @known:   the clock of the event
 * @ret_of:  its row, valid until the next call; of a counter, `track` is what its values are on
 */
int pftrace_tracks_find(struct pftrace_tracks *t, uint64_t uuid, uint32_t known,
                        struct pftrace_track **ret_of, struct error *err);

/* The track of a thread of the machine, and one below its process for what is asynchronous. */
int pftrace_tracks_thread(struct pftrace_tracks *t, uint64_t pid, uint64_t tid, uint32_t known,
                          uint32_t *ret_track, struct error *err);
int pftrace_tracks_async(struct pftrace_tracks *t, uint64_t pid, struct text_view name, uint32_t known,
                         uint32_t *ret_track, struct error *err);

/* Gives processes and threads the names that came last. */
int pftrace_tracks_finish(struct pftrace_tracks *t, struct error *err);

#endif /* IMPORT_PFTRACE_TRACKS_H */
