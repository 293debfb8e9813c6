/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/ahead_of_turn.h - what cannot wait for the turn of its record
 *
 * Way of the data:  perf_ring -> [ahead_of_turn] -> zone_source (whose region), code_keeper, code_tables
 *
 * A program may end a moment after it began: its region and its files must be opened now or never.
 */
#ifndef SAMPLER_MERGE_AHEAD_OF_TURN_H
#define SAMPLER_MERGE_AHEAD_OF_TURN_H

#include <stdint.h>

struct error;
struct kernel_side;

/*
 * kernel_side_scan() - the next process that mapped a client region, ahead of its turn
 * The files in which code is are kept, and their unwind tables are asked for, on the way.
 * Returns 1 with its PID, 0 if there is no such process, -EBADMSG, -ENOMEM.
 */
int kernel_side_scan(struct kernel_side *s, uint32_t *ret_pid, struct error *err);

/* Whether tables are made at once: see ahead_of_turn.c. */
void kernel_side_set_table_deadline(struct kernel_side *s);

#endif /* SAMPLER_MERGE_AHEAD_OF_TURN_H */
