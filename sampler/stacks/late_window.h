/* SPDX-License-Identifier: MIT */
/*
 * sampler/stacks/late_window.h - a thread's stack as it was when one of its samples arrived
 *
 * Way of the data:  late_stack -> [late_window] -> waiting_stacks, stack_unwinder
 *
 * A sample that waits for an unwind table is walked when its thread is elsewhere, so what lies beyond the
 * copy is read when it arrives.  Samples of a thread that arrive together share what was read.  Users
 * count: the last one frees it.  Used by the collector's thread.
 */
#ifndef SAMPLER_STACKS_LATE_WINDOW_H
#define SAMPLER_STACKS_LATE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct late_stack;
struct stack_walk;
struct stack_walk_space;

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
 * It was if its return address lies where it lay, or another one into the same function, which has
 * called something else since.  For machines that save return addresses on the stack.
 */
bool late_window_has_call(const struct late_window *window, const struct stack_walk *walk,
                          const struct stack_walk_space *space);

#endif /* SAMPLER_STACKS_LATE_WINDOW_H */
