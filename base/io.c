/* SPDX-License-Identifier: MIT */
#include "base/io.h"

#include "base/byte_buffer.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define READ_STEP_BYTES 65536

int io_write_all(int fd, const void *data, size_t n, struct error *err)
{
        const uint8_t *at = data;

        while (n > 0) {
                ssize_t done = write(fd, at, n);

                if (done < 0 && errno == EINTR)
                        continue;
                if (done < 0)
                        return error_errno(err, "write of %zu bytes", n);
                at += done;
                n -= (size_t)done;
        }
        return 0;
}

int io_pwrite_all(int fd, const void *data, size_t n, uint64_t offset, struct error *err)
{
        const uint8_t *at = data;

        while (n > 0) {
                ssize_t done = pwrite(fd, at, n, (off_t)offset);

                if (done < 0 && errno == EINTR)
                        continue;
                if (done == 0)
                        errno = EIO;
                if (done <= 0)
                        return error_errno(err, "write of %zu bytes", n);
                at += done;
                n -= (size_t)done;
                offset += (uint64_t)done;
        }
        return 0;
}

int io_read_full(int fd, void *data, size_t n, size_t *ret_bytes, struct error *err)
{
        uint8_t *at = data;
        size_t done = 0;

        while (done < n) {
                ssize_t got = read(fd, at + done, n - done);

                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0)
                        return error_errno(err, "read of %zu bytes", n - done);
                if (got == 0)
                        break;
                done += (size_t)got;
        }
        *ret_bytes = done;
        return 0;
}

int io_pread_full(int fd, void *data, size_t n, uint64_t offset, size_t *ret_bytes, struct error *err)
{
        uint8_t *at = data;
        size_t done = 0;

        while (done < n) {
                ssize_t got = pread(fd, at + done, n - done, (off_t)(offset + done));

                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0)
                        return error_errno(err, "read of %zu bytes at %zu", n - done, (size_t)offset + done);
                if (got == 0)
                        break;
                done += (size_t)got;
        }
        *ret_bytes = done;
        return 0;
}

/* Appends the rest of @fd, followed by a NUL. */
static int read_rest(int fd, size_t max_bytes, struct byte_buffer *text, struct error *err)
{
        size_t begin_bytes = text->used_bytes;

        while (true) {
                uint8_t *at = byte_buffer_reserve(text, READ_STEP_BYTES);
                size_t got = 0;
                int r;

                if (!at)
                        return error_set(err, -ENOMEM, "no memory");
                r = io_read_full(fd, at, READ_STEP_BYTES - 1, &got, err);
                if (r != 0)
                        return r;
                at[got] = '\0';
                text->used_bytes += got;
                if (text->used_bytes - begin_bytes > max_bytes)
                        return error_set(err, -EFBIG, "longer than %zu bytes", max_bytes);
                if (got < READ_STEP_BYTES - 1)
                        return 0;
        }
}

int io_read_file(int dir_fd, const char *path, size_t max_bytes, struct byte_buffer *ret_text,
                 struct error *err)
{
        int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        size_t begin_bytes = ret_text->used_bytes;
        int r;

        if (fd < 0)
                return error_errno(err, "%s", path);
        r = read_rest(fd, max_bytes, ret_text, err);
        if (r < 0) {
                ret_text->used_bytes = begin_bytes;
                r = error_prefix(err, r, "%s", path);
        }
        io_close(&fd);
        return r;
}

int io_copy(int from_fd, int to_fd, struct error *err)
{
        uint8_t bytes[1 << 13];
        size_t n = 0;
        int r;

        while ((r = io_read_full(from_fd, bytes, sizeof(bytes), &n, err)) == 0 && n > 0) {
                r = io_write_all(to_fd, bytes, n, err);
                if (r < 0)
                        return r;
        }
        return r;
}

const char *io_temporary_folder(void)
{
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): no thread changes the environment */
        const char *folder = getenv("TMPDIR");

        return folder && *folder ? folder : "/tmp";
}

int io_open_unnamed(struct error *err)
{
        const char *folder = io_temporary_folder();
        int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        return fd < 0 ? error_errno(err, "a temporary file in %s", folder) : fd;
}

int io_open_unnamed_in(const char *folder, struct error *err)
{
        int fd = folder ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;

        return fd >= 0 ? fd : io_open_unnamed(err);
}

void io_close(int *fd)
{
        if (*fd >= 0)
                (void)close(*fd);
        *fd = -1;
}
