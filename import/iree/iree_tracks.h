/* SPDX-License-Identifier: MIT */
/*
 * import/iree/iree_tracks.h - devices, queues and clocks of an IREE profile as tracks and clocks
 *
 * Way of the data:  iree_model -> [iree_tracks] -> import_rows
 *
 * A device has two tracks at the top, because two clocks are in the file: "device 0" with what it counted in
 * its own ticks, and "device 0 on the host" with what IREE noted in CLOCK_MONOTONIC.  The program made the
 * submissions, so each queue has a thread of them, of the process "IREE".  Tracks are made when something
 * happens on them.  Not thread-safe.
 */
#ifndef IMPORT_IREE_TRACKS_H
#define IMPORT_IREE_TRACKS_H

#include "base/intern.h"
#include "import/iree/iree_record.h"
#include "import/rows/import_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IREE_DEVICES_MAX  512 /* each may have a clock; more are left out, as of queues */
#define IREE_QUEUES_MAX   (UINT32_C(1) << 14)
#define IREE_READINGS_MAX (UINT32_C(1) << 20) /* kept until the end, 56 bytes each */

enum iree_lane {
        IREE_LANE_DISPATCHES, /* these two in ticks of the device */
        IREE_LANE_OPERATIONS,
        IREE_LANE_SUBMISSIONS,
        IREE_LANE_EXECUTION,
        IREE_LANE_REGIONS,
        IREE_N_LANES,
};

enum iree_memory {
        IREE_MEMORY_SLABS,
        IREE_MEMORY_POOLS,
        IREE_MEMORY_QUEUES,
        IREE_MEMORY_BUFFERS,
        IREE_MEMORY_IMPORTED,
        IREE_N_MEMORIES,
};

struct iree_device {
        uint32_t clock, track, host_track; /* 0 = not made yet */
        uint64_t live_bytes[IREE_N_MEMORIES];
        uint64_t last_tick, last_host; /* of readings, for epochs */
        uint32_t epoch;
        bool has_reading, is_unaligned;
};

struct iree_queue {
        uint32_t tracks[IREE_N_LANES]; /* 0 = not made yet */
        uint32_t key_kind;             /* string */
};

struct iree_tracks {
        struct import_rows *rows; /* borrowed */
        uint32_t host_clock;      /* CLOCK_MONOTONIC; 0 = not made yet */
        uint32_t process;         /* of submissions; the same */
        uint32_t session;         /* 0, or its number from 2 */
        struct intern device_ids, queue_ids;
        struct iree_device *devices; /* heap, in the order of their ids */
        struct iree_queue *queues;
        uint32_t last_queue; /* id: most records are of the queue of the one before */
        size_t devices_capacity, queues_capacity, readings_capacity;
        struct iree_reading *readings; /* heap */
        size_t n_readings;
        uint64_t n_unaligned, n_useless; /* readings that no clock can be placed by */
};

void iree_tracks_init(struct iree_tracks *tracks, struct import_rows *rows);
void iree_tracks_deinit(struct iree_tracks *tracks);

/* Submissions of another session, which is not the first, have other keys, and no memory lives. */
void iree_tracks_begin_session(struct iree_tracks *tracks, uint32_t number);

/*
 * Each finds or makes.  Return 0, -E2BIG for too many devices or queues (no words: the row is left out), or a
 * failure of import_rows.  The pointers are valid until the next call.
 */
int iree_tracks_device(struct iree_tracks *tracks, uint64_t ordinal, struct iree_device **ret_device,
                       struct error *err);
int iree_tracks_host(struct iree_tracks *tracks, uint64_t ordinal, struct iree_device **ret_device,
                     struct error *err);
int iree_tracks_lane(struct iree_tracks *tracks, const struct iree_record *record, enum iree_lane lane,
                     uint32_t *ret_track, struct error *err);
int iree_tracks_key(struct iree_tracks *tracks, const struct iree_record *record, struct import_key *ret_key,
                    struct error *err);

/* Takes a clock correlation.  Readings wait for the end: one that is not aligned with events spoils all. */
int iree_tracks_add_reading(struct iree_tracks *tracks, const struct iree_record *record, struct error *err);
int iree_tracks_end(struct iree_tracks *tracks, struct error *err);

#endif /* IMPORT_IREE_TRACKS_H */
