/* SPDX-License-Identifier: MIT */
#include "web/model/view_pictures.h"

#include "analyze/walk/loaded_trace.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/attachment_chunk.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"
#include "format/trace_rows.h"
#include "format/trace_spec.h"

#include <errno.h>
#include <inttypes.h>

#define PICTURE_HEAD_BYTES 8 /* its attachment, how many bytes */

bool view_pictures_has(const struct trace_dictionary *dictionary, uint32_t attachment)
{
        const struct trace_attachment *row;

        if (attachment == 0 || attachment > trace_dictionary_count(dictionary, TRACE_TABLE_ATTACHMENTS))
                return false;
        row = trace_dictionary_row(dictionary, TRACE_TABLE_ATTACHMENTS, attachment);
        return row->kind == TRACE_ATTACHMENT_FRAME_PICTURE && row->size_bytes <= VIEW_PICTURE_BYTES_MAX;
}

/* The bytes of a picture, at most VIEW_PICTURE_BYTES_MAX. */
static uint64_t size_of(const struct trace_dictionary *dictionary, uint32_t attachment)
{
        const struct trace_attachment *row = trace_dictionary_row(dictionary, TRACE_TABLE_ATTACHMENTS,
                                                                  attachment);

        return row->size_bytes;
}

static bool is_attachment(const struct trace_chunk_header *header)
{
        return header->kind == TRACE_CHUNK_ATTACHMENT;
}

/*
 * The next part of a picture, within its size: attachment_chunk_decode() refuses others, which are passed
 * over.  Borrowed until the next call.  Returns 1, 0 at the end of the trace, -errno.
 */
static int next_part(const struct loaded_trace *trace, struct attachment_chunk *ret_part, struct error *err)
{
        struct trace_item item;
        int r;

        while ((r = trace_reader_next_wanted(trace->reader, is_attachment, &item, err)) == 1)
                if (attachment_chunk_decode(trace->dictionary, item.body, item.body_bytes, ret_part, NULL) ==
                            0 &&
                    view_pictures_has(trace->dictionary, ret_part->attachment))
                        return 1;
        return r;
}

int view_pictures_read(struct loaded_trace *trace, uint32_t attachment, struct byte_buffer *out,
                       struct error *err)
{
        uint64_t size_bytes = size_of(trace->dictionary, attachment);
        struct attachment_chunk part;
        int r = trace_reader_rewind(trace->reader, err);

        while (r >= 0 && out->used_bytes < size_bytes && !out->failed) {
                r = next_part(trace, &part, err);
                if (r == 0)
                        return error_set(err, -ENODATA,
                                         "picture %" PRIu32 ": the trace has %zu of %" PRIu64 " bytes",
                                         attachment, out->used_bytes, size_bytes);
                if (r == 1 && part.attachment == attachment && part.offset_bytes == out->used_bytes)
                        byte_buffer_add(out, part.bytes, part.n_bytes);
        }
        if (r >= 0 && out->failed)
                return error_set(err, -ENOMEM, "no memory for a picture");
        return r < 0 ? r : 0;
}

/* The step from one picture to the next that is taken. */
static uint32_t choose_step(const struct trace_dictionary *dictionary, uint64_t bytes_max,
                            struct view_pictures_count *count)
{
        uint32_t n = trace_dictionary_count(dictionary, TRACE_TABLE_ATTACHMENTS);
        uint64_t n_bytes = 0; /* at most 2^32 rows of 2^22 */

        for (uint32_t id = 1; id <= n; id++) {
                if (!view_pictures_has(dictionary, id))
                        continue;
                count->n_all++;
                n_bytes += PICTURE_HEAD_BYTES + size_of(dictionary, id);
        }
        return bytes_max == 0 ? 1 : (uint32_t)((n_bytes + bytes_max - 1) / bytes_max);
}

int view_pictures_put(struct loaded_trace *trace, uint64_t bytes_max, struct byte_buffer *out,
                      struct view_pictures_count *ret_count, struct error *err)
{
        struct view_pictures_count count = { .n_all = 0 };
        struct byte_buffer picture = { .data = NULL }; /* as much of one as has come */
        uint32_t step = choose_step(trace->dictionary, bytes_max, &count), at = 0, n = 0;
        struct attachment_chunk part;
        int r = count.n_all > 0 ? trace_reader_rewind(trace->reader, err) : 0;

        while (count.n_all > 0 && r >= 0 && (r = next_part(trace, &part, err)) == 1) {
                uint64_t size_bytes = size_of(trace->dictionary, part.attachment);

                if (part.offset_bytes == 0) {
                        byte_buffer_clear(&picture);
                        at = part.attachment;
                }
                if (part.attachment != at || part.offset_bytes != picture.used_bytes)
                        continue;
                byte_buffer_add(&picture, part.bytes, part.n_bytes);
                if (picture.failed || picture.used_bytes != size_bytes)
                        continue;
                at = 0;
                if (n++ % step != 0 || out->used_bytes + PICTURE_HEAD_BYTES + size_bytes > bytes_max)
                        continue;
                byte_buffer_add_u32(out, part.attachment);
                byte_buffer_add_u32(out, (uint32_t)size_bytes);
                byte_buffer_add(out, picture.data, picture.used_bytes);
                count.n_put++;
        }
        if (r >= 0 && (picture.failed || out->failed))
                r = error_set(err, -ENOMEM, "no memory for pictures of frames");
        byte_buffer_deinit(&picture);
        *ret_count = count;
        return r < 0 ? r : 0;
}
