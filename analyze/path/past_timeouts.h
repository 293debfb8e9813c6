/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/past_timeouts.h - waits that only their timer ended, and that began again at once
 *
 * Way of the data:  past, path_names -> [past_timeouts] -> replay, path_walk, wait_roots
 *
 * A thread that waits for another one with a timeout, looks, and waits again, waits for that one all the
 * time.
 */
#ifndef ANALYZE_PATH_PAST_TIMEOUTS_H
#define ANALYZE_PATH_PAST_TIMEOUTS_H

#include <stdint.h>

struct past;
struct past_wait;
struct path_names;

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

#endif /* ANALYZE_PATH_PAST_TIMEOUTS_H */
