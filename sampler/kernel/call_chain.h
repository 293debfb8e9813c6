/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/call_chain.h - the addresses of one callstack, innermost first
 *
 * Way of the data:  stack_unwinder, event_stack -> [call_chain] -> stack_builder
 */
#ifndef SAMPLER_KERNEL_CALL_CHAIN_H
#define SAMPLER_KERNEL_CALL_CHAIN_H

#include "format/trace_spec.h"

#include <stdbool.h>
#include <stdint.h>

#define CALL_CHAIN_FRAMES_MAX 4096 /* as STACK_WALK_FRAMES_MAX */

struct call_frame {
        uint64_t avma;
        bool in_kernel;
        /* the call is the instruction before `avma`; false for the place where the thread stood */
        bool return_address;
        bool is_row; /* `avma` is not an address, but a row of FRAMES that is there already */
};

struct call_chain {
        struct call_frame frames[CALL_CHAIN_FRAMES_MAX];
        uint32_t n_frames;
        /* how complete the chain is; from TRACE_STACK_TRUNCATED on, callers are missing */
        enum trace_stack_state state;
};

#endif /* SAMPLER_KERNEL_CALL_CHAIN_H */
