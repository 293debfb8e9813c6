/* SPDX-License-Identifier: MIT */
/*
 * sampler/pace/wakeup_throttle.h - the opener's tempo: when the doorbells of mappings are worth their price,
 * and when looking now and then is; its pauses; when it wakes the collector
 *
 * Way of the data:  early_opener (what it saw in the tracker's rings) -> [wakeup_throttle]
 *                   -> early_opener, event_set_silence()
 *
 * A doorbell interrupts the program that rings it for some 25 us (a virtual machine with 2 CPUs).  Where
 * programs are started all the time (make, configure, tests of shells), each rings several times and has
 * nothing that is urgent.  After PACE_BELLS_VAIN_MAX of these in a window the bells are to be silent,
 * and the rings are to be looked at now and then, until a window has fewer mappings of code: each
 * PACE_BELLS_POLL_MS, for each look interrupts a program as well, and more often for two windows after
 * urgent code was mapped.  A process that maps urgent code again after a window is a pool of generated
 * kernels, for which a millisecond may be too late: then the bells stay on.
 */
#ifndef SAMPLER_PACE_WAKEUP_THROTTLE_H
#define SAMPLER_PACE_WAKEUP_THROTTLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAKEUP_THROTTLE_PIDS 8 /* a power of two */

/* All zero: the bells are on.  One thread's. */
struct wakeup_throttle {
        bool silent;
        uint64_t window_ns;          /* when this window began */
        uint64_t pool_ns;            /* until when there is a pool */
        uint64_t urgent_ns;          /* when urgent code was mapped last; 0 = never */
        unsigned n_vain, n_mappings; /* in this window: rings without anything urgent, mappings of code */
        unsigned n_urgent;           /* since the last wakeup_throttle_decide() */
        struct {
                uint32_t pid;
                uint64_t first_ns;
        } mappers[WAKEUP_THROTTLE_PIDS]; /* of urgent code, the latest */
        size_t n_mappers;
        bool is_unreported, has_urgent;       /* mappings of which the collector does not know yet */
        uint64_t reported_ns;                 /* when it was last woken */
        uint64_t begun_ns;                    /* when a window of free processor time began */
        uint64_t begun_cpu_ns, looked_cpu_ns; /* the time then, and after the last look */
};

/* A mapping of code was seen.  @is_urgent: it may be gone soon. */
void wakeup_throttle_note(struct wakeup_throttle *c, uint32_t pid, bool is_urgent, uint64_t now_ns);

/*
 * The rings were looked at, because of @n_rings of the bells.  Returns true if the bells are to
 * be silent from now on.
 */
bool wakeup_throttle_decide(struct wakeup_throttle *c, unsigned n_rings, uint64_t now_ns);

/* How long to wait for a bell until the rings are looked at; -1 = until it rings. */
int wakeup_throttle_wait_ms(const struct wakeup_throttle *c, uint64_t now_ns);

/*
 * How long to sleep after a look, since this window's time is used up: briefly, as files that are mapped
 * meanwhile may be gone again.  @cpu_ns: the thread's processor time so far
 */
uint64_t wakeup_throttle_pause_ns(struct wakeup_throttle *c, uint64_t cpu_ns, uint64_t now_ns);

/*
 * Is the collector to be woken?  It is whenever a bell has rung; while the bells are silent, only urgent
 * files wake it at once.
 */
bool wakeup_throttle_report(struct wakeup_throttle *c, bool rang, uint64_t now_ns);

#endif /* SAMPLER_PACE_WAKEUP_THROTTLE_H */
