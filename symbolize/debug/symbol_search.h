/* SPDX-License-Identifier: MIT */
/*
 * symbolize/debug/symbol_search.h - where files of code and of debug information are looked for
 *
 * Way of the data:  options -> [symbol_search] -> symbolizer, debug_files
 *
 * All zero means: look where the trace says, and in the machine's own folders for debug information.
 * Everything is borrowed.
 */
#ifndef SYMBOLIZE_DEBUG_SYMBOL_SEARCH_H
#define SYMBOLIZE_DEBUG_SYMBOL_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#define SYMBOL_SEARCH_FOLDERS_MAX 16
#define SYMBOL_SEARCH_FILES_MAX   4096 /* entries of a folder that are examined; the rest is skipped */

struct symbol_search {
        /*
         * Looked into first, in this order: DIR/.build-id/ab/cdef.debug, DIR/PATH (as the module's),
         * DIR/NAME, and the same with .debug appended.  Each file in the folder comes last, whatever its
         * name: it belongs to the code if it has the same build-id or, for code without one, if its own code
         * is the same, byte for byte.
         */
        const char *debug_dirs[SYMBOL_SEARCH_FOLDERS_MAX];
        size_t n_debug_dirs;
        const char *sysroot; /* put before every path of the trace, and before /usr/lib/debug; NULL = "" */
        /* the trace was not recorded here: files are only believed by build-id or content */
        bool is_other_machine;
};

#endif /* SYMBOLIZE_DEBUG_SYMBOL_SEARCH_H */
