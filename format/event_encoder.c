/* SPDX-License-Identifier: MIT */
#include "format/event_encoder.h"

#include "format/trace_column.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define EVENTS_AT_ONCE ((size_t)256) /* that room is made for */

void event_encoder_init(struct event_encoder *e)
{
        uint32_t n = 0;

        memset(e, 0, sizeof(*e));
        for (uint64_t op = 1; op < TRACE_OP_COUNT; op++) {
                e->first_operand[op] = (uint8_t)n;
                n += trace_op_schema_find(op)->n_operands;
        }
        assert(n == TRACE_OPERANDS_TOTAL);
}

void event_encoder_deinit(struct event_encoder *e)
{
        byte_buffer_deinit(&e->runs);
        byte_buffer_deinit(&e->ops);
        byte_buffer_deinit(&e->times);
        for (size_t i = 0; i < TRACE_OPERANDS_TOTAL; i++)
                byte_buffer_deinit(&e->operands[i]);
}

void event_encoder_begin_run(struct event_encoder *e, uint32_t thread)
{
        assert(thread != 0 && e->run_thread == 0);
        e->run_thread = thread;
        e->run_first_event = e->ops.used_bytes;
        e->n_events_fit = e->ops.used_bytes; /* the first event stops by at event_encoder_make_room() */
}

bool event_encoder_make_room(struct event_encoder *e, uint64_t time_ns)
{
        size_t n_events = e->ops.used_bytes;
        size_t n_bytes = EVENTS_AT_ONCE * BYTE_BUFFER_VARINT_BYTES;

        assert(e->run_thread != 0);
        if (!byte_buffer_reserve(&e->ops, EVENTS_AT_ONCE) || !byte_buffer_reserve(&e->times, n_bytes) ||
            !byte_buffer_reserve(&e->operands[0], n_bytes))
                return false;
        e->n_events_fit = n_events + EVENTS_AT_ONCE;
        if (n_events == e->run_first_event) {
                e->run_first_ns = time_ns;
                e->last_ns = time_ns;
                if (n_events == 0 || time_ns < e->chunk_first_ns)
                        e->chunk_first_ns = time_ns;
        }
        return true;
}

void event_encoder_add_any(struct event_encoder *e, const struct trace_event *event)
{
        const struct trace_op_schema *schema = trace_op_schema_find(event->op);

        assert(schema);
        if (!event_encoder_put(e, (uint8_t)event->op, event->time_ns))
                return;
        for (uint32_t i = 0; i < schema->n_operands; i++) {
                size_t at = e->first_operand[event->op] + i;
                struct byte_buffer *column = &e->operands[at];
                unsigned encoding = schema->operands[i].encoding;

                if (encoding == TRACE_ENCODING_TEXT) {
                        assert(event->operand[i] <= TRACE_TEXT_BYTES_MAX);
                        trace_column_add_text(column, event->text, event->operand[i]);
                } else {
                        trace_column_add(column, encoding, &e->previous[at], event->operand[i]);
                }
        }
}

void event_encoder_text_zone(struct event_encoder *e, uint64_t time_ns, const char *text, size_t n_bytes)
{
        struct byte_buffer *columns = &e->operands[e->first_operand[TRACE_OP_ZONE_TEXT]];

        assert(n_bytes <= TRACE_TEXT_BYTES_MAX);
        if (!event_encoder_put(e, TRACE_OP_ZONE_TEXT, time_ns))
                return;
        trace_column_add_text(&columns[0], text, n_bytes);
        byte_buffer_add_varint(&columns[1], 0);
}

void event_encoder_end_run(struct event_encoder *e)
{
        size_t n_events = e->ops.used_bytes - e->run_first_event;

        assert(e->run_thread != 0);
        if (n_events > 0) {
                assert(e->last_ns >= e->run_first_ns);
                byte_buffer_add_varint(&e->runs, e->run_thread);
                byte_buffer_add_varint(&e->runs, n_events);
                trace_column_add(&e->runs, TRACE_ENCODING_DELTA, &e->previous_first_ns, e->run_first_ns);
                e->n_runs++;
                if (e->last_ns > e->chunk_last_ns)
                        e->chunk_last_ns = e->last_ns;
        }
        e->run_thread = 0;
        e->n_events_fit = e->ops.used_bytes; /* an event without a run is caught */
}

size_t event_encoder_count_bytes(const struct event_encoder *e)
{
        size_t n = e->runs.used_bytes + e->ops.used_bytes + e->times.used_bytes;

        for (size_t i = 0; i < TRACE_OPERANDS_TOTAL; i++)
                n += e->operands[i].used_bytes;
        return n;
}

/*
 * Called for every column; those that hold something are written.  The same walk is made twice: for the
 * list and for the bytes.
 */
static void put_column(struct byte_buffer *body, uint32_t id, const struct byte_buffer *column, bool list)
{
        if (column->used_bytes == 0)
                return;
        if (list) {
                byte_buffer_add_varint(body, id);
                byte_buffer_add_varint(body, column->used_bytes);
        } else {
                byte_buffer_add(body, column->data, column->used_bytes);
        }
}

static void put_columns(const struct event_encoder *e, struct byte_buffer *body, bool list)
{
        put_column(body, TRACE_COLUMN_OP, &e->ops, list);
        put_column(body, TRACE_COLUMN_TIME, &e->times, list);
        for (uint32_t op = 1; op < TRACE_OP_COUNT; op++)
                for (uint32_t i = 0; i < trace_op_schema_find(op)->n_operands; i++)
                        put_column(body, op * TRACE_COLUMNS_PER_OP + i,
                                   &e->operands[e->first_operand[op] + i], list);
}

static uint32_t count_columns(const struct event_encoder *e)
{
        uint32_t n = 2; /* op and time */

        for (size_t i = 0; i < TRACE_OPERANDS_TOTAL; i++)
                n += e->operands[i].used_bytes > 0;
        return n;
}

static bool any_failed(const struct event_encoder *e)
{
        bool failed = e->runs.failed || e->ops.failed || e->times.failed;

        for (size_t i = 0; i < TRACE_OPERANDS_TOTAL; i++)
                failed = failed || e->operands[i].failed;
        return failed;
}

static void clear(struct event_encoder *e)
{
        byte_buffer_clear(&e->runs);
        byte_buffer_clear(&e->ops);
        byte_buffer_clear(&e->times);
        for (size_t i = 0; i < TRACE_OPERANDS_TOTAL; i++)
                byte_buffer_clear(&e->operands[i]);
        memset(e->previous, 0, sizeof(e->previous));
        e->previous_first_ns = 0;
        e->n_runs = 0;
        e->n_events_fit = 0;
        e->chunk_first_ns = 0;
        e->chunk_last_ns = 0;
}

int event_encoder_take(struct event_encoder *e, struct byte_buffer *body, uint64_t *ret_first_ns,
                       uint64_t *ret_last_ns, uint32_t *ret_n_events)
{
        size_t n_events = e->ops.used_bytes;
        bool failed = any_failed(e);

        assert(e->run_thread == 0 && n_events <= UINT32_MAX);
        *ret_first_ns = e->chunk_first_ns;
        *ret_last_ns = e->chunk_last_ns;
        *ret_n_events = (uint32_t)n_events;
        if (n_events > 0 && !failed) {
                byte_buffer_add_varint(body, e->n_runs);
                byte_buffer_add(body, e->runs.data, e->runs.used_bytes);
                byte_buffer_add_varint(body, count_columns(e));
                put_columns(e, body, true);
                put_columns(e, body, false);
        }
        clear(e);
        return failed || body->failed ? -ENOMEM : 0;
}
