/* SPDX-License-Identifier: MIT */
/*
 * symbolize/symbols/symbolizer.h - frames of a trace -> function, file and line
 *
 * Way of the data:  trace_dictionary (frames, modules) -> [symbolizer] -> symbolizer_sink
 *
 * Reads ELF and DWARF files that the profiled program controls; run it without
 * privileges (symbolize/process/symbol_process.h).  Not thread-safe.
 */
#ifndef SYMBOLIZE_SYMBOLS_SYMBOLIZER_H
#define SYMBOLIZE_SYMBOLS_SYMBOLIZER_H

#include "symbolize/symbols/symbol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct image_spool;
struct index_cache;
struct symbol_search;
struct symbolizer;
struct trace_dictionary;

/* The result for a module. */
struct module_finding {
        uint32_t module;
        uint32_t source;   /* enum image_source */
        uint32_t n_frames; /* that were asked for */
        uint32_t n_named;  /* of them: with the name of a function */
        uint32_t n_lines;  /* of them: with a line */
        const char *path;  /* of the file; NULL = none; borrowed for the call that passes it */
};

/* Receives the results; each function returns 0, or -errno to stop. */
struct symbolizer_sink {
        /* The code of @module is about to be read; the symbols that follow are of its frames. */
        int (*begin_module)(void *context, uint32_t module, struct error *err);
        /* The symbols of one frame, 1 .. SYMBOLIZER_CHAIN_MAX, innermost inlined function first. */
        int (*add_symbols)(void *context, uint32_t frame, const struct symbol *symbols, uint32_t n_symbols,
                           struct error *err);
        /* Gets the result of the module; NULL = not wanted. */
        int (*end_module)(void *context, const struct module_finding *finding, struct error *err);
        /* Bytes for struct index_cache, in one piece, before the end of the module; NULL = not wanted. */
        int (*add_index)(void *context, const void *bytes, size_t n_bytes, struct error *err);
        void *context;
};

struct symbolizer_options {
        uint32_t first_frame; /* the first frame to resolve; 0 stands for 1: all */
        int kallsyms_fd;      /* /proc/kallsyms, opened with privileges; <= 0: opened when it is needed */
        const struct symbol_search *search; /* borrowed; NULL = all zero */
        const struct image_spool *spool;    /* the code that the trace keeps, borrowed; NULL = none */
        const struct index_cache *cache;    /* borrowed; NULL = none */
        bool only_kernel;                   /* leave out all but the kernel */
        bool is_at_end; /* of the recording: what the kernel made is still there, or known to be gone */
};

/*
 * symbolizer_new() - sort the frames of a trace into tasks
 * @dictionary, @options:  borrowed; rows of SYMBOLS and STRINGS may be added meanwhile
 * A task is a module, or all anonymous memory together.  Modules come in the order of their ids.
 * Returns 0 or -ENOMEM.
 */
int symbolizer_new(const struct trace_dictionary *dictionary, const struct symbolizer_options *options,
                   struct symbolizer **ret_symbolizer, struct error *err);

/* NULL is fine. */
void symbolizer_free(struct symbolizer *s);

uint32_t symbolizer_count_tasks(const struct symbolizer *s);

/* The number, from 0 on, of the task that has @frame, or UINT32_MAX; then a module of a task. */
uint32_t symbolizer_find_task(const struct symbolizer *s, uint32_t frame);
uint32_t symbolizer_find_module(const struct symbolizer *s, uint32_t task);
bool symbolizer_has_module(const struct symbolizer *s, uint32_t task, uint32_t module);

/* Sets the descriptors, for a process in which they have other numbers now; -1 = it has none. */
void symbolizer_set_fds(struct symbolizer *s, int kallsyms_fd, int spool_fd, int cache_fd);

/*
 * symbolizer_resolve() - look up the frames of one task
 * Code is looked for as symbolize/images/image_finder.h says.  A frame that cannot be resolved gives no
 * symbol, or one with TRACE_SYMBOL_STALE_FILE if the file there is another one; a broken file costs its own
 * names only.  The kernel is that of the running system: left out if the trace was recorded elsewhere.
 * Returns 0, -ENOMEM, or what the sink returned.
 */
int symbolizer_resolve(struct symbolizer *s, uint32_t task, const struct symbolizer_sink *sink,
                       struct error *err);

/* All tasks, one after the other. */
int symbolizer_run(const struct trace_dictionary *dictionary, const struct symbolizer_options *options,
                   const struct symbolizer_sink *sink, struct error *err);

#endif /* SYMBOLIZE_SYMBOLS_SYMBOLIZER_H */
