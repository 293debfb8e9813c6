/* SPDX-License-Identifier: MIT */
/*
 * instrument/own_number.h - the numbers that a process and its threads have in their own PID namespace
 *
 * Way of the data:  /proc/PID/status -> [own_number] -> region_finder, zone_source, own_threads
 *
 * In a container a program calls itself 1, and the kernel tells us another
 * number.  The line NSpid of its status has both.
 */
#ifndef INSTRUMENT_OWN_NUMBER_H
#define INSTRUMENT_OWN_NUMBER_H

#include <stdint.h>

struct error;

/*
 * own_number_read() - what a process or thread calls itself
 * @proc_fd:  its directory in /proc
 * @number:   the one it has for us; the answer where the kernel knows no namespaces
 * Returns 0 or -errno.
 */
int own_number_read(int proc_fd, uint32_t number, uint32_t *ret_own_number, struct error *err);

/* The same for a thread, by the numbers that it and its process have for us. */
int own_number_read_thread(uint32_t pid, uint32_t tid, uint32_t *ret_own_tid);

#endif /* INSTRUMENT_OWN_NUMBER_H */
