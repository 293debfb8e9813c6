/* SPDX-License-Identifier: MIT */
#include "symbolize/listing/source_embedder.h"

#include "base/byte_buffer.h"
#include "base/content_hash.h"
#include "base/error.h"
#include "format/attachment_chunk.h"
#include "format/trace_chunk.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "format/trace_writer.h"
#include "symbolize/listing/source_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct source_embedder {
        const struct source_embedder_options *options;
        struct trace_dictionary *dictionary;
        struct trace_writer *writer;
        uint8_t *is_done; /* heap; bit by string: a name that was looked at, or is in the trace */
        struct source_embedder_result *result;
        uint32_t n_files;
};

static bool was_done(const struct source_embedder *e, uint32_t name)
{
        return e->is_done[name / 8] & 1U << name % 8;
}

static void mark_done(struct source_embedder *e, uint32_t name)
{
        e->is_done[name / 8] |= (uint8_t)(1U << name % 8);
}

static int write_parts(struct source_embedder *e, uint32_t attachment, const struct byte_buffer *text,
                       struct error *err)
{
        struct byte_buffer body = { .data = NULL };
        size_t at = 0;
        int r = 0;

        while (r == 0 && at < text->used_bytes) {
                size_t left = text->used_bytes - at;
                struct attachment_chunk part = {
                        .attachment = attachment,
                        .offset_bytes = at,
                        .bytes = text->data + at,
                        .n_bytes = left < ATTACHMENT_CHUNK_BYTES_MAX ? left : ATTACHMENT_CHUNK_BYTES_MAX,
                };

                byte_buffer_clear(&body);
                r = attachment_chunk_encode(&part, &body);
                if (r < 0)
                        r = error_set(err, r, "no memory for the sources");
                else
                        r = trace_writer_put(
                                e->writer,
                                (struct trace_chunk_header){ .kind = TRACE_CHUNK_ATTACHMENT, .n_items = 1 },
                                body.data, body.used_bytes, err);
                at += part.n_bytes;
        }
        byte_buffer_deinit(&body);
        return r;
}

static int keep(struct source_embedder *e, uint32_t name, const struct byte_buffer *text, struct error *err)
{
        struct trace_attachment row = {
                .size_bytes = text->used_bytes,
                .hash = content_hash(text->data, text->used_bytes),
                .kind = TRACE_ATTACHMENT_SOURCE_TEXT,
                .name = name,
        };
        struct text_view text_name;
        uint32_t id;
        int r = trace_dictionary_add(e->dictionary, TRACE_TABLE_ATTACHMENTS, &row, &id);

        if (r < 0)
                return error_set(err, r, "no room for the sources");
        r = trace_writer_put_tables(e->writer, e->dictionary, err);
        if (r == 0)
                r = write_parts(e, id, text, err);
        if (r < 0)
                return r;
        text_name = trace_dictionary_text(e->dictionary, name);
        byte_buffer_add(&e->result->names, text_name.bytes, text_name.n_bytes);
        byte_buffer_add_u8(&e->result->names, '\0');
        e->result->n_kept++;
        e->result->n_bytes += text->used_bytes;
        return 0;
}

static int embed(struct source_embedder *e, uint32_t name, struct error *err)
{
        uint64_t bytes_max = e->options->bytes_max ? e->options->bytes_max : SOURCE_EMBEDDER_BYTES_MAX;
        struct byte_buffer text = { .data = NULL };
        struct source_file_path path = { .root = e->options->sysroot, .given = e->options->given };
        size_t n_bytes;
        int r;

        path.path = trace_dictionary_string(e->dictionary, name, &n_bytes);
        path.n_bytes = n_bytes < UINT32_MAX ? (uint32_t)n_bytes : UINT32_MAX;
        r = ++e->n_files > SOURCE_EMBEDDER_FILES_MAX ? -EFBIG : source_file_read(&path, &text, NULL, NULL);
        if (r == 0 && text.used_bytes > bytes_max - e->result->n_bytes)
                r = -EFBIG;
        if (r == 0)
                r = keep(e, name, &text, err);
        else if (r == -ENOMEM)
                (void)error_set(err, r, "no memory for the sources");
        else {
                e->result->n_over_limit += r == -EFBIG;
                e->result->n_no_text += r == -EINVAL;
                e->result->n_withheld += r == -EPERM;
                e->result->n_missing += r != -EFBIG && r != -EINVAL && r != -EPERM;
                r = 0;
        }
        byte_buffer_deinit(&text);
        return r;
}

static void mark_known(struct source_embedder *e)
{
        uint32_t n_rows = trace_dictionary_count(e->dictionary, TRACE_TABLE_ATTACHMENTS);

        for (uint32_t id = 1; id <= n_rows; id++) {
                const struct trace_attachment *row = trace_dictionary_row(e->dictionary,
                                                                          TRACE_TABLE_ATTACHMENTS, id);

                if (row->kind != TRACE_ATTACHMENT_SOURCE_TEXT || was_done(e, row->name))
                        continue;
                mark_done(e, row->name);
                e->result->n_known += row->name != 0;
        }
        mark_done(e, 0);
}

/* Counts these losses in the same way as texts of the program that found no room. */
static int count_left_out(struct source_embedder *e, struct error *err)
{
        struct trace_loss loss = { .reason = TRACE_LOSS_ATTACHMENTS_FULL, .count = e->result->n_over_limit };
        uint32_t id;
        int r = loss.count ? trace_dictionary_add(e->dictionary, TRACE_TABLE_LOSSES, &loss, &id) : 0;

        return r < 0 ? error_set(err, r, "no room for what was lost") : 0;
}

int source_embedder_run(const struct source_embedder_options *options, struct trace_dictionary *dictionary,
                        struct trace_writer *writer, struct source_embedder_result *ret, struct error *err)
{
        struct source_embedder e = {
                .options = options, .dictionary = dictionary, .writer = writer, .result = ret
        };
        uint32_t n_symbols = trace_dictionary_count(dictionary, TRACE_TABLE_SYMBOLS);
        int r = 0;

        *ret = (struct source_embedder_result){ .n_kept = 0 };
        e.is_done = calloc((size_t)trace_dictionary_count(dictionary, TRACE_TABLE_STRINGS) / 8 + 1, 1);
        if (!e.is_done)
                return error_set(err, -ENOMEM, "no memory for the sources");
        mark_known(&e);
        for (uint32_t id = 1; id <= n_symbols && r == 0; id++) {
                const struct trace_symbol *row = trace_dictionary_row(dictionary, TRACE_TABLE_SYMBOLS, id);

                if (row->line == 0 || was_done(&e, row->file))
                        continue;
                mark_done(&e, row->file);
                r = embed(&e, row->file, err);
        }
        if (r == 0)
                r = count_left_out(&e, err);
        free(e.is_done);
        return r;
}
