/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/syscall_frames.h - frames of the trace that stand for system calls
 *
 * Way of the data:  sample_records -> [syscall_frames] -> the tables MODULES, FRAMES, SYMBOLS and STACKS
 *
 * The kernel's own functions at the place of a tracepoint are always the same ones, and say nothing of the
 * call.  In their place the innermost frame is the call itself: "sys_write" of the module "[syscalls]".
 */
#ifndef SAMPLER_MERGE_SYSCALL_FRAMES_H
#define SAMPLER_MERGE_SYSCALL_FRAMES_H

#include "sampler/kernel/syscall_names.h"

#include <stdint.h>

struct call_chain;
struct trace_dictionary;

/* Zero-initialised: nothing is known yet. */
struct syscall_frames {
        uint32_t module;
        uint32_t frames[SYSCALL_NUMBERS]; /* by number, SYSCALL_32_BIT included; 0 = not made yet */
};

/* The frame of a call; 0 if a table is full.  Returns 0 or -ENOMEM. */
int syscall_frames_find(struct syscall_frames *f, struct trace_dictionary *dictionary, uint32_t number,
                        uint32_t *ret_frame);

/* Takes out the kernel's frames. */
void syscall_frames_leave_kernel(struct call_chain *chain);

/* The stack of @frame called from *stack, if there is room.  Returns 0 or -ENOMEM. */
int syscall_frames_put(struct trace_dictionary *dictionary, uint32_t frame, uint32_t *stack);

#endif /* SAMPLER_MERGE_SYSCALL_FRAMES_H */
