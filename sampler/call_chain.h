/* SPDX-License-Identifier: MIT */
/*
 * sampler/call_chain.h - the addresses of one callstack, innermost first
 *
 * Way of the data:  unwinder -> [call_chain] -> stack_builder
 */
#ifndef SAMPLER_CALL_CHAIN_H
#define SAMPLER_CALL_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#define CALL_CHAIN_FRAMES_MAX 512

struct call_frame {
        uint64_t avma;
        bool in_kernel;
        bool return_address; /* the call is the instruction before it; false where the thread stood */
};

/* Why a chain ends where it ends. */
enum call_chain_end {
        CALL_CHAIN_END_ROOT = 0,  /* there was no more */
        CALL_CHAIN_END_TOO_DEEP,  /* a limit was reached: callers are missing */
        CALL_CHAIN_END_LEFT_CODE, /* what came next is no code: callers may be missing */
};

struct call_chain {
        struct call_frame frames[CALL_CHAIN_FRAMES_MAX];
        uint32_t n_frames;
        enum call_chain_end end;
};

#endif /* SAMPLER_CALL_CHAIN_H */
