/* SPDX-License-Identifier: MIT */
/*
 * format/trace_lock.h - whether a trace file is still being written
 *
 * Way of the data:  output_file -> [trace_lock] -> trace_follow
 *
 * The process that writes a trace holds a POSIX lock on the file.  The kernel releases the lock when that
 * process ends, however it ends, so a reader can tell a pause from a recorder that is gone.  The lock is
 * advisory and never waited for; a file system without locks loses this distinction and nothing else.
 */
#ifndef FORMAT_TRACE_LOCK_H
#define FORMAT_TRACE_LOCK_H

#include <stdbool.h>

/*
 * Locks the file that is open for writing.  The lock is lost when the process closes any descriptor of the
 * same file.  Returns whether it is held.
 */
bool trace_lock_take(int fd);

/* Whether another process holds the lock.  False where the file system has no locks. */
bool trace_lock_is_held(int fd);

#endif /* FORMAT_TRACE_LOCK_H */
