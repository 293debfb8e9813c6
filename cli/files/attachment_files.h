/* SPDX-License-Identifier: MIT */
/*
 * cli/files/attachment_files.h - the attachments of a trace as files in a folder
 *
 * Way of the data:  trace_reader -> attachment_chunk -> [attachment_files] -> `hyprof dump --extract`
 *
 * A file is called attachment-<id>-<name>, with the last part of the name that
 * the program gave, in which anything but A-Z a-z 0-9 . _ - is a _.  Nothing is
 * overwritten, no link is followed, nothing is written outside of the folder.
 */
#ifndef CLI_FILES_ATTACHMENT_FILES_H
#define CLI_FILES_ATTACHMENT_FILES_H

#include <stdint.h>
#include <stdio.h>

struct error;
struct trace_reader;

struct attachment_files_result {
        uint32_t n_written;
        uint32_t n_incomplete; /* of the written ones: those that lack bytes */
        uint32_t n_absent;     /* attachments of which the trace has no byte */
};

/*
 * attachment_files_extract() - write all attachments that @reader still has, to its end
 * @folder:  made if it is not there
 * @out:     gets a line for each file
 * @ret:     always set
 * Returns 0, -errno of the reader or of a file, -EBADMSG for a malformed chunk; files that were written
 * until then stay.
 */
int attachment_files_extract(struct trace_reader *reader, const char *folder, FILE *out,
                             struct attachment_files_result *ret, struct error *err);

#endif /* CLI_FILES_ATTACHMENT_FILES_H */
