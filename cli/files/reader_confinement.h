/* SPDX-License-Identifier: MIT */
/*
 * cli/files/reader_confinement.h - a command that reads a trace may do that, and write its
 * result
 *
 * Way of the data:  command_frame, cmd_* -> [reader_confinement] -> confinement -> parsers
 *
 * Before the first foreign byte is read; the pager has been started by then.
 */
#ifndef CLI_FILES_READER_CONFINEMENT_H
#define CLI_FILES_READER_CONFINEMENT_H

#include "base/confinement.h"

#include <stddef.h>

/* Beside these, temporary files may be made, and /dev/null and /dev/tty opened. */
struct reader_places {
        const char *const *results; /* files and folders; all that is below their folders may be changed */
        size_t n_results;
        const int *folder_fds; /* folders that are open: caches */
        size_t n_folders;
        enum confinement_reach reach;
};

/* Returns 0, or -errno after a complaint: the command must end. */
int reader_confinement_enter(const struct reader_places *places);

#endif /* CLI_FILES_READER_CONFINEMENT_H */
