/* SPDX-License-Identifier: MIT */
/*
 * sampler/proc/idle_stat.h - for how long each CPU has been idle since the system started
 *
 * Way of the data:  /proc/stat -> [idle_stat] -> switch_source
 *
 * In steps of the kernel's tick for users, 10 ms: for CPUs of which nothing better is known.  It counts
 * CPUs that have no tick, since they are idle, as well.
 */
#ifndef SAMPLER_PROC_IDLE_STAT_H
#define SAMPLER_PROC_IDLE_STAT_H

#include <stddef.h>
#include <stdint.h>

/*
 * idle_stat_parse() - the idle times in the text of /proc/stat
 * @tick_ns:  nanoseconds of one step
 * @idle_ns:  of @n_cpus CPUs, by number; what the text does not list is left as it is
 */
void idle_stat_parse(const char *text, uint64_t tick_ns, uint64_t *idle_ns, size_t n_cpus);

/* The same from the file, about 0.1 ms.  Nothing changes if it cannot be read. */
void idle_stat_read(uint64_t *idle_ns, size_t n_cpus);

#endif /* SAMPLER_PROC_IDLE_STAT_H */
