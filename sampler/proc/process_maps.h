/* SPDX-License-Identifier: MIT */
/*
 * sampler/proc/process_maps.h - the mappings of a process that is already running, as the kernel
 * would have reported them
 *
 * Way of the data:  /proc/TID/maps -> [process_maps] -> running_process
 *
 * The kernel writes the lines, but the program chooses the names in them.
 */
#ifndef SAMPLER_PROC_PROCESS_MAPS_H
#define SAMPLER_PROC_PROCESS_MAPS_H

#include "base/byte_buffer.h"
#include "sampler/kernel/perf_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

struct process_maps {
        int fd;                  /* of the file, for the build-ids; -1 = closed */
        struct byte_buffer text; /* all of it */
        size_t at_bytes;         /* gone through up to here */
};

/*
 * process_maps_open() - read the mappings of a process
 * @tid:  of any of its threads; a thread that has ended shows no mappings
 * Returns 0; -EACCES, -ESRCH if the thread is gone, -ENOMEM, -errno.
 */
int process_maps_open(struct process_maps *maps, uint32_t tid, struct error *err);

/*
 * The same by a descriptor of /proc/PID/maps, which a thread with the right to do so has opened.  Takes @fd
 * in any case.
 */
int process_maps_open_fd(struct process_maps *maps, int fd, struct error *err);

void process_maps_close(struct process_maps *maps);

/*
 * process_maps_next() - the next mapping
 * @ret_mapping:  its path is borrowed, valid until process_maps_close().  With the build-id if the
 *                kernel tells it (6.11), else with device and inode; memory without a name is called as
 *                in the kernel's records
 * Returns 1, or 0 at the end; lines that make no sense are passed over.
 */
int process_maps_next(struct process_maps *maps, struct perf_mmap *ret_mapping);

/* Has the thread ended, with all its memory?  Mappings that cannot be read count as empty. */
bool process_maps_are_empty(uint32_t tid);

/* Is the memory at @avma of a process executable now?  False if that cannot be known. */
bool process_maps_has_code_at(uint32_t tid, uint64_t avma);

/*
 * Can the program write the memory at @avma by now without a record of that, there or in another view of
 * it?
 */
bool process_maps_is_writable_at(uint32_t tid, uint64_t avma);

#endif /* SAMPLER_PROC_PROCESS_MAPS_H */
