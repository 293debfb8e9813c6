/* SPDX-License-Identifier: MIT */
/*
 * sampler/jit/perf_map_file.h - the perf map of one process, read as it grows
 *
 * Way of the data:  jit_target -> [perf_map_file] -> perf_map -> jit_files
 *
 * Kept open, because the process may end and the file go.  A file that is made shorter, written over from its
 * beginning, or replaced by another is read from its beginning again; its old lines are known then.
 */
#ifndef SAMPLER_JIT_PERF_MAP_FILE_H
#define SAMPLER_JIT_PERF_MAP_FILE_H

#include "sampler/jit/perf_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PERF_MAP_FILE_TAIL_BYTES 32

struct jit_target;

/* All zero but for fd, -1, is one that is not there yet. */
struct perf_map_file {
        int fd;
        dev_t device;
        ino_t inode;
        uint64_t offset_bytes;                  /* read up to here */
        uint8_t tail[PERF_MAP_FILE_TAIL_BYTES]; /* what lay before it */
        size_t tail_bytes;
        bool is_over_limit; /* nothing more is read */
        struct perf_map map;
};

void perf_map_file_deinit(struct perf_map_file *f);

/* Opens it, if it is there and not open yet: it may go before it is read.  A microsecond. */
void perf_map_file_try(struct perf_map_file *f, const struct jit_target *target);

/*
 * perf_map_file_fill() - reads what came since into `map`, up to some hundred KiB; opens the
 * file if there is one now
 * @ret_over_limit:  set once, when the file has become too large
 * Returns 1 if there is something new, 0, or -ENOMEM.
 */
int perf_map_file_fill(struct perf_map_file *f, const struct jit_target *target, bool *ret_over_limit);

/*
 * perf_map_file_leave_rest() - no more is read; opens the file if there is one now
 * @ret_over_limit:  set if it has more, and was not set for it before
 */
void perf_map_file_leave_rest(struct perf_map_file *f, const struct jit_target *target, bool *ret_over_limit);

/*
 * perf_map_file_changed() - between which moments of CLOCK_MONOTONIC_RAW it was written to last
 * Both are 0 if that is not known, or if it has more than was read.  File systems count in ticks of some
 * milliseconds.
 */
void perf_map_file_changed(const struct perf_map_file *f, uint64_t *ret_ns, uint64_t *ret_until_ns);

#endif /* SAMPLER_JIT_PERF_MAP_FILE_H */
