/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/raw_stack.h - the copy of a thread's state at one instant, before it is processed
 *
 * Way of the data:  perf_record, switch_source -> [raw_stack] -> stack_unwinder -> call_chain
 *
 * All bytes are borrowed: from a ring, until its record is consumed.  They are
 * the profiled program's, and may be anything.
 */
#ifndef SAMPLER_KERNEL_RAW_STACK_H
#define SAMPLER_KERNEL_RAW_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct raw_stack {
        uint64_t ip_avma; /* where the CPU was; 0 = not known */
        bool in_kernel;   /* `ip_avma` is the kernel's */

        /* As PERF_SAMPLE_CALLCHAIN: n_chain numbers of 8 bytes, with PERF_CONTEXT_* between; NULL = none. */
        const uint8_t *chain;
        uint64_t n_chain;

        /*
         * The user's registers: 8 bytes for each bit of unwind_machine.perf_registers,
         * lowest first; NULL = none.
         */
        const uint8_t *registers;
        size_t registers_bytes;
        bool is_32_bit; /* of a 32-bit program: the numbers mean other registers */

        /* The user's stack from the stack pointer on, only the bytes that were really copied; NULL = none. */
        const uint8_t *copy;
        size_t copy_bytes;
        bool copy_is_full; /* the copy ended because it has no more room, although the stack goes on */
};

#endif /* SAMPLER_KERNEL_RAW_STACK_H */
