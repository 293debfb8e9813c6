/* SPDX-License-Identifier: MIT */
/*
 * sampler/tracks/cut_stacks.h - callstacks of a thread whose copies were too short, while they
 * may still be completed
 *
 * Way of the data:  stack_unwinder -> [cut_stacks] -> stack_unwinder -> call_chain
 *
 * A stack that comes a little later may have the call in which one of these
 * ended.  They wait until the rings are empty, not longer.
 */
#ifndef SAMPLER_TRACKS_CUT_STACKS_H
#define SAMPLER_TRACKS_CUT_STACKS_H

#include "unwind/stack_walk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call_chain;

struct cut_stack {
        uint32_t ticket;           /* by which its sample is known */
        uint32_t n_kernel, n_user; /* frames */
        enum stack_walk_end end;   /* CUT or OTHER_STACK */
        uint64_t sp_avma, fp_avma; /* as in struct stack_walk */
        bool is_fp_known;
        uint64_t unread_avma;
        uint64_t copy_end_avma;
        uint64_t generation;
        struct unwind_registers registers;
        struct stack_walk_frame frames[]; /* the kernel's, then the user's */
};

struct cut_stacks {
        struct cut_stack **items; /* heap, owned; oldest first */
        size_t n_items, capacity;
};

void cut_stacks_deinit(struct cut_stacks *s);

/* Bytes of memory that one takes. */
size_t cut_stack_count_bytes(uint32_t n_kernel, uint32_t n_user);

/*
 * cut_stacks_add() - adds a stack, as the newest
 * @walk:    how far the user's part goes
 * @kernel:  the kernel's part, and nothing else
 * Returns the stack, for the caller to fill in the other members; NULL without memory.
 */
struct cut_stack *cut_stacks_add(struct cut_stacks *s, const struct stack_walk *walk,
                                 const struct call_chain *kernel);

/* Takes out the newest stack, for the caller to free(); NULL if none is left. */
struct cut_stack *cut_stacks_take(struct cut_stacks *s);

/* Has one of these stacks, as far as it goes, an address in this range? */
bool cut_stacks_have_code(const struct cut_stacks *s, uint64_t start_avma, uint64_t end_avma);

/* Puts the user's part back into a walk that can go on. */
void cut_stack_restore(const struct cut_stack *cut, struct stack_walk *ret_walk);

/* Makes @ret_chain the kernel's part alone. */
void cut_stack_restore_kernel(const struct cut_stack *cut, struct call_chain *ret_chain);

#endif /* SAMPLER_TRACKS_CUT_STACKS_H */
