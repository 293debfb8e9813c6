/* SPDX-License-Identifier: MIT */
/*
 * sampler/jit/perf_map.h - the perf map of one process, /tmp/perf-PID.map, line by line while it grows
 *
 * Way of the data:  jit_target -> [perf_map] -> jit_files -> code_regions
 *
 * A line is "START SIZE NAME": two hexadecimal numbers, with 0x or without, and a
 * name that may have blanks.  The program writes it, and may write anything:
 * lines that make no sense are passed over and counted.  A line that has not
 * come to its end waits for the rest.
 *
 * The file is kept open, because the process may end and the file go.  One that is made shorter, written over
 * from its beginning, or replaced by another is read from its beginning again; its old lines are known then.
 */
#ifndef SAMPLER_JIT_PERF_MAP_H
#define SAMPLER_JIT_PERF_MAP_H

#include "base/byte_buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct jit_target;

#define PERF_MAP_FILE_BYTES_MAX (UINT64_C(1) << 30)
#define PERF_MAP_LINE_BYTES_MAX 32768 /* longer ones are passed over */

struct perf_map_line {
        uint64_t start_avma, length_bytes;
        const char *name; /* borrowed from the text, not NUL-terminated; never empty */
        size_t name_bytes;
};

/* All zero is the beginning of a file. */
struct perf_map {
        struct byte_buffer text; /* from `at_bytes` on not looked at yet */
        size_t at_bytes;
        bool skips; /* the next bytes are the rest of a line that was too long */
        uint64_t n_garbage;
};

void perf_map_deinit(struct perf_map *m);

/* More of the file.  Returns 0 or -ENOMEM. */
int perf_map_add(struct perf_map *m, const void *bytes, size_t n_bytes);

/* The file begins anew: forgets the part of a line that waits. */
void perf_map_restart(struct perf_map *m);

/* Returns 1 with the next line, valid until the next call of perf_map_add(); 0 if there is no whole one. */
int perf_map_next(struct perf_map *m, struct perf_map_line *ret_line);

/*
 * The rest of a file that does not grow any more: a line that lacks its end.  Returns 1 with it, if it is to
 * be @believed and makes sense; else it is counted as garbage, and 0.
 */
int perf_map_last(struct perf_map *m, bool believed, struct perf_map_line *ret_line);

/* One line without its end.  Returns 0 or -EBADMSG. */
int perf_map_parse(const char *line, size_t n_bytes, struct perf_map_line *ret_line);

/* ------------------------------------------------------------------ the file as it grows */

#define PERF_MAP_FILE_TAIL_BYTES 32

/* All zero but for fd, -1, stands for a file that does not exist yet. */
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

/*
 * Opens the file, if it is there and not open yet: it may be removed before it is read.  Takes a
 * microsecond.
 */
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
 * @ret_over_limit:  set if the file has more, unless it was set for this file before
 */
void perf_map_file_leave_rest(struct perf_map_file *f, const struct jit_target *target, bool *ret_over_limit);

/*
 * perf_map_file_changed() - the two moments, of CLOCK_MONOTONIC_RAW, between which it was written to last
 * Both are 0 if that is not known, or if it has more than was read.  File systems count in ticks of some
 * milliseconds.
 */
void perf_map_file_changed(const struct perf_map_file *f, uint64_t *ret_ns, uint64_t *ret_until_ns);

#endif /* SAMPLER_JIT_PERF_MAP_H */
