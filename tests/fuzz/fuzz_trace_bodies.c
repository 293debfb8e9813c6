/* SPDX-License-Identifier: MIT */
/*
 * format/trace_dictionary.c, event_decoder.c, attachment_chunk.c: what a body brings can be encoded and comes
 * back the same; else nothing changes
 */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/attachment_chunk.h"
#include "format/event_decoder.h"
#include "format/event_encoder.h"
#include "format/trace_dictionary.h"
#include "format/trace_schema.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define N_ROWS 3 /* of each table, so that ids lead somewhere */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
        if (!holds)
                abort();
}

/*
 * References within a table are to the row before; other numbers are the row's, and so
 * differ from row to row.
 */
static void add_row(struct trace_dictionary *d, const struct trace_schema *schema, uint32_t i)
{
        _Alignas(8) uint8_t row[TRACE_ROW_BYTES_MAX] = { 0 };
        uint32_t id;

        for (uint32_t f = 0; f < schema->n_fields; f++) {
                uint64_t value = i;

                if (schema->fields[f].reference == TRACE_REFERENCE_EARLIER)
                        value = i - 1;
                trace_field_set(&schema->fields[f], row, value);
        }
        if (schema->table == TRACE_TABLE_STRINGS)
                require(trace_dictionary_add_string(d, "abc", i, &id) == 0);
        else
                require(trace_dictionary_add(d, schema->table, row, &id) == 0);
}

/* A dictionary whose rows count as written already. */
static void fill(struct trace_dictionary *d)
{
        struct byte_buffer body = { .data = NULL };

        trace_dictionary_init(d, 0);
        for (uint32_t table = TRACE_TABLE_FIRST; table < TRACE_TABLE_FIRST + TRACE_TABLE_COUNT; table++) {
                uint32_t n;

                for (uint32_t i = 1; i <= N_ROWS; i++)
                        add_row(d, trace_schema_find(table), i);
                require(trace_dictionary_encode(d, (enum trace_table)table, &body, &n) == 0);
        }
        byte_buffer_deinit(&body);
}

static void compare_tables(const struct trace_dictionary *a, const struct trace_dictionary *b,
                           enum trace_table table)
{
        size_t index = (size_t)table - TRACE_TABLE_FIRST;

        require(trace_dictionary_count(a, table) == trace_dictionary_count(b, table));
        for (uint32_t id = 1; id <= trace_dictionary_count(a, table); id++) {
                size_t a_bytes, b_bytes;
                const void *a_row = intern_get(&a->tables[index], id, &a_bytes);
                const void *b_row = intern_get(&b->tables[index], id, &b_bytes);

                require(a_bytes == b_bytes && memcmp(a_row, b_row, a_bytes) == 0);
        }
}

static void fuzz_table(enum trace_table table, const uint8_t *data, size_t size)
{
        struct byte_buffer body = { .data = NULL };
        struct trace_dictionary d, again;
        struct error err = ERROR_NONE;
        struct trace_row_range rows, again_rows;
        uint32_t n_encoded;
        int r;

        fill(&d);
        fill(&again);
        r = trace_dictionary_decode(&d, table, data, size, &rows, &err);
        if (r == 0) {
                require(rows.first_id == N_ROWS + 1 &&
                        rows.n_rows + N_ROWS == trace_dictionary_count(&d, table));
                require(trace_dictionary_encode(&d, table, &body, &n_encoded) == 0 &&
                        n_encoded == rows.n_rows);
                if (rows.n_rows > 0)
                        require(trace_dictionary_decode(&again, table, body.data, body.used_bytes,
                                                        &again_rows, NULL) == 0);
        } else {
                require(r == -EBADMSG && err.code == r && err.text[0] != '\0');
        }
        compare_tables(&d, &again, table);
        byte_buffer_deinit(&body);
        trace_dictionary_deinit(&d);
        trace_dictionary_deinit(&again);
}

/* Decodes a body and encodes what is in it. */
static int copy_events(const struct trace_dictionary *d, const uint8_t *body, size_t body_bytes,
                       struct event_encoder *encoder, struct error *err)
{
        struct event_decoder decoder;
        struct trace_event event;
        struct event_run run;
        int r = event_decoder_init(&decoder, d, body, body_bytes, err);

        while (r == 0 && (r = event_decoder_next_run(&decoder, &run, err)) == 1) {
                event_encoder_begin_run(encoder, run.thread);
                while ((r = event_decoder_next(&decoder, &event, err)) == 1) {
                        if (event.text)
                                require((const uint8_t *)event.text > body &&
                                        (const uint8_t *)event.text + event.operand[0] <= body + body_bytes);
                        event_encoder_add(encoder, &event);
                }
                event_encoder_end_run(encoder);
        }
        return r;
}

static uint32_t take(struct event_encoder *encoder, struct byte_buffer *body)
{
        uint64_t first_ns, last_ns;
        uint32_t n_events;

        require(event_encoder_take(encoder, body, &first_ns, &last_ns, &n_events) == 0);
        require(first_ns <= last_ns);
        return n_events;
}

/* Events that were encoded once more are the same body the second time: nothing was lost or changed. */
static void fuzz_events(const uint8_t *data, size_t size)
{
        struct byte_buffer once = { .data = NULL };
        struct byte_buffer twice = { .data = NULL };
        struct event_encoder encoder;
        struct trace_dictionary d;
        struct error err = ERROR_NONE;
        uint32_t n_events;
        int r;

        fill(&d);
        event_encoder_init(&encoder);
        r = copy_events(&d, data, size, &encoder, &err);
        require(r == 0 || (r == -EBADMSG && err.code == r && err.text[0] != '\0'));
        n_events = take(&encoder, &once);
        if (n_events > 0) {
                require(copy_events(&d, once.data, once.used_bytes, &encoder, &err) == 0);
                require(take(&encoder, &twice) == n_events);
                require(once.used_bytes == twice.used_bytes &&
                        memcmp(once.data, twice.data, once.used_bytes) == 0);
        }
        byte_buffer_deinit(&once);
        byte_buffer_deinit(&twice);
        event_encoder_deinit(&encoder);
        trace_dictionary_deinit(&d);
}

/*
 * A part that was encoded once more is the same part; what was taken belongs to an attachment that there is.
 */
static void fuzz_attachment(const uint8_t *data, size_t size)
{
        struct byte_buffer body = { .data = NULL };
        struct attachment_chunk part, again;
        struct error err = ERROR_NONE;
        struct trace_dictionary d;
        int r;

        fill(&d);
        r = attachment_chunk_decode(&d, data, size, &part, &err);
        require(r == 0 || (r == -EBADMSG && err.code == r && err.text[0] != '\0'));
        if (r == 0) {
                require(part.attachment >= 1 && part.attachment <= N_ROWS);
                require(part.offset_bytes + part.n_bytes <= part.attachment); /* their sizes, see add_row() */
                require(part.bytes >= data && part.bytes + part.n_bytes == data + size);
                require(attachment_chunk_encode(&part, &body) == 0);
                require(attachment_chunk_decode(&d, body.data, body.used_bytes, &again, NULL) == 0);
                require(again.attachment == part.attachment && again.offset_bytes == part.offset_bytes &&
                        again.n_bytes == part.n_bytes && memcmp(again.bytes, part.bytes, part.n_bytes) == 0);
        }
        byte_buffer_deinit(&body);
        trace_dictionary_deinit(&d);
}

/* The first byte is the kind of the chunk that the rest is the body of. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size < 1)
                return 0;
        if (trace_schema_find(data[0]))
                fuzz_table((enum trace_table)data[0], data + 1, size - 1);
        else if (data[0] == TRACE_CHUNK_ATTACHMENT)
                fuzz_attachment(data + 1, size - 1);
        else
                fuzz_events(data + 1, size - 1);
        return 0;
}
