/* SPDX-License-Identifier: MIT */
/*
 * sampler/zone_source.h - the programs' side of the merge
 *
 * Way of the data:  client_region -> client_stream -> [zone_source] -> merge
 *
 * Holds the regions of all recorded processes, copies their rings out and turns
 * what is in them into trace events: ticks into nanoseconds, locations and
 * texts into ids of the dictionary.  Used by the collector's thread.
 */
#ifndef SAMPLER_ZONE_SOURCE_H
#define SAMPLER_ZONE_SOURCE_H

#include "base/intern.h"
#include "format/trace_event.h"
#include "instrument/client_region.h"
#include "instrument/client_stream.h"
#include "instrument/tick_clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loss_counter;
struct trace_dictionary;

#define ZONE_SOURCE_CLOCKS 5 /* by enum client_abi_clock */

/* One ring of a region. */
struct zone_slot {
        struct client_stream stream;
        struct client_drops seen; /* drops that were counted already */
        uint32_t tid;             /* whose events come now; 0 = not said yet */
};

/* One region. */
struct zone_region {
        struct client_region *region; /* owned */
        uint32_t pid;                 /* in our PID namespace */
        uint64_t device, inode;       /* of the memfd: tells one region from the next of the same process */
        bool ended;                   /* the process is gone: drain once more, then close */
        struct zone_slot *slots;      /* heap, owned */
        size_t n_slots, slots_capacity;
        uint32_t *locations; /* heap, owned: by the client's id - 1, the id in LOCATIONS; 0 = not asked yet */
        size_t locations_capacity;
        uint64_t n_no_ring_seen;
        uint64_t n_garbage_seen;
};

struct zone_source {
        struct trace_dictionary *dictionary; /* borrowed */
        struct loss_counter *losses;         /* borrowed */
        struct zone_region *regions;         /* heap, owned */
        size_t n_regions, regions_capacity;
        struct intern known_pids; /* of all processes that ever had a region open here */
        struct tick_clock clocks[ZONE_SOURCE_CLOCKS];
        bool clock_used[ZONE_SOURCE_CLOCKS];
        uint32_t nameless;     /* location of zones whose own makes no sense: keeps the nesting right */
        uint32_t *missed_pids; /* heap, owned: announced, but gone before their region could be opened */
        size_t n_missed_pids, missed_capacity;
        uint32_t families;      /* what the programs are asked for */
        uint64_t busiest_bytes; /* what the fullest ring held in the last drain */
};

void zone_source_init(struct zone_source *s, struct trace_dictionary *dictionary, struct loss_counter *losses,
                      uint32_t families);
/* Ends recording in every region and closes them. */
void zone_source_deinit(struct zone_source *s);

/*
 * zone_source_open() - open the region of a process and start recording in it
 * A region is announced by each mapping of it; only the first call for it does anything.  Another region
 * of the same process replaces the first (after execve), which is drained and closed.
 * A region that cannot be had is counted, not an error.  Returns 0 or -ENOMEM.
 */
int zone_source_open(struct zone_source *s, uint32_t pid);

/* The same for a region that its process handed in; @fd is taken over. */
int zone_source_take(struct zone_source *s, uint32_t pid, int fd);

/* The process has ended: its region is closed after the next drain. */
void zone_source_end(struct zone_source *s, uint32_t pid);

/* Tells all programs to stop recording. */
void zone_source_disable(struct zone_source *s);

/*
 * zone_source_drain() - copy what all rings hold, and take a reading of the clocks
 * Everything stamped before this call is covered by the reading.  Returns 0 or -ENOMEM.
 */
int zone_source_drain(struct zone_source *s);

/* Closes regions that have ended and are decoded to their end. */
void zone_source_close_ended(struct zone_source *s);

/* Counts what the programs dropped since the last call; @thread_of finds the row of a tid.  Returns 0 or -errno. */
typedef uint32_t zone_source_thread_of(void *context, uint32_t tid);
int zone_source_count_drops(struct zone_source *s, zone_source_thread_of *thread_of, void *context,
                            uint64_t now_ns);

/* Puts the last reading of each clock in use into the table CLOCKS.  Returns 0 or -errno of the table. */
int zone_source_add_clocks(struct zone_source *s);

/* What one word of a ring becomes. */
struct zone_event {
        struct trace_event event;
        bool hands_over; /* only a time: from here on the slot belongs to the thread in `tid` */
};

/*
 * zone_source_next() - the next event of a slot that is not later than @until_ns
 * Returns 1; 0 when there is none yet; -ENOMEM.
 */
int zone_source_next(struct zone_source *s, struct zone_region *region, struct zone_slot *slot,
                     uint64_t until_ns, struct zone_event *ret_event);

#endif /* SAMPLER_ZONE_SOURCE_H */
