/* SPDX-License-Identifier: MIT */
/*
 * sampler/rights/priority_guard.h - programs of a real-time class do not starve the collector
 *
 * Way of the data:  the collector's thread  -> [priority_guard] -> the kernel's scheduler
 *
 * A thread that sleeps while the collector is on time.  If the collector is ready and does not get a
 * processor, the guard, which comes before almost everything, gives it a real-time priority as well.  It does
 * so only then: a real-time thread takes the processor that it last had, not an idle one, and disturbs
 * what is recorded.  docs/understand/privileges.md says how much of a processor's time the collector may
 * take.
 */
#ifndef SAMPLER_RIGHTS_PRIORITY_GUARD_H
#define SAMPLER_RIGHTS_PRIORITY_GUARD_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct priority_guard;

/* The collector at a moment. */
struct priority_look {
        uint64_t now_ns;
        uint64_t cpu_ns; /* its processor time so far */
        bool ready;      /* it runs or wants to */
};

struct priority_state {
        struct priority_look last;
        bool raised;
        uint64_t window_ns, window_cpu_ns; /* while the thread is raised: when its share was last judged */
        uint64_t rest_until_ns;            /* others have their turn */
};

enum priority_step { PRIORITY_STAYS, PRIORITY_RISES, PRIORITY_FALLS };

/* priority_guard_decide() - says what to do after a look; @state is changed as if that was done */
enum priority_step priority_guard_decide(struct priority_state *state, const struct priority_look *look);

/*
 * priority_guard_start() - guard the calling thread
 * The guard holds CAP_SYS_NICE, raised for that one call, and no other capability; privileges_narrow()
 * filters its system calls.  Returns 0, -EPERM where real-time priorities are not permitted, -ENOMEM,
 * -EAGAIN, -errno; then there is no guard.
 */
int priority_guard_start(struct priority_guard **ret_guard, struct error *err);

/* The guarded thread is about to sleep for @ms at most.  NULL is fine here and below. */
void priority_guard_expect(struct priority_guard *guard, int ms);

/* The guarded thread has used up its share: it falls back, and is not raised again. */
void priority_guard_release(struct priority_guard *guard);

void priority_guard_stop(struct priority_guard *guard);

#endif /* SAMPLER_RIGHTS_PRIORITY_GUARD_H */
