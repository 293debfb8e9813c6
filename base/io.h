/* SPDX-License-Identifier: MIT */
/*
 * base/io.h - file descriptors without short writes, EINTR or leaks
 *
 * Way of the data:  kernel <-> [io] <-> every unit that reads or writes files
 */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stddef.h>
#include <stdint.h>

struct byte_buffer;
struct error;

/* Writes all @n bytes, however often the kernel takes only a part.  Returns 0 or -errno. */
int io_write_all(int fd, const void *data, size_t n, struct error *err);

/*
 * io_read_full() - reads until @n bytes or the end of the file
 * @ret_bytes:  how many were read; fewer than @n only at the end
 * Returns 0 or -errno.
 */
int io_read_full(int fd, void *data, size_t n, size_t *ret_bytes, struct error *err);

/* The same at @offset of a seekable file, leaving the file's position alone. */
int io_pread_full(int fd, void *data, size_t n, uint64_t offset, size_t *ret_bytes, struct error *err);

/* As io_write_all(), at @offset of a seekable file, leaving the file's position alone. */
int io_pwrite_all(int fd, const void *data, size_t n, uint64_t offset, struct error *err);

/*
 * io_read_file() - appends a whole file to @ret_text, then a NUL that is not counted
 * @dir_fd, @path:  as for openat(2)
 * @max_bytes:      a longer file is -EFBIG
 * For /proc and /sys as well, whose files have no length.  Returns 0, or -errno with @ret_text as it was.
 */
int io_read_file(int dir_fd, const char *path, size_t max_bytes, struct byte_buffer *ret_text,
                 struct error *err);

/* Copies the rest of one file or pipe to the end of another.  Returns 0 or -errno. */
int io_copy(int from_fd, int to_fd, struct error *err);

/* $TMPDIR, else /tmp; borrowed. */
const char *io_temporary_folder(void);

/*
 * io_open_unnamed() - a new file without a name in $TMPDIR, else /tmp, for reading and writing
 * Gone with its descriptor.  Returns the descriptor, the caller's to close, or -errno.
 */
int io_open_unnamed(struct error *err);

/* The same in @folder; there if that is NULL, or has no room for such a file. */
int io_open_unnamed_in(const char *folder, struct error *err);

/* Closes *@fd if it is open (>= 0) and sets it to -1. */
void io_close(int *fd);

#endif /* BASE_IO_H */
