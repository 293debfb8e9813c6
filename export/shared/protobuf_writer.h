/* SPDX-License-Identifier: MIT */
/*
 * export/shared/protobuf_writer.h - messages in the encoding of Protocol Buffers
 *
 * Way of the data:  export_perfetto, export_pprof -> [protobuf_writer] -> file
 *
 *      size_t packet = protobuf_writer_begin(&b, 1);
 *      protobuf_writer_put_number(&b, 8, time_ns);
 *      protobuf_writer_end(&b, packet);
 *
 * A field is named by its number in the format's .proto.  Messages inside of messages: begin and end nest.
 * Writes into a byte_buffer, whose `failed` says that memory ran out.  Zero bytes of overhead: a message's
 * length is written when it is known, and its bytes move by the one to five that the length takes.
 */
#ifndef EXPORT_SHARED_PROTOBUF_WRITER_H
#define EXPORT_SHARED_PROTOBUF_WRITER_H

#include "base/byte_buffer.h"

#include <stddef.h>
#include <stdint.h>

/* uint32, uint64, enum, bool. */
void protobuf_writer_put_number(struct byte_buffer *b, uint32_t field, uint64_t number);
/* int32, int64: negative ones take ten bytes. */
void protobuf_writer_put_signed(struct byte_buffer *b, uint32_t field, int64_t number);
void protobuf_writer_put_fixed64(struct byte_buffer *b, uint32_t field, uint64_t number);
void protobuf_writer_put_double(struct byte_buffer *b, uint32_t field, double number);
/* string, bytes. */
void protobuf_writer_put_bytes(struct byte_buffer *b, uint32_t field, const void *bytes, size_t n_bytes);
void protobuf_writer_put_words(struct byte_buffer *b, uint32_t field, const char *words);
/* string, of bytes of a trace: invalid UTF-8 becomes U+FFFD, one for each byte. */
void protobuf_writer_put_text(struct byte_buffer *b, uint32_t field, const char *bytes, size_t n_bytes);

/*
 * A message, or packed numbers, which byte_buffer_add_varint() adds.  Returns what
 * protobuf_writer_end() wants.
 */
size_t protobuf_writer_begin(struct byte_buffer *b, uint32_t field);
void protobuf_writer_end(struct byte_buffer *b, size_t begin);

#endif /* EXPORT_SHARED_PROTOBUF_WRITER_H */
