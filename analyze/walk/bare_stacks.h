/* SPDX-License-Identifier: MIT */
/*
 * analyze/walk/bare_stacks.h - the file in which most call stacks end for want of unwind tables
 *
 * Way of the data:  trace_walk (samples) -> [bare_stacks] -> unsampled_time
 *
 * A vote: it is right if one file has more than half of them, and it needs no memory for each file.
 */
#ifndef ANALYZE_WALK_BARE_STACKS_H
#define ANALYZE_WALK_BARE_STACKS_H

#include <stddef.h>
#include <stdint.h>

struct trace_dictionary;

/* All zero is none. */
struct bare_stacks {
        uint64_t n_stacks;
        uint32_t module, n_votes; /* the module is only known if there are votes */
};

/* Counts a call stack that ends in code without unwind tables; the first ones vote. */
void bare_stacks_add(struct bare_stacks *b, const struct trace_dictionary *d, uint32_t stack);

/*
 * bare_stacks_name() - the last part of the file's path, cut to @n_bytes with its NUL
 * "" if no file has most of @n_truncated call stacks, or it is not a file.
 */
void bare_stacks_name(const struct bare_stacks *b, const struct trace_dictionary *d, uint64_t n_truncated,
                      char *name, size_t n_bytes);

#endif /* ANALYZE_WALK_BARE_STACKS_H */
