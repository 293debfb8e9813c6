/* SPDX-License-Identifier: MIT */
#include "export/perfetto/perfetto_parts.h"

#include "export/perfetto/perfetto_fields.h"
#include "export/shared/protobuf_writer.h"

void perfetto_packets_init(struct perfetto_packets *p, FILE *out)
{
        export_stream_init(&p->out, out);
        p->packet = 0;
}

void perfetto_packets_deinit(struct perfetto_packets *p)
{
        export_stream_deinit(&p->out);
}

struct byte_buffer *perfetto_packets_start(struct perfetto_packets *p, uint64_t sequence)
{
        struct byte_buffer *b = &p->out.buffer;

        p->packet = protobuf_writer_begin(b, PERFETTO_TRACE_PACKET);
        protobuf_writer_put_number(b, PERFETTO_PACKET_SEQUENCE, sequence);
        protobuf_writer_put_number(b, PERFETTO_PACKET_FLAGS, PERFETTO_FLAGS_STATE_CLEARED);
        return b;
}

struct byte_buffer *perfetto_packets_begin(struct perfetto_packets *p, uint64_t sequence, uint64_t time_ns)
{
        struct byte_buffer *b = &p->out.buffer;

        p->packet = protobuf_writer_begin(b, PERFETTO_TRACE_PACKET);
        protobuf_writer_put_number(b, PERFETTO_PACKET_SEQUENCE, sequence);
        protobuf_writer_put_number(b, PERFETTO_PACKET_FLAGS, PERFETTO_FLAGS_NEEDS_STATE);
        protobuf_writer_put_number(b, PERFETTO_PACKET_TIMESTAMP, time_ns);
        return b;
}

int perfetto_packets_end(struct perfetto_packets *p)
{
        protobuf_writer_end(&p->out.buffer, p->packet);
        return export_stream_flush_some(&p->out);
}

size_t perfetto_packets_begin_event(struct byte_buffer *b, uint32_t type)
{
        size_t event = protobuf_writer_begin(b, PERFETTO_PACKET_TRACK_EVENT);

        protobuf_writer_put_number(b, PERFETTO_EVENT_TYPE, type);
        return event;
}

size_t perfetto_packets_begin_defaults(struct byte_buffer *b)
{
        size_t defaults = protobuf_writer_begin(b, PERFETTO_PACKET_DEFAULTS);

        protobuf_writer_put_number(b, PERFETTO_DEFAULTS_CLOCK, PERFETTO_CLOCK_MONOTONIC_RAW);
        return defaults;
}

static void put_reading(struct byte_buffer *b, uint32_t clock, uint64_t time_ns)
{
        size_t begin = protobuf_writer_begin(b, PERFETTO_SNAPSHOT_CLOCK);

        protobuf_writer_put_number(b, PERFETTO_CLOCK_ID, clock);
        protobuf_writer_put_number(b, PERFETTO_CLOCK_TIMESTAMP, time_ns);
        protobuf_writer_end(b, begin);
}

int perfetto_packets_put_snapshot(struct perfetto_packets *p, uint64_t raw_ns, uint64_t realtime_ns)
{
        struct byte_buffer *b = perfetto_packets_start(p, PERFETTO_SEQUENCE_HEAD);
        size_t snapshot = protobuf_writer_begin(b, PERFETTO_PACKET_CLOCK_SNAPSHOT);

        put_reading(b, PERFETTO_CLOCK_MONOTONIC_RAW, raw_ns);
        if (realtime_ns != 0)
                put_reading(b, PERFETTO_CLOCK_REALTIME, realtime_ns);
        protobuf_writer_put_number(b, PERFETTO_SNAPSHOT_PRIMARY, PERFETTO_CLOCK_MONOTONIC_RAW);
        protobuf_writer_end(b, snapshot);
        protobuf_writer_end(b, perfetto_packets_begin_defaults(b));
        return perfetto_packets_end(p);
}

void perfetto_packets_annotate_text(struct byte_buffer *b, const char *name, const char *text, size_t n_bytes)
{
        size_t begin = protobuf_writer_begin(b, PERFETTO_EVENT_ANNOTATION);

        protobuf_writer_put_words(b, PERFETTO_ANNOTATION_NAME, name);
        protobuf_writer_put_text(b, PERFETTO_ANNOTATION_STRING, text, n_bytes);
        protobuf_writer_end(b, begin);
}

void perfetto_packets_annotate_number(struct byte_buffer *b, const char *name, int64_t number)
{
        size_t begin = protobuf_writer_begin(b, PERFETTO_EVENT_ANNOTATION);

        protobuf_writer_put_words(b, PERFETTO_ANNOTATION_NAME, name);
        protobuf_writer_put_signed(b, PERFETTO_ANNOTATION_INT, number);
        protobuf_writer_end(b, begin);
}
