/* SPDX-License-Identifier: MIT */
#include "format/trace_follow.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_chunk.h"
#include "format/trace_dictionary.h"
#include "format/trace_lock.h"
#include "format/trace_reader.h"
#include "format/trace_schema.h"
#include "format/trace_version.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_BYTES 4096              /* from the file's beginning, to notice another content */
#define READ_BYTES ((size_t)1 << 20) /* read at once: a header may announce more than ever comes */

struct trace_follow {
        int fd;
        bool owns_fd, is_file, leaves_events;
        bool has_path;            /* `path` leads to the file; it is not only for messages */
        bool was_held;            /* a process held the lock once */
        char *path;               /* heap */
        uint64_t at_bytes;        /* where the present chunk begins */
        uint64_t index_at;        /* offset of the INDEX chunk once it was read; else 0 */
        uint64_t quiet_ns;        /* how long a file without a lock may stay as it is */
        uint64_t grown_ns;        /* when the file was last seen to grow, by our clock */
        struct byte_buffer bytes; /* of the present chunk, as far as they are there */
        struct byte_buffer raw;   /* its body, unpacked */
        uint8_t head[HEAD_BYTES];
        size_t n_head;
        struct trace_chunk_header header;
        bool has_header;
        bool has_first; /* the FILE chunk was read */
        struct trace_version version;
        enum trace_follow_state state;
        struct error why;
        struct trace_dictionary dictionary;
};

/* ---- opening and closing ------------------------------------------------------------------------------- */

static int open_fd(struct trace_follow *f, const struct trace_follow_options *options, struct error *err)
{
        struct stat status;

        f->owns_fd = options->fd > 0 || strcmp(options->path, "-") != 0;
        f->has_path = options->fd <= 0 && f->owns_fd;
        if (options->fd > 0)
                f->fd = options->fd;
        else
                f->fd = f->owns_fd ? open(options->path, O_RDONLY | O_CLOEXEC | O_NOCTTY) : STDIN_FILENO;
        if (f->fd < 0 || fstat(f->fd, &status) < 0)
                return error_errno(err, "%s", options->path);
        if (S_ISDIR(status.st_mode))
                return error_set(err, -EISDIR, "%s: is a directory, and a trace is a file", options->path);
        f->is_file = S_ISREG(status.st_mode);
        return 0;
}

int trace_follow_open(const struct trace_follow_options *options, struct trace_follow **ret_follow,
                      struct error *err)
{
        struct trace_follow *f = calloc(1, sizeof(*f));
        int r;

        if (!f)
                return error_set(err, -ENOMEM, "%s: no memory", options->path);
        f->fd = -1;
        f->leaves_events = options->leaves_events;
        f->quiet_ns = options->quiet_ns ? options->quiet_ns : TRACE_FOLLOW_QUIET_NS;
        f->grown_ns = clock_raw_ns();
        trace_dictionary_init(&f->dictionary, 0);
        f->path = strdup(options->path);
        r = f->path ? open_fd(f, options, err) : error_set(err, -ENOMEM, "%s: no memory", options->path);
        if (r < 0) {
                f->owns_fd = f->owns_fd && options->fd <= 0;
                trace_follow_close(f);
                return r;
        }
        *ret_follow = f;
        return 0;
}

void trace_follow_close(struct trace_follow *f)
{
        if (!f)
                return;
        if (f->owns_fd)
                io_close(&f->fd);
        trace_dictionary_deinit(&f->dictionary);
        byte_buffer_deinit(&f->bytes);
        byte_buffer_deinit(&f->raw);
        free(f->path);
        free(f);
}

/* ---- ends ---------------------------------------------------------------------------------------------- */

/* These functions return 0, the "no more" of trace_follow_next(). */
static int end_with(struct trace_follow *f, enum trace_follow_state state)
{
        f->state = state;
        return 0;
}

static int cut_off(struct trace_follow *f, const char *cause)
{
        (void)error_set(&f->why, -ENODATA, "cut off at byte %" PRIu64 ": %s",
                        f->at_bytes + f->bytes.used_bytes, cause);
        return end_with(f, TRACE_FOLLOW_CUT_OFF);
}

static int damaged(struct trace_follow *f, const struct error *cause)
{
        (void)error_set(&f->why, -EBADMSG, "damaged in the chunk at byte %" PRIu64 ": %s", f->at_bytes,
                        cause->text);
        return end_with(f, TRACE_FOLLOW_DAMAGED);
}

static int truncated(struct trace_follow *f, const char *cause)
{
        (void)error_set(&f->why, -ESTALE, "%s after %" PRIu64 " bytes of it were read", cause, f->at_bytes);
        return end_with(f, TRACE_FOLLOW_TRUNCATED);
}

/* ---- the file as it is now ----------------------------------------------------------------------------- */

/*
 * Whether the file still begins with the bytes that were read there; a file that is written anew does not.
 */
static bool has_its_head(struct trace_follow *f)
{
        size_t n_wanted = f->at_bytes < HEAD_BYTES ? (size_t)f->at_bytes : HEAD_BYTES, got;
        uint8_t now[HEAD_BYTES];

        if (io_pread_full(f->fd, now, n_wanted, 0, &got, NULL) < 0 || got < n_wanted)
                return false;
        if (memcmp(now, f->head, f->n_head) != 0)
                return false;
        memcpy(f->head + f->n_head, now + f->n_head, n_wanted - f->n_head);
        f->n_head = n_wanted;
        return true;
}

static bool has_lost_its_name(const struct trace_follow *f, const struct stat *ours)
{
        struct stat named;

        if (!f->has_path)
                return false;
        return stat(f->path, &named) == 0 && (named.st_dev != ours->st_dev || named.st_ino != ours->st_ino);
}

/*
 * Judges a pause, when no whole chunk is there.  @is_held: a recorder held the lock before the file was
 * last read.
 */
static int judge_pause(struct trace_follow *f, bool is_held)
{
        struct stat status;

        if (fstat(f->fd, &status) < 0 || (uint64_t)status.st_size < f->at_bytes)
                return truncated(f, "the file was truncated");
        if (!has_its_head(f))
                return truncated(f, "the file was written anew");
        f->was_held = f->was_held || is_held;
        if (is_held)
                return 0;
        if (has_lost_its_name(f, &status)) {
                (void)error_set(&f->why, -ESTALE, "another file has its name now");
                return end_with(f, TRACE_FOLLOW_REPLACED);
        }
        if (f->was_held)
                return cut_off(f, "the recorder is gone");
        if (clock_raw_ns() - f->grown_ns >= f->quiet_ns)
                return cut_off(f, "no process writes to it");
        return 0;
}

/* ---- bytes --------------------------------------------------------------------------------------------- */

/*
 * If the disk has no room for a chunk, the recorder removes the part that it wrote: the bytes that were read
 * of it may be gone, or belong to another chunk.
 */
static void drop_taken_back(struct trace_follow *f)
{
        struct stat status;

        if (f->bytes.used_bytes == 0 || fstat(f->fd, &status) < 0 ||
            (uint64_t)status.st_size >= f->at_bytes + f->bytes.used_bytes)
                return;
        byte_buffer_clear(&f->bytes);
        f->has_header = false;
}

/* Reads what is there without waiting.  Returns the bytes, 0 = none now or ever, -errno. */
static ssize_t read_available(struct trace_follow *f, uint8_t *to, size_t n)
{
        struct pollfd ready = { .fd = f->fd, .events = POLLIN };
        ssize_t got;

        if (f->is_file) {
                got = pread(f->fd, to, n, (off_t)(f->at_bytes + f->bytes.used_bytes));
                return got < 0 ? -errno : got;
        }
        if (poll(&ready, 1, 0) <= 0 || ready.revents == 0)
                return 0;
        got = read(f->fd, to, n);
        if (got < 0)
                return errno == EINTR || errno == EAGAIN ? 0 : -errno;
        if (got == 0)
                (void)cut_off(f, "its writer is gone");
        return got;
}

/* Reads until @n bytes of the chunk are there.  Returns 1, 0 if they are not there yet, -errno. */
static int fill(struct trace_follow *f, size_t n, struct error *err)
{
        while (f->bytes.used_bytes < n) {
                size_t n_more = n - f->bytes.used_bytes;
                uint8_t *to;
                ssize_t got;

                if (n_more > READ_BYTES)
                        n_more = READ_BYTES;
                to = byte_buffer_reserve(&f->bytes, n_more);
                if (!to)
                        return error_set(err, -ENOMEM, "%s: no memory for a chunk", f->path);
                got = read_available(f, to, n_more);
                if (got < 0)
                        return error_set(err, (int)got, "%s: %s", f->path, strerrordesc_np((int)-got));
                if (got == 0)
                        return 0;
                f->bytes.used_bytes += (size_t)got;
                f->grown_ns = clock_raw_ns();
        }
        return 1;
}

/* Steps over a chunk that is not wanted; does not read it if the trace is a file.  Returns 1, 0, -errno. */
static int skip(struct trace_follow *f, struct error *err)
{
        struct stat status;
        uint64_t end = f->at_bytes + TRACE_CHUNK_HEADER_BYTES + (uint64_t)f->header.stored_bytes;

        if (!f->is_file)
                return fill(f, TRACE_CHUNK_HEADER_BYTES + (size_t)f->header.stored_bytes, err);
        return fstat(f->fd, &status) == 0 && (uint64_t)status.st_size >= end;
}

/* ---- chunks -------------------------------------------------------------------------------------------- */

static bool is_left(const struct trace_follow *f)
{
        uint16_t kind = f->header.kind;

        return f->leaves_events &&
               (kind == TRACE_CHUNK_EVENTS || kind == TRACE_CHUNK_STATES || kind == TRACE_CHUNK_ATTACHMENT);
}

static void step_over_chunk(struct trace_follow *f)
{
        if (f->header.kind == TRACE_CHUNK_INDEX)
                f->index_at = f->at_bytes;
        trace_version_count(&f->version, f->header.kind);
        f->at_bytes += TRACE_CHUNK_HEADER_BYTES + (uint64_t)f->header.stored_bytes;
        byte_buffer_clear(&f->bytes);
        f->has_header = false;
}

static int read_trailer(struct trace_follow *f, struct error *err)
{
        struct byte_reader in;
        uint64_t index_at;
        int r = fill(f, TRACE_TRAILER_BYTES, err);

        if (r <= 0)
                return r;
        in = byte_reader_of(f->bytes.data, f->bytes.used_bytes);
        index_at = bytes_u64(&in);
        if (bytes_u32(&in) != TRACE_TRAILER_MAGIC || index_at != f->index_at)
                return damaged(f, &(struct error){ -EBADMSG, "malformed trailer" });
        return end_with(f, TRACE_FOLLOW_WHOLE);
}

/* The first few bytes may show that a file is no trace: then there is no reason to wait for more. */
static bool is_no_trace(const struct trace_follow *f)
{
        struct byte_reader in = byte_reader_of(f->bytes.data, f->bytes.used_bytes);

        return !f->has_first && f->bytes.used_bytes >= sizeof(uint32_t) &&
               bytes_u32(&in) != TRACE_CHUNK_MAGIC;
}

/* Reads the header of the next chunk.  Returns 1, 0 if it is not there yet or never comes, -errno. */
static int read_header(struct trace_follow *f, struct error *err)
{
        struct error cause = ERROR_NONE;
        int r = f->has_header ? 1 : fill(f, TRACE_CHUNK_HEADER_BYTES, err);

        if (r >= 0 && is_no_trace(f))
                return error_set(err, -EBADMSG, "%s: not a hyprof trace", f->path);
        if (r <= 0 || f->has_header)
                return r;
        r = trace_chunk_decode_header(f->bytes.data, f->bytes.used_bytes, &f->header, &cause);
        if (r < 0)
                return damaged(f, &cause);
        f->has_header = true;
        return 1;
}

static int check_first_chunk(struct trace_follow *f, struct error *err)
{
        if (f->header.kind != TRACE_CHUNK_FILE)
                return error_set(err, -EBADMSG, "%s: not a hyprof trace", f->path);
        f->has_first = true;
        return trace_version_decode(&f->version, f->raw.data, f->raw.used_bytes, f->path, err);
}

/* Unpacks the chunk that is there.  Returns 1, 0 if it is damaged, -errno. */
static int take(struct trace_follow *f, struct trace_item *item, struct error *err)
{
        const uint8_t *stored = f->bytes.data + TRACE_CHUNK_HEADER_BYTES;
        struct error cause = ERROR_NONE;
        int r = trace_chunk_decode_body(&f->header, f->bytes.data, stored, &f->raw, &cause);

        if (r == 0 && trace_schema_find(f->header.kind))
                r = trace_dictionary_decode(&f->dictionary, (enum trace_table)f->header.kind, f->raw.data,
                                            f->raw.used_bytes, &item->rows, &cause);
        if (r == -ENOMEM)
                return error_set(err, r, "%s: %s", f->path, cause.text);
        if (r < 0 && !f->has_first)
                return error_set(err, -EBADMSG, "%s: not a hyprof trace", f->path);
        if (r < 0)
                return damaged(f, &cause);
        if (!f->has_first)
                r = check_first_chunk(f, err);
        if (r < 0)
                return r;
        item->header = f->header;
        item->file_offset_bytes = f->at_bytes;
        item->body = f->raw.data;
        item->body_bytes = f->raw.used_bytes;
        item->header_bytes = f->bytes.data;
        item->stored = stored;
        return 1;
}

/* Returns 1 with an item, 2 if the chunk was stepped over, 0, -errno. */
static int chunk(struct trace_follow *f, struct trace_item *item, struct error *err)
{
        int r;

        if (f->index_at != 0)
                return read_trailer(f, err);
        r = read_header(f, err);
        if (r <= 0)
                return r;
        if (is_left(f)) {
                r = skip(f, err);
                if (r == 1)
                        step_over_chunk(f);
                return r == 1 ? 2 : r;
        }
        r = fill(f, TRACE_CHUNK_HEADER_BYTES + (size_t)f->header.stored_bytes, err);
        if (r == 1)
                r = take(f, item, err);
        if (r == 1)
                step_over_chunk(f);
        return r;
}

int trace_follow_next(struct trace_follow *f, struct trace_item *ret_item, struct error *err)
{
        struct trace_item item = { .body = NULL };
        bool is_held;
        int r;

        if (f->state != TRACE_FOLLOW_PAUSED)
                return 0;
        /*
         * Checks the lock first: everything that the recorder wrote before it released the lock can be read
         * below.
         */
        is_held = f->is_file && trace_lock_is_held(f->fd);
        if (f->is_file)
                drop_taken_back(f);
        do {
                r = chunk(f, &item, err);
        } while (r == 2);
        if (r == 1)
                *ret_item = item;
        if (r == 0 && f->is_file && f->state == TRACE_FOLLOW_PAUSED)
                r = judge_pause(f, is_held);
        return r;
}

enum trace_follow_state trace_follow_state(const struct trace_follow *f, const char **ret_words)
{
        *ret_words = f->why.text;
        return f->state;
}

int trace_follow_fd(const struct trace_follow *f)
{
        return f->is_file ? -1 : f->fd;
}

bool trace_follow_is_held(const struct trace_follow *f)
{
        return f->state == TRACE_FOLLOW_PAUSED && (!f->is_file || trace_lock_is_held(f->fd));
}

uint64_t trace_follow_count_bytes(const struct trace_follow *f)
{
        return f->at_bytes;
}

const struct trace_version *trace_follow_version(const struct trace_follow *f)
{
        return &f->version;
}

const struct trace_dictionary *trace_follow_dictionary(const struct trace_follow *f)
{
        return &f->dictionary;
}
