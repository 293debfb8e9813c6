/* SPDX-License-Identifier: MIT */
/*
 * symbolize/process/debuginfod_folder.h - one more folder: what debuginfod servers have for modules that lack
 * something
 *
 * Way of the data:  symbol_findings -> debuginfod_fetch -> [debuginfod_folder] -> symbol_search
 *
 * The files lie in the cache of debuginfod's client; the folder has links to them,
 * by build-id, and is removed at the close.
 */
#ifndef SYMBOLIZE_PROCESS_DEBUGINFOD_FOLDER_H
#define SYMBOLIZE_PROCESS_DEBUGINFOD_FOLDER_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct symbol_findings;
struct trace_dictionary;

struct debuginfod_folder {
        char *path; /* heap; NULL = there is none */
        uint32_t n_asked, n_found;
};

/*
 * debuginfod_folder_open() - ask for the code of modules that are missing, and for debug information
 * of those without lines
 * @stop_fd:  as in struct debuginfod_options
 * Returns 0, also if nothing was found; what debuginfod_fetch_run() returns; -ENOMEM, -errno.
 */
int debuginfod_folder_open(struct debuginfod_folder *f, const struct trace_dictionary *dictionary,
                           const struct symbol_findings *findings, int stop_fd, struct error *err);
void debuginfod_folder_close(struct debuginfod_folder *f);

#endif /* SYMBOLIZE_PROCESS_DEBUGINFOD_FOLDER_H */
