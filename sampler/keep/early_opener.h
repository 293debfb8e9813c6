/* SPDX-License-Identifier: MIT */
/*
 * sampler/keep/early_opener.h - opens files of code the moment that they are mapped
 *
 * Way of the data:  ring_watch -> perf_record (MMAP2) -> [early_opener] (thread) -> module_file ->
 *                   opened_files [early_opener] -> wakeup_throttle -> event_set_silence() [early_opener] ->
 *                   recorder: something came
 *
 * A thread with no other task, which has priority over all others where that is permitted: the collector
 * may be at work, or wait for a processor, while a file is loaded, run and deleted.  It opens the files
 * that keep_policy may want, judging by their names alone, and leaves them in opened_files for the
 * collector, which does the rest.  If this thread fails, the collector tries again, and counts failures.
 *
 * docs/understand/privileges.md says what it may do, and how much of the processors' time it may take.
 */
#ifndef SAMPLER_KEEP_EARLY_OPENER_H
#define SAMPLER_KEEP_EARLY_OPENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct early_opener;
struct error;
struct event_set;
struct opened_files;

/*
 * True if the file may be gone soon, judging by its name: it is neither in a folder of the system nor
 * anonymous memory.
 */
bool early_opener_wants_path(const char *path, size_t path_bytes);

/*
 * early_opener_start() - watch the tracker's rings of @events
 * @events:  all rings are mapped; stays as it is until early_opener_stop(), and its doorbells belong to this
 * thread It waits for the doorbells; where there are none, for the tracker's rings, and a ring wakes one
 * waiter, once: from here on no other thread may poll these.  Signals are blocked in the thread.  It has
 * narrowed its capabilities when this returns, but not filtered its system calls: privileges_narrow() does.
 * Returns 0, -ENOMEM, -EAGAIN, -errno; then the caller has to poll the rings.
 */
int early_opener_start(struct event_set *events, struct early_opener **ret_opener, struct error *err);

/* NULL is fine. */
void early_opener_stop(struct early_opener *o);

/*
 * Becomes readable anew (EPOLLET) after the thread has seen an urgent record in a tracker's ring, and
 * within PACE_OPENER_REPORT_NS of any other record; never read it.
 */
int early_opener_fd(const struct early_opener *o);

/* The open file; NULL for NULL. */
struct opened_files *early_opener_files(struct early_opener *o);

#endif /* SAMPLER_KEEP_EARLY_OPENER_H */
