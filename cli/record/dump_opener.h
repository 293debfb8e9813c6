/* SPDX-License-Identifier: MIT */
/*
 * cli/record/dump_opener.h - new files beside the trace, made by a process of its own
 *
 * Way of the data:  command line -> [dump_opener] -> flight_recorder -> trace_writer
 *
 * While it records, hyprof cannot make files: sampler/rights/system_calls.h forbids it, so that a program
 * that takes the recorder over gains nothing.  This process can, and does nothing else: it is forked before,
 * has the user's rights, and of root's capabilities at most the one that opens the trace's folder.  It reads
 * no recorded data, and makes files of one form of name in that folder or the spare one, which are both open.
 * It never follows a link and never opens a file that is there.
 */
#ifndef CLI_RECORD_DUMP_OPENER_H
#define CLI_RECORD_DUMP_OPENER_H

#include <stdbool.h>
#include <sys/types.h>

struct error;

/* The limit of a file's name, with its end. */
#define DUMP_OPENER_NAME_BYTES 256

struct dump_opener {
        int fd;        /* its socket; -1 = not running */
        int folder_fd; /* where the files are made */
        int spare_fd;  /* where they are made if that is impossible: $TMPDIR, else /tmp; -1 = nowhere */
        unsigned mode; /* of the files, but for spare ones; 0 = OUTPUT_FILE_MODE */
        pid_t pid;
};

/*
 * dump_opener_start() - fork it; the caller has one thread, and became the user that the files are for
 * Proves that files can be made: one is, and is removed.  Root that works for no other user may need one of
 * its capabilities to open the folder; then the process keeps only that one.
 * @path:  of the trace: files beside it get its name with a time before the ending: "a.hyp",
 *         "a.20261231-235959.hyp"
 * @mode:  of the files, as of output_file_open()
 * Returns 0, -EACCES and others of open(2), -errno.
 */
int dump_opener_start(struct dump_opener *o, const char *path, unsigned mode, struct error *err);
void dump_opener_stop(struct dump_opener *o);

/*
 * dump_opener_open() - a new file, named after this second
 * @ret_name:      its name in the folder, DUMP_OPENER_NAME_BYTES of room
 * @ret_is_spare:  whether the file is in the spare folder, because none can be made in the trace's; then @err
 *                 has the reason, and only the user can read the file
 * Returns 0 or -errno.
 */
int dump_opener_open(struct dump_opener *o, int *ret_fd, char *ret_name, bool *ret_is_spare,
                     struct error *err);

/* There is nothing to keep in it. */
void dump_opener_remove(const struct dump_opener *o, const char *name, bool is_spare);

#endif /* CLI_RECORD_DUMP_OPENER_H */
