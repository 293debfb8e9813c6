/* SPDX-License-Identifier: MIT */
/*
 * sampler/jit/perf_map.h - the text of a perf map, /tmp/perf-PID.map, line by line while it grows
 *
 * Way of the data:  jit_files -> [perf_map] -> code_regions
 *
 * A line is "START SIZE NAME": two hexadecimal numbers, with 0x or without, and a
 * name that may have blanks.  The program writes it, and may write anything:
 * lines that make no sense are passed over and counted.  A line that has not
 * come to its end waits for the rest.
 */
#ifndef SAMPLER_JIT_PERF_MAP_H
#define SAMPLER_JIT_PERF_MAP_H

#include "base/byte_buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* The file begins anew: what waits is forgotten. */
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

#endif /* SAMPLER_JIT_PERF_MAP_H */
