/* SPDX-License-Identifier: MIT */
/*
 * sampler/attachment.h - processes that run already and are to be recorded: those that were named, and their children
 *
 * Way of the data:  -p PID, /proc -> [attachment] -> event_set, sample_source, zone_source
 *
 * Processes and threads come and go while /proc is read and events are opened,
 * so both are done again until nothing new is found.  What begins later is
 * followed by the kernel.  Used by the collector's thread.
 */
#ifndef SAMPLER_ATTACHMENT_H
#define SAMPLER_ATTACHMENT_H

#include "base/intern.h"
#include "sampler/running_process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_buffer;
struct error;
struct event_set;
struct sample_source;
struct zone_source;

/* One that was named; the recording ends when all of these have ended. */
struct attached_process {
        uint32_t pid;
        int pid_fd; /* readable when it has ended; -1 = it has */
};

struct attachment {
        struct attached_process *named; /* heap, owned */
        size_t n_named;
        struct running_process *found; /* heap, owned: the named ones and all below them, parents first */
        size_t n_found, found_capacity;
        struct intern refused; /* children that this user may not record */
        struct intern tids;    /* threads whose events were opened */
};

/*
 * attachment_open() - hold the processes, whose numbers then cannot come to mean others
 * Returns 0; -ESRCH, -EINVAL, -EACCES as running_process_check(); -ENOMEM, -errno.
 */
int attachment_open(struct attachment *a, const uint32_t *pids, size_t n_pids, struct error *err);
void attachment_close(struct attachment *a);

/* Opens the events of all threads there are.  Returns 0; -ESRCH if all have ended; as event_set_add(). */
int attachment_add_events(struct attachment *a, struct event_set *events, struct error *err);

/*
 * attachment_add_processes() - make known what runs, now that its events were opened, and announce the regions there are
 * @time_ns:  of all that is made known; before the first record
 * Returns 0, -ENOMEM, -errno.
 */
int attachment_add_processes(struct attachment *a, struct sample_source *samples, struct zone_source *zones,
                             uint64_t time_ns, struct error *err);

/* True once every process that was named has ended; those that have are not held any more. */
bool attachment_has_ended(struct attachment *a);

/* Appends "process 42 (server)"; with more than one also the others, as far as a line takes them. */
void attachment_add_words(const struct attachment *a, struct byte_buffer *text);

#endif /* SAMPLER_ATTACHMENT_H */
