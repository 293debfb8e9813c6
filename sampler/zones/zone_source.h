/* SPDX-License-Identifier: MIT */
/*
 * sampler/zones/zone_source.h - the programs' side of the merge
 *
 * Way of the data:  region_inbox, region_finder -> zone_region -> [zone_source] -> zone_merge
 *
 * Holds the regions of all recorded processes, copies their rings out, and gives the next event of each and
 * its time.  Used by the collector's thread.
 */
#ifndef SAMPLER_ZONES_ZONE_SOURCE_H
#define SAMPLER_ZONES_ZONE_SOURCE_H

#include "base/error.h"
#include "base/intern.h"
#include "format/trace_spec.h"
#include "instrument/tick_clock.h"
#include "sampler/zones/event_translator.h"
#include "sampler/zones/full_ring_event.h"
#include "sampler/zones/spare_memory.h"
#include "sampler/zones/zone_region.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recording;

#define ZONE_SOURCE_CLOCKS 5 /* by enum client_abi_clock */

/*
 * The limit of our memory, and of the programs' memory that we look at, for all open regions of one user's
 * programs: 1 GiB, and an 8th of that more for other users' programs.  A region of the client library is
 * charged 2 MiB.  The regions of one process may take half of what those of the others leave.  One that
 * does not fit is counted as TRACE_LOSS_CLIENT_NO_ROOM.
 */
#define ZONE_SOURCE_USER_BYTES_MAX    (UINT64_C(1) << 30)
#define ZONE_SOURCE_REGIONS_BYTES_MAX (ZONE_SOURCE_USER_BYTES_MAX + ZONE_SOURCE_USER_BYTES_MAX / 8)

/* A region that was handed in, while it is not known yet whether its process is one of ours. */
struct waiting_region {
        int fd; /* owned */
        uint32_t pid;
        uint32_t own_pid; /* the process's number for itself when the region came; 0 = it was gone by then */
        uint64_t since_ns;
        bool announced; /* found by its mapping: regions that were handed in before it come first */
        bool waited;    /* it has waited for a cycle, so that those have come */
};

/* A region that was announced and could not be opened. */
struct missed_region {
        uint32_t pid;
        uint64_t cycle; /* of zone_source.n_cycles */
        enum trace_loss_reason why;
};

struct zone_source {
        const struct recording *recording; /* borrowed */
        /* the events that programs are asked for: CLIENT_ABI_FAMILY_*, and which with callstacks */
        uint32_t families;
        struct spare_memory spare; /* how much more than its rings each program may fill */
        struct spare_need need;    /* how much would have been enough */
        struct event_translator translator;

        struct zone_region *regions; /* heap, owned */
        size_t n_regions, regions_capacity;
        size_t n_regions_max;           /* at once, so far */
        struct waiting_region *waiting; /* heap, owned */
        size_t n_waiting, waiting_capacity;
        struct missed_region *missed; /* heap, owned */
        size_t n_missed, missed_capacity;
        uint64_t n_cycles;       /* that were begun */
        uint64_t no_files_cycle; /* the cycle in which no descriptor was free: n_cycles + 1 then, 0 = none */
        struct intern refused;   /* struct refused_region: each is counted once, however often it comes */
        struct intern
                /* PIDs of all processes that ever had a region open here, or were counted as missed */
                known_pids;

        struct error busy; /* why a region is another recorder's, in words; code 0 = none is so far */

        struct tick_clock clocks[ZONE_SOURCE_CLOCKS];
        bool clock_used[ZONE_SOURCE_CLOCKS];

        uint64_t n_attached;     /* regions of programs that ran before they were recorded */
        bool tells_programs;     /* of the recording, by their environment: those without it are counted */
        uint64_t now_ns;         /* when this cycle began, or a ring was last copied out */
        uint64_t cycled_ns;      /* when it began; 0 = there was none */
        bool stood_still;        /* for long before it, or before one since drops were last counted */
        unsigned n_lookups_left; /* in /proc, of numbers of threads in PID namespaces, in this cycle */
        struct full_ring_event
                full_ring;      /* wakes the collector when a program fills much of its spare memory */
        uint64_t armed_ns;      /* when it was last set */
        uint64_t regions_bytes; /* of ZONE_SOURCE_REGIONS_BYTES_MAX */
        uint64_t held_bytes;    /* copied out and not merged yet, in all streams */
        bool is_paused;
};

/*
 * @recording:          borrowed; its processes are those that the kernel reported
 * @families:           see above
 * @client_ring_bytes:  see spare_memory.h
 */
void zone_source_init(struct zone_source *s, const struct recording *recording, uint32_t families,
                      uint64_t client_ring_bytes);
/* Ends recording in every region and closes them. */
void zone_source_deinit(struct zone_source *s);

/*
 * zone_source_receive() - a region was handed in; @fd is taken over
 * Any process can do that, so the region waits until the kernel has reported its process, for a second at
 * most.
 * Returns 0 or -ENOMEM.
 */
int zone_source_receive(struct zone_source *s, uint32_t pid, int fd);

/* Nothing more comes: regions that still wait are counted as lost or refused. */
void zone_source_drop_waiting(struct zone_source *s);

/*
 * zone_source_open() - opens a region, which the kernel reported as mapped in a process
 * The kernel reports each mapping of a region, and the program may have handed the region in as well: only
 * the first report of a region opens it.  Another region of the same process replaces the first (after
 * execve).  A region that cannot be opened is counted, and is not an error.  Returns 0 or -ENOMEM.
 */
int zone_source_open(struct zone_source *s, uint32_t pid);

/*
 * zone_source_open_late() - the same, when the record of that mapping has its turn
 * Does nothing for a process that was opened or missed ahead of it.  It was neither if its parent was still
 * unknown: the record of its fork had not had its own turn, and its parents had ended.
 */
int zone_source_open_late(struct zone_source *s, uint32_t pid);

/* The process has ended: its region is drained once more and then closed. */
void zone_source_end(struct zone_source *s, uint32_t pid);

/* Tells all programs to stop recording. */
void zone_source_disable(struct zone_source *s);

/* Programs begin nothing new while it is paused, nor do programs that come meanwhile. */
void zone_source_pause(struct zone_source *s, bool paused);

/*
 * zone_source_begin_cycle() - admit regions that wait, read the clocks, look for new threads
 * Processes whose regions still wait are marked in the process table: until their zones are there, their
 * events must not be written and their threads not forgotten.
 * Everything that the programs stamped before this call is covered by the reading.  Returns 0 or -ENOMEM.
 */
int zone_source_begin_cycle(struct zone_source *s);

/*
 * zone_source_fill() - copies more of a ring out, to be read by zone_source_peek()
 * @ret_more:  the ring holds more than that
 * Nothing is copied where there is too much already, in the stream or in all of them.
 * Returns 1, 0 if nothing was copied, -ENOMEM.
 */
int zone_source_fill(struct zone_source *s, struct zone_region *region, uint32_t slot, bool *ret_more);

/* True if a ring holds so much that copying it out is worth a system call. */
bool zone_source_is_filling(const struct zone_region *region, uint32_t slot);

/* The slot was merged: gives back its memory, except for bytes that are left. */
void zone_source_release(struct zone_source *s, const struct zone_region *region, struct zone_slot *slot);

/*
 * zone_source_peek() - the next event of a filled slot, which stays the next until client_stream_consume()
 * Events stamped in the future are skipped.  Returns 1 with its time; 0 when there is no event yet.
 */
int zone_source_peek(struct zone_source *s, struct zone_region *region, struct zone_slot *slot,
                     struct client_event *ret_event, uint64_t *ret_time_ns);

/* The clock of a region's ticks. */
static inline struct tick_clock *zone_source_clock(struct zone_source *s, const struct zone_region *region)
{
        return &s->clocks[client_region_clock_kind(region->region)];
}

/* Closes the regions of processes that have ended. */
void zone_source_end_cycle(struct zone_source *s);

/*
 * Counts what the programs dropped since the last call, and the regions that were missed: a missed region
 * counts once it would have come by now if it had been handed in, or with @final.  Returns 0 or -ENOMEM.
 */
int zone_source_count_drops(struct zone_source *s, bool final);

#endif /* SAMPLER_ZONES_ZONE_SOURCE_H */
