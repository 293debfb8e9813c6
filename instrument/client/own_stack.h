/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/own_stack.h - which memory certainly is the calling thread's stack
 *
 * Way of the data:  libc, kernel -> [own_stack] -> callstack
 *
 * A thread's own stack, from its stack pointer up to its end, stays as long as the thread runs on it.
 * Nothing is known of other stacks (fibers, makecontext(), signal handlers, split stacks), and another thread
 * may unmap what lies after their end at any moment.
 */
#ifndef INSTRUMENT_CLIENT_OWN_STACK_H
#define INSTRUMENT_CLIENT_OWN_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Larger pages consist of these. */
#define OWN_STACK_PAGE_BYTES UINT64_C(4096)

struct own_stack {
        uintptr_t low; /* the lowest address; low = high = 1: nothing is known */
        uintptr_t high;
};

/*
 * own_stack_find() - the bounds of the stack that libc or the kernel gave to the calling thread
 * They hold until the thread ends, also if it is on another stack now, and in the child of a fork.  Rarely
 * more than three system calls.  Async-signal-safe, keeps errno.
 */
struct own_stack own_stack_find(void);

/*
 * own_stack_is_block() - whether three words of glibc's control block are a stack's address, size and guard
 * @self: where the control block is; the stack lies around it
 * Async-signal-safe, changes errno.
 */
bool own_stack_is_block(const uintptr_t *words, uintptr_t self);

/*
 * own_stack_read() - copy from memory that may not be there
 * @to, @to_more: where the first @to_bytes and the rest go
 * Returns how many bytes were there, from @from on; 0 also if the system refuses to copy.  Never raises a
 * signal, async-signal-safe, keeps errno.
 */
struct own_stack_room {
        void *to, *to_more;
        size_t to_bytes;
};
size_t own_stack_read(const struct own_stack_room *room, uintptr_t from, size_t n_bytes);

#endif /* INSTRUMENT_CLIENT_OWN_STACK_H */
