/* SPDX-License-Identifier: MIT */
/*
 * sampler/stacks/late_stack.h - the part of a thread's stack that was not copied, read a
 * moment after the sample
 *
 * Way of the data:  process_vm_readv(2) -> [late_stack] -> stack_unwinder, waiting_stacks
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

struct stack_walk;
struct stack_walk_space;

#define LATE_STACK_BYTES_MAX (UINT32_C(1) << 18)

struct recorder_pace;

struct late_stack {
        struct recorder_pace *pace; /* borrowed */
        uint8_t *bytes;             /* heap, owned; LATE_STACK_BYTES_MAX */
        uint64_t start_avma;
        size_t n_bytes;
        uint64_t began_ns;         /* of the reading that is under way */
        uint64_t n_read, spent_ns; /* in all */
};

/* Returns 0 or -ENOMEM. */
int late_stack_init(struct late_stack *l, struct recorder_pace *pace);
void late_stack_deinit(struct late_stack *l);

/*
 * late_stack_begin() - begins to read from @start_avma on
 * @now_ns:  CLOCK_MONOTONIC_RAW now, not of the sample
 * Returns false if enough time was spent with this of late.
 */
bool late_stack_begin(struct late_stack *l, uint64_t start_avma, uint64_t now_ns);

/* Reads up to @n_bytes more; returns false if nothing more could be read. */
bool late_stack_read(struct late_stack *l, uint32_t tid, size_t n_bytes);

/* Drops the earlier bytes, and reads from @start_avma on. */
void late_stack_move(struct late_stack *l, uint64_t start_avma);

/* The reading is done; it counts. */
void late_stack_end(struct late_stack *l, uint64_t now_ns);

/*
 * late_stack_read_code() - reads up to @n_bytes at another place, also between begin and end
 * Returns how many; 0 if enough time was spent of late.
 */
size_t late_stack_read_code(struct late_stack *l, uint32_t tid, uint64_t avma, void *to, size_t n_bytes);

/* Reads one number at another place; false if it cannot be read. */
bool late_stack_look(uint32_t tid, uint64_t avma, uint64_t *ret_value);

/* ------------------------------------------------------------------ windows */

/*
 * A window is a thread's stack as it was when one of its samples arrived.
 *
 * A sample that waits for an unwind table is walked when its thread is elsewhere, so memory beyond the copy
 * is read when the sample arrives.  Samples of a thread that arrive together share what was read.  Users
 * count: the last one frees it.  Used by the collector's thread.
 */

#define LATE_WINDOW_SLOTS     64                  /* of threads whose last window is kept to be shared */
#define LATE_WINDOW_BYTES_MAX (UINT32_C(1) << 24) /* of all windows together */

struct late_window {
        uint64_t start_avma;
        size_t n_bytes, n_users;
        size_t *total_bytes; /* borrowed: of all windows; it outlives them */
        uint8_t bytes[];
};

struct late_windows {
        size_t total_bytes;
        struct {
                uint32_t tid; /* 0 = none */
                uint64_t read_ns;
                struct late_window *window; /* NULL = nothing could be read then */
        } slots[LATE_WINDOW_SLOTS];
};

/* Others may still use the windows. */
void late_windows_deinit(struct late_windows *w);

/*
 * late_windows_take() - the thread's stack from @start_avma on, read at most PACE_LATE_PERIOD_NS ago
 * @late:  reads, and limits the time that this takes
 * Returns NULL if it cannot be read, or if there is no time, room or memory; else the caller drops it.
 */
struct late_window *late_windows_take(struct late_windows *w, struct late_stack *late, uint32_t tid,
                                      uint64_t start_avma);

/* NULL is fine. */
void late_window_drop(struct late_window *window);

/*
 * late_window_has_call() - was the call in which a walk ended still under way when the window was read?
 * It was if its return address is still in its place, or if there is another one into the same function,
 * which has called something else since.  For machines that save return addresses on the stack.
 */
bool late_window_has_call(const struct late_window *window, const struct stack_walk *walk,
                          const struct stack_walk_space *space);

#endif /* SAMPLER_STACKS_LATE_STACK_H */
