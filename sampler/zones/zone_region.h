/* SPDX-License-Identifier: MIT */
/*
 * sampler/zones/zone_region.h - one program's region while it is recorded: its rings, its
 * locations, its threads' numbers
 *
 * Way of the data:  client_region -> client_stream -> [zone_region] -> zone_source -> merge
 *
 * The memory that a hostile program can make us use is bounded: locations by the trace's tables, everything
 * else by the constants in the .c file.  Used by the collector's thread.
 */
#ifndef SAMPLER_ZONES_ZONE_REGION_H
#define SAMPLER_ZONES_ZONE_REGION_H

#include "base/intern.h"
#include "instrument/client_region.h"
#include "instrument/client_stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct latest_rows;
struct loss_counter;
struct trace_dictionary;

/* One ring. */
struct zone_slot {
        struct client_stream stream;
        struct client_drops seen; /* drops that were counted already */
        uint32_t tid;             /* the thread whose events come now, in our PID namespace; 0 = unknown */
        uint32_t thread;          /* the thread's row in THREADS, also when it has ended; 0 = unknown */
        bool was_sought;          /* the kernel did not report the thread, and /proc was searched for it */
        size_t held_bytes;        /* of `stream`, as zone_source has them in its account */
        uint64_t filled_bytes;    /* bytes copied out of the ring in this cycle */
};

/* Events of one sort in the rings: those that came, and those that found no room. */
struct zone_events {
        uint64_t n, n_bytes; /* that were read */
        uint64_t n_dropped;
};

/* Numbers that a program uses -> numbers of ours. */
struct zone_numbers {
        struct intern theirs;
        uint32_t *ours; /* heap, owned; by the id of the program's number - 1 */
        size_t capacity;
};

struct zone_region {
        struct client_region *region; /* owned; NULL = closed */
        uint32_t pid;                 /* in our PID namespace */
        uint32_t process;             /* id in the table PROCESSES */
        /* of the memfd: these tell one region from the next of the same process */
        uint64_t device, inode;
        uid_t uid;               /* of its owner, who made it */
        unsigned n_cycles_ended; /* merge cycles since its process ended; 0 = it lives */

        struct zone_slot *slots; /* heap, owned */
        size_t n_slots, slots_capacity;

        /* heap, owned: ids in LOCATIONS of the client's first ones; 0 = not asked yet */
        uint32_t *near_locations;
        size_t near_capacity;
        struct zone_numbers far_locations; /* of the others */
        struct zone_numbers locks;         /* ids in LOCKS */
        struct zone_numbers devices;       /* ids in DEVICES */
        struct zone_numbers device_plots;  /* ids in PLOTS, of values of devices */
        unsigned n_bad_locations;          /* locations that the program named but does not have */

        uint64_t charged_bytes; /* of ZONE_SOURCE_REGIONS_BYTES_MAX */
        /* bytes that the program may fill beyond its rings, if no other program is recorded */
        uint64_t spare_bytes;
        uint64_t group_bytes; /* the part of these that its cgroups' limits left; UINT64_MAX = no limit */
        struct zone_events zone_events, other_events;
        uint32_t next_slot; /* where the next cycle begins */
        bool is_behind;     /* the last cycle left something to the next */
        /* the last cycle left events whose time had not come, or which samples hold back */
        bool has_later;

        bool uses_fibers; /* a thread went on as a fiber: the order between the rings matters */

        uint64_t n_threads_asked; /* threads of the process when /proc was last asked for their numbers */
        /* searches in /proc for threads that the kernel did not report, in this cycle */
        unsigned n_searches_left;

        uint32_t n_locations;          /* rows of LOCATIONS that it made */
        uint64_t n_locations_left_out; /* the program's share of locations was used up; not counted yet */
        uint64_t n_names_left_out;     /* names for which there was no room; not counted yet */
        uint64_t n_no_ring_seen, n_garbage_seen, n_refused_blobs_seen; /* counted already */
};

/* @region: taken over.  @process: id in the table PROCESSES. */
void zone_region_init(struct zone_region *r, struct client_region *region, uint32_t pid, uint32_t process);
void zone_region_deinit(struct zone_region *r);

/* Follows the program: new threads take new slots.  Returns 0 or -ENOMEM. */
int zone_region_follow(struct zone_region *r);

/*
 * zone_region_location() - the id in LOCATIONS for an id of the program's
 * @ret_id:  0 if the program has no such location, or the table is full
 * Returns 0 or -ENOMEM.
 */
int zone_region_location(struct zone_region *r, struct trace_dictionary *dictionary, uint32_t client_id,
                         uint32_t *ret_id);

/* Finds the id in LOCATIONS of one of the program's first locations; 0 = it was not looked up yet. */
static inline uint32_t zone_region_near_location(const struct zone_region *r, uint32_t client_id)
{
        return client_id - 1 < r->near_capacity ? r->near_locations[client_id - 1] : 0;
}

/*
 * Finds the name of a location, as the id of a string; 0 if it has no name, or as above.  Returns 0 or
 * -ENOMEM.
 */
int zone_region_name(struct zone_region *r, struct trace_dictionary *dictionary, uint32_t client_id,
                     uint32_t *ret_name);

/*
 * Finds the row in LOCKS or DEVICES for a location that stands for a lock or a device, and makes it the
 * first time; 0 as above.  Return 0 or -ENOMEM.
 */
int zone_region_lock(struct zone_region *r, struct trace_dictionary *dictionary, uint32_t client_id,
                     uint32_t *ret_lock);
int zone_region_device(struct zone_region *r, struct trace_dictionary *dictionary, uint32_t client_id,
                       uint32_t *ret_device);

/*
 * Makes rows in PLOTS: of one plot as it is now, and of all plots that the program has set up so far.
 * Return as above.
 */
int zone_region_plot(struct zone_region *r, struct latest_rows *plots, uint32_t client_id);
int zone_region_plots(struct zone_region *r, struct latest_rows *plots);

/* Finds a row in PLOTS for the values of a device, and makes it the first time; 0 and results as above. */
int zone_region_device_plot(struct zone_region *r, struct latest_rows *plots, uint32_t client_id,
                            uint32_t *ret_plot);

/* Counts an event that was read, and that takes @n_bytes of a ring. */
static inline void zone_region_count_event(struct zone_region *r, const struct client_event *event,
                                           size_t n_bytes)
{
        bool is_end = event->kind == CLIENT_ABI_EVENT_ZONE_END;
        struct zone_events *events = is_end || event->kind == CLIENT_ABI_EVENT_ZONE_BEGIN ? &r->zone_events
                                                                                          : &r->other_events;

        events->n += !is_end;
        events->n_bytes += n_bytes;
}

/* Estimates the memory that dropped events would have taken, from the sizes of those that were read. */
uint64_t zone_region_lost_bytes(const struct zone_region *r);

/* Counts events that a slot's threads dropped since the last call, by kind. */
struct client_drops zone_region_count_drops(struct zone_region *r, uint32_t slot);

/* Counts what the region as a whole lost since the last call. */
void zone_region_count_losses(struct zone_region *r, struct loss_counter *losses);

#endif /* SAMPLER_ZONES_ZONE_REGION_H */
