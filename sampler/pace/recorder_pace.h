/* SPDX-License-Identifier: MIT */
/*
 * sampler/pace/recorder_pace.h - may the collector do something now, and for how long?
 *
 * Way of the data:  all stages (what they see, and what their work took) -> [recorder_pace] -> all stages
 *
 * One object knows the load: how fast programs are started, how full rings are, what work took of late.  The
 * stages tell it, and ask it before they work, wait or rest; the constants are in pace.h.  It reads no clock:
 * all times are CLOCK_MONOTONIC_RAW, so that a test plays a load of seconds in no time.
 *
 * Used by the collector's thread.  That of the opener has a wakeup_throttle.
 */
#ifndef SAMPLER_PACE_RECORDER_PACE_H
#define SAMPLER_PACE_RECORDER_PACE_H

#include "sampler/pace/pace.h"
#include "sampler/pace/sample_throttle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Work that has an allowance, which comes back with time: a row each in recorder_pace.c. */
enum paced_work {
        PACED_IMAGES,  /* images of code in memory: ns */
        PACED_WATCHED, /* images that are looked at again and again: ns of a processor, which may be owed */
        PACED_LATE_STACKS, /* stacks that are read after their sample: ns */
        PACED_TABLES,      /* waits for unwind tables: ns */
        PACED_ROOM,        /* waits for room in the queue of files that are kept: ns */
        PACED_JIT_REST,    /* reading files of JITs to their ends: ns of a processor; it is only repaid */
        PACED_PYTHON,      /* objects of Python: bytes */
        PACED_WORKS
};

struct paced_allowance {
        uint64_t spent; /* and not come back yet */
        uint64_t since_ns;
};

/* All zero: there was no look yet. */
struct paced_look {
        uint64_t again_ns; /* not before */
        uint8_t n_in_vain; /* since the last one that found something */
};

struct recorder_pace {
        /* ---- what stages see, and write here ---- */
        uint64_t cycled_ns, kernel_ns,
                zones_ns;    /* when a cycle began, and its parts for the kernel and zones */
        uint64_t ended_ns;   /* when the last cycle ended; its rest begins then */
        uint64_t flushed_ns; /* when chunks were last handed to the writer */
        uint64_t code_ns;    /* when the opener last woke the collector; 0 = never */
        uint64_t jit_ns;     /* when a JIT had made memory executable; 0 = never */
        bool has_tables;     /* some came since the last cycle: stacks wait for them */
        bool is_hurried;     /* a ring of the kernel is more than half full */

        struct sample_throttle throttle; /* how many of the samples are taken */

        /* ---- what follows from that and from the calls below ---- */
        struct paced_allowance works[PACED_WORKS];
        uint64_t forks_ns[PACE_FORKS_MANY]; /* the latest, in any order */
        uint64_t looked_ns;                 /* when all rings of the kernel were last looked at */
        uint64_t drained_ns, drain_ns;      /* when rings were read, and since the time before */
        uint64_t rest_ns;                   /* of all rings so far, the shortest */
        uint64_t kernel_max_ns, zones_max_ns, region_max_ns; /* limits in a cycle; tests have others */
        uint64_t region_until_ns;
        uint64_t behind_ns; /* since when each cycle has left zones; 0 = the last one did not */
        uint64_t chunk_age_ns, accounted_ns, clocks_read_ns, maps_again_ns, jit_maps_ns;
};

/* The reasons for which the recorder's loop must not rest for long. */
struct recorder_needs {
        bool has_zones;    /* programs write into rings */
        bool opens;        /* a program writes already, and its ring is not read yet */
        bool is_ending;    /* after a signal */
        bool has_cuts;     /* stacks that others may complete */
        bool has_parts;    /* of code, for the writer */
        bool reads_python; /* at a moment after each sample */
        bool lacks_data;   /* a mapped file's, which will be there soon */
        uint64_t rate_hz;  /* of samples */
};

void recorder_pace_init(struct recorder_pace *p, uint64_t now_ns);

/* ---- allowances ---- */

/* How much may be spent?  First counts what has come back since the last call. */
uint64_t recorder_pace_left(struct recorder_pace *p, enum paced_work work, uint64_t now_ns);

/*
 * Within work that recorder_pace_left() has allowed: is there more left than @reserve, when @taken is spent
 * on it?  Counts nothing that has come back since that call.
 */
bool recorder_pace_has(const struct recorder_pace *p, enum paced_work work, uint64_t taken, uint64_t reserve);
void recorder_pace_spend(struct recorder_pace *p, enum paced_work work, uint64_t taken);
void recorder_pace_repay(struct recorder_pace *p, enum paced_work work, uint64_t given);

/* ---- programs that are started, and unwind tables ---- */

/* A process was forked.  Those of several CPUs come in any order. */
void recorder_pace_note_fork(struct recorder_pace *p, uint64_t time_ns);

/*
 * recorder_pace_tables_may_wait() - may files wait for their unwind tables until a stack is late?
 * So it is while programs are started one after the other: PACE_FORKS_MANY in PACE_FORKS_WINDOW_NS.  Zones
 * wait for no stack: where there are some, tables are made at once.
 */
bool recorder_pace_tables_may_wait(const struct recorder_pace *p, bool has_zones, uint64_t now_ns);

/* Must its table be made?  The oldest stack waits since @since_ns, and all that wait take @n_bytes. */
bool recorder_pace_stack_is_late(uint64_t since_ns, size_t n_bytes, uint64_t now_ns);

/* Is a stack given up that waits since then? */
bool recorder_pace_stack_is_lost(uint64_t since_ns, uint64_t now_ns);

/* ---- rings of the kernel and of programs ---- */

/*
 * A look at all rings of the kernel: it begins, sees each ring, and ends.  One that fills up hurries the
 * unwinder; where all of that does not help, the throttle leaves samples out.
 */
void recorder_pace_begin_look(struct recorder_pace *p);
void recorder_pace_end_look(struct recorder_pace *p, uint64_t now_ns);
void recorder_pace_note_ring(struct recorder_pace *p, uint64_t n_unread, uint64_t ring_bytes);

/*
 * The rings of programs are read; the rest after it is at most twice that after the cycle before, since
 * programs work in bursts.  From what came out of each follows when it would be half full: so threads that
 * write stay in their rings, which are in the caches.  A program that rests may begin at any moment, but
 * then writes what its ring cannot take into spare memory, of which there is enough for a long rest.
 */
void recorder_pace_begin_drain(struct recorder_pace *p, uint64_t now_ns);
void recorder_pace_note_drained(struct recorder_pace *p, uint64_t ring_bytes, uint64_t spare_bytes,
                                uint64_t n_bytes);

/* ---- a cycle ---- */

/* Is another look at @n_rings of the kernel due?  It costs more the more rings there are. */
bool recorder_pace_look_is_due(const struct recorder_pace *p, size_t n_rings, uint64_t now_ns);

/* Is there time left for the kernel's records? */
bool recorder_pace_may_take(const struct recorder_pace *p, uint64_t now_ns);

/* A region of zones has its share of the time.  Returns false if that of all of them is used up. */
bool recorder_pace_begin_region(struct recorder_pace *p, uint64_t now_ns);
bool recorder_pace_may_merge(const struct recorder_pace *p, uint64_t now_ns);

/* @is_behind: some were left.  If that has been so for long, other programs need the processor as well. */
void recorder_pace_end_zones(struct recorder_pace *p, bool is_behind, uint64_t now_ns);
bool recorder_pace_must_give_way(const struct recorder_pace *p, uint64_t now_ns);

/* Is it time?  If so, the next time is counted from now.  Full chunks are written earlier: `flushed_ns`. */
bool recorder_pace_account(struct recorder_pace *p, uint64_t now_ns);
bool recorder_pace_read_clocks(struct recorder_pace *p, uint64_t now_ns);
bool recorder_pace_flush(struct recorder_pace *p, uint64_t now_ns);
bool recorder_pace_read_jit_maps(struct recorder_pace *p, size_t n_processes, uint64_t now_ns);

/* May the maps of a process be looked at?  How it went. */
bool recorder_pace_may_look(const struct recorder_pace *p, const struct paced_look *look, uint64_t now_ns);
void recorder_pace_note_look(struct recorder_pace *p, struct paced_look *look, bool found, uint64_t began_ns,
                             uint64_t now_ns);

/* ---- the loop ---- */

/* How long to sleep, at most until @stop_ns.  Wake-ups since the last cycle put nothing off. */
int recorder_pace_sleep_ms(const struct recorder_pace *p, const struct recorder_needs *needs,
                           uint64_t stop_ns, uint64_t now_ns);

/*
 * recorder_pace_cycle_is_due() - a whole cycle, or only the opening of new regions and files?
 * The more a cycle has to do, the less each record costs.  @timed_out: nothing else woke the recorder
 */
bool recorder_pace_cycle_is_due(const struct recorder_pace *p, const struct recorder_needs *needs,
                                bool timed_out, uint64_t now_ns);

#endif /* SAMPLER_PACE_RECORDER_PACE_H */
