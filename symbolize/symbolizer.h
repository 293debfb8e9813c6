/* SPDX-License-Identifier: MIT */
/*
 * symbolize/symbolizer.h - frames of a trace -> function, file and line
 *
 * Way of the data:  trace_dictionary (frames, modules) -> [symbolizer] -> symbolizer_sink
 *
 * Reads ELF and DWARF files that the profiled program controls; run it without
 * privileges (symbolize/symbol_process.h).  Not thread-safe.
 */
#ifndef SYMBOLIZE_SYMBOLIZER_H
#define SYMBOLIZE_SYMBOLIZER_H

#include <stdint.h>

#define SYMBOLIZER_CHAIN_MAX 128 /* symbols of one frame; what is inlined into more is cut at the outer end */
#define SYMBOLIZER_TEXT_MAX  65535 /* bytes of a function's or file's name; longer ones are cut */

struct error;
struct trace_dictionary;

/* One function at a place in the code; strings are borrowed for the call that passes it, NULL = unknown. */
struct symbol {
        const char *function; /* demangled */
        const char *file;
        uint32_t line;   /* 0 = unknown */
        uint32_t column; /* 0 = unknown */
        uint32_t flags;  /* TRACE_SYMBOL_* */
};

/* Receives what was found; each function returns 0, or -errno to stop. */
struct symbolizer_sink {
        /* The files of @module are about to be read; the symbols that follow are of its frames. */
        int (*begin_module)(void *context, uint32_t module, struct error *err);
        /* The symbols of one frame, 1 .. SYMBOLIZER_CHAIN_MAX, innermost inlined function first. */
        int (*add_symbols)(void *context, uint32_t frame, const struct symbol *symbols, uint32_t n_symbols,
                           struct error *err);
        void *context;
};

struct symbolizer_options {
        uint32_t first_frame;  /* the first frame to resolve; 0 stands for 1: all */
        uint32_t first_module; /* modules before it are left out; 0 stands for 1: none */
        int kallsyms_fd;       /* /proc/kallsyms, opened with privileges; <= 0: opened when it is needed */
};

/*
 * symbolizer_run() - resolve the frames of a trace
 * Works module by module, in the order of their ids, so that one file is open at a time.  Files are
 * believed only if their build-id, or device and inode, are those of the trace.  A frame that cannot be
 * resolved gives no symbol, or one with TRACE_SYMBOL_STALE_FILE; a broken file costs its own names only.
 * The vdso and the kernel are those of the running system: meant for the machine that recorded, until it
 * is booted again.
 * Returns 0, -ENOMEM, or what the sink returned.
 */
int symbolizer_run(const struct trace_dictionary *dictionary, const struct symbolizer_options *options,
                   const struct symbolizer_sink *sink, struct error *err);

#endif /* SYMBOLIZE_SYMBOLIZER_H */
