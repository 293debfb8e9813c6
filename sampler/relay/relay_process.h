/* SPDX-License-Identifier: MIT */
/*
 * sampler/relay/relay_process.h - the relay from the recorder's side: a child without privileges
 *
 * Way of the data:  trace_writer -> [relay_process] (fork, confinement) -> relay_server -> takers
 *
 * The recorder writes its trace into a pipe.  The child reads it, and alone speaks with takers.  It is
 * forked before anything is opened for a recording, has the user's rights and no capabilities, only its
 * own descriptors, and dies with its parent.
 */
#ifndef SAMPLER_RELAY_RELAY_PROCESS_H
#define SAMPLER_RELAY_RELAY_PROCESS_H

#include "sampler/relay/relay_address.h"
#include "sampler/relay/relay_server.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

struct relay_options {
        const struct relay_address *address;
        /* a file for the trace, open for reading and writing, at its beginning; borrowed; -1 = in memory */
        int file_fd;
        uint64_t bytes_max; /* of events in memory */
        bool drops_newest;
        /* Confines the child: first to these descriptors, and then, when all is open, to no others. */
        int (*confine)(int *fds, size_t n_fds, uint64_t file_bytes_max, struct error *err);
        int (*close)(struct error *err);
};

struct relay_process {
        struct relay_address address; /* where it listens */
        pid_t pid;
        int pipe_fd;              /* takes the trace; the caller closes it when all is written */
        int control_fd;           /* -1 = there is no process */
        struct relay_report last; /* what it said last */
};

/* The caller has one thread.  Returns 0 or -errno. */
int relay_process_start(struct relay_process *p, const struct relay_options *options, struct error *err);

/* Waits until a taker is connected.  Returns 0, or -EPIPE if the process has ended. */
int relay_process_wait_taker(struct relay_process *p, struct error *err);

/*
 * relay_process_end() - after the trace is written: waits until a taker has all of it
 * @linger_ns:  at most so long without progress; UINT64_MAX = as long as it takes
 * @stop_fd:    when it is readable, no longer; -1 = never
 * @on_wait:    called once if it takes longer than a moment
 * `last` has the outcome.  Returns 0, or -EPIPE if the process ended by itself before.
 */
int relay_process_end(struct relay_process *p, uint64_t linger_ns, int stop_fd,
                      void (*on_wait)(void *context), void *context, struct error *err);

/* Ends it and reaps it. */
void relay_process_stop(struct relay_process *p);

#endif /* SAMPLER_RELAY_RELAY_PROCESS_H */
