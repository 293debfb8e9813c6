/* SPDX-License-Identifier: MIT */
/*
 * sampler/switches/switch_rings.h - the records of all CPUs' rings of the BPF program, in the order of time
 *
 * Way of the data:  switch_ring, switch_record -> [switch_rings] -> switch_source
 *
 * A record costs the same whatever the number of rings: only the ring that it came from is looked at again.
 * A look at all of them comes once in a cycle.  Used by one thread, the collector.
 */
#ifndef SAMPLER_SWITCHES_SWITCH_RINGS_H
#define SAMPLER_SWITCHES_SWITCH_RINGS_H

#include "base/winner_tree.h"
#include "sampler/switches/switch_record.h"
#include "sampler/switches/switch_ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_record;
struct tick_clock;

/* A ring of a CPU, and the record of it that waits for its turn. */
struct cpu_ring {
        struct switch_ring ring;
        uint32_t cpu;
        size_t record_bytes; /* 0 = none is decoded */
        unsigned n_given;    /* of its records */
        struct switch_record record;
};

struct switch_rings {
        struct cpu_ring *items;    /* heap, owned; each switch_ring_init()ed by the caller */
        size_t n_items;            /* that are in use, of those that there is room for */
        struct winner_tree oldest; /* by the time of the record that waits */
        struct cpu_ring *turn;     /* of switch_rings_peek() */
        uint64_t n_garbage;        /* records that made no sense */
};

/* Makes @n_rings_max rings, all in use.  Returns 0 or -ENOMEM; switch_rings_deinit() is fine then too. */
int switch_rings_init(struct switch_rings *r, size_t n_rings_max);
void switch_rings_deinit(struct switch_rings *r);

/* Reads the heads of all rings: so far switch_rings_peek() goes. */
void switch_rings_look(struct switch_rings *r);

/* Decodes what the look found in rings that had nothing.  @clock: its ticks are the times in the rings */
void switch_rings_fill(struct switch_rings *r, struct tick_clock *clock);

/*
 * switch_rings_peek() - the oldest record up to @until_ns
 * @ret_record:  its time is CLOCK_MONOTONIC_RAW; borrowed until switch_rings_consume()
 * Returns whether there is one.
 */
bool switch_rings_peek(struct switch_rings *r, uint64_t until_ns, const struct perf_record **ret_record);
void switch_rings_consume(struct switch_rings *r, struct tick_clock *clock);

/* The bytes that wait now in the ring that is fullest for its size; 0 = all are empty. */
uint64_t switch_rings_find_fullest(const struct switch_rings *r, uint64_t *ret_ring_bytes);

/* Tells the BPF program how far each ring was read. */
void switch_rings_release(struct switch_rings *r);

#endif /* SAMPLER_SWITCHES_SWITCH_RINGS_H */
