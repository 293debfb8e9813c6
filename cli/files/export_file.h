/* SPDX-License-Identifier: MIT */
/*
 * cli/files/export_file.h - what an export is written to: a file that is there whole or not at all, or
 * standard output; packed with gzip, or as it is
 *
 * Way of the data:  export_* -> [export_file] -> replaced_file, standard output
 *
 * Counts what arrives at the descriptor.  Not thread-safe.
 */
#ifndef CLI_FILES_EXPORT_FILE_H
#define CLI_FILES_EXPORT_FILE_H

#include "cli/files/replaced_file.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct error;
struct gzip_stream;

struct export_file {
        FILE *out;                  /* to write to; NULL = closed */
        struct gzip_stream *stream; /* heap */
        struct replaced_file file;
        const char *path; /* borrowed; "-" = standard output */
};

/* Nothing is open: export_file_close() does nothing. */
#define EXPORT_FILE_NONE ((struct export_file){ .file = { .fd = -1, .folder_fd = -1 } })

struct export_file_options {
        bool packed;       /* with gzip */
        bool only_new;     /* -EEXIST if there is a file already */
        bool is_recording; /* as of struct replaced_file_options */
};

/*
 * export_file_open() - to be closed in any case
 * Returns 0, -ENOTDIR if its folder does not exist (to a command, -ENOENT is a name that the trace lacks),
 * -errno.
 */
int export_file_open(struct export_file *f, const char *path, const struct export_file_options *options,
                     struct error *err);

/*
 * export_file_finish() - writes the rest and closes `out`; the file gets its name
 * @ret_bytes:  how many arrived at the descriptor
 * Returns 0, or -errno of the first write that failed, or -EIO if only the error flag of the FILE reports
 * one.
 */
int export_file_finish(struct export_file *f, uint64_t *ret_bytes, struct error *err);

/* Frees all.  A file that was not finished never appears. */
void export_file_close(struct export_file *f);

#endif /* CLI_FILES_EXPORT_FILE_H */
