/* SPDX-License-Identifier: MIT */
#include "tests/unit/trace_builder.h"

#include "base/byte_buffer.h"
#include "format/attachment_chunk.h"
#include "format/trace_writer.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void trace_builder_init(struct trace_builder *b)
{
        *b = (struct trace_builder){ .fd = memfd_create("trace", MFD_CLOEXEC) };
        ck_assert_int_ge(b->fd, 0);
        (void)snprintf(b->path, sizeof(b->path), "/proc/self/fd/%d", b->fd);
        trace_dictionary_init(&b->dictionary, 0);
        event_encoder_init(&b->encoder);
        ck_assert_int_eq(trace_writer_new(b->fd, &b->writer, NULL), 0);
}

void trace_builder_deinit(struct trace_builder *b)
{
        trace_writer_free(b->writer);
        event_encoder_deinit(&b->encoder);
        trace_dictionary_deinit(&b->dictionary);
        (void)close(b->fd);
}

uint32_t trace_builder_row(struct trace_builder *b, enum trace_table table, const void *row)
{
        uint32_t id = 0;

        ck_assert_int_ge(trace_dictionary_add(&b->dictionary, table, row, &id), 0);
        return id;
}

uint32_t trace_builder_string(struct trace_builder *b, const char *text)
{
        uint32_t id = 0;

        ck_assert_int_ge(trace_dictionary_add_string(&b->dictionary, text, strlen(text), &id), 0);
        return id;
}

uint32_t trace_builder_thread(struct trace_builder *b, uint32_t pid, uint32_t tid)
{
        struct trace_process process = { .pid = pid };
        struct trace_thread thread = { .tid = tid };

        thread.process = trace_builder_row(b, TRACE_TABLE_PROCESSES, &process);
        return trace_builder_row(b, TRACE_TABLE_THREADS, &thread);
}

uint32_t trace_builder_fiber(struct trace_builder *b, uint32_t pid, uint32_t fiber)
{
        struct trace_process process = { .pid = pid };
        struct trace_thread thread = { .kind = TRACE_THREAD_FIBER, .fiber = fiber };

        thread.process = trace_builder_row(b, TRACE_TABLE_PROCESSES, &process);
        return trace_builder_row(b, TRACE_TABLE_THREADS, &thread);
}

uint32_t trace_builder_location(struct trace_builder *b, const char *name)
{
        struct trace_location location = {
                .name = trace_builder_string(b, name),
                .function = trace_builder_string(b, "work"),
                .file = trace_builder_string(b, "work.c"),
                .line = 12,
        };

        return trace_builder_row(b, TRACE_TABLE_LOCATIONS, &location);
}

uint32_t trace_builder_path(struct trace_builder *b, uint32_t parent, uint32_t location)
{
        struct trace_zone_path path = { .parent = parent, .location = location };

        return trace_builder_row(b, TRACE_TABLE_ZONE_PATHS, &path);
}

uint32_t trace_builder_sample_event(struct trace_builder *b, const char *name)
{
        struct trace_sample_event event = {
                .name = trace_builder_string(b, name),
                .unit = trace_builder_string(b, "ns"),
                .rate = 997,
                .mode = TRACE_SAMPLE_MODE_FREQUENCY_HZ,
        };

        return trace_builder_row(b, TRACE_TABLE_SAMPLE_EVENTS, &event);
}

uint32_t trace_builder_module(struct trace_builder *b, const char *path)
{
        return trace_builder_module_of(b, TRACE_MODULE_FILE, path);
}

uint32_t trace_builder_module_of(struct trace_builder *b, enum trace_module_kind kind, const char *path)
{
        struct trace_module module = { .path = trace_builder_string(b, path), .kind = kind };

        return trace_builder_row(b, TRACE_TABLE_MODULES, &module);
}

uint32_t trace_builder_frame(struct trace_builder *b, uint32_t module, uint64_t offset)
{
        struct trace_frame frame = { .module = module, .offset = offset };

        return trace_builder_row(b, TRACE_TABLE_FRAMES, &frame);
}

uint32_t trace_builder_stack(struct trace_builder *b, uint32_t parent, uint32_t frame)
{
        struct trace_stack stack = { .parent = parent, .frame = frame };

        return trace_builder_row(b, TRACE_TABLE_STACKS, &stack);
}

uint32_t trace_builder_push(struct trace_builder *b, uint32_t parent, uint32_t module, uint64_t offset,
                            const char *function)
{
        uint32_t frame = trace_builder_frame(b, module, offset);

        if (function)
                trace_builder_symbol(b, frame, function, 0);
        return trace_builder_stack(b, parent, frame);
}

void trace_builder_symbol(struct trace_builder *b, uint32_t frame, const char *function, uint32_t flags)
{
        struct trace_symbol symbol = { .frame = frame, .flags = flags };

        symbol.function = function ? trace_builder_string(b, function) : 0;
        (void)trace_builder_row(b, TRACE_TABLE_SYMBOLS, &symbol);
}

void trace_builder_meta(struct trace_builder *b, const char *key, const char *value)
{
        struct trace_meta meta = { .key = trace_builder_string(b, key),
                                   .value = trace_builder_string(b, value) };

        (void)trace_builder_row(b, TRACE_TABLE_META, &meta);
}

uint32_t trace_builder_attachment(struct trace_builder *b, const char *name, uint64_t size_bytes)
{
        struct trace_attachment row = { .size_bytes = size_bytes, .kind = TRACE_ATTACHMENT_SOURCE_TEXT };

        row.name = name ? trace_builder_string(b, name) : 0;
        row.hash = trace_dictionary_count(&b->dictionary, TRACE_TABLE_ATTACHMENTS);
        return trace_builder_row(b, TRACE_TABLE_ATTACHMENTS, &row);
}

void trace_builder_attachment_part(struct trace_builder *b, uint32_t attachment, uint64_t offset_bytes,
                                   const char *bytes, size_t n_bytes)
{
        struct attachment_chunk part = {
                .attachment = attachment,
                .offset_bytes = offset_bytes,
                .bytes = (const uint8_t *)bytes,
                .n_bytes = n_bytes,
        };
        struct trace_chunk_header header = { .kind = TRACE_CHUNK_ATTACHMENT, .n_items = 1 };
        struct byte_buffer body = { .data = NULL };

        trace_builder_flush(b);
        ck_assert_int_eq(attachment_chunk_encode(&part, &body), 0);
        ck_assert_int_eq(trace_writer_put(b->writer, header, body.data, body.used_bytes, NULL), 0);
        byte_buffer_deinit(&body);
}

void trace_builder_begin_run(struct trace_builder *b, uint32_t thread)
{
        event_encoder_begin_run(&b->encoder, thread);
}

void trace_builder_end_run(struct trace_builder *b)
{
        event_encoder_end_run(&b->encoder);
}

void trace_builder_begin_zone(struct trace_builder *b, uint64_t time_ns, uint32_t location)
{
        struct trace_event event = { .time_ns = time_ns, .op = TRACE_OP_ZONE_BEGIN };

        event.zone_begin.location = location;
        event_encoder_add(&b->encoder, &event);
}

void trace_builder_event(struct trace_builder *b, uint64_t time_ns, enum trace_op op)
{
        struct trace_event event = { .time_ns = time_ns, .op = op };

        event_encoder_add(&b->encoder, &event);
}

void trace_builder_add(struct trace_builder *b, uint64_t time_ns, enum trace_op op, const char *text,
                       const uint64_t *operands)
{
        struct trace_event event = { .time_ns = time_ns, .op = op, .text = text };

        memcpy(event.operand, operands, trace_op_schema_find(op)->n_operands * sizeof(*operands));
        event_encoder_add(&b->encoder, &event);
}

void trace_builder_text(struct trace_builder *b, uint64_t time_ns, enum trace_op op, const char *text)
{
        trace_builder_add(b, time_ns, op, text, (const uint64_t[TRACE_OPERANDS_MAX]){ strlen(text) });
}

void trace_builder_sample(struct trace_builder *b, uint64_t time_ns, uint32_t event, uint32_t path,
                          uint32_t stack)
{
        struct trace_event sample = { .time_ns = time_ns, .op = TRACE_OP_SAMPLE };

        sample.sample.event = event;
        sample.sample.path = path;
        sample.sample.stack = stack;
        sample.sample.weight = 1000;
        event_encoder_add(&b->encoder, &sample);
}

static void flush(struct trace_builder *b, struct trace_chunk_header header)
{
        struct byte_buffer body = { .data = NULL };

        ck_assert_int_eq(trace_writer_put_tables(b->writer, &b->dictionary, NULL), 0);
        ck_assert_int_eq(
                event_encoder_take(&b->encoder, &body, &header.first_ns, &header.last_ns, &header.n_items),
                0);
        if (header.n_items != 0)
                ck_assert_int_eq(trace_writer_put(b->writer, header, body.data, body.used_bytes, NULL), 0);
        byte_buffer_deinit(&body);
}

void trace_builder_flush(struct trace_builder *b)
{
        bool has_names = event_encoder_has_names(&b->encoder);

        flush(b, (struct trace_chunk_header){ .kind = TRACE_CHUNK_EVENTS,
                                              .flags = has_names ? 0 : TRACE_CHUNK_NO_NAMES });
}

void trace_builder_flush_states(struct trace_builder *b)
{
        flush(b, (struct trace_chunk_header){ .kind = TRACE_CHUNK_STATES });
}

void trace_builder_finish(struct trace_builder *b)
{
        trace_builder_flush(b);
        ck_assert_int_eq(trace_writer_finish(b->writer, NULL), 0);
}
