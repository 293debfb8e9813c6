/* SPDX-License-Identifier: MIT */
/*
 * cli/files/replaced_file.h - a file that is there whole or not at all, in the place of an earlier one
 *
 * Way of the data:  command line -> [replaced_file] -> trace_writer, `hyprof extract`
 *
 * The new file has no name until it is whole; then it takes the place of the earlier file in one step.
 * So whatever ends the process, the earlier one is as it was, its readers read it to its end, and
 * nothing is left over.  It belongs to the owner of the earlier file.  A device or a pipe, and "-", standard
 * output, are written to as they are.  Under sudo the process is the invoking user: see command_table.h.
 */
#ifndef CLI_FILES_REPLACED_FILE_H
#define CLI_FILES_REPLACED_FILE_H

#include <stdbool.h>
#include <sys/types.h>

struct error;

struct replaced_file {
        char *path;       /* heap: of the target, links followed; NULL = it is written to as it is */
        char *part;       /* heap: name meanwhile, where the file system has no files without one */
        int folder_fd;    /* the target's */
        int fd;           /* to write to; -1 = closed */
        bool has_earlier; /* a file that it replaces */
        unsigned mode;    /* that it gets in the end; 0 = it keeps the one that it was made with */
        uid_t owner_uid;  /* of the earlier file */
        gid_t owner_gid;
};

struct replaced_file_options {
        bool only_new;     /* -EEXIST if there is a file already */
        bool is_recording; /* a new file is OUTPUT_FILE_MODE, not what the umask leaves of 0666 */
        bool is_by_name;   /* a library writes it at replaced_file_part(): no device or pipe, "-" is a name */
        unsigned mode;     /* that was asked for; 0 = that of the earlier file, if there is one */
};

/*
 * replaced_file_open() - begin
 * Until the file has its final mode, only its owner can open it.  Returns 0 or -errno.
 */
int replaced_file_open(struct replaced_file *f, const char *path, const struct replaced_file_options *options,
                       struct error *err);

/* With is_by_name: where the file is until it is whole.  Heap, the caller's; NULL without memory. */
char *replaced_file_part(const struct replaced_file *f);

/* The file is whole: puts it on the disk, then gives it its name.  Returns 0 or -errno. */
int replaced_file_commit(struct replaced_file *f, struct error *err);

/*
 * replaced_file_commit_and_keep() - the same, but the earlier file stays, as NAME.unrepaired, or as
 * NAME.unrepaired-2 and so on: no other file is replaced.  NAME is one of the two at every moment.
 * @ret_kept:  heap: the path of the earlier file, the caller's to free
 * For a file that was there before.  Returns 0, or -errno with all as it was.
 */
int replaced_file_commit_and_keep(struct replaced_file *f, char **ret_kept, struct error *err);

/* Frees all.  A file that was not committed never appears. */
void replaced_file_close(struct replaced_file *f);

/*
 * replaced_file_name_after() - "a.hyp" and ".db" make "a.db"
 * @trace:  "-" is called hyprof
 * Returns heap, the caller's to free; NULL without memory.
 */
char *replaced_file_name_after(const char *trace, const char *extension);

#endif /* CLI_FILES_REPLACED_FILE_H */
