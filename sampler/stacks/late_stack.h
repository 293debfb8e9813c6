/* SPDX-License-Identifier: MIT */
/*
 * sampler/stacks/late_stack.h - the part of a thread's stack that was not copied, read a
 * moment after the sample
 *
 * Way of the data:  process_vm_readv(2) -> [late_stack] -> stack_unwinder
 *
 * The thread has run on meanwhile, so the bytes may be of later calls.  The outer part seldom changes; users
 * of it say that it is approximate.
 * The time that it takes is bounded to a share of all time.
 */
#ifndef SAMPLER_STACKS_LATE_STACK_H
#define SAMPLER_STACKS_LATE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LATE_STACK_BYTES_MAX (UINT32_C(1) << 18)

struct late_stack {
        uint8_t *bytes; /* heap, owned; LATE_STACK_BYTES_MAX */
        uint64_t start_avma;
        size_t n_bytes;
        uint64_t began_ns;             /* of the reading that is under way */
        uint64_t left_ns, refilled_ns; /* what may be spent now, and when that was reckoned */
        uint64_t n_read, spent_ns;     /* in all */
};

/* Returns 0 or -ENOMEM. */
int late_stack_init(struct late_stack *l);
void late_stack_deinit(struct late_stack *l);

/*
 * late_stack_begin() - will read what lies from @start_avma on
 * @now_ns:  CLOCK_MONOTONIC_RAW now, not of the sample
 * Returns false if enough time was spent with this of late.
 */
bool late_stack_begin(struct late_stack *l, uint64_t start_avma, uint64_t now_ns);

/* Reads up to @n_bytes more; returns false if nothing more could be read. */
bool late_stack_read(struct late_stack *l, uint32_t tid, size_t n_bytes);

/* The earlier bytes are done with: reads from @start_avma on. */
void late_stack_move(struct late_stack *l, uint64_t start_avma);

/* The reading is done; it counts. */
void late_stack_end(struct late_stack *l, uint64_t now_ns);

/*
 * late_stack_read_code() - reads what lies in another place, up to @n_bytes of it, also between begin and end
 * Returns how many; 0 if enough time was spent of late.
 */
size_t late_stack_read_code(struct late_stack *l, uint32_t tid, uint64_t avma, void *to, size_t n_bytes);

/* Reads one number of another place; false if it cannot be read. */
bool late_stack_look(uint32_t tid, uint64_t avma, uint64_t *ret_value);

#endif /* SAMPLER_STACKS_LATE_STACK_H */
