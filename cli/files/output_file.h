/* SPDX-License-Identifier: MIT */
/*
 * cli/files/output_file.h - the file that a recording is written to
 *
 * Way of the data:  command line -> [output_file] -> trace_writer
 *
 * An earlier recording of that name is kept as NAME.old, as perf does.  All of it is done with the rights of
 * the user that the process is: under sudo, see sampler/rights/privileges.h, that is not root.
 */
#ifndef CLI_FILES_OUTPUT_FILE_H
#define CLI_FILES_OUTPUT_FILE_H

#include <stdbool.h>

struct error;

/*
 * A trace has command lines, texts of zones, memory of programs and, of root's recordings, addresses of the
 * kernel: it is its owner's alone unless the owner asks for more, as with perf.
 */
#define OUTPUT_FILE_MODE 0600

struct output_file {
        const char *path; /* borrowed */
        int fd;           /* open for writing; -1 = closed */
        bool created;     /* by us: it may be removed again */
        bool rotated;     /* NAME.old was made from an earlier file */
};

/*
 * output_file_open() - makes a new file, or opens a device or pipe as it is
 * @mode:  of a new file, whatever the umask; 0 = OUTPUT_FILE_MODE, as far as the umask allows
 * A link to a device or pipe is followed (/dev/stdout); any other link is rotated like a file, not followed.
 * Refuses folders, links to disks, and links to a file that is one of our standard streams.  Also refuses the
 * name if a recorder still writes NAME.old: two recordings of one name are kept, and a third would destroy
 * the first.  Returns 0 or -errno.
 */
int output_file_open(struct output_file *file, const char *path, unsigned mode, struct error *err);

/*
 * output_file_take_stdout() - takes standard output, whatever it is, for the trace; all other output then
 * goes to standard error The command that is recorded begins with the standard streams that we have then:
 * what it prints does not get into the trace.  Returns 0, -EINVAL if standard output is a terminal or the
 * same file or pipe as standard error, or -errno.
 */
int output_file_take_stdout(struct output_file *file, struct error *err);

/* Where a file is now that has been open for a long time. */
enum output_file_place {
        OUTPUT_FILE_IN_PLACE,
        OUTPUT_FILE_IS_MOVED, /* its owner moved it, or another recording made it NAME.old */
        OUTPUT_FILE_IS_GONE   /* removed, or replaced: as good as lost */
};

/*
 * output_file_find() - looks for the file
 * @ret_name: NAME.old, or the absolute name, of one that was moved; NULL = unknown, and for all others.
 *            On the heap, the caller's; without memory it is unknown.
 */
enum output_file_place output_file_find(const struct output_file *file, char **ret_name);

void output_file_close(struct output_file *file);

/* There is nothing to keep: removes the file and gives an earlier one its name back. */
void output_file_discard(struct output_file *file);

#endif /* CLI_FILES_OUTPUT_FILE_H */
