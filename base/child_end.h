/* SPDX-License-Identifier: MIT */
/*
 * base/child_end.h - the end of a child that was told to end
 *
 * Way of the data:  pid -> [child_end] -> sampler
 */
#ifndef BASE_CHILD_END_H
#define BASE_CHILD_END_H

#include <sys/types.h>

/*
 * child_end_within() - waits @patience_ms at most, then kills the child and waits for a second at most
 * The child may be stopped, or hang.  If this process may no longer kill it, it is left running; it ends with
 * this process if it has set PR_SET_PDEATHSIG.
 */
void child_end_within(pid_t pid, int patience_ms);

#endif /* BASE_CHILD_END_H */
