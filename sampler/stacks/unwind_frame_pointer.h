/* SPDX-License-Identifier: MIT */
/*
 * sampler/stacks/unwind_frame_pointer.h - the chain that the kernel followed by frame pointers -> a callstack
 *
 * Way of the data:  raw_stack (chain) -> [unwind_frame_pointer] -> call_chain
 *
 * Callers of code built without frame pointers are missing, and nothing tells.
 */
#ifndef SAMPLER_STACKS_UNWIND_FRAME_POINTER_H
#define SAMPLER_STACKS_UNWIND_FRAME_POINTER_H

struct address_space;
struct call_chain;
struct raw_stack;

/*
 * unwind_frame_pointer_run() - the kernel's part and the user's
 * @space:      of the sampled process at that time; NULL = not known
 * @ret_chain:  overwritten; at least one frame, where the CPU was
 */
void unwind_frame_pointer_run(const struct raw_stack *raw, const struct address_space *space,
                              struct call_chain *ret_chain);

/* The kernel's part alone: no frame if the CPU was not in the kernel. */
void unwind_frame_pointer_run_kernel(const struct raw_stack *raw, struct call_chain *ret_chain);

#endif /* SAMPLER_STACKS_UNWIND_FRAME_POINTER_H */
