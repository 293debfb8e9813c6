/* SPDX-License-Identifier: MIT */
/*
 * sampler/jit/jit_lines.h - the source lines of one piece of code in a jitdump -> rows of CODE_LINES
 *
 * Way of the data:  jitdump (DEBUG_INFO) -> [jit_lines] -> trace_dictionary
 *
 * The lines come before the code.  Compilers count from different places: V8's offsets are too high by 64
 * bytes, the length of the ELF header that perf puts in front.
 */
#ifndef SAMPLER_JIT_JIT_LINES_H
#define SAMPLER_JIT_JIT_LINES_H

#include <stddef.h>
#include <stdint.h>

#define JIT_LINES_MAX 65536 /* of one piece of code; others are left out */

struct jitdump_debug_info;
struct jitdump_load;
struct trace_dictionary;

struct jit_line {
        uint64_t avma;
        uint32_t file; /* string */
        uint32_t line;
        uint32_t order; /* as they came */
        uint32_t reserved;
};

/* All zero is empty. */
struct jit_lines {
        uint64_t start_avma;    /* of the code */
        struct jit_line *lines; /* heap */
        size_t n_lines, capacity;
};

void jit_lines_deinit(struct jit_lines *l);

/*
 * Reads the lines of a record, which replace those of the record before.  Returns 0, -EBADMSG if lines are
 * missing, -ENOMEM.
 */
int jit_lines_read(struct jit_lines *l, struct trace_dictionary *dictionary, struct jitdump_debug_info *info);

/*
 * Makes rows of the lines that were read last, for the code of @region, if they belong to it.  Returns 0,
 * -ENOMEM, -EOVERFLOW.
 */
int jit_lines_add(struct jit_lines *l, struct trace_dictionary *dictionary, const struct jitdump_load *load,
                  uint32_t region);

/* Code has moved: the new region has the lines of the old one.  Returns as jit_lines_add(). */
int jit_lines_copy(struct trace_dictionary *dictionary, uint32_t from_region, uint32_t to_region);

#endif /* SAMPLER_JIT_JIT_LINES_H */
