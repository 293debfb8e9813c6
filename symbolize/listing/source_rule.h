/* SPDX-License-Identifier: MIT */
/*
 * symbolize/listing/source_rule.h - whether a file that debug information names may be taken for a source
 *
 * Way of the data:  source_file -> [source_rule]
 *
 * The names come with the trace, which may be a stranger's, and the text may go on to others: in a page, in a
 * trace, in a terminal.  The rule allows files that end like sources and lie in no hidden folder, if
 * everybody may read them or they lie below a folder that the user gave.
 */
#ifndef SYMBOLIZE_LISTING_SOURCE_RULE_H
#define SYMBOLIZE_LISTING_SOURCE_RULE_H

#include <stdbool.h>

#define SOURCE_FOLDERS_MAX 16

struct stat;

/* The folders that the user gave; zero = none. */
struct source_folders {
        const char *paths[SOURCE_FOLDERS_MAX]; /* borrowed */
        unsigned n_paths;
        bool has_current; /* the working directory as well, unless that is / or the home */
};

/*
 * source_rule_allows() - judge an open file
 * @path:    without links, as the kernel names it
 * @status:  of the open file
 * @given:   may be NULL
 */
bool source_rule_allows(const char *path, const struct stat *status, const struct source_folders *given);

#endif /* SYMBOLIZE_LISTING_SOURCE_RULE_H */
