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
 * It may be stopped, or hang.  One that we may not kill any more is left; it dies with us if it has asked for
 * that.
 */
void child_end_within(pid_t pid, int patience_ms);

#endif /* BASE_CHILD_END_H */
