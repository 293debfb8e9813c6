/* SPDX-License-Identifier: MIT */
/*
 * sampler/stacks/stack_builder.h - addresses of a callstack -> an id in the table STACKS
 *
 * Way of the data:  stack_unwinder -> call_chain -> [stack_builder] -> trace_dictionary
 *
 * Remembers the frame of an address, as long as the address space's `generation` stays, and the row of a
 * frame below its callers: the tables of the dictionary are large, and each look-up there misses all
 * caches.  The part that a callstack shares with the previous one, from the root on, is not even looked up
 * there.  The kernel's addresses are remembered for all address spaces at once, as long as the kernel makes
 * and removes no code.
 */
#ifndef SAMPLER_STACKS_STACK_BUILDER_H
#define SAMPLER_STACKS_STACK_BUILDER_H

#include <stdint.h>

struct address_space;
struct call_chain;
struct code_keeper;
struct kernel_code;
struct trace_dictionary;

struct stack_memory;

struct stack_builder {
        struct trace_dictionary *dictionary; /* borrowed, like the next */
        struct code_keeper *keeper;          /* learns the modules of frames; NULL = not needed */
        struct kernel_code *kernel_code;     /* borrowed: code that the kernel made; NULL = it is not known */
        uint32_t kernel_module;              /* "[kernel]", made at the first kernel frame; 0 before */
        uint32_t mark_module;                /* "[truncated]", likewise */
        struct stack_memory *memory;         /* heap, owned; NULL = nothing was added yet */
        uint64_t n_cut;                      /* stacks that lost frames because a table was full */
};

/* A builder that is zero but for the objects that it borrows needs no initialisation. */
void stack_builder_deinit(struct stack_builder *b);

/*
 * stack_builder_add() - the id of a callstack
 * @space:  of the process at the time of the sample
 * A chain in which callers are missing has the mark "[truncated]" as its root.
 * Returns 0 with the id (0 if not even one frame found room; `n_cut` counts), or -ENOMEM.
 */
int stack_builder_add(struct stack_builder *b, const struct address_space *space,
                      const struct call_chain *chain, uint32_t *ret_stack);

#endif /* SAMPLER_STACKS_STACK_BUILDER_H */
