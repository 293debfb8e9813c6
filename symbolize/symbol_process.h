/* SPDX-License-Identifier: MIT */
/*
 * symbolize/symbol_process.h - the symbolizer in a child without privileges
 *
 * Way of the data:  trace_dictionary -> fork, drop rights -> symbolizer -> pipe -> [symbol_process] ->
 *                   trace_dictionary (symbols)
 *
 * The child has no capabilities, cannot gain any, cannot make a file longer and
 * hands back plain data, which is checked as foreign bytes on this side.  If a
 * file kills it, another child goes on behind that file's module.
 */
#ifndef SYMBOLIZE_SYMBOL_PROCESS_H
#define SYMBOLIZE_SYMBOL_PROCESS_H

#include <stdint.h>

#define SYMBOL_PROCESS_DEATHS_MAX 8                   /* children that may die before the rest is given up */
#define SYMBOL_PROCESS_BYTES_MAX  (UINT64_C(1) << 30) /* that one child may send */

struct error;
struct symbolizer_options;
struct symbolizer_sink;
struct trace_dictionary;

struct symbol_process_options {
        uint32_t first_frame; /* 0 stands for 1: all frames */
        uint32_t run_as_uid;  /* when root: become this user; 0 = stay, without capabilities */
        uint32_t run_as_gid;
        int stop_fd;     /* readable (eventfd, signalfd): give up; -1 = never.  Not read from. */
        int kallsyms_fd; /* /proc/kallsyms opened with privileges, borrowed; <= 0: opened here before the fork */
};

/*
 * symbol_process_run() - symbolize @dictionary and add the rows to its table SYMBOLS
 * The caller has one thread at this moment (it forks).  Blocks until the child is done.
 * Returns 0; -EINTR if stopped (what came until then was added); -EPROTO with the signal or status and the
 * module if a child died (likewise, and the modules behind that one were resolved); -EBADMSG if a child
 * sent what the symbolizer does not send; -ENOMEM, -EOVERFLOW when the tables are full, -errno.
 */
int symbol_process_run(struct trace_dictionary *dictionary, const struct symbol_process_options *options,
                       struct error *err);

/* What the child does: symbolizer_run(), or another function for a test. */
typedef int symbol_process_task(const struct trace_dictionary *dictionary,
                                const struct symbolizer_options *options, const struct symbolizer_sink *sink,
                                struct error *err);

/* symbol_process_run() with another task for the child. */
int symbol_process_run_task(struct trace_dictionary *dictionary, const struct symbol_process_options *options,
                            symbol_process_task *task, struct error *err);

#endif /* SYMBOLIZE_SYMBOL_PROCESS_H */
