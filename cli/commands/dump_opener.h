/* SPDX-License-Identifier: MIT */
/*
 * cli/commands/dump_opener.h - new files beside the trace, made by a process of its own
 *
 * Way of the data:  command line -> [dump_opener] -> flight_recorder -> trace_writer
 *
 * While it records, hyprof cannot make files: sampler/kernel/system_calls.h forbids it, so that a program
 * that takes the recorder over gains nothing.  This process can, and does nothing else: it is forked before,
 * has the user's rights and no capabilities, reads no recorded data, and makes files of one form of name in
 * one folder, which is open.  It never follows a link and never opens a file that is there.
 */
#ifndef CLI_COMMANDS_DUMP_OPENER_H
#define CLI_COMMANDS_DUMP_OPENER_H

#include <sys/types.h>

struct error;

/* The limit of a file's name, with its end. */
#define DUMP_OPENER_NAME_BYTES 256

struct dump_opener {
        int fd;        /* its socket; -1 = not running */
        int folder_fd; /* where the files are made */
        pid_t pid;
};

/*
 * dump_opener_start() - fork it; the caller has one thread, and became the user that the files are for
 * @path:  of the trace: files beside it get its name with a time before the ending: "a.hyp",
 *         "a.20261231-235959.hyp"
 * Returns 0 or -errno.
 */
int dump_opener_start(struct dump_opener *o, const char *path, struct error *err);
void dump_opener_stop(struct dump_opener *o);

/*
 * dump_opener_open() - a new file, named after this second
 * @ret_name:  its name in the folder, DUMP_OPENER_NAME_BYTES of room
 * Returns 0 or -errno.
 */
int dump_opener_open(struct dump_opener *o, int *ret_fd, char *ret_name, struct error *err);

/* There is nothing to keep in it. */
void dump_opener_remove(const struct dump_opener *o, const char *name);

#endif /* CLI_COMMANDS_DUMP_OPENER_H */
