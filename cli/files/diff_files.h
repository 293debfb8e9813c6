/* SPDX-License-Identifier: MIT */
/*
 * cli/files/diff_files.h - which recordings are compared: names and globs
 *
 * Way of the data:  command line -> [diff_files] -> cmd_diff
 */
#ifndef CLI_FILES_DIFF_FILES_H
#define CLI_FILES_DIFF_FILES_H

#include <stddef.h>

struct error;

struct diff_files {
        char **paths; /* heap, each on the heap; in order, each once */
        size_t n, capacity;
};

/*
 * diff_files_add() - the files that a name or glob(7) means
 * A file whose name looks like a glob is meant by it.  Returns 0, -ENOENT with words if none matches, -E2BIG
 * beyond DIFF_RUNS_MAX, -ENOMEM.
 */
int diff_files_add(struct diff_files *f, const char *pattern, struct error *err);

/* Zero-initialised is empty and valid. */
void diff_files_deinit(struct diff_files *f);

#endif /* CLI_FILES_DIFF_FILES_H */
