/* SPDX-License-Identifier: MIT */
#include "format/trace_writer.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"
#include "format/trace_schema.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define ZSTD_LEVEL      3 /* zstd's default: at 500 MB/s and more, it costs the recorder little */
#define ZSTD_LEVEL_FAST 1 /* for attachments (code), say: a tenth larger, in half of the time */

struct trace_writer {
        int fd;
        bool regular;             /* can be truncated after a failed write */
        int level;                /* of zstd */
        uint64_t n_bytes;         /* of whole chunks */
        struct byte_buffer out;   /* one chunk on its way */
        struct byte_buffer index; /* entries of the INDEX chunk */
        uint32_t n_index;
        uint64_t n_bytes_before; /* before the index of a finished trace, like the next two */
        size_t index_used_before;
        uint32_t n_index_before;
        struct error failure; /* code 0 while all is well */
};

/*
 * Writes all of `out` or, in a regular file, nothing, so that a file always ends with a whole chunk for its
 * readers.  A write beyond the end of the file would leave a hole, at which readers stop.
 */
static int write_out(struct trace_writer *w, struct error *err)
{
        off_t begin = w->regular ? lseek(w->fd, 0, SEEK_CUR) : -1;
        struct stat st;
        int r;

        if (begin >= 0 && fstat(w->fd, &st) == 0 && st.st_size < begin)
                return error_set(err, -EIO, "the file was truncated by another program meanwhile");
        r = io_write_all(w->fd, w->out.data, w->out.used_bytes, err);
        if (r < 0 && begin >= 0)
                (void)!ftruncate(w->fd, begin);
        return r;
}

static int write_chunk(struct trace_writer *w, struct trace_chunk_header *header, const uint8_t *raw,
                       size_t raw_bytes, struct error *err)
{
        int r;

        byte_buffer_clear(&w->out);
        r = trace_chunk_encode(header, raw, raw_bytes,
                               header->kind == TRACE_CHUNK_ATTACHMENT ? ZSTD_LEVEL_FAST : w->level, &w->out,
                               err);
        return r < 0 ? r : write_out(w, err);
}

static void add_to_index(struct trace_writer *w, const struct trace_chunk_header *header)
{
        byte_buffer_add_varint(&w->index, header->kind);
        byte_buffer_add_varint(&w->index, w->n_bytes);
        byte_buffer_add_varint(&w->index, header->n_items);
        byte_buffer_add_varint(&w->index, header->first_ns);
        byte_buffer_add_varint(&w->index, header->last_ns - header->first_ns);
        w->n_index++;
}

void trace_writer_pack_fast(struct trace_writer *writer)
{
        writer->level = ZSTD_LEVEL_FAST;
}

int trace_writer_put(struct trace_writer *w, struct trace_chunk_header header, const uint8_t *raw,
                     size_t raw_bytes, struct error *err)
{
        int r;

        if (w->failure.code < 0)
                return error_set(err, w->failure.code, "%s", w->failure.text);

        r = write_chunk(w, &header, raw, raw_bytes, &w->failure);
        if (r < 0)
                return error_set(err, r, "%s", w->failure.text);
        add_to_index(w, &header);
        w->n_bytes += w->out.used_bytes;
        return 0;
}

int trace_writer_copy(struct trace_writer *w, const struct trace_item *item, struct error *err)
{
        int r;

        if (w->failure.code < 0)
                return error_set(err, w->failure.code, "%s", w->failure.text);
        byte_buffer_clear(&w->out);
        byte_buffer_add(&w->out, item->header_bytes, TRACE_CHUNK_HEADER_BYTES);
        byte_buffer_add(&w->out, item->stored, item->header.stored_bytes);
        r = w->out.failed ? error_set(&w->failure, -ENOMEM, "no memory for a chunk")
                          : write_out(w, &w->failure);
        if (r < 0)
                return error_set(err, r, "%s", w->failure.text);
        add_to_index(w, &item->header);
        w->n_bytes += w->out.used_bytes;
        return 0;
}

int trace_writer_put_tables(struct trace_writer *w, struct trace_dictionary *dictionary, struct error *err)
{
        struct byte_buffer body = { .data = NULL };
        int r = 0;

        for (uint32_t n = 0; n < TRACE_TABLE_COUNT && r == 0;) {
                uint32_t table = trace_schema_nth_table(n), n_rows;

                byte_buffer_clear(&body);
                r = trace_dictionary_encode(dictionary, (enum trace_table)table, &body, &n_rows);
                if (r < 0) {
                        (void)error_set(err, r, "table %s: no memory", trace_schema_find(table)->name);
                } else if (n_rows == 0) {
                        n++;
                } else {
                        struct trace_chunk_header header = { .kind = (uint16_t)table, .n_items = n_rows };

                        r = trace_writer_put(w, header, body.data, body.used_bytes, err);
                }
        }
        byte_buffer_deinit(&body);
        return r;
}

static int put_file_chunk(struct trace_writer *w, struct error *err)
{
        struct trace_chunk_header header = { .kind = TRACE_CHUNK_FILE };
        struct byte_buffer body = { .data = NULL };
        int r;

        byte_buffer_add_u16(&body, TRACE_VERSION_MAJOR);
        byte_buffer_add_u16(&body, TRACE_VERSION_MINOR);
        if (body.failed)
                r = error_set(err, -ENOMEM, "no memory for the first chunk");
        else
                r = trace_writer_put(w, header, body.data, body.used_bytes, err);
        byte_buffer_deinit(&body);
        return r;
}

int trace_writer_reopen(int fd, struct trace_writer **ret_writer, struct error *err)
{
        struct trace_writer *w = calloc(1, sizeof(*w));
        struct stat st;

        if (!w) {
                (void)error_set(err, -ENOMEM, "no memory for the trace writer");
                return -ENOMEM;
        }
        w->fd = fd;
        w->regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
        w->level = ZSTD_LEVEL;
        *ret_writer = w;
        return 0;
}

void trace_writer_adopt(struct trace_writer *w, const struct trace_chunk_header *header)
{
        add_to_index(w, header);
        w->n_bytes += TRACE_CHUNK_HEADER_BYTES + (uint64_t)header->stored_bytes;
}

int trace_writer_new(int fd, struct trace_writer **ret_writer, struct error *err)
{
        struct trace_writer *w;
        int r = trace_writer_reopen(fd, &w, err);

        if (r != 0)
                return r;
        r = put_file_chunk(w, err);
        if (r < 0) {
                trace_writer_free(w);
                return r;
        }
        *ret_writer = w;
        return 0;
}

void trace_writer_free(struct trace_writer *w)
{
        if (!w)
                return;
        byte_buffer_deinit(&w->out);
        byte_buffer_deinit(&w->index);
        free(w);
}

int trace_writer_finish(struct trace_writer *w, struct error *err)
{
        struct trace_chunk_header header = { .kind = TRACE_CHUNK_INDEX, .n_items = w->n_index };
        uint64_t index_at = w->n_bytes;
        int r;

        if (w->index.failed)
                return error_set(err, -ENOMEM, "no memory for the index");
        w->n_bytes_before = index_at;
        w->index_used_before = w->index.used_bytes;
        w->n_index_before = w->n_index;
        r = trace_writer_put(w, header, w->index.data, w->index.used_bytes, err);
        if (r < 0)
                return r;

        byte_buffer_clear(&w->out);
        byte_buffer_add_u64(&w->out, index_at);
        byte_buffer_add_u32(&w->out, TRACE_TRAILER_MAGIC);
        if (w->out.failed)
                return error_set(err, -ENOMEM, "no memory for the trailer");
        r = write_out(w, &w->failure);
        if (r < 0)
                return error_set(err, r, "%s", w->failure.text);
        w->n_bytes += w->out.used_bytes;
        return 0;
}

int trace_writer_go_on(struct trace_writer *w, struct error *err)
{
        if (w->failure.code < 0)
                return error_set(err, w->failure.code, "%s", w->failure.text);
        if (ftruncate(w->fd, (off_t)w->n_bytes_before) < 0 ||
            lseek(w->fd, (off_t)w->n_bytes_before, SEEK_SET) < 0)
                return error_errno(err, "taking the index away");
        w->n_bytes = w->n_bytes_before;
        w->index.used_bytes = w->index_used_before;
        w->n_index = w->n_index_before;
        return 0;
}

bool trace_writer_has_failed(const struct trace_writer *w)
{
        return w->failure.code < 0;
}

uint64_t trace_writer_count_bytes(const struct trace_writer *w)
{
        return w->n_bytes;
}
