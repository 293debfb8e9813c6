/* SPDX-License-Identifier: MIT */
#include "format/trace_dump.h"

#include "base/bytes.h"
#include "base/content_hash.h"
#include "base/error.h"
#include "format/attachment_chunk.h"
#include "format/event_decoder.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"
#include "format/trace_schema.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* The bytes of a struct trace_item may be anything: only printable ASCII is printed as it is. */
static void put_quoted(FILE *out, const char *text, size_t n_bytes)
{
        (void)fputc('"', out);
        for (size_t i = 0; i < n_bytes; i++) {
                unsigned char c = (unsigned char)text[i];

                if (c == '"' || c == '\\')
                        (void)fprintf(out, "\\%c", c);
                else if (c >= 0x20 && c < 0x7f)
                        (void)fputc(c, out);
                else
                        (void)fprintf(out, "\\x%02x", c);
        }
        (void)fputc('"', out);
}

static void put_number(FILE *out, const char *name, uint64_t value, unsigned show)
{
        double number;

        (void)fprintf(out, " %s=", name);
        switch ((enum trace_show)show) {
        case TRACE_SHOW_DIGEST: /* of texts only */
        case TRACE_SHOW_DECIMAL:
                (void)fprintf(out, "%" PRIu64, value);
                break;
        case TRACE_SHOW_HEX:
                (void)fprintf(out, "0x%" PRIx64, value);
                break;
        case TRACE_SHOW_SIGNED:
                (void)fprintf(out, "%" PRId64, (int64_t)value);
                break;
        case TRACE_SHOW_DOUBLE:
                memcpy(&number, &value, sizeof(number));
                (void)fprintf(out, "%.17g", number);
                break;
        }
}

static void put_row(FILE *out, const struct trace_dictionary *d, const struct trace_schema *schema,
                    uint32_t id)
{
        const void *row;

        (void)fprintf(out, "%s id=%" PRIu32, schema->name, id);
        if (schema->table == TRACE_TABLE_STRINGS) {
                size_t n_bytes;
                const char *text = trace_dictionary_string(d, id, &n_bytes);

                (void)fprintf(out, " text=");
                put_quoted(out, text, n_bytes);
        } else {
                row = trace_dictionary_row(d, schema->table, id);
                for (uint32_t i = 0; i < schema->n_fields; i++) {
                        const struct trace_field *field = &schema->fields[i];

                        put_number(out, field->name, trace_field_get(field, row), field->show);
                }
        }
        (void)fputc('\n', out);
}

void trace_dump_put_tables(const struct trace_dictionary *dictionary, FILE *out)
{
        for (uint32_t table = TRACE_TABLE_FIRST; table < TRACE_TABLE_FIRST + TRACE_TABLE_COUNT; table++) {
                const struct trace_schema *schema = trace_schema_find(table);
                uint32_t n_rows = schema ? trace_dictionary_count(dictionary, schema->table) : 0;

                for (uint32_t id = 1; id <= n_rows && !ferror(out); id++)
                        put_row(out, dictionary, schema, id);
        }
}

/*
 * A text comes last, as in the rows of the table STRINGS, so that its contents cannot be mistaken for an
 * operand.
 */
void trace_dump_put_event(uint32_t thread, const struct trace_event *event, FILE *out)
{
        const struct trace_op_schema *schema = trace_op_schema_find(event->op);

        (void)fprintf(out, "%s thread=%" PRIu32 " time_ns=%" PRIu64, schema->name, thread, event->time_ns);
        for (uint32_t i = 0; i < schema->n_operands; i++) {
                const struct trace_operand *operand = &schema->operands[i];

                if (operand->encoding != TRACE_ENCODING_TEXT)
                        put_number(out, operand->name, event->operand[i], operand->show);
        }
        for (uint32_t i = 0; i < schema->n_operands; i++) {
                if (schema->operands[i].encoding != TRACE_ENCODING_TEXT)
                        continue;
                (void)fprintf(out, " %s=", schema->operands[i].name);
                if (schema->operands[i].show == TRACE_SHOW_DIGEST)
                        (void)fprintf(out, "%" PRIu64 ":%016" PRIx64, event->operand[i],
                                      content_hash(event->text, event->operand[i]));
                else
                        put_quoted(out, event->text, event->operand[i]);
        }
        (void)fputc('\n', out);
}

/* @prefix: before each line */
static int put_events(FILE *out, const char *prefix, const struct trace_dictionary *d,
                      const struct trace_item *item, struct error *err)
{
        struct event_decoder decoder;
        struct trace_event event;
        struct event_run run;
        int r = event_decoder_init(&decoder, d, item->body, item->body_bytes, err);

        if (r < 0)
                return r;
        while ((r = event_decoder_next_run(&decoder, &run, err)) == 1) {
                (void)fprintf(out, "%srun thread=%" PRIu32 " events=%" PRIu32 "\n", prefix, run.thread,
                              run.n_events);
                while ((r = event_decoder_next(&decoder, &event, err)) == 1) {
                        (void)fputs(prefix, out);
                        trace_dump_put_event(run.thread, &event, out);
                }
                if (r < 0)
                        return r;
        }
        if (decoder.n_unknown_ops > 0)
                (void)fprintf(out, "unknown_events count=%" PRIu64 "\n", decoder.n_unknown_ops);
        return r;
}

static void put_index(FILE *out, const struct trace_item *item)
{
        struct byte_reader in = byte_reader_of(item->body, item->body_bytes);

        while (in.left > 0 && !in.short_read) {
                uint64_t kind = bytes_varint(&in);
                uint64_t offset = bytes_varint(&in);
                uint64_t n_items = bytes_varint(&in);
                uint64_t first_ns = bytes_varint(&in);
                uint64_t span_ns = bytes_varint(&in);

                if (!in.short_read)
                        (void)fprintf(out,
                                      "index kind=%" PRIu64 " offset=%" PRIu64 " items=%" PRIu64
                                      " first_ns=%" PRIu64 " span_ns=%" PRIu64 "\n",
                                      kind, offset, n_items, first_ns, span_ns);
        }
}

static int put_attachment(FILE *out, const struct trace_dictionary *d, const struct trace_item *item,
                          struct error *err)
{
        struct attachment_chunk part;
        int r = attachment_chunk_decode(d, item->body, item->body_bytes, &part, err);

        if (r < 0)
                return r;
        (void)fprintf(out, "attachment_part attachment=%" PRIu32 " offset=%" PRIu64 " bytes=%zu\n",
                      part.attachment, part.offset_bytes, part.n_bytes);
        return 0;
}

static int put_item(FILE *out, const struct trace_dictionary *d, const struct trace_item *item,
                    struct error *err)
{
        const struct trace_schema *schema = trace_schema_find(item->header.kind);

        (void)fprintf(out,
                      "chunk offset=%" PRIu64 " kind=%u codec=%u stored_bytes=%" PRIu32 " raw_bytes=%" PRIu32
                      " items=%" PRIu32 " first_ns=%" PRIu64 " last_ns=%" PRIu64,
                      item->file_offset_bytes, item->header.kind, item->header.codec,
                      item->header.stored_bytes, item->header.raw_bytes, item->header.n_items,
                      item->header.first_ns, item->header.last_ns);
        if (item->header.flags != 0)
                (void)fprintf(out, " flags=0x%" PRIx32, item->header.flags);
        (void)fputc('\n', out);
        if (schema) {
                for (uint32_t i = 0; i < item->rows.n_rows; i++)
                        put_row(out, d, schema, item->rows.first_id + i);
        } else if (item->header.kind == TRACE_CHUNK_EVENTS) {
                return put_events(out, "", d, item, err);
        } else if (item->header.kind == TRACE_CHUNK_STATES) {
                return put_events(out, "state ", d, item, err);
        } else if (item->header.kind == TRACE_CHUNK_ATTACHMENT) {
                return put_attachment(out, d, item, err);
        } else if (item->header.kind == TRACE_CHUNK_INDEX) {
                put_index(out, item);
        }
        return 0;
}

int trace_dump_write(struct trace_reader *reader, FILE *out, struct error *err)
{
        struct trace_item item;
        int r;

        while ((r = trace_reader_next(reader, &item, err)) == 1) {
                r = put_item(out, trace_reader_dictionary(reader), &item, err);
                if (r < 0)
                        return error_prefix(err, r, "chunk at byte %" PRIu64, item.file_offset_bytes);
                if (ferror(out))
                        return 0; /* the caller looks */
        }
        return r;
}
