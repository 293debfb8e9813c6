/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/lateness.h - how late a thread came to where another one waits for it, since other programs
 * had its CPU
 *
 * Way of the data:  past -> [lateness] -> path_walk
 *
 * Two threads with equal work meet at a barrier.  On a busy machine other programs take the CPU from one
 * of them for longer than from the other, which waits then for what the first could not do in time.
 * Both are looked at from the moment on from which both worked: as much as the waker lost before the
 * wait began, more than the waiter, it would have done by then.
 *
 * A loss is time in which a thread could run and neither it nor a thread of its own process had the CPU; with
 * a quota that was used up as well, which the caller tells apart.
 */
#ifndef ANALYZE_PATH_LATENESS_H
#define ANALYZE_PATH_LATENESS_H

#include <stdint.h>

struct past;

/*
 * lateness_until() - until when the waker makes up, in the wait, for what it lost before
 * @from_ns:  no loss before this time counts
 * @wait_ns:  when the wait of @waiter began
 * @end_ns:   when it ended
 * Between @wait_ns and the time returned, at most @end_ns, what @waker ran is due to its loss; @wait_ns if
 * there is none.  Fibers have none.  Time: linear in the waits of both in their last stretch of work.
 */
uint64_t lateness_until(const struct past *past, uint32_t waiter, uint32_t waker, uint64_t from_ns,
                        uint64_t wait_ns, uint64_t end_ns);

#endif /* ANALYZE_PATH_LATENESS_H */
