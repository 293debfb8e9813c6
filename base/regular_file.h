/* SPDX-License-Identifier: MIT */
/*
 * base/regular_file.h - opens files whose names come from the profiled program
 *
 * Way of the data:  path in a trace -> [regular_file] -> elf_image
 */
#ifndef BASE_REGULAR_FILE_H
#define BASE_REGULAR_FILE_H

struct error;

/*
 * regular_file_open() - open a file for reading, and only if it is a regular one
 * @ret_fd:  close-on-exec; owned by the caller
 * A device, FIFO or socket of that name is never opened, since opening alone can block or have effects.
 * Returns 0, -errno, or -EINVAL if the path leads to something else.
 */
int regular_file_open(const char *path, int *ret_fd, struct error *err);

/*
 * regular_file_reopen() - the same for a file that an O_PATH descriptor names already
 * @name_fd:  stays the caller's
 * @name:     for the words of a failure
 */
int regular_file_reopen(int name_fd, const char *name, int *ret_fd, struct error *err);

#endif /* BASE_REGULAR_FILE_H */
