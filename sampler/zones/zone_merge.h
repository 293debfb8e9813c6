/* SPDX-License-Identifier: MIT */
/*
 * sampler/zones/zone_merge.h - the programs' events, each after the kernel's events before it,
 * into the streams
 *
 * Way of the data:  zone_source -> [zone_merge] -> thread_track -> event_encoder
 *
 * Goes through one ring after the other.  In regions of programs that use
 * fibers the rings take turns instead: see fiber_order.c.  Used by the
 * collector's thread.
 */
#ifndef SAMPLER_ZONES_ZONE_MERGE_H
#define SAMPLER_ZONES_ZONE_MERGE_H

#include "sampler/kernel/call_chain.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_table;
struct process_track;
struct recording;
struct thread_sink;
struct thread_track;
struct zone_region;
struct zone_source;

/*
 * sampler/zones/fiber_order.c - which ring goes on first, of those that wait at the beginning of a fiber
 *
 * Way of the data:  client_stream -> zone_merge <-> [fiber_order]
 *
 * A thread can only go on as a fiber when another thread has left it.  So each ring is merged up to an
 * event that enters a fiber, and then waits here.  The ring that waits at the earliest time goes on: all
 * that happened on that fiber before lies in rings that have come past this time.  A heap; used by the
 * collector's thread.
 */

struct waiting_slot {
        uint64_t enter_ns; /* time of the event before which the ring waits */
        uint32_t slot;
};

struct fiber_order {
        struct waiting_slot *waiting; /* heap, owned; no ring is later than those at twice its place */
        size_t n_waiting, capacity;
};

void fiber_order_init(struct fiber_order *o); /* zeroes */
void fiber_order_deinit(struct fiber_order *o);

/* Returns 0 or -ENOMEM. */
int fiber_order_add(struct fiber_order *o, struct waiting_slot waiting);

/*
 * Takes out the ring that waits at the earliest time; at equal times, the one with the lowest slot.
 * Returns 1, or 0 if none waits.
 */
int fiber_order_next(struct fiber_order *o, struct waiting_slot *ret_waiting);

/* ------------------------------------------------------------------ the merge */

/*
 * Called from time to time, since the chunk may be full; then it closes the open run.  Returns 0 or -errno.
 */
typedef int zone_merge_flush(void *context);

struct zone_merge {
        const struct recording *recording; /* borrowed */
        struct zone_source *zones;         /* the recording's, like the next */
        struct thread_sink *sink;
        zone_merge_flush *flush_if_full;
        void *context;
        struct fiber_order order;
        struct call_chain chain; /* scratch */
        uint64_t n_zones;        /* beginnings written */
        uint64_t n_others;       /* events that are not about zones, written */
        uint64_t until_ns;       /* of this cycle */
        uint64_t ring_bytes_max; /* of one ring in this cycle */
        /*
         * These limits keep one program from holding up the others, the disk and signals: see
         * zone_merge_run().
         */
        bool final;
        size_t next_region; /* where the next cycle begins */
        bool is_behind;     /* some of the last cycle's work was left to the next */
        uint64_t last_ns;   /* when the final run is to end; UINT64_MAX = no hurry */
};

/* Borrows @recording, whose zones and sink must be there already. */
void zone_merge_init(struct zone_merge *m, const struct recording *recording, zone_merge_flush *flush_if_full,
                     void *context);
void zone_merge_deinit(struct zone_merge *m);

/*
 * zone_merge_run() - merge everything up to @until_ns, inclusively
 * @final:  everything that there is
 * Where that is too much at once, `stalled_ns` of the process says how far it came: one program has
 * PACE_ZONES_REGION_NS of a cycle, all of them PACE_ZONES_CYCLE_NS, and the next cycle begins with the
 * programs and rings that come after.  The final run lasts PACE_ZONES_FINAL_NS at most, as a program may go
 * on writing; when `stop_fd` becomes readable it ends PACE_ZONES_LAST_NS later.  The bytes that were not read
 * are counted as TRACE_LOSS_CLIENT_UNREAD.
 * Returns 0, -ENOMEM, -errno of the flush.
 */
int zone_merge_run(struct zone_merge *m, uint64_t until_ns, bool final);

/* Takes a request to end the recording: the final run lasts PACE_ZONES_LAST_NS from now at most. */
void zone_merge_hurry(struct zone_merge *m);

/*
 * zone_merge_write_pending() - write the kernel's events of a thread up to @until_ns
 * If one of these events ends a program, the program's fibers end as well.  Returns 0 or -ENOMEM.
 */
int zone_merge_write_pending(struct zone_merge *m, struct thread_track *thread, uint64_t until_ns);

/* Ends the fibers of a program that has ended. */
void zone_merge_end_fibers(struct zone_merge *m, struct process_track *process, uint64_t now_ns);

/*
 * sampler/zones/own_threads.c - which thread a program in another PID namespace means
 *
 * Way of the data:  client_abi, process_table, /proc -> [own_threads] -> zone_merge
 *
 * In a container a program knows its threads by numbers that are not ours.  BPF reports both numbers of each
 * new thread; /proc has them of those that were there before, and of all that live where there is no BPF.
 */

/*
 * own_threads_find() - finds the number that a thread of the program has for us
 * @own_tid:  the program's number for it
 * @n_left:   threads of which /proc may still be asked in this cycle; counted down
 * @ret_tid:  0 if that cannot be found out
 * Returns 0, -EAGAIN if the next cycle may find it, or -ENOMEM.
 */
int own_threads_find(const struct process_table *table, struct zone_region *region, uint32_t own_tid,
                     unsigned *n_left, uint32_t *ret_tid);

#endif /* SAMPLER_ZONES_ZONE_MERGE_H */
