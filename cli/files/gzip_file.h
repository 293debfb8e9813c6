/* SPDX-License-Identifier: MIT */
/*
 * cli/files/gzip_file.h - a FILE whose bytes go to a descriptor, packed with gzip or as they are
 *
 * Way of the data:  export_* -> [gzip_file] -> replaced_file, standard output
 *
 * Counts what arrives at the descriptor.  Not thread-safe.
 */
#ifndef CLI_FILES_GZIP_FILE_H
#define CLI_FILES_GZIP_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct error;
struct gzip_stream;

struct gzip_file {
        FILE *out;                  /* to write to; NULL = closed */
        struct gzip_stream *stream; /* heap */
};

/* @fd: borrowed.  @packed: with gzip.  Returns 0 or -ENOMEM. */
int gzip_file_open(struct gzip_file *f, int fd, bool packed, struct error *err);

/*
 * gzip_file_finish() - writes the rest and closes `out`
 * @ret_bytes:  how many arrived at the descriptor
 * Returns 0, or -errno of the first write that failed, -EIO if all did but the FILE says that one has.
 */
int gzip_file_finish(struct gzip_file *f, uint64_t *ret_bytes, struct error *err);

/* Frees all, also if it was not finished. */
void gzip_file_close(struct gzip_file *f);

#endif /* CLI_FILES_GZIP_FILE_H */
