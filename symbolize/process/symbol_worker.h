/* SPDX-License-Identifier: MIT */
/*
 * symbolize/process/symbol_worker.h - one confined child, which does one task of the symbolizer
 *
 * Way of the data:  symbolizer -> fork, drop rights -> symbol_stream -> pipe ->
 *                   [symbol_worker] -> symbol_process
 *
 * A child sees the files of one module and ends with it: what a hostile file
 * does to it ends there, too.
 */
#ifndef SYMBOLIZE_PROCESS_SYMBOL_WORKER_H
#define SYMBOLIZE_PROCESS_SYMBOL_WORKER_H

#include "base/byte_buffer.h"
#include "base/confinement.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct symbolizer;
struct symbolizer_sink;

/* The child's function: symbolizer_resolve(), or another one for a test. */
typedef int symbol_process_task(struct symbolizer *symbolizer, uint32_t task,
                                const struct symbolizer_sink *sink, struct error *err);

struct symbol_worker_options {
        symbol_process_task *run;
        struct symbolizer *symbolizer; /* borrowed; the child has its own copy of it */
        struct confinement_user user;
        int kallsyms_fd, spool_fd, cache_fd; /* borrowed; -1 = none */
        bool wants_findings;
};

struct symbol_worker {
        pid_t pid; /* 0 = it has ended */
        int fd;    /* the reading end of its pipe */
        uint32_t task;
        struct byte_buffer in; /* received, and not read yet */
        uint64_t n_bytes;      /* that it sent */
        uint64_t deadline_ns;  /* CLOCK_MONOTONIC */
        struct error why;      /* of an abnormal end: a signal, a limit; code 0 = normal */
};

/* Starts the child for @task.  Returns 0 or -errno; then nothing is left over. */
int symbol_worker_start(struct symbol_worker *w, const struct symbol_worker_options *options, uint32_t task,
                        struct error *err);

/*
 * Reads the available bytes.  Returns 1, 0 at the end of the pipe, -ENOMEM, -EBADMSG if it sends
 * without end, -errno.
 */
int symbol_worker_read(struct symbol_worker *w, struct error *err);

/* Ends the child if it has not ended, waits for it, and notes in `why` how it did. */
void symbol_worker_stop(struct symbol_worker *w);

/* Ends it, and frees what it sent. */
void symbol_worker_deinit(struct symbol_worker *w);

#endif /* SYMBOLIZE_PROCESS_SYMBOL_WORKER_H */
