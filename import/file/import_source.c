/* SPDX-License-Identifier: MIT */
#include "import/file/import_source.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "import/file/wide_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define READ_BYTES    (UINT32_C(128) << 10) /* at once, packed or not */
#define ROOM_BYTES    (UINT32_C(64) << 10)  /* less room than this behind the bytes is not read into */
#define GZIP_WINDOW   (15 + 16)             /* zlib: the largest window, and gzip's header */
#define GZIP_MAGIC    "\x1f\x8b"
#define ZSTD_MAGIC    "\x28\xb5\x2f\xfd"
#define MAGIC_BYTES   4
#define STANDARD_NAME "-"

enum packing { PACKING_NONE, PACKING_GZIP, PACKING_ZSTD };

struct import_source {
        const char *path; /* borrowed */
        int fd;
        enum packing packing;
        bool is_at_end;      /* nothing more comes out of the file */
        struct error fault;  /* after the bytes that are here; code 0 = none */
        bool ends_at_fault;  /* a fault is an end */
        struct error refuse; /* a line that was too long: nothing more is given out */

        uint8_t *bytes; /* heap: unpacked; those of [at, end) are not taken yet */
        size_t at, end, capacity;
        uint64_t offset, n_lines;

        uint8_t *packed; /* heap, READ_BYTES: as the file has it; [packed_at, packed_end) is left */
        size_t packed_at, packed_end;
        bool is_inside; /* of a member or frame: the packed file may not end here */
        z_stream zlib;
        bool has_zlib;
        ZSTD_DStream *zstd;
};

/* ---- out of the file ----------------------------------------------------------------------------------- */

/* The next bytes of the file, at most @room; 0 at its end. */
static int read_some(struct import_source *s, uint8_t *to, size_t room, size_t *ret_bytes, struct error *err)
{
        ssize_t n;

        do
                n = read(s->fd, to, room);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return error_errno(err, "%s: cannot be read", s->path);
        *ret_bytes = (size_t)n;
        return 0;
}

static int refill_packed(struct import_source *s, struct error *err)
{
        size_t n = 0;
        int r;

        if (s->packed_at < s->packed_end)
                return 0;
        r = read_some(s, s->packed, READ_BYTES, &n, err);
        if (r < 0)
                return r;
        s->packed_at = 0;
        s->packed_end = n;
        return 0;
}

static int step_gzip(struct import_source *s, uint8_t *to, size_t room, size_t *ret_bytes, struct error *err)
{
        int r;

        /* Several members after each other are one file. */
        if (!s->is_inside && inflateReset(&s->zlib) != Z_OK)
                return error_set(err, -ENOMEM, "%s: no memory to unpack it", s->path);
        s->is_inside = true;
        s->zlib.next_in = s->packed + s->packed_at;
        s->zlib.avail_in = (uInt)(s->packed_end - s->packed_at);
        s->zlib.next_out = to;
        s->zlib.avail_out = (uInt)room;
        r = inflate(&s->zlib, Z_NO_FLUSH);
        s->packed_at = s->packed_end - s->zlib.avail_in;
        *ret_bytes = room - s->zlib.avail_out;
        if (r == Z_STREAM_END)
                s->is_inside = false;
        else if (r != Z_OK && r != Z_BUF_ERROR)
                return error_set(err, r == Z_MEM_ERROR ? -ENOMEM : -EBADMSG,
                                 "%s: its gzip packing is damaged at byte %llu unpacked", s->path,
                                 (unsigned long long)s->offset + (s->end - s->at) + *ret_bytes);
        return 0;
}

static int step_zstd(struct import_source *s, void *to, size_t room, size_t *ret_bytes, struct error *err)
{
        ZSTD_inBuffer in = { s->packed, s->packed_end, s->packed_at };
        ZSTD_outBuffer out = { to, room, 0 };
        size_t r = ZSTD_decompressStream(s->zstd, &out, &in);

        s->packed_at = in.pos;
        *ret_bytes = out.pos;
        s->is_inside = r != 0;
        if (ZSTD_isError(r))
                return error_set(err, -EBADMSG, "%s: its zstd packing is damaged at byte %llu unpacked: %s",
                                 s->path, (unsigned long long)s->offset + (s->end - s->at) + out.pos,
                                 ZSTD_getErrorName(r));
        return 0;
}

/* Unpacks at least one byte, unless the file is at its end. */
static int unpack_some(struct import_source *s, uint8_t *to, size_t room, size_t *ret_bytes,
                       struct error *err)
{
        size_t n = 0;

        while (n == 0) {
                int r = refill_packed(s, err);

                if (r < 0)
                        return r;
                if (s->packed_at == s->packed_end && !s->is_inside)
                        break;
                if (s->packed_at == s->packed_end) {
                        /* The unpacker may hold bytes that come out without more input. */
                        r = s->packing == PACKING_GZIP ? step_gzip(s, to, room, &n, err)
                                                       : step_zstd(s, to, room, &n, err);
                        if (r < 0 || n > 0 || !s->is_inside)
                                return *ret_bytes = n, r;
                        return error_set(err, -EBADMSG, "%s: the packed file ends too early", s->path);
                }
                r = s->packing == PACKING_GZIP ? step_gzip(s, to, room, &n, err)
                                               : step_zstd(s, to, room, &n, err);
                *ret_bytes = n;
                if (r < 0)
                        return r;
        }
        *ret_bytes = n;
        return 0;
}

/* ---- the bytes that are here --------------------------------------------------------------------------- */

static int make_room(struct import_source *s, size_t wanted, struct error *err)
{
        if (s->at == s->end)
                s->at = s->end = 0;
        if (s->capacity - s->end >= wanted)
                return 0;
        if (s->at > 0) {
                memmove(s->bytes, s->bytes + s->at, s->end - s->at);
                s->end -= s->at;
                s->at = 0;
        }
        if (array_reserve(&s->bytes, &s->capacity, s->end + wanted, 1) < 0)
                return error_set(err, -ENOMEM, "%s: no memory for %zu bytes of it", s->path, s->end + wanted);
        return 0;
}

/*
 * Reads more bytes behind those that are here.  Returns 1, 0 at the end or before a fault, which is said when
 * all bytes before it are taken, or -ENOMEM.
 */
static int read_more(struct import_source *s, struct error *err)
{
        size_t n = 0, room;
        int r;

        if (s->is_at_end)
                return 0;
        r = make_room(s, ROOM_BYTES, err);
        if (r < 0)
                return r;
        /* Not more after a long line made the room large: what is here is used while the processor has it. */
        room = s->capacity - s->end < READ_BYTES ? s->capacity - s->end : READ_BYTES;
        r = s->packing == PACKING_NONE ? read_some(s, s->bytes + s->end, room, &n, &s->fault)
                                       : unpack_some(s, s->bytes + s->end, room, &n, &s->fault);
        s->end += n;
        s->is_at_end = r < 0 || n == 0;
        return n > 0;
}

/* Nothing is left: the end, or what the file broke off with. */
static int end_source(const struct import_source *s, struct error *err)
{
        bool is_error = s->fault.code != 0 && !(s->ends_at_fault && s->fault.code == -EBADMSG);

        return is_error ? error_set(err, s->fault.code, "%s", s->fault.text) : 0;
}

static void take(struct import_source *s, size_t n)
{
        s->at += n;
        s->offset += n;
}

static void take_and_count_lines(struct import_source *s, size_t n)
{
        const char *at = (const char *)s->bytes + s->at;

        s->n_lines += wide_scan_count(at, at + n, '\n');
        take(s, n);
}

static int refused(const struct import_source *s, struct error *err)
{
        return s->ends_at_fault ? 0 : error_set(err, s->refuse.code, "%s", s->refuse.text);
}

static int refuse_length(struct import_source *s, const char *what, struct error *err)
{
        (void)error_set(&s->refuse, -EFBIG, "%s: a %s from byte %llu on is longer than %u MiB", s->path, what,
                        (unsigned long long)s->offset, IMPORT_LINE_BYTES_MAX >> 20);
        return refused(s, err);
}

static struct text_view view_of(const struct import_source *s, size_t n)
{
        return (struct text_view){ (const char *)s->bytes + s->at, n };
}

/* A mark of the byte order before UTF-8, as Windows' programs write it, says nothing. */
static void pass_mark(struct import_source *s)
{
        static const uint8_t mark[] = { 0xef, 0xbb, 0xbf };

        if (s->offset == 0 && s->end - s->at >= sizeof(mark) &&
            memcmp(s->bytes + s->at, mark, sizeof(mark)) == 0)
                take(s, sizeof(mark));
}

/* ---- public -------------------------------------------------------------------------------------------- */

static int prepare_packing(struct import_source *s, struct error *err)
{
        size_t n = s->end - s->at;

        if (n >= 2 && memcmp(s->bytes, GZIP_MAGIC, 2) == 0)
                s->packing = PACKING_GZIP;
        else if (n >= MAGIC_BYTES && memcmp(s->bytes, ZSTD_MAGIC, MAGIC_BYTES) == 0)
                s->packing = PACKING_ZSTD;
        if (s->packing == PACKING_NONE) {
                pass_mark(s);
                return 0;
        }
        s->packed = malloc(READ_BYTES);
        if (s->packing == PACKING_GZIP)
                s->has_zlib = inflateInit2(&s->zlib, GZIP_WINDOW) == Z_OK;
        else
                s->zstd = ZSTD_createDStream();
        if (!s->packed || (!s->has_zlib && !s->zstd))
                return error_set(err, -ENOMEM, "%s: no memory to unpack it", s->path);
        memcpy(s->packed, s->bytes, n);
        s->packed_end = n;
        s->at = s->end = 0;
        return 0;
}

int import_source_open(struct import_source **ret_source, const char *path, struct error *err)
{
        struct import_source *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return error_set(err, -ENOMEM, "%s: no memory to read it", path);
        s->path = path;
        s->fd = strcmp(path, STANDARD_NAME) == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
        if (s->fd < 0)
                r = error_errno(err, "%s: cannot be opened", path);
        else
                r = make_room(s, READ_BYTES, err);
        /* In full, because a pipe may give the magic in pieces. */
        if (r == 0) {
                r = io_read_full(s->fd, s->bytes, MAGIC_BYTES, &s->end, err);
                if (r < 0)
                        r = error_prefix(err, r, "%s", path);
        }
        if (r == 0)
                r = prepare_packing(s, err);
        if (r < 0) {
                import_source_close(s);
                return r;
        }
        *ret_source = s;
        return 0;
}

void import_source_close(struct import_source *source)
{
        if (!source)
                return;
        io_close(&source->fd);
        if (source->has_zlib)
                (void)inflateEnd(&source->zlib);
        (void)ZSTD_freeDStream(source->zstd);
        free(source->packed);
        free(source->bytes);
        free(source);
}

const char *import_source_path(const struct import_source *source)
{
        return source->path;
}

uint64_t import_source_written_ns(const struct import_source *source)
{
        struct stat st;

        if (fstat(source->fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_mtim.tv_sec < 0)
                return 0;
        return (uint64_t)st.st_mtim.tv_sec * NS_PER_S + (uint64_t)st.st_mtim.tv_nsec;
}

uint64_t import_source_offset(const struct import_source *source)
{
        return source->offset;
}

uint64_t import_source_line(const struct import_source *source)
{
        return source->n_lines;
}

void import_source_end_at_fault(struct import_source *source)
{
        source->ends_at_fault = true;
}

int import_source_fault(const struct import_source *source, struct error *err)
{
        const struct error *fault = source->refuse.code != 0 ? &source->refuse : &source->fault;

        return fault->code != 0 ? error_set(err, fault->code, "%s", fault->text) : 0;
}

int import_source_head(struct import_source *source, struct text_view *ret_head, struct error *err)
{
        size_t n;
        int r = 1;

        while (source->end - source->at < IMPORT_HEAD_BYTES && r == 1)
                r = read_more(source, err);
        if (r < 0)
                return r;
        pass_mark(source);
        n = source->end - source->at;
        *ret_head = view_of(source, n < IMPORT_HEAD_BYTES ? n : IMPORT_HEAD_BYTES);
        return 0;
}

int import_source_next_line(struct import_source *source, struct text_view *ret_line, struct error *err)
{
        struct import_source *s = source;
        size_t seen = 0, n;
        const uint8_t *end;
        int r;

        if (s->refuse.code != 0)
                return refused(s, err);
        for (;;) {
                end = s->end - s->at > seen ? memchr(s->bytes + s->at + seen, '\n', s->end - s->at - seen)
                                            : NULL;
                n = end ? (size_t)(end - (s->bytes + s->at)) : s->end - s->at;
                if (n > IMPORT_LINE_BYTES_MAX)
                        return refuse_length(s, "line", err);
                if (end)
                        break;
                seen = n;
                r = read_more(s, err);
                if (r < 0)
                        return r;
                if (r == 0)
                        break;
        }
        if (!end && n == 0)
                return end_source(s, err);
        *ret_line = view_of(s, n);
        if (n > 0 && ret_line->bytes[n - 1] == '\r')
                ret_line->n_bytes--;
        take(s, n + (end ? 1 : 0));
        s->n_lines++;
        return 1;
}

int import_source_next_bytes(struct import_source *source, size_t n_bytes_max, struct text_view *ret_bytes,
                             struct error *err)
{
        size_t n;
        int r;

        if (source->refuse.code != 0)
                return refused(source, err);
        if (source->at == source->end) {
                r = read_more(source, err);
                if (r < 0)
                        return r;
        }
        n = source->end - source->at;
        if (n == 0)
                return end_source(source, err);
        n = n < n_bytes_max ? n : n_bytes_max;
        *ret_bytes = view_of(source, n);
        take_and_count_lines(source, n);
        return 1;
}

int import_source_next_exact(struct import_source *source, size_t n_bytes, struct text_view *ret_bytes,
                             struct error *err)
{
        if (source->refuse.code != 0)
                return refused(source, err);
        if (n_bytes > IMPORT_LINE_BYTES_MAX)
                return refuse_length(source, "record", err);
        while (source->end - source->at < n_bytes) {
                int r = read_more(source, err);

                if (r < 0)
                        return r;
                if (r == 0) {
                        take_and_count_lines(source, source->end - source->at);
                        return end_source(source, err);
                }
        }
        *ret_bytes = view_of(source, n_bytes);
        take_and_count_lines(source, n_bytes);
        return 1;
}

int import_source_look(struct import_source *source, size_t n_known, struct text_view *ret_bytes,
                       struct error *err)
{
        int r = source->refuse.code != 0 ? 0 : 1;

        if (r == 0)
                return refused(source, err);
        while (r == 1 && source->end - source->at <= n_known)
                r = read_more(source, err);
        if (r < 0)
                return r;
        *ret_bytes = view_of(source, source->end - source->at);
        return r == 1 ? 1 : end_source(source, err);
}

void import_source_skip(struct import_source *source, size_t n_bytes)
{
        take_and_count_lines(source, n_bytes);
}
