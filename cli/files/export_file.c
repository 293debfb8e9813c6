/* SPDX-License-Identifier: MIT */
#define ZLIB_CONST /* zlib reads its input only */

#include "cli/files/export_file.h"

#include "base/error.h"
#include "base/io.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
#include <zlib.h>

#define OUT_BYTES    (1 << 16)
#define BUFFER_BYTES (1 << 16) /* of the FILE */
#define GZIP_LEVEL   6
#define GZIP_WINDOW  (15 + 16) /* 32 KiB, with gzip's header */
#define GZIP_MEMORY  8

struct gzip_stream {
        z_stream z;
        int fd;
        bool packed;
        uint64_t n_bytes;
        struct error err; /* of the first failure */
        int code;
        uint8_t out[OUT_BYTES];
};

static int write_out(struct gzip_stream *s, const void *bytes, size_t n_bytes)
{
        if (s->code == 0)
                s->code = io_write_all(s->fd, bytes, n_bytes, &s->err);
        if (s->code == 0)
                s->n_bytes += n_bytes;
        return s->code;
}

/* Compresses the stream's input. */
static int deflate_input(struct gzip_stream *s, int how)
{
        int z;

        do {
                s->z.next_out = s->out;
                s->z.avail_out = OUT_BYTES;
                z = deflate(&s->z, how);
                if (write_out(s, s->out, OUT_BYTES - s->z.avail_out) < 0)
                        return s->code;
        } while (z == Z_OK && (s->z.avail_out == 0 || how == Z_FINISH));
        return 0;
}

static ssize_t write_cookie(void *cookie, const char *bytes, size_t n_bytes)
{
        struct gzip_stream *s = cookie;
        size_t done = 0;

        if (!s->packed && write_out(s, bytes, n_bytes) == 0)
                return (ssize_t)n_bytes;
        while (s->code == 0 && done < n_bytes) {
                size_t n = n_bytes - done < BUFFER_BYTES ? n_bytes - done : BUFFER_BYTES;

                s->z.next_in = (const Bytef *)(bytes + done);
                s->z.avail_in = (uInt)n;
                (void)deflate_input(s, Z_NO_FLUSH);
                done += n;
        }
        if (s->code == 0)
                return (ssize_t)n_bytes;
        errno = -s->code;
        return 0; /* what fopencookie(3) takes for an error */
}

static int open_stream(struct export_file *f, bool packed, struct error *err)
{
        f->stream = calloc(1, sizeof(*f->stream));
        if (!f->stream)
                goto fail;
        f->stream->fd = f->file.fd;
        if (packed && deflateInit2(&f->stream->z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                                   Z_DEFAULT_STRATEGY) != Z_OK)
                goto fail;
        f->stream->packed = packed;
        f->out = fopencookie(f->stream, "w", (cookie_io_functions_t){ .write = write_cookie });
        if (!f->out || setvbuf(f->out, NULL, _IOFBF, BUFFER_BYTES) != 0)
                goto fail;
        return 0;
fail:
        return error_set(err, -ENOMEM, "no memory for a file");
}

int export_file_open(struct export_file *f, const char *path, const struct export_file_options *options,
                     struct error *err)
{
        const struct replaced_file_options how = { .only_new = options->only_new,
                                                   .is_recording = options->is_recording };
        int r;

        *f = (struct export_file){ .path = path, .file = { .fd = -1, .folder_fd = -1 } };
        r = replaced_file_open(&f->file, path, &how, err);
        if (r < 0)
                return r == -ENOENT ? -ENOTDIR : r;
        return open_stream(f, options->packed, err);
}

static int finish_stream(struct export_file *f, uint64_t *ret_bytes, struct error *err)
{
        struct gzip_stream *s = f->stream;
        bool failed = ferror(f->out) != 0;

        if (fclose(f->out) != 0)
                failed = true;
        f->out = NULL;
        if (s->packed && s->code == 0 && !failed)
                (void)deflate_input(s, Z_FINISH);
        *ret_bytes = s->n_bytes;
        if (s->code < 0)
                return error_set(err, s->code, "%s", s->err.text);
        return failed ? error_set(err, -EIO, "writing failed") : 0;
}

int export_file_finish(struct export_file *f, uint64_t *ret_bytes, struct error *err)
{
        int r = finish_stream(f, ret_bytes, err);

        return r < 0 ? error_prefix(err, r, "%s", f->path) : replaced_file_commit(&f->file, err);
}

void export_file_close(struct export_file *f)
{
        if (f->out)
                (void)fclose(f->out);
        if (f->stream && f->stream->packed)
                (void)deflateEnd(&f->stream->z);
        free(f->stream);
        replaced_file_close(&f->file);
        *f = EXPORT_FILE_NONE;
}
