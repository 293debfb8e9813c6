/* SPDX-License-Identifier: MIT */
#include "format/event_decoder.h"

#include "base/error.h"
#include "format/trace_column.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define VARINT_BYTES 10 /* of the longest */

/* Keeps the bytes of a column; a column of an op or operand that this version does not know is ignored. */
static int set_column(struct event_decoder *d, const struct trace_column_entry *entry, struct error *err)
{
        uint64_t op = entry->column / TRACE_COLUMNS_PER_OP;
        uint64_t operand = entry->column % TRACE_COLUMNS_PER_OP;
        struct byte_reader *column;

        if (entry->column == TRACE_COLUMN_OP)
                column = &d->ops;
        else if (entry->column == TRACE_COLUMN_TIME)
                column = &d->times;
        else if (op < TRACE_OP_COUNT && operand < TRACE_OPERANDS_MAX)
                column = &d->operands[op][operand];
        else
                return 0;
        if (column->at)
                return error_set(err, -EBADMSG, "column %" PRIu64 " appears twice", entry->column);
        *column = entry->bytes;
        return 0;
}

int event_decoder_init(struct event_decoder *d, const struct trace_dictionary *dictionary,
                       const uint8_t *body, size_t body_bytes, struct error *err)
{
        struct byte_reader in = byte_reader_of(body, body_bytes);
        uint64_t n_runs = bytes_varint(&in);
        struct byte_reader runs = in;
        struct trace_column_entry entry;
        struct trace_column_list list;
        int r;

        memset(d, 0, sizeof(*d));
        for (uint64_t i = 0; i < n_runs && !in.short_read; i++) {
                (void)bytes_varint(&in); /* thread */
                (void)bytes_varint(&in); /* events */
                (void)bytes_varint(&in); /* first time */
        }
        if (in.short_read)
                return error_set(err, -EBADMSG, "table of %" PRIu64 " runs is cut off", n_runs);

        d->dictionary = dictionary;
        d->n_locations = trace_dictionary_count(dictionary, TRACE_TABLE_LOCATIONS);
        d->runs = runs;
        d->n_runs_left = n_runs;
        r = trace_column_list_init(&list, in, err);
        if (r < 0)
                return r;
        while ((r = trace_column_list_next(&list, &entry, err)) == 1) {
                r = set_column(d, &entry, err);
                if (r < 0)
                        return r;
        }
        return r;
}

int event_decoder_next_run(struct event_decoder *d, struct event_run *ret_run, struct error *err)
{
        struct trace_event skipped;
        uint64_t thread, n_events;
        int r;

        while ((r = event_decoder_next(d, &skipped, err)) == 1)
                ;
        if (r < 0)
                return r;
        if (d->n_runs_left == 0) {
                if (d->ops.left > 0)
                        return error_set(err, -EBADMSG, "%zu events after the last run", d->ops.left);
                return 0;
        }

        thread = bytes_varint(&d->runs);
        n_events = bytes_varint(&d->runs);
        d->now_ns = trace_column_next(&d->runs, TRACE_ENCODING_DELTA, &d->run_first_ns);
        if (thread < 1 || thread > trace_dictionary_count(d->dictionary, TRACE_TABLE_THREADS))
                return error_set(err, -EBADMSG, "run of thread %" PRIu64 ", which does not exist", thread);
        if (n_events > d->ops.left)
                return error_set(err, -EBADMSG, "run of %" PRIu64 " events, %zu are there", n_events,
                                 d->ops.left);
        d->n_runs_left--;
        d->n_events_left = (uint32_t)n_events;
        *ret_run = (struct event_run){ .thread = (uint32_t)thread, .n_events = (uint32_t)n_events };
        return 1;
}

static int decode_text(struct event_decoder *d, const struct trace_operand *operand, uint32_t i,
                       struct trace_event *event, struct error *err)
{
        struct byte_reader *column = &d->operands[event->op][i];

        event->text = trace_column_next_text(column, &event->operand[i]);
        if (!event->text)
                return error_set(err, -EBADMSG, "event %" PRIu64 ": %s is cut off", event->op, operand->name);
        return 0;
}

static int decode_operand(struct event_decoder *d, const struct trace_operand *operand, uint32_t i,
                          struct trace_event *event, struct error *err)
{
        struct byte_reader *column = &d->operands[event->op][i];
        uint64_t value, limit = UINT64_MAX;

        if (operand->appended && !column->at) {
                event->operand[i] = 0;
                return 0;
        }
        value = trace_column_next(column, operand->encoding, &d->previous[event->op][i]);
        if (operand->reference != TRACE_REFERENCE_NONE)
                limit = trace_dictionary_count(d->dictionary, (enum trace_table)operand->table);
        if (operand->reference == TRACE_REFERENCE_SUCCESSOR)
                limit += TRACE_SUCCESSOR_OTHER;
        if (column->short_read)
                return error_set(err, -EBADMSG, "event %" PRIu64 ": %s is cut off", event->op, operand->name);
        if (value > limit || (value == 0 && operand->reference == TRACE_REFERENCE_REQUIRED))
                return error_set(err, -EBADMSG, "event %" PRIu64 ": %s is %" PRIu64 ", at most %" PRIu64,
                                 event->op, operand->name, value, limit);
        event->operand[i] = value;
        return 0;
}

static int decode_operands(struct event_decoder *d, const struct trace_op_schema *schema,
                           struct trace_event *event, struct error *err)
{
        for (uint32_t i = 0; i < schema->n_operands; i++) {
                const struct trace_operand *operand = &schema->operands[i];
                int r = operand->encoding == TRACE_ENCODING_TEXT ? decode_text(d, operand, i, event, err)
                                                                 : decode_operand(d, operand, i, event, err);

                if (r < 0)
                        return r;
        }
        return 1;
}

/*
 * A fast check without the schema, which nearly every event passes.  Returns false if the schema has to
 * judge.
 */
static bool decode_zone_begin(struct event_decoder *d, struct trace_event *event)
{
        struct byte_reader *column = &d->operands[TRACE_OP_ZONE_BEGIN][0];
        struct byte_reader before = *column;
        uint64_t location = bytes_varint(column);

        if (location - 1 < d->n_locations && !column->short_read) {
                event->zone_begin.location = location;
                return true;
        }
        *column = before;
        return false;
}

int event_decoder_next(struct event_decoder *d, struct trace_event *ret_event, struct error *err)
{
        while (d->n_events_left > 0) {
                uint8_t op = bytes_u8(&d->ops);
                uint64_t delta_ns = bytes_varint(&d->times);
                const struct trace_op_schema *schema;

                if (d->ops.short_read || d->times.short_read ||
                    __builtin_add_overflow(d->now_ns, delta_ns, &d->now_ns))
                        return error_set(err, -EBADMSG, "run: an event is cut off or its time is impossible");
                d->n_events_left--;
                ret_event->op = op;
                ret_event->time_ns = d->now_ns;
                ret_event->text = NULL;
                if (op == TRACE_OP_ZONE_END || (op == TRACE_OP_ZONE_BEGIN && decode_zone_begin(d, ret_event)))
                        return 1;
                schema = trace_op_schema_find(op);
                if (schema)
                        return decode_operands(d, schema, ret_event, err);
                /*
                 * An unknown op has columns of its own for its operands, so skipping it disturbs no other
                 * event.
                 */
                d->n_unknown_ops++;
        }
        return 0;
}

/*
 * Reads a varint of any length; VARINT_BYTES bytes must be readable.  Returns its length; 0 = it is
 * malformed.
 */
static size_t take_varint(const uint8_t *at, uint64_t *ret_value)
{
        struct byte_reader in = byte_reader_of(at, VARINT_BYTES);

        *ret_value = bytes_varint(&in);
        return in.short_read ? 0 : VARINT_BYTES - in.left;
}

/*
 * All state is in registers, and no branch depends on the kind of the next zone event, since no processor
 * predicts how they alternate.  Two bytes of location are read before it is known whether the event has
 * one.
 */
uint32_t event_decoder_next_zones(struct event_decoder *d, struct packed_event *events, uint32_t n_max)
{
        struct byte_reader *column = &d->operands[TRACE_OP_ZONE_BEGIN][0];
        const uint8_t *op_at = d->ops.at, *time_at = d->times.at, *location_at = column->at;
        size_t time_left = d->times.left, location_left = column->left;
        uint64_t now_ns = d->now_ns;
        uint32_t n = 0;

        if (n_max > d->n_events_left)
                n_max = d->n_events_left;
        if (n_max > d->ops.left)
                n_max = (uint32_t)d->ops.left;
        if (d->ops.short_read || d->times.short_read || column->short_read)
                return 0;
        while (n < n_max && time_left >= VARINT_BYTES && location_left >= 2) {
                uint32_t op = op_at[n], is_begin = op == TRACE_OP_ZONE_BEGIN;
                unsigned more = time_at[0] >> 7, has_two = location_at[0] >> 7;
                uint64_t delta_ns = (time_at[0] & 0x7fU) | ((unsigned)time_at[1] << 7 & (0U - more));
                uint32_t location = (location_at[0] & 0x7fU) |
                                    ((uint32_t)location_at[1] << 7 & (0U - has_two));
                size_t n_bytes = 1 + more;
                uint64_t then_ns;

                if (op != TRACE_OP_ZONE_BEGIN && op != TRACE_OP_ZONE_END)
                        break;
                if (more & time_at[1] >> 7)
                        n_bytes = take_varint(time_at, &delta_ns);
                if (n_bytes == 0 || __builtin_add_overflow(now_ns, delta_ns, &then_ns) ||
                    (is_begin &
                     (unsigned)((has_two & location_at[1] >> 7) | (location - 1 >= d->n_locations))))
                        break;
                now_ns = then_ns;
                events[n++] = (struct packed_event){ .time_ns = now_ns,
                                                     .op = op,
                                                     .value = location & (0U - is_begin) };
                time_at += n_bytes;
                time_left -= n_bytes;
                n_bytes = (size_t)is_begin * (1 + has_two);
                location_at += n_bytes;
                location_left -= n_bytes;
        }
        if (n == 0) /* a block without events may have no bytes either */
                return 0;
        d->ops = (struct byte_reader){ .at = op_at + n, .left = d->ops.left - n };
        d->times = (struct byte_reader){ .at = time_at, .left = time_left };
        *column = (struct byte_reader){ .at = location_at, .left = location_left };
        d->now_ns = now_ns;
        d->n_events_left -= n;
        return n;
}
