/* SPDX-License-Identifier: MIT */
#include "symbolize/process/symbol_stream.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "format/trace_rows.h"
#include "symbolize/images/image_finder.h"

#include <errno.h>
#include <string.h>

#define LENGTH_BYTES 4
#define KNOWN_FLAGS  (TRACE_SYMBOL_INLINED | TRACE_SYMBOL_STALE_FILE | TRACE_SYMBOL_UNNAMED)
#define ERRNO_MAX    4095

/* Opens a record: its length is filled in when it is whole. */
static size_t begin_record(struct byte_buffer *out, enum symbol_stream_kind kind)
{
        size_t begin = out->used_bytes;

        byte_buffer_add_u32(out, 0);
        byte_buffer_add_varint(out, kind);
        return begin;
}

static void end_record(struct byte_buffer *out, size_t begin)
{
        size_t body_bytes;

        if (out->failed)
                return;
        body_bytes = out->used_bytes - begin - LENGTH_BYTES;
        for (size_t i = 0; i < LENGTH_BYTES; i++)
                out->data[begin + i] = (uint8_t)(body_bytes >> 8 * i);
}

/* Adds the length + 1 and the text; 0 stands for an unknown text. */
static void add_text(struct byte_buffer *out, const char *text)
{
        size_t n_bytes = text ? strnlen(text, SYMBOLIZER_TEXT_MAX) : 0;

        byte_buffer_add_varint(out, text ? n_bytes + 1 : 0);
        byte_buffer_add(out, text, n_bytes);
}

void symbol_stream_encode_module(struct byte_buffer *out, uint32_t module)
{
        size_t begin = begin_record(out, SYMBOL_STREAM_MODULE);

        byte_buffer_add_varint(out, module);
        end_record(out, begin);
}

void symbol_stream_encode_symbols(struct byte_buffer *out, uint32_t frame, const struct symbol *symbols,
                                  uint32_t n_symbols)
{
        size_t begin = begin_record(out, SYMBOL_STREAM_SYMBOLS);

        byte_buffer_add_varint(out, frame);
        byte_buffer_add_varint(out, n_symbols);
        for (uint32_t i = 0; i < n_symbols; i++) {
                byte_buffer_add_varint(out, symbols[i].flags);
                byte_buffer_add_varint(out, symbols[i].line);
                byte_buffer_add_varint(out, symbols[i].column);
                add_text(out, symbols[i].function);
                add_text(out, symbols[i].file);
                byte_buffer_add_varint(out, symbols[i].start_svma);
                add_text(out, symbols[i].declared_file);
                byte_buffer_add_varint(out, symbols[i].declared_line);
                byte_buffer_add_varint(out, symbols[i].instance);
                add_text(out, symbols[i].aliases);
        }
        end_record(out, begin);
}

void symbol_stream_encode_finding(struct byte_buffer *out, const struct module_finding *finding)
{
        size_t begin = begin_record(out, SYMBOL_STREAM_FINDING);

        byte_buffer_add_varint(out, finding->module);
        byte_buffer_add_varint(out, finding->source);
        byte_buffer_add_varint(out, finding->n_frames);
        byte_buffer_add_varint(out, finding->n_named);
        byte_buffer_add_varint(out, finding->n_lines);
        add_text(out, finding->path);
        end_record(out, begin);
}

void symbol_stream_encode_index(struct byte_buffer *out, const void *bytes, size_t n_bytes)
{
        size_t begin = begin_record(out, SYMBOL_STREAM_INDEX);

        byte_buffer_add_varint(out, n_bytes + 1);
        byte_buffer_add(out, bytes, n_bytes);
        end_record(out, begin);
}

void symbol_stream_encode_end(struct byte_buffer *out, int code, const char *words)
{
        size_t begin = begin_record(out, SYMBOL_STREAM_END);

        byte_buffer_add_varint(out, (uint64_t)-code);
        add_text(out, words);
        end_record(out, begin);
}

/* A number of at most @max; anything over it spoils the reader. */
static uint32_t decode_number(struct byte_reader *in, uint32_t max)
{
        uint64_t v = bytes_varint(in);

        if (v > max)
                in->short_read = true;
        return v > max ? 0 : (uint32_t)v;
}

static struct symbol_stream_text decode_text(struct byte_reader *in)
{
        uint32_t n = decode_number(in, SYMBOLIZER_TEXT_MAX + 1);
        struct symbol_stream_text text = { .bytes = NULL };

        if (n > 0) {
                text.n_bytes = n - 1;
                text.bytes = (const char *)bytes_take(in, text.n_bytes);
        }
        return text;
}

static void decode_rows(struct byte_reader *in, struct symbol_stream_record *record)
{
        record->n_rows = decode_number(in, SYMBOLIZER_CHAIN_MAX);
        if (record->n_rows == 0)
                in->short_read = true;
        for (uint32_t i = 0; i < record->n_rows && !in->short_read; i++) {
                struct symbol_stream_row *row = &record->rows[i];

                row->flags = decode_number(in, UINT32_MAX);
                row->line = decode_number(in, UINT32_MAX);
                row->column = decode_number(in, UINT32_MAX);
                row->function = decode_text(in);
                row->file = decode_text(in);
                row->start_svma = bytes_varint(in);
                row->declared_file = decode_text(in);
                row->declared_line = decode_number(in, UINT32_MAX);
                row->instance = decode_number(in, UINT32_MAX);
                row->aliases = decode_text(in);
                /* Each row but the last must say that another row follows. */
                if (row->flags & ~KNOWN_FLAGS ||
                    !(row->flags & TRACE_SYMBOL_INLINED) != (i + 1 == record->n_rows))
                        in->short_read = true;
        }
}

static void decode_finding(struct byte_reader *in, struct symbol_stream_record *record)
{
        record->finding = (struct module_finding){ .module = record->id };
        record->finding.source = decode_number(in, IMAGE_SOURCE_TRACE);
        record->finding.n_frames = decode_number(in, UINT32_MAX);
        record->finding.n_named = decode_number(in, record->finding.n_frames);
        record->finding.n_lines = decode_number(in, record->finding.n_frames);
        record->words = decode_text(in);
}

static void decode_body(struct byte_reader *body, struct symbol_stream_record *record)
{
        record->kind = (enum symbol_stream_kind)decode_number(body, SYMBOL_STREAM_INDEX);
        switch (record->kind) {
        case SYMBOL_STREAM_MODULE:
                record->id = decode_number(body, UINT32_MAX);
                break;
        case SYMBOL_STREAM_SYMBOLS:
                record->id = decode_number(body, UINT32_MAX);
                decode_rows(body, record);
                break;
        case SYMBOL_STREAM_END:
                record->code = -(int)decode_number(body, ERRNO_MAX);
                record->words = decode_text(body);
                break;
        case SYMBOL_STREAM_FINDING:
                record->id = decode_number(body, UINT32_MAX);
                decode_finding(body, record);
                break;
        case SYMBOL_STREAM_INDEX:
                record->words = decode_text(body);
                break;
        default:
                body->short_read = true;
        }
}

int symbol_stream_decode(struct byte_reader *in, struct symbol_stream_record *ret_record, struct error *err)
{
        struct byte_reader ahead = *in;
        uint32_t body_bytes = bytes_u32(&ahead);
        struct byte_reader body;

        if (ahead.short_read)
                return 0;
        if (body_bytes > SYMBOL_STREAM_RECORD_MAX)
                return error_set(err, -EBADMSG, "symbolizer: a record of %u bytes", body_bytes);
        if (body_bytes > ahead.left)
                return 0;
        body = byte_reader_of(bytes_take(&ahead, body_bytes), body_bytes);
        decode_body(&body, ret_record);
        if (!bytes_all_used(&body))
                return error_set(err, -EBADMSG, "symbolizer: a malformed record of %u bytes", body_bytes);
        *in = ahead;
        return 1;
}
