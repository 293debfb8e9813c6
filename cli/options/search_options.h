/* SPDX-License-Identifier: MIT */
/*
 * cli/options/search_options.h - --debug-dir and --sysroot: where files of code and of debug
 * information are looked for
 *
 * Way of the data:  command line -> [search_options] -> symbol_search
 */
#ifndef CLI_OPTIONS_SEARCH_OPTIONS_H
#define CLI_OPTIONS_SEARCH_OPTIONS_H

struct symbol_search;
struct trace_dictionary;

/* Rows for a command's option_table; its letters must be these. */
#define SEARCH_OPTION_DEBUG_DIR 1024
#define SEARCH_OPTION_SYSROOT   1025

#define SEARCH_OPTION_ROWS                                                                              \
        { SEARCH_OPTION_DEBUG_DIR, "debug-dir", "DIR",                                                  \
          "look here first, for files of code and of debug information: as "                            \
          "DIR/.build-id/ab/cdef.debug, DIR/PATH, DIR/NAME; may be given again" },                      \
        {                                                                                               \
                SEARCH_OPTION_SYSROOT, "sysroot", "DIR", "the root folder of the machine that recorded" \
        }

/* Takes one of the options.  @search borrows @value.  Returns 0, or -EINVAL after a complaint. */
int search_options_take(struct symbol_search *search, int letter, const char *value);

/* Finds out whether this is the machine that recorded. */
void search_options_complete(struct symbol_search *search, const struct trace_dictionary *dictionary);

#endif /* CLI_OPTIONS_SEARCH_OPTIONS_H */
