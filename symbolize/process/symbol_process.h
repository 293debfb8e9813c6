/* SPDX-License-Identifier: MIT */
/*
 * symbolize/process/symbol_process.h - the symbolizer in children without privileges, several at a time
 *
 * Way of the data:  symbolizer (tasks) -> symbol_children -> [symbol_process] ->
 *                   trace_dictionary (symbols)
 *
 * Each module has a child of its own, which has no capabilities, cannot gain any, cannot make a file longer
 * and hands back plain data, which is checked as foreign bytes on this side.  If a file kills its child, or
 * keeps it busy without end, that costs the names of this module.  The children's results are read in the
 * order of the tasks, whichever ends first.
 */
#ifndef SYMBOLIZE_PROCESS_SYMBOL_PROCESS_H
#define SYMBOLIZE_PROCESS_SYMBOL_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#define SYMBOL_PROCESS_WORKERS_MAX 8                   /* children at a time */
#define SYMBOL_PROCESS_DEATHS_MAX  32                  /* modules that may fail before the rest is given up */
#define SYMBOL_PROCESS_TASK_S_MAX  120                 /* seconds that a task may take */
#define SYMBOL_PROCESS_BYTES_MAX   (UINT64_C(1) << 30) /* that one child may send */
#define SYMBOL_PROCESS_AHEAD_MAX \
        (UINT64_C(8) << 20) /* bytes that a child may send while an earlier task is taken in */

struct error;
struct image_spool;
struct index_cache;
struct symbol_findings;
struct symbol_search;
struct symbolizer;
struct symbolizer_sink;
struct trace_dictionary;

/* The child's function: symbolizer_resolve(), or another one for a test. */
typedef int symbol_process_task(struct symbolizer *symbolizer, uint32_t task,
                                const struct symbolizer_sink *sink, struct error *err);

struct symbol_process_options {
        uint32_t first_frame; /* 0 stands for 1: all frames */
        uint32_t run_as_uid;  /* when root: become this user; 0 = stay, without capabilities */
        uint32_t run_as_gid;
        int stop_fd; /* readable (eventfd, signalfd): give up; -1 = never.  Not read from. */
        /* /proc/kallsyms opened with privileges, borrowed; <= 0: opened here before the fork */
        int kallsyms_fd;
        const struct symbol_search *search; /* borrowed, as all below; NULL = all zero */
        const struct image_spool *spool;    /* the code that the trace keeps; sealed.  NULL = none */
        const struct index_cache *cache;    /* NULL = none */
        struct symbol_findings *findings;   /* gets the finding of each module; NULL = not wanted */
        uint64_t *ret_n_news;               /* frames that got rows; NULL = not wanted */
        uint32_t n_workers;                 /* 0 = as many as CPUs */
        uint32_t task_s;                    /* seconds that a task may take; 0 = SYMBOL_PROCESS_TASK_S_MAX */
        bool only_kernel;                   /* leave out all but the kernel */
        bool is_at_end;                     /* the recording has just ended */
        bool only_look;                     /* add no rows */
};

/*
 * symbol_process_run() - symbolize @dictionary and add the rows to its table SYMBOLS
 * A frame gets rows only if they say more than its present ones, or something else.  The rows and their order
 * do not depend on the number of children.  The caller has one thread at this moment (it forks).  Blocks
 * until all is done.
 * Returns 0; -EINTR if stopped (what came until then was added); -EPROTO with the signal or status and the
 * module if a child died, -ETIME if it took too long, -EBADMSG if one sent what the symbolizer does not send,
 * or the code with which a child failed.  These are the first child's that failed; all other modules were
 * resolved; -ENOMEM, -EOVERFLOW when the tables are full, -errno.
 */
int symbol_process_run(struct trace_dictionary *dictionary, const struct symbol_process_options *options,
                       struct error *err);

/* symbol_process_run() with another task for the children. */
int symbol_process_run_task(struct trace_dictionary *dictionary, const struct symbol_process_options *options,
                            symbol_process_task *task, struct error *err);

#endif /* SYMBOLIZE_PROCESS_SYMBOL_PROCESS_H */
