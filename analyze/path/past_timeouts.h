/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/past_timeouts.h - waits that no thread ended: which are one, and whom they were for
 *
 * Way of the data:  past (FLOW), path_names -> [past_timeouts] (event_order, flow_match) -> past: `by` of
 *                   waits, replay, path_walk, wait_roots
 *
 * A thread that waits for another one with a timeout, looks, and waits again, waits for that one all the
 * time.
 *
 * A thread that looks again and again whether there is work, or gets it through a program that is not
 * recorded, has no waker.  Where it takes over a step of a flow after such a wait, and another thread handed
 * that over during the wait, the wait was for that thread.  Work that was there before did not end the wait.
 * Memory: that of event_order and flow_match once an event of a flow came, and 24 bytes for each such wait,
 * which count as the past's.
 */
#ifndef ANALYZE_PATH_PAST_TIMEOUTS_H
#define ANALYZE_PATH_PAST_TIMEOUTS_H

#include <stdint.h>

struct past;
struct past_flows;
struct past_wait;
struct path_names;
struct trace_event;

#define PAST_TIMEOUTS_MAX 256

/*
 * past_timeouts_before() - the waits with a timeout that come in a row before @wait, and are one with it
 * @wait:  of @thread, in @p; it may last still
 * Returns the first of them; @wait if there is none.  Time: at most PAST_TIMEOUTS_MAX waits.
 */
const struct past_wait *past_timeouts_before(const struct past *p, struct path_names *names, uint32_t thread,
                                             const struct past_wait *wait);

/* The last of the waits that are one with @wait, if that timed out; else @wait.  It may last still. */
const struct past_wait *past_timeouts_after(const struct past *p, struct path_names *names, uint32_t thread,
                                            const struct past_wait *wait);

/* As past_timeouts_before(), for a wait that another thread ended; else @wait. */
const struct past_wait *past_first_timeout(const struct past *p, struct path_names *names, uint32_t thread,
                                           const struct past_wait *wait);

/* An event FLOW of the thread.  Returns 0 or -ENOMEM. */
int past_flows_add(struct past *p, uint32_t thread, const struct trace_event *event);
void past_flows_free(struct past_flows *f);

/* Before questions about times up to @until_ns, up to which the past is complete.  Returns 0 or -ENOMEM. */
int past_flows_settle(const struct past *p, uint64_t until_ns);

/*
 * When work that the thread took after the wait was handed over, in [@begin_ns, @woken_ns]; @woken_ns = it is
 * not known, and of waits that a thread ended.
 */
uint64_t past_flows_handed_ns(const struct past *p, uint32_t thread, const struct past_wait *wait,
                              uint64_t begin_ns, uint64_t woken_ns);

#endif /* ANALYZE_PATH_PAST_TIMEOUTS_H */
