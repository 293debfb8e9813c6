/* SPDX-License-Identifier: MIT */
/*
 * sampler/zones/own_threads.h - which thread a program in another PID namespace means
 *
 * Way of the data:  client_abi, process_table, /proc -> [own_threads] -> zone_merge
 *
 * In a container a program knows its threads by numbers that are not ours.  BPF reports both numbers of each
 * new thread; /proc has them of those that were there before, and of all that live where there is no BPF.
 */
#ifndef SAMPLER_ZONES_OWN_THREADS_H
#define SAMPLER_ZONES_OWN_THREADS_H

#include <stdint.h>

struct process_table;
struct zone_region;

/*
 * own_threads_find() - the number that a thread of the program has for us
 * @own_tid:  what the program calls it
 * @n_left:   threads of which /proc may still be asked in this cycle; counted down
 * @ret_tid:  0 if that cannot be found out
 * Returns 0, -EAGAIN if the next cycle may find it, or -ENOMEM.
 */
int own_threads_find(const struct process_table *table, struct zone_region *region, uint32_t own_tid,
                     unsigned *n_left, uint32_t *ret_tid);

#endif /* SAMPLER_ZONES_OWN_THREADS_H */
