/* SPDX-License-Identifier: MIT */
#include "format/trace_reader.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_lock.h"
#include "format/trace_schema.h"
#include "format/trace_version.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct trace_reader {
        int fd;
        bool owns_fd;                /* false for standard input */
        char *path;                  /* for words */
        uint64_t at_bytes;           /* where the next chunk starts */
        uint64_t second_chunk_bytes; /* where the one after FILE does */
        bool tables_known;           /* trace_reader_read_tables() took them in */
        uint64_t until_bytes;        /* of a growing trace: end of what is read; 0 = no bound */
        uint64_t index_at_bytes;     /* of the last INDEX chunk seen */
        enum trace_ending ending;
        struct error why; /* words of the ending */
        struct trace_stored_chunk chunk;
        struct byte_buffer raw; /* its body, unpacked */
        struct trace_chunk_header first_header;
        struct trace_version version;
        struct trace_dictionary dictionary;
};

/* Ends reading for good; returns 0, the "no more" of trace_reader_next(). */
static int end(struct trace_reader *r, enum trace_ending ending)
{
        r->ending = ending;
        return 0;
}

/* Whether a recorder is still writing where the bytes end. */
static bool is_growing(const struct trace_reader *r, size_t n_more)
{
        struct stat status;

        if (fstat(r->fd, &status) < 0 || !S_ISREG(status.st_mode))
                return false;
        return (uint64_t)status.st_size > r->at_bytes + n_more || trace_lock_is_held(r->fd);
}

static int end_growing(struct trace_reader *r)
{
        (void)error_set(&r->why, -ENODATA, "still being written, after byte %" PRIu64, r->at_bytes);
        return end(r, TRACE_ENDING_GROWING);
}

/* Judges the bytes after an INDEX chunk: a trailer and nothing else. */
static int end_after_index(struct trace_reader *r, const uint8_t *bytes, size_t n_bytes)
{
        struct byte_reader in = byte_reader_of(bytes, n_bytes);
        uint64_t index_at = bytes_u64(&in);
        uint32_t magic = bytes_u32(&in);

        if (in.short_read && is_growing(r, n_bytes))
                return end_growing(r);
        if (in.short_read) {
                (void)error_set(&r->why, -ENODATA, "cut off at byte %" PRIu64 ", in the trailer",
                                r->at_bytes + n_bytes);
                return end(r, TRACE_ENDING_CUT_OFF);
        }
        if (magic != TRACE_TRAILER_MAGIC || index_at != r->index_at_bytes || in.left > 0) {
                (void)error_set(&r->why, -EBADMSG, "damaged at byte %" PRIu64 ": malformed trailer",
                                r->at_bytes);
                return end(r, TRACE_ENDING_DAMAGED);
        }
        return end(r, TRACE_ENDING_WHOLE);
}

static int end_cut_off(struct trace_reader *r, size_t n_more)
{
        if (is_growing(r, n_more))
                return end_growing(r);
        if (r->at_bytes + n_more == 0)
                (void)error_set(&r->why, -ENODATA, "the file is empty");
        else if (n_more == 0)
                (void)error_set(&r->why, -ENODATA, "cut off at byte %" PRIu64 ", before the index",
                                r->at_bytes);
        else
                (void)error_set(&r->why, -ENODATA,
                                "cut off at byte %" PRIu64 ", in the chunk that starts at %" PRIu64,
                                r->at_bytes + n_more, r->at_bytes);
        return end(r, TRACE_ENDING_CUT_OFF);
}

static int end_damaged(struct trace_reader *r, const struct error *cause)
{
        (void)error_set(&r->why, -EBADMSG, "damaged in the chunk at byte %" PRIu64 ": %s", r->at_bytes,
                        cause->text);
        return end(r, TRACE_ENDING_DAMAGED);
}

int trace_reader_refuse(struct trace_reader *r, const struct trace_stored_chunk *chunk, int code,
                        const struct error *cause, struct error *err)
{
        if (code == -ENOMEM)
                return error_set(err, -ENOMEM, "%s: %s", r->path, cause->text);
        r->at_bytes = chunk->file_offset_bytes;
        return end_damaged(r, cause);
}

/* Reads the header of the next chunk.  Returns 1, 0 at an ending, -errno of the read. */
static int read_header(struct trace_reader *r, struct trace_stored_chunk *chunk, struct error *err)
{
        struct error cause = ERROR_NONE;
        size_t got;
        int result;

        if (r->until_bytes != 0 && r->at_bytes >= r->until_bytes)
                return end_growing(r);
        result = io_read_full(r->fd, chunk->header_bytes, TRACE_CHUNK_HEADER_BYTES, &got, err);
        if (result < 0)
                return error_prefix(err, result, "%s", r->path);
        if (r->index_at_bytes > 0)
                return end_after_index(r, chunk->header_bytes, got);
        if (got == 0)
                return end_cut_off(r, 0);

        result = trace_chunk_decode_header(chunk->header_bytes, got, &chunk->header, &cause);
        if (result == -ENODATA)
                return end_cut_off(r, got);
        if (result < 0)
                return end_damaged(r, &cause);
        chunk->file_offset_bytes = r->at_bytes;
        return 1;
}

static void step_over(struct trace_reader *r, const struct trace_chunk_header *header)
{
        if (header->kind == TRACE_CHUNK_INDEX)
                r->index_at_bytes = r->at_bytes;
        if (!r->tables_known) /* the one pass through all chunks */
                trace_version_count(&r->version, header->kind);
        r->at_bytes += TRACE_CHUNK_HEADER_BYTES + (uint64_t)header->stored_bytes;
}

/* Reads the chunk's body in the same way, and moves on to the next chunk. */
static int read_body(struct trace_reader *r, struct trace_stored_chunk *chunk, struct error *err)
{
        uint8_t *body;
        size_t got;
        int result;

        byte_buffer_clear(&chunk->stored);
        body = byte_buffer_reserve(&chunk->stored, chunk->header.stored_bytes);
        if (!body)
                return error_set(err, -ENOMEM, "%s: no memory for a chunk", r->path);
        result = io_read_full(r->fd, body, chunk->header.stored_bytes, &got, err);
        if (result < 0)
                return error_prefix(err, result, "%s", r->path);
        if (got < chunk->header.stored_bytes)
                return end_cut_off(r, TRACE_CHUNK_HEADER_BYTES + got);
        step_over(r, &chunk->header);
        return 1;
}

int trace_reader_fetch(struct trace_reader *r, struct trace_stored_chunk *chunk, struct error *err)
{
        int result;

        if (r->ending != TRACE_ENDING_OPEN)
                return 0;
        result = read_header(r, chunk, err);
        return result == 1 ? read_body(r, chunk, err) : result;
}

/* Unpacks the chunk that was read, and takes in a table.  Returns 1, 0 at an ending, -ENOMEM. */
static int take_chunk(struct trace_reader *r, struct trace_item *item, struct error *err)
{
        const struct trace_stored_chunk *chunk = &r->chunk;
        struct error cause = ERROR_NONE;
        int result = trace_chunk_decode_body(&chunk->header, chunk->header_bytes, chunk->stored.data, &r->raw,
                                             &cause);

        if (result == 0 && !r->tables_known && trace_schema_find(chunk->header.kind))
                result = trace_dictionary_decode(&r->dictionary, (enum trace_table)chunk->header.kind,
                                                 r->raw.data, r->raw.used_bytes, &item->rows, &cause);
        if (result < 0)
                return trace_reader_refuse(r, chunk, result, &cause, err);
        item->header = chunk->header;
        item->file_offset_bytes = chunk->file_offset_bytes;
        item->body = r->raw.data;
        item->body_bytes = r->raw.used_bytes;
        item->header_bytes = chunk->header_bytes;
        item->stored = chunk->stored.data;
        return 1;
}

int trace_reader_next(struct trace_reader *r, struct trace_item *ret_item, struct error *err)
{
        struct trace_item item = { .body = NULL };
        int result = trace_reader_fetch(r, &r->chunk, err);

        if (result == 1)
                result = take_chunk(r, &item, err);
        if (result == 1)
                *ret_item = item;
        return result;
}

static int read_first_chunk(struct trace_reader *r, struct error *err)
{
        struct trace_item item = { .body = NULL };
        int result = trace_reader_next(r, &item, err);

        if (result < 0)
                return result;
        if (result == 0 && r->ending == TRACE_ENDING_GROWING)
                return error_set(err, -ENODATA, "%s: still being written: nothing can be read yet", r->path);
        if (result == 0 && r->ending == TRACE_ENDING_CUT_OFF)
                return error_set(err, -ENODATA, "%s: not a whole hyprof trace: %s", r->path, r->why.text);
        if (result != 1 || item.header.kind != TRACE_CHUNK_FILE)
                return error_set(err, -EBADMSG, "%s: not a hyprof trace", r->path);
        r->first_header = item.header;
        r->second_chunk_bytes = r->at_bytes;
        return trace_version_decode(&r->version, r->raw.data, r->raw.used_bytes, r->path, err);
}

int trace_reader_open(const char *path, struct trace_reader **ret_reader, struct error *err)
{
        struct trace_reader *r = calloc(1, sizeof(*r));
        struct stat status;
        int result;

        if (!r)
                return error_set(err, -ENOMEM, "%s: no memory", path);
        r->fd = -1;
        trace_dictionary_init(&r->dictionary, 0);
        r->path = strdup(path);
        if (!r->path) {
                result = error_set(err, -ENOMEM, "%s: no memory", path);
                goto fail;
        }

        r->owns_fd = strcmp(path, "-") != 0;
        r->fd = r->owns_fd ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) : STDIN_FILENO;
        if (r->fd < 0) {
                result = error_errno(err, "%s", path);
                goto fail;
        }
        if (fstat(r->fd, &status) == 0 && S_ISDIR(status.st_mode)) {
                result = error_set(err, -EISDIR, "%s: is a directory, and a trace is a file", path);
                goto fail;
        }
        result = read_first_chunk(r, err);
        if (result < 0)
                goto fail;
        *ret_reader = r;
        return 0;

fail:
        trace_reader_close(r);
        return result;
}

/* Copies the rest of a pipe into a file without a name, and reads on there. */
static int spool(struct trace_reader *r, struct error *err)
{
        int fd = io_open_unnamed(err);
        int result;

        if (fd < 0)
                return error_prefix(err, fd, "%s", r->path);
        /*
         * Leaves a hole in place of the part that was read already, so every offset is the same as in the
         * trace.
         */
        if (lseek(fd, (off_t)r->at_bytes, SEEK_SET) < 0)
                result = error_errno(err, "%s: lseek", r->path);
        else
                result = io_copy(r->fd, fd, err);
        if (result < 0) {
                io_close(&fd);
                return error_prefix(err, result, "%s", r->path);
        }
        if (r->owns_fd)
                io_close(&r->fd);
        r->fd = fd;
        r->owns_fd = true;
        return lseek(fd, (off_t)r->at_bytes, SEEK_SET) < 0 ? error_errno(err, "%s: lseek", r->path) : 0;
}

int trace_reader_seek(struct trace_reader *r, uint64_t at_bytes, struct error *err)
{
        if (lseek(r->fd, (off_t)at_bytes, SEEK_SET) < 0)
                return error_errno(err, "%s: lseek", r->path);
        if (at_bytes <= r->index_at_bytes)
                r->index_at_bytes = 0;
        r->at_bytes = at_bytes;
        r->ending = TRACE_ENDING_OPEN;
        r->why = ERROR_NONE;
        return 0;
}

int trace_reader_rewind(struct trace_reader *r, struct error *err)
{
        return trace_reader_seek(r, r->second_chunk_bytes, err);
}

/*
 * Steps over the body of a chunk whose header was read; an incomplete body is read, to say where it ends.
 */
static int skip_body(struct trace_reader *r, struct trace_stored_chunk *chunk, struct error *err)
{
        const struct trace_chunk_header *header = &chunk->header;
        struct stat status;

        if (fstat(r->fd, &status) == 0 &&
            (uint64_t)status.st_size < r->at_bytes + TRACE_CHUNK_HEADER_BYTES + header->stored_bytes)
                return read_body(r, chunk, err);
        if (lseek(r->fd, (off_t)header->stored_bytes, SEEK_CUR) < 0)
                return error_errno(err, "%s: lseek", r->path);
        step_over(r, header);
        return 1;
}

int trace_reader_next_wanted(struct trace_reader *r,
                             bool (*is_wanted)(const struct trace_chunk_header *header),
                             struct trace_item *ret_item, struct error *err)
{
        struct trace_item item = { .body = NULL };
        int result = r->ending == TRACE_ENDING_OPEN;

        while (result == 1) {
                result = read_header(r, &r->chunk, err);
                if (result != 1 || is_wanted(&r->chunk.header))
                        break;
                result = skip_body(r, &r->chunk, err);
        }
        if (result == 1)
                result = read_body(r, &r->chunk, err);
        if (result == 1)
                result = take_chunk(r, &item, err);
        if (result == 1)
                *ret_item = item;
        return result;
}

static bool is_stepped_over(uint16_t kind)
{
        return kind == TRACE_CHUNK_ATTACHMENT || kind == TRACE_CHUNK_EVENTS || kind == TRACE_CHUNK_STATES;
}

static int read_table_chunk(struct trace_reader *r, struct error *err)
{
        struct trace_item item = { .body = NULL };
        int result = read_header(r, &r->chunk, err);

        if (result != 1)
                return result;
        if (is_stepped_over(r->chunk.header.kind))
                return skip_body(r, &r->chunk, err);
        result = read_body(r, &r->chunk, err);
        return result == 1 ? take_chunk(r, &item, err) : result;
}

int trace_reader_read_tables(struct trace_reader *r, uint64_t *ret_first_ns, uint64_t *ret_last_ns,
                             struct error *err)
{
        const struct trace_chunk_header *header = &r->chunk.header;
        int result = 0;

        *ret_first_ns = *ret_last_ns = 0;
        if (lseek(r->fd, 0, SEEK_CUR) < 0)
                result = errno == ESPIPE ? spool(r, err) : error_errno(err, "%s: lseek", r->path);
        if (result < 0)
                return result;
        while (r->ending == TRACE_ENDING_OPEN && (result = read_table_chunk(r, err)) == 1) {
                if (header->kind != TRACE_CHUNK_EVENTS)
                        continue;
                if (*ret_first_ns == 0 || header->first_ns < *ret_first_ns)
                        *ret_first_ns = header->first_ns;
                if (header->last_ns > *ret_last_ns)
                        *ret_last_ns = header->last_ns;
        }
        if (result < 0)
                return result;
        r->tables_known = true;
        if (r->ending == TRACE_ENDING_GROWING) /* later chunks have tables that are not known */
                r->until_bytes = r->at_bytes;
        return trace_reader_rewind(r, err);
}

/* Reads all headers from the second chunk on. */
static int find_range(struct trace_reader *r, struct trace_reader_range *range, struct error *err)
{
        const struct trace_chunk_header *header = &r->chunk.header;
        uint64_t last_ns = 0;
        int result;

        while ((result = read_header(r, &r->chunk, err)) == 1) {
                if (header->kind == TRACE_CHUNK_STATES && last_ns < range->from_ns)
                        range->states_at_bytes = r->at_bytes;
                result = skip_body(r, &r->chunk, err);
                if (result < 1)
                        break;
                if (header->kind != TRACE_CHUNK_EVENTS)
                        continue;
                if (header->last_ns > last_ns)
                        last_ns = header->last_ns;
                if (header->first_ns < range->to_ns)
                        range->end_bytes = r->at_bytes;
        }
        return result;
}

int trace_reader_seek_range(struct trace_reader *r, struct trace_reader_range *range, struct error *err)
{
        int result = trace_reader_rewind(r, err);

        range->states_at_bytes = range->end_bytes = 0;
        if (result == 0)
                result = find_range(r, range, err);
        if (result == 0)
                result = trace_reader_rewind(r, err);
        return result < 0 || range->states_at_bytes == 0 ? result
                                                         : trace_reader_seek(r, range->states_at_bytes, err);
}

uint64_t trace_reader_position(const struct trace_reader *r)
{
        return r->at_bytes;
}

int trace_reader_skip_rest(struct trace_reader *r, struct error *err)
{
        int result = 0;

        while (r->ending == TRACE_ENDING_OPEN && (result = read_table_chunk(r, err)) == 1)
                ;
        return result < 0 ? result : 0;
}

void trace_reader_close(struct trace_reader *r)
{
        if (!r)
                return;
        if (r->owns_fd)
                io_close(&r->fd);
        byte_buffer_deinit(&r->chunk.stored);
        byte_buffer_deinit(&r->raw);
        trace_dictionary_deinit(&r->dictionary);
        free(r->path);
        free(r);
}

const struct trace_chunk_header *trace_reader_first_header(const struct trace_reader *r)
{
        return &r->first_header;
}

const struct trace_version *trace_reader_version(const struct trace_reader *r)
{
        return &r->version;
}

const struct trace_dictionary *trace_reader_dictionary(const struct trace_reader *r)
{
        return &r->dictionary;
}

struct trace_dictionary *trace_reader_edit(struct trace_reader *r)
{
        trace_dictionary_mark_encoded(&r->dictionary);
        return &r->dictionary;
}

enum trace_ending trace_reader_ending(const struct trace_reader *r, const char **ret_words,
                                      uint64_t *ret_bytes)
{
        if (ret_words)
                *ret_words = r->why.text;
        if (ret_bytes)
                *ret_bytes = r->at_bytes;
        return r->ending;
}
