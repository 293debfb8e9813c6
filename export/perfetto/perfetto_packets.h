/* SPDX-License-Identifier: MIT */
/*
 * export/perfetto/perfetto_packets.h - the packets of a Perfetto trace, one after the other
 *
 * Way of the data:  export_perfetto and its parts -> [perfetto_packets] -> export_stream -> file
 *
 *      struct byte_buffer *b = perfetto_packets_begin(p, sequence, time_ns);
 *      ... fields of TracePacket ...
 *      r = perfetto_packets_end(p);
 *
 * Each sequence starts with one packet of perfetto_packets_start().  Not thread-safe.
 */
#ifndef EXPORT_PERFETTO_PERFETTO_PACKETS_H
#define EXPORT_PERFETTO_PERFETTO_PACKETS_H

#include "export/shared/export_stream.h"

#include <stddef.h>
#include <stdint.h>

struct perfetto_packets {
        struct export_stream out;
        size_t packet; /* that is open */
};

void perfetto_packets_init(struct perfetto_packets *p, FILE *out);
void perfetto_packets_deinit(struct perfetto_packets *p);

/* The first packet of a sequence; the caller adds its defaults. */
struct byte_buffer *perfetto_packets_start(struct perfetto_packets *p, uint64_t sequence);
struct byte_buffer *perfetto_packets_begin(struct perfetto_packets *p, uint64_t sequence, uint64_t time_ns);

/* Returns 0 or what went wrong with the output so far. */
int perfetto_packets_end(struct perfetto_packets *p);

/* Fields of the message TrackEvent, which the caller ends. */
size_t perfetto_packets_begin_event(struct byte_buffer *b, uint32_t type);

/*
 * In the first packet of a sequence: says what its times are; the caller adds others, and ends it.  Once a
 * packet: Perfetto's reader takes the last message where there are two.
 */
size_t perfetto_packets_begin_defaults(struct byte_buffer *b);

/* The first packet of the file: what the clock is.  Returns as perfetto_packets_end(). */
int perfetto_packets_put_snapshot(struct perfetto_packets *p, uint64_t raw_ns, uint64_t realtime_ns);

/* Something said about an event, with a name. */
void perfetto_packets_annotate_text(struct byte_buffer *b, const char *name, const char *text,
                                    size_t n_bytes);
void perfetto_packets_annotate_number(struct byte_buffer *b, const char *name, int64_t number);

#endif /* EXPORT_PERFETTO_PERFETTO_PACKETS_H */
