/* SPDX-License-Identifier: MIT */
/*
 * symbolize/process/symbol_children.h - the children of symbol_process, and how their output is taken in
 *
 * Way of the data:  symbolizer -> fork, drop rights -> symbol_stream -> pipe -> [symbol_children] ->
 *                   trace_dictionary (SYMBOLS), symbol_findings, index_cache
 *
 * A worker is one confined child, which does one task of the symbolizer.  It sees the files of one module and
 * ends with it: what a hostile file does to it ends there, too.
 *
 * The intake makes rows, findings and entries of the cache of what a child says of its task.  The child has
 * read hostile files.  It can give symbols only to frames of its own task, once each, and can write only the
 * entry that belongs to its module.
 */
#ifndef SYMBOLIZE_PROCESS_SYMBOL_CHILDREN_H
#define SYMBOLIZE_PROCESS_SYMBOL_CHILDREN_H

#include "base/byte_buffer.h"
#include "base/confinement.h"
#include "base/error.h"
#include "symbolize/images/index_cache.h"
#include "symbolize/images/module_images.h"
#include "symbolize/process/known_symbols.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct symbol_findings;
struct symbol_process_options;
struct symbol_stream_record;
struct symbolizer;
struct symbolizer_sink;
struct trace_dictionary;

/* ------------------------------------------------------------------ a worker */

struct symbol_worker_options {
        /* symbol_process_task */
        int (*run)(struct symbolizer *symbolizer, uint32_t task, const struct symbolizer_sink *sink,
                   struct error *err);
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
 * Reads the available bytes.  Returns 1, 0 at the end of the pipe, -ENOMEM, -EBADMSG if the child sends
 * without end, -errno.
 */
int symbol_worker_read(struct symbol_worker *w, struct error *err);

/* Ends the child if it has not ended, waits for it, and notes in `why` how it did. */
void symbol_worker_stop(struct symbol_worker *w);

/* Ends it, and frees what it sent. */
void symbol_worker_deinit(struct symbol_worker *w);

/* ------------------------------------------------------------------ the intake */

struct symbol_intake {
        struct trace_dictionary *dictionary; /* borrowed, like the next three */
        const struct symbol_process_options *options;
        const struct symbolizer *symbolizer;
        struct symbol_findings *findings; /* NULL = not wanted */
        struct known_symbols known;
        struct module_images images;
        uint8_t *is_answered; /* heap; bit by frame: a frame is answered once */
        uint32_t n_frames;
        struct symbol_stream_record *record; /* heap: the one being looked at */
        uint64_t n_news;                     /* frames that got rows */
        /* The task whose symbols arrive. */
        uint32_t task;
        uint32_t module; /* the module that the child is working on; 0 before its first */
        bool is_at_end;  /* the child said that it was done */
        bool is_found;   /* it sent the module's finding */
        bool is_index_refused;
        struct index_cache_writer index;
};

/* Returns 0 or -ENOMEM. */
int symbol_intake_init(struct symbol_intake *in, struct trace_dictionary *dictionary,
                       const struct symbol_process_options *options, const struct symbolizer *symbolizer,
                       struct error *err);
void symbol_intake_deinit(struct symbol_intake *in);

/* The following records belong to @task. */
void symbol_intake_begin(struct symbol_intake *in, uint32_t task);

/*
 * symbol_intake_take() - all whole records in @bytes; the rest is kept for later
 * Returns 0; -EBADMSG for what the symbolizer does not send; the code with which the child failed, and its
 * words; -ENOMEM and -EOVERFLOW, with *@ret_is_own_failure, when the tables are full.
 */
int symbol_intake_take(struct symbol_intake *in, struct byte_buffer *bytes, bool *ret_is_own_failure,
                       struct error *err);

/* The task is over.  @is_good: the child ended as it should. */
void symbol_intake_end(struct symbol_intake *in, bool is_good);

#endif /* SYMBOLIZE_PROCESS_SYMBOL_CHILDREN_H */
