/* SPDX-License-Identifier: MIT */
/*
 * sampler/recording/attachment.h - finds the running processes and threads to record: by
 * number, by cgroup, or all
 *
 * Way of the data:  event_scope, /proc -> [attachment] -> event_set, process_filter, kernel_side, zone_source
 *
 * Processes and threads come and go while /proc is read and events are opened, so both are done
 * again until nothing new is found.  The kernel follows processes and threads that begin later.
 * Used by the collector's thread.
 */
#ifndef SAMPLER_RECORDING_ATTACHMENT_H
#define SAMPLER_RECORDING_ATTACHMENT_H

#include "base/intern.h"
#include "sampler/proc/running_process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_buffer;
struct error;
struct event_set;
struct process_filter;
struct kernel_side;
struct zone_source;

/* A process that was named; the recording ends when all of these have ended. */
struct attached_process {
        uint32_t pid;
        uint32_t tid; /* a single thread of it; 0 = all */
        int pid_fd;   /* readable when the process has ended; -1 = it has ended already */
};

/* The subject of the recording: the first of these members that is set. */
struct attachment_options {
        bool whole_machine;
        const char *cgroup_path; /* its folder; NULL = none */
        const uint32_t *pids, *tids;
        size_t n_pids, n_tids;
        bool no_children;
        struct process_filter *filter; /* knows hyprof's own processes, and learns which ones are recorded */
};

struct attachment {
        struct attachment_options options;
        struct attached_process *named; /* heap, owned */
        size_t n_named;
        struct running_process *found; /* heap, owned: all recorded processes, parents first */
        size_t n_found, found_capacity;
        struct intern refused; /* children that this user may not record */
        struct intern tids;    /* threads whose events were opened */
};

/*
 * attachment_open() - hold the processes, so that their numbers cannot come to mean others
 * @options:  copied; all that it points to is borrowed until the end
 * Returns 0; -ESRCH, -EINVAL, -EACCES as running_process_check(); -ENOMEM, -errno.
 */
int attachment_open(struct attachment *a, const struct attachment_options *options, struct error *err);
void attachment_close(struct attachment *a);

/*
 * attachment_add_events() - open the events of all threads there are; for the scope THREADS
 * Returns 0; -ESRCH if all have ended; as event_set_add().
 */
int attachment_add_events(struct attachment *a, struct event_set *events, struct error *err);

/*
 * attachment_add_processes() - report the running processes, now that their events are enabled, and
 * announce their regions
 * The filter learns of them as well.
 * @time_ns:  of all these reports; before the first record
 * Returns 0, -ENOMEM, -errno.
 */
int attachment_add_processes(struct attachment *a, struct kernel_side *samples, struct zone_source *zones,
                             uint64_t time_ns, struct error *err);

/*
 * True once every process, and every thread, that was named has ended; processes that have ended are not
 * held any more.  A cgroup and the whole machine do not end.
 */
bool attachment_has_ended(struct attachment *a);

/*
 * Appends "process 42 (server)", "the whole machine" or the like; if there are several, it names them as
 * far as a line has room.
 */
void attachment_add_words(const struct attachment *a, struct byte_buffer *text);

#endif /* SAMPLER_RECORDING_ATTACHMENT_H */
