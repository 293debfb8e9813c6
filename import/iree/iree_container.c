/* SPDX-License-Identifier: MIT */
#include "import/iree/iree_container.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "import/file/import_source.h"
#include "import/iree/iree_model.h"
#include "import/iree/iree_record.h"
#include "import/rows/import_rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_HEADER_BYTES   24
#define RECORD_HEADER_BYTES 104
#define LENGTH_BYTES        4 /* of a row, before all else */
#define VERSION_MAJOR       1
#define STRINGS_BYTES_MAX   (UINT32_C(64) << 10) /* of a record's type and name */
#define ROW_BYTES_MAX       (UINT32_C(16) << 20)
#define SKIP_BYTES          (UINT32_C(64) << 10)

enum record_type { SESSION_BEGIN = 1, CHUNK = 2, SESSION_END = 3 };

struct header {
        uint64_t begin; /* where it lies in the file */
        uint64_t n_bytes, payload_bytes, stream, n_dropped, chunk_flags;
        uint32_t header_bytes, content_bytes, name_bytes, device, queue, status;
        uint16_t type;
};

struct container {
        struct import_source *source;
        struct iree_model *model;
        struct import_rows *rows;
        uint64_t end; /* of the file as its header says, or UINT64_MAX */
        uint64_t *values;
        size_t values_capacity;
        struct iree_record record;
};

/* ------------------------------------------------------------------ bytes */

/* 1, 0 at the end of the file (also of broken packing: what was before it is good), -errno. */
static int take(struct container *c, size_t n_bytes, struct byte_reader *ret, struct error *err)
{
        struct text_view bytes;
        int r = import_source_next_exact(c->source, n_bytes, &bytes, err);

        if (r == 1)
                *ret = byte_reader_of(bytes.bytes, bytes.n_bytes);
        return r == -EBADMSG ? 0 : r;
}

static int skip(struct container *c, uint64_t n_bytes, struct error *err)
{
        struct text_view bytes;

        while (n_bytes > 0) {
                size_t n = n_bytes < SKIP_BYTES ? (size_t)n_bytes : SKIP_BYTES;
                int r = import_source_next_bytes(c->source, n, &bytes, err);

                if (r != 1)
                        return r == -EBADMSG ? 0 : r;
                n_bytes -= bytes.n_bytes;
        }
        return 1;
}

static bool is_at_end(struct container *c)
{
        struct text_view head;

        return import_source_offset(c->source) >= c->end ||
               (import_source_head(c->source, &head, NULL) == 0 && head.n_bytes == 0);
}

/* ------------------------------------------------------------------ rows of a chunk */

/* @body: of a row, after its length, as in all that follow. */
static void decode_place(struct container *c, const struct header *header, const struct iree_place *place,
                         const uint8_t *body)
{
        for (size_t i = 0; i < place->n_fields; i++) {
                struct byte_reader at;

                if (place->at == IREE_NOWHERE)
                        continue;
                at = byte_reader_of(body + place->at - LENGTH_BYTES + 4 * i, place->n_bytes);
                c->record.fields[place->field + i] = place->n_bytes == 8 ? bytes_u64(&at) : bytes_u32(&at);
        }
        if (place->at != IREE_NOWHERE)
                return;
        c->record.fields[IREE_F_DEVICE] = header->device;
        c->record.fields[IREE_F_QUEUE] = header->queue;
        c->record.fields[IREE_F_STREAM] = header->stream;
}

static struct text_view take_text(struct byte_reader *tail, uint32_t n_bytes)
{
        const uint8_t *bytes = bytes_take(tail, n_bytes);

        return (struct text_view){ .bytes = (const char *)bytes, .n_bytes = bytes ? n_bytes : 0 };
}

/* @n: numbers of 8 bytes.  A metric's value is three of them: the metric, its value, and flags, not kept. */
static int take_values(struct container *c, struct byte_reader *tail, uint32_t n, bool are_pairs,
                       struct error *err)
{
        size_t n_each = are_pairs ? 3 : 1, n_kept = 0;

        if (n > tail->left / (8 * n_each)) {
                tail->short_read = true;
                return 0;
        }
        if (array_reserve(&c->values, &c->values_capacity, (size_t)n * (are_pairs ? 2 : 1), 8) < 0)
                return error_set(err, -ENOMEM, "out of memory");
        for (uint32_t i = 0; i < n; i++) {
                c->values[n_kept++] = bytes_u64(tail);
                if (!are_pairs)
                        continue;
                c->values[n_kept++] = bytes_u64(tail);
                (void)bytes_u64(tail);
        }
        c->record.values = c->values;
        c->record.n_values = n_kept;
        return 0;
}

static int decode_tail(struct container *c, const struct iree_layout *layout, struct byte_reader body,
                       bool *ret_is_good, struct error *err)
{
        struct byte_reader lengths = body, tail = body;
        uint32_t n = 0;
        int r = 0;

        (void)bytes_take(&tail, layout->n_bytes - LENGTH_BYTES);
        if (layout->tail != IREE_TAIL_NONE) {
                (void)bytes_take(&lengths, layout->tail_at - LENGTH_BYTES);
                n = bytes_u32(&lengths);
        }
        switch (layout->tail) {
        case IREE_TAIL_NONE:
                break;
        case IREE_TAIL_NAME:
                c->record.name = take_text(&tail, n);
                break;
        case IREE_TAIL_NAMES:
                c->record.block = take_text(&tail, n);
                c->record.name = take_text(&tail, bytes_u32(&lengths));
                break;
        case IREE_TAIL_VALUES:
        case IREE_TAIL_PAIRS:
                r = take_values(c, &tail, n, layout->tail == IREE_TAIL_PAIRS, err);
                break;
        }
        *ret_is_good = !tail.short_read;
        return r;
}

/* At least as long as the layout says; one of a newer IREE may be longer. */
static int add_row(struct container *c, const struct header *header, enum iree_kind kind, uint64_t at,
                   struct byte_reader body, struct error *err)
{
        const struct iree_layout *layout = iree_layout_of(kind);
        bool is_good;
        int r;

        iree_record_clear(&c->record, kind);
        c->record.at = at;
        for (size_t i = 0; i < layout->n_places; i++)
                decode_place(c, header, &layout->places[i], body.at);
        r = decode_tail(c, layout, body, &is_good, err);
        if (r < 0)
                return r;
        if (!is_good) {
                import_rows_malformed(c->rows, at, "a name or values longer than their record");
                return 0;
        }
        return iree_model_add(c->model, &c->record, err);
}

/* 1, 0 at the end of the file, -errno.  A bad length spoils the rest of the chunk, not the file. */
static int read_rows(struct container *c, const struct header *header, enum iree_kind kind, struct error *err)
{
        const struct iree_layout *layout = iree_layout_of(kind);
        uint64_t left = header->payload_bytes;

        while (left > 0) {
                uint64_t at = import_source_offset(c->source);
                struct byte_reader bytes;
                uint32_t n_bytes;
                int r = left < LENGTH_BYTES ? 1 : take(c, LENGTH_BYTES, &bytes, err);

                if (r != 1)
                        return r;
                n_bytes = left < LENGTH_BYTES ? 0 : bytes_u32(&bytes);
                if (n_bytes < layout->n_bytes || n_bytes > left || n_bytes > ROW_BYTES_MAX) {
                        import_rows_malformed(c->rows, at, "length of a record in a chunk");
                        return skip(c, left < LENGTH_BYTES ? left : left - LENGTH_BYTES, err);
                }
                r = take(c, n_bytes - LENGTH_BYTES, &bytes, err);
                if (r != 1)
                        return r;
                r = add_row(c, header, kind, at, bytes, err);
                if (r < 0)
                        return r;
                left -= n_bytes;
        }
        return 1;
}

/* ------------------------------------------------------------------ records of the file */

static void decode_header(struct byte_reader bytes, struct header *h)
{
        h->n_bytes = bytes_u64(&bytes);
        h->payload_bytes = bytes_u64(&bytes);
        (void)bytes_u64(&bytes); /* session */
        h->stream = bytes_u64(&bytes);
        (void)bytes_take(&bytes, 24); /* event, executable, command buffer */
        h->header_bytes = bytes_u32(&bytes);
        h->content_bytes = bytes_u32(&bytes);
        h->name_bytes = bytes_u32(&bytes);
        h->device = bytes_u32(&bytes);
        h->queue = bytes_u32(&bytes);
        (void)bytes_u32(&bytes);
        h->chunk_flags = bytes_u64(&bytes);
        h->n_dropped = bytes_u64(&bytes);
        h->status = bytes_u32(&bytes);
        h->type = bytes_u16(&bytes);
}

/* NULL: the parts are the whole, and it ends within the file. */
static const char *judge_header(const struct container *c, const struct header *h)
{
        uint64_t strings = (uint64_t)h->content_bytes + h->name_bytes, sum;

        if (h->header_bytes < RECORD_HEADER_BYTES || h->header_bytes > STRINGS_BYTES_MAX)
                return "length of a record's header";
        if (strings > STRINGS_BYTES_MAX)
                return "length of a record's names";
        if (__builtin_add_overflow(h->payload_bytes, strings + h->header_bytes, &sum) || sum != h->n_bytes)
                return "length of a record";
        if (sum > c->end - h->begin)
                return "a record beyond the end that the file states";
        return NULL;
}

static void count_chunk(struct container *c, const struct header *h)
{
        const uint64_t is_truncated = 1;

        if (h->chunk_flags & is_truncated)
                import_rows_left_out(c->rows, "chunks that the program says are truncated", 1);
        if (h->n_dropped)
                import_rows_dropped(c->rows, h->n_dropped);
}

/* Kinds that this IREE does not know yet: by the last part of their type. */
static void count_unknown(struct container *c, struct text_view content)
{
        size_t n_prefix = text_view_begins_with(content, IREE_CONTENT_PREFIX)
                                  ? sizeof(IREE_CONTENT_PREFIX) - 1
                                  : 0;

        content.bytes += n_prefix;
        content.n_bytes -= n_prefix;
        import_rows_count_row(c->rows);
        iree_model_count_unknown(c->model, content);
}

/* @content: of the chunk, valid until the next read. */
static int read_chunk(struct container *c, const struct header *h, struct text_view content,
                      struct error *err)
{
        enum iree_kind kind = iree_kind_of_content(content);
        int r;

        count_chunk(c, h);
        if (kind == IREE_N_KINDS) {
                count_unknown(c, content);
                return skip(c, h->payload_bytes, err);
        }
        if (kind != IREE_EXECUTABLE_TRACE && kind != IREE_CODE_OBJECT)
                return read_rows(c, h, kind, err);
        /* One row with bytes after it, which are not kept. */
        iree_record_clear(&c->record, kind);
        c->record.at = h->begin;
        r = iree_model_add(c->model, &c->record, err);
        return r < 0 ? r : skip(c, h->payload_bytes, err);
}

static int read_content(struct container *c, const struct header *h, struct error *err)
{
        struct byte_reader strings;
        int r = skip(c, h->header_bytes - RECORD_HEADER_BYTES, err);

        if (r == 1)
                r = take(c, h->content_bytes + h->name_bytes, &strings, err);
        if (r != 1)
                return r;
        switch (h->type) {
        case SESSION_BEGIN:
                r = iree_model_begin_session(c->model, err);
                break;
        case SESSION_END:
                r = iree_model_end_session(c->model, h->status, err);
                break;
        case CHUNK:
                return read_chunk(c, h, (struct text_view){ (const char *)strings.at, h->content_bytes },
                                  err);
        default:
                import_rows_count_row(c->rows);
                import_rows_left_out(c->rows, "records of an unknown type", 1);
                break;
        }
        return r < 0 ? r : skip(c, h->payload_bytes, err);
}

/* 1, 0 where nothing more can be read, which is counted; -errno. */
static int read_record(struct container *c, struct error *err)
{
        struct header header = { .begin = import_source_offset(c->source) };
        struct byte_reader bytes;
        const char *wrong;
        int r = take(c, RECORD_HEADER_BYTES, &bytes, err);

        if (r == 1) {
                decode_header(bytes, &header);
                wrong = judge_header(c, &header);
                if (wrong) {
                        import_rows_malformed(c->rows, header.begin, wrong);
                        r = 0; /* where the next one begins is not known */
                } else {
                        r = read_content(c, &header, err);
                }
        }
        if (r == 0)
                import_rows_cut(c->rows, import_source_offset(c->source));
        return r;
}

static int read_file_header(struct container *c, struct error *err)
{
        struct byte_reader bytes = byte_reader_of(NULL, 0);
        uint16_t major, minor;
        uint32_t n_bytes;
        uint64_t end;
        char version[16];
        int r = take(c, FILE_HEADER_BYTES, &bytes, err);

        if (r < 0)
                return r;
        if (r == 0)
                return error_set(err, -EBADMSG, "%s: the header of the profile is cut off",
                                 import_source_path(c->source));
        (void)bytes_u32(&bytes); /* by the magic it was recognised */
        major = bytes_u16(&bytes);
        minor = bytes_u16(&bytes);
        n_bytes = bytes_u32(&bytes);
        (void)bytes_u32(&bytes); /* flags */
        end = bytes_u64(&bytes);
        if (major != VERSION_MAJOR)
                return error_set(err, -ENOTSUP, "%s: an IREE profile of version %u.%u; hyprof reads %d.x",
                                 import_source_path(c->source), major, minor, VERSION_MAJOR);
        if (n_bytes < FILE_HEADER_BYTES || n_bytes > STRINGS_BYTES_MAX || (end != 0 && end < n_bytes))
                return error_set(err, -EBADMSG, "%s: bad header of an IREE profile",
                                 import_source_path(c->source));
        c->end = end ? end : UINT64_MAX;
        (void)snprintf(version, sizeof(version), "%u.%u", major, minor);
        r = import_rows_file(c->rows, "ireeprof", (struct text_view){ version, strlen(version) }, err);
        return r < 0 ? r : skip(c, n_bytes - FILE_HEADER_BYTES, err);
}

int iree_container_read(struct import_source *source, struct iree_model *model, struct import_rows *rows,
                        struct error *err)
{
        struct container c = { .source = source, .model = model, .rows = rows };
        int r = read_file_header(&c, err);

        while (r == 1 && !is_at_end(&c))
                r = read_record(&c, err);
        /* The program did not come to the end of its session: nothing else says that rows are missing. */
        if (r == 1 && iree_model_is_in_session(model))
                import_rows_cut(rows, import_source_offset(source));
        free(c.values);
        return r < 0 ? r : 0;
}
