/* SPDX-License-Identifier: MIT */
/*
 * analyze/waits/wait_ends.h - what ended a wait: a thread, a program, a timer, the disk, the network
 *
 * Way of the data:  trace_walk, trace_dictionary -> [wait_ends] -> past, report_waits
 *
 * A wake-up names the thread that made it.  Where it came from an interrupt, the interrupt's own functions
 * tell which (interrupt_kind.h); the same goes for the kernel's thread that does an interrupt's work.  Where
 * these were not recorded, the functions of the kernel in the thread's own call stack show for which device
 * it waited: they are compared with a list of beginnings of names, and each call stack is looked at once.  An
 * uninterruptible sleep of which nothing else is known is taken for one that waits for the disk; and a
 * wake-up in an interrupt without functions, on top of a thread, for a packet of that thread, if the last
 * interrupt with functions was one.
 * Memory: two bytes a call stack, four a thread.  Not thread-safe.
 */
#ifndef ANALYZE_WAITS_WAIT_ENDS_H
#define ANALYZE_WAITS_WAIT_ENDS_H

#include "analyze/waits/interrupt_kind.h"

#include <stdbool.h>
#include <stdint.h>

struct thread_wait;
struct trace_dictionary;

enum wait_end_kind {
        WAIT_END_UNKNOWN,
        WAIT_END_THREAD,  /* a recorded thread */
        WAIT_END_PROGRAM, /* one that was not recorded: its name is known */
        WAIT_END_TIMER,   /* its own: it slept, or its time was up */
        WAIT_END_DISK,
        WAIT_END_NETWORK,
        WAIT_END_INTERRUPT, /* of another device, or of the kernel itself */
        WAIT_END_KINDS,
};

struct wait_end {
        enum wait_end_kind kind;
        uint32_t thread; /* of WAIT_END_THREAD */
        bool is_sent;    /* of WAIT_END_THREAD: by a packet to this machine */
};

struct wait_ends {
        const struct trace_dictionary *dictionary; /* borrowed */
        uint32_t *first_symbols;                   /* heap; by frame */
        uint16_t *marks;   /* heap; by stack: private to wait_ends.c; 0 = not looked at */
        uint32_t *senders; /* heap; by thread id: who sent it a packet last, as far as call stacks showed */
        uint32_t n_stacks, n_threads;
        struct interrupt_kinds interrupts;
};

/* "timer", as documents and databases call it; static. */
const char *wait_end_word(enum wait_end_kind kind);

/* Returns 0 or -ENOMEM; to be deinitialised in any case. */
int wait_ends_init(struct wait_ends *e, const struct trace_dictionary *dictionary);
void wait_ends_deinit(struct wait_ends *e);

/* Waits of a thread are asked for in the order of time. */
struct wait_end wait_ends_find(struct wait_ends *e, uint32_t thread, const struct thread_wait *wait);

/*
 * Two of the kernel's threads, by the name of a waker (a string; 0 = none), which exist for each CPU.
 * "ksoftirqd/3" runs what interrupts left over: an interrupt has woken what it wakes.  "migration/3" moves
 * threads to another CPU: a thread that waits for it could run.
 */
bool wait_ends_is_softirq(const struct trace_dictionary *d, uint32_t waker_name);
bool wait_ends_is_mover(const struct trace_dictionary *d, uint32_t waker_name);

/*
 * wait_ends_softirq_kind() - what such an interrupt was
 * @waker_stack, @stack:  of the wake-up, and where the woken thread waited; 0 = not recorded
 */
enum interrupt_kind wait_ends_softirq_kind(struct wait_ends *e, uint32_t waker_stack, uint32_t stack);

/* Whether the functions of a call stack show a wait for a lock: a mutex, a lock of readers and writers. */
bool wait_ends_is_lock(struct wait_ends *e, uint32_t stack);

#endif /* ANALYZE_WAITS_WAIT_ENDS_H */
