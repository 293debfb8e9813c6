/* SPDX-License-Identifier: MIT */
/*
 * analyze/waits/interrupt_kind.h - the functions of an interrupt that woke a thread -> what kind of interrupt
 *
 * Way of the data:  stacks of WAKEUP without a waker, SYMBOLS -> [interrupt_kind] -> report_waits
 *
 * The innermost function that says something decides: a packet that is delivered at the end of a timer's
 * interrupt is a packet.  A message through the network within one machine is delivered in a softirq at the
 * end of the sender's own call: without the entry of an interrupt in between, the thread below the
 * "interrupt" is the waker.  An interrupt that came in the middle of that is one all the same.
 * Names are those of Linux 5.15 to 6.18, on x86-64, AArch64 and RISC-V.
 *
 * Not thread-safe.
 */
#ifndef ANALYZE_WAITS_INTERRUPT_KIND_H
#define ANALYZE_WAITS_INTERRUPT_KIND_H

#include <stdint.h>

struct trace_dictionary;

enum interrupt_kind {
        INTERRUPT_UNKNOWN, /* no stack, no names, or none that says something */
        INTERRUPT_TIMER,
        INTERRUPT_DISK,
        INTERRUPT_NETWORK, /* a packet from another machine, or one whose sender is not known */
        INTERRUPT_SENDER,  /* no interrupt: the thread below sent a packet to this machine */
        INTERRUPT_OTHER,   /* of another device, or of the kernel itself */
        INTERRUPT_KINDS
};

/* Remembers what it found. */
struct interrupt_kinds {
        const struct trace_dictionary *dictionary; /* borrowed */
        uint32_t *first_symbols;                   /* heap; by frame */
        uint8_t *roles;                            /* heap; by frame; 0 = not looked at */
        uint8_t *kinds;                            /* heap; by stack: the kind + 1; 0 = not looked at */
        uint32_t n_frames, n_stacks;
};

/* @dictionary: complete.  Returns 0 or -ENOMEM; to be deinitialised in any case. */
int interrupt_kinds_init(struct interrupt_kinds *k, const struct trace_dictionary *dictionary);
void interrupt_kinds_deinit(struct interrupt_kinds *k);

/* The kind of a stack of a WAKEUP whose waker is 0.  @stack 0 = none.  Constant time the second time. */
enum interrupt_kind interrupt_kinds_find(struct interrupt_kinds *k, uint32_t stack);

/* For a SENDER: the frame of the outermost function that sends; 0 = none. */
uint32_t interrupt_kinds_find_send(struct interrupt_kinds *k, uint32_t stack);

#endif /* ANALYZE_WAITS_INTERRUPT_KIND_H */
