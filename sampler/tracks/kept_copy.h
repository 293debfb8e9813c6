/* SPDX-License-Identifier: MIT */
/*
 * sampler/tracks/kept_copy.h - the copy of a stack on its way into the trace, with --keep-stacks
 *
 * Way of the data:  raw_stack -> [kept_copy], pending in a thread_track -> STACK_COPY
 * Specification:    docs/understand/trace-format.md, "Stack copies"
 */
#ifndef SAMPLER_TRACKS_KEPT_COPY_H
#define SAMPLER_TRACKS_KEPT_COPY_H

#include <stddef.h>

#define KEPT_COPY_BYTES_MAX (UINT32_C(1) << 25) /* of all that wait */

struct raw_stack;

struct kept_copy {
        size_t *total_bytes; /* borrowed: of all that wait; it outlives them */
        size_t n_bytes;
        char bytes[]; /* as the trace has them */
};

/*
 * kept_copy_new() - the copy of a thread's state, as one piece
 * Returns 0; NULL in @ret_copy if nothing was copied; -EOVERFLOW if too many wait; -ENOMEM.
 */
int kept_copy_new(const struct raw_stack *raw, size_t *total_bytes, struct kept_copy **ret_copy);

/* NULL is fine. */
void kept_copy_free(struct kept_copy *copy);

#endif /* SAMPLER_TRACKS_KEPT_COPY_H */
