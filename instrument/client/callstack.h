/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/callstack.h - how the program came to an event
 *
 * Way of the data:  stack of the thread -> [callstack] -> thread_ring -> stack_builder
 * Specification:    docs/understand/client-abi.md, "Callstacks"
 *
 *      callstack_capture(&callstack, depth);            // in the function that the program calls
 *      if (thread_ring_has_room(t, n + callstack_room(&callstack))) {
 *              callstack_put(t, ticks, &callstack);     // a prefix
 *              thread_ring_put_event(t, ticks, ...);
 *
 * Everything between thread_ring_enter() and thread_ring_leave().  A callstack has return addresses as far as
 * the frame pointers lead, and from there on the stack itself, which the recorder unwinds later.
 */
#ifndef INSTRUMENT_CLIENT_CALLSTACK_H
#define INSTRUMENT_CLIENT_CALLSTACK_H

#include "instrument/client/thread_ring.h"
#include "instrument/client_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * CALLSTACK_RECORD_AT: where, from a frame's address on, the caller's frame address and the return address
 * lie.  CALLSTACK_STAY() follows the last call of a function that uses CALLSTACK_HERE.  Without it, the
 * compiler may make that call in place of the return, and the call overwrites the function's record where
 * records lie at the low end of a frame.  CALLSTACK_CALLER_SP: the stack pointer when the function that uses
 * this has returned; 0 = the compiler cannot tell.  CALLSTACK_SP_AFTER(): the stack pointer when the function
 * with this record has returned; 0 = the record does not tell.  CALLSTACK_ENDS_AT_0: nearly all code has
 * frame pointers, and the outermost function's is 0.  CALLSTACK_ADDRESS: a saved return address without a
 * signature.
 */
#if defined(__x86_64__)
#define CALLSTACK_IS_KNOWN       1
#define CALLSTACK_RECORD_AT      0
#define CALLSTACK_CALLER_SP      ((uintptr_t)__builtin_frame_address(0) + 16)
#define CALLSTACK_SP_AFTER(at)   ((at) + 16)
#define CALLSTACK_ENDS_AT_0      0
#define CALLSTACK_ADDRESS(saved) (saved)
#define CALLSTACK_STAY()         ((void)0)
#elif defined(__aarch64__)
#define CALLSTACK_IS_KNOWN     1
#define CALLSTACK_RECORD_AT    0
#define CALLSTACK_SP_AFTER(at) ((uintptr_t)0)
#define CALLSTACK_ENDS_AT_0    1
#ifdef __clang__
#define CALLSTACK_CALLER_SP ((uintptr_t)0)
#else
#define CALLSTACK_CALLER_SP ((uintptr_t)__builtin_dwarf_cfa())
#endif
#define CALLSTACK_ADDRESS(saved) callstack_strip(saved)
#define CALLSTACK_STAY()         __asm__ volatile("" ::: "memory")
#elif defined(__riscv) && __riscv_xlen == 64
#define CALLSTACK_IS_KNOWN       1
#define CALLSTACK_RECORD_AT      (-16)
#define CALLSTACK_CALLER_SP      ((uintptr_t)__builtin_frame_address(0))
#define CALLSTACK_SP_AFTER(at)   ((at) + 16)
#define CALLSTACK_ENDS_AT_0      0
#define CALLSTACK_ADDRESS(saved) (saved)
#define CALLSTACK_STAY()         ((void)0)
#else
#define CALLSTACK_IS_KNOWN       0
#define CALLSTACK_RECORD_AT      0
#define CALLSTACK_CALLER_SP      ((uintptr_t)0)
#define CALLSTACK_SP_AFTER(at)   ((uintptr_t)0)
#define CALLSTACK_ENDS_AT_0      0
#define CALLSTACK_ADDRESS(saved) (saved)
#define CALLSTACK_STAY()         ((void)0)
#endif

#if defined(__aarch64__)
/* Removes the signature by XPACLRI, which does nothing where there are no signatures. */
static inline uint64_t callstack_strip(uint64_t saved)
{
        register uint64_t link __asm__("x30") = saved;

        __asm__("hint #7" : "+r"(link));
        return link & UINT64_C(0xffffffffffff);
}
#endif

/*
 * Return addresses, or a part of the stack, or both: the part then begins at the last frame.  Both may be
 * empty.
 */
struct callstack {
        uint32_t n_frames;
        bool has_copy;
        uint32_t stack_bytes;                             /* from registers[1] on, still where they are */
        uint32_t certain_bytes;                           /* of these, readable for certain */
        uint64_t registers[3];                            /* where the copy begins: pc, sp, frame pointer */
        uint64_t frames[CLIENT_ABI_CALLSTACK_FRAMES_MAX]; /* return addresses, the innermost first */
};

/* A place to begin at; only valid in the function that evaluates it, and in those that it calls. */
struct callstack_origin {
        uintptr_t frame;
        uintptr_t caller_sp;
};
#define CALLSTACK_HERE \
        ((struct callstack_origin){ (uintptr_t)__builtin_frame_address(0), CALLSTACK_CALLER_SP })

/*
 * callstack_walk() - the callers of the function that @from was evaluated in
 * @ret:        valid until that function returns
 * @depth_max:  so many frames at most, and no more than CLIENT_ABI_CALLSTACK_FRAMES_MAX; 0 = none
 * Reads nothing but memory that is certain to be there.  About 20 ns and 2 for each frame.
 */
void callstack_walk(struct callstack *ret, struct callstack_origin from, uint32_t depth_max);

/* Captures the callers of the function that calls this one, which is inlined and has no frame of its own. */
static inline __attribute__((always_inline)) void callstack_capture(struct callstack *ret, uint32_t depth_max)
{
        callstack_walk(ret, CALLSTACK_HERE, depth_max);
}

/*
 * How many frames an event is to come with: as many as the program asked for, else all if
 * the recorder wants them.
 */
static inline uint32_t callstack_depth(uint32_t word, uint32_t family, uint32_t asked)
{
        if (word & family << CLIENT_ABI_CALLSTACK_SHIFT)
                return CLIENT_ABI_CALLSTACK_FRAMES_MAX;
        return asked;
}

/* Bytes of what callstack_put() writes. */
size_t callstack_room(const struct callstack *c);

/*
 * Writes the prefixes CALLSTACK and STACK_COPY, each only if there is something to put into it.  On another
 * stack than the thread's own, a copy is a system call.
 */
void callstack_put(struct thread_ring *t, uint64_t ticks, const struct callstack *c);

#endif /* INSTRUMENT_CLIENT_CALLSTACK_H */
