/* SPDX-License-Identifier: MIT */
#define ZLIB_CONST /* it only reads its input */
#include "import/perfetto/pftrace_packets.h"

#include "base/error.h"
#include "import/file/import_source.h"
#include "import/file/protobuf_pull.h"
#include "import/perfetto/pftrace_fields.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#define READ_BYTES     ((size_t)256 << 10)
#define TAG_BYTES_MAX  20 /* a tag and a length */
#define PACKET_FIELD   1
#define JUDGED_PACKETS 16
#define JUDGED_BYTES   64 /* of a first packet that is longer than the head */

void pftrace_packets_init(struct pftrace_packets *p, struct import_source *source)
{
        *p = (struct pftrace_packets){ .source = source };
}

void pftrace_packets_deinit(struct pftrace_packets *p)
{
        byte_buffer_deinit(&p->window);
        byte_buffer_deinit(&p->unpacked);
}

static size_t left_in(const struct pftrace_packets *p)
{
        return p->window.used_bytes - p->at;
}

/* Makes @n_bytes lie in the window, or all that are left.  A file that is packed and cut ends there. */
static int fill(struct pftrace_packets *p, size_t n_bytes, struct error *err)
{
        struct text_view bytes;
        int r;

        if (left_in(p) >= n_bytes || p->at_end)
                return 0;
        if (p->at > 0 && left_in(p) > 0)
                memmove(p->window.data, p->window.data + p->at, left_in(p));
        p->window.used_bytes -= p->at;
        p->at = 0;
        while (left_in(p) < n_bytes && !p->at_end) {
                r = import_source_next_bytes(p->source, READ_BYTES, &bytes, err);
                if (r < 0 && r != -EBADMSG)
                        return r;
                p->is_cut = p->is_cut || r < 0;
                p->at_end = r <= 0;
                if (r == 1)
                        byte_buffer_add(&p->window, bytes.bytes, bytes.n_bytes);
                if (p->window.failed)
                        return error_set(err, -ENOMEM, "no memory for a packet");
        }
        return 0;
}

static int skip(struct pftrace_packets *p, uint64_t n_bytes, struct error *err)
{
        while (n_bytes > 0) {
                size_t n;
                int r = fill(p, 1, err);

                if (r < 0)
                        return r;
                n = left_in(p) < n_bytes ? left_in(p) : (size_t)n_bytes;
                p->at += n;
                n_bytes -= n;
                if (n == 0) {
                        p->is_cut = true;
                        return 0;
                }
        }
        return 0;
}

/* Nothing can be found after bytes that are no packet, or not a whole one. */
static int stop(struct pftrace_packets *p)
{
        p->is_cut = true;
        p->at_end = true;
        p->at = p->window.used_bytes;
        return 0;
}

/* Returns 1 for a packet, 2 for something else, or as pftrace_packets_next(). */
static int take_one(struct pftrace_packets *p, struct text_view *ret, struct error *err)
{
        struct byte_reader reader;
        uint64_t tag, n_bytes;
        int r = fill(p, TAG_BYTES_MAX, err);

        if (r < 0 || left_in(p) == 0)
                return r;
        p->offset = import_source_offset(p->source) - left_in(p);
        reader = byte_reader_of(p->window.data + p->at, left_in(p));
        tag = bytes_varint(&reader);
        if (!reader.short_read && tag >> 3 != 0 && (tag & 7) == PROTOBUF_VARINT) {
                (void)bytes_varint(&reader);
                n_bytes = 0;
        } else if ((tag & 7) == PROTOBUF_BYTES && tag >> 3 != 0) {
                n_bytes = bytes_varint(&reader);
        } else {
                return stop(p);
        }
        if (reader.short_read)
                return stop(p);
        p->at = p->window.used_bytes - reader.left;
        if (tag != (PACKET_FIELD << 3 | PROTOBUF_BYTES) || n_bytes > IMPORT_LINE_BYTES_MAX) {
                p->n_long += n_bytes > IMPORT_LINE_BYTES_MAX;
                p->n_other += n_bytes <= IMPORT_LINE_BYTES_MAX;
                r = skip(p, n_bytes, err);
                return r < 0 ? r : 2;
        }
        r = fill(p, (size_t)n_bytes, err);
        if (r < 0)
                return r;
        if (left_in(p) < n_bytes)
                return stop(p);
        *ret = (struct text_view){ (const char *)p->window.data + p->at, (size_t)n_bytes };
        p->at += (size_t)n_bytes;
        return 1;
}

int pftrace_packets_next(struct pftrace_packets *p, struct text_view *ret_packet, struct error *err)
{
        struct protobuf_field field;
        int r;

        while ((r = protobuf_pull_next(&p->inside, &field)) == 1) {
                if (field.number == PACKET_FIELD && field.wire == PROTOBUF_BYTES) {
                        *ret_packet = field.bytes;
                        return 1;
                }
                p->n_other++;
        }
        p->n_broken += r < 0;
        p->inside = byte_reader_of(NULL, 0);
        while ((r = take_one(p, ret_packet, err)) == 2)
                ;
        return r;
}

int pftrace_packets_unpack(struct pftrace_packets *p, struct text_view packed, struct error *err)
{
        z_stream z = { .next_in = (const Bytef *)packed.bytes, .avail_in = (uInt)packed.n_bytes };
        int r = inflateInit(&z);

        if (r != Z_OK)
                return error_set(err, -ENOMEM, "no memory to unpack packets");
        byte_buffer_clear(&p->unpacked);
        while (r == Z_OK && p->unpacked.used_bytes < IMPORT_LINE_BYTES_MAX) {
                uint8_t *at = byte_buffer_reserve(&p->unpacked, READ_BYTES);

                if (!at) {
                        (void)inflateEnd(&z);
                        return error_set(err, -ENOMEM, "no memory to unpack packets");
                }
                z.next_out = at;
                z.avail_out = (uInt)READ_BYTES;
                r = inflate(&z, Z_NO_FLUSH);
                p->unpacked.used_bytes += READ_BYTES - z.avail_out;
        }
        (void)inflateEnd(&z);
        p->n_broken += r != Z_STREAM_END;
        p->inside = byte_reader_of(p->unpacked.data, p->unpacked.used_bytes);
        return 0;
}

/* ------------------------------------------------------------------ recognising */

/* Whether the bytes are fields, at least one of them as packets have it; they may be cut off. */
static bool is_packet(struct text_view bytes, bool is_whole)
{
        struct byte_reader reader = protobuf_pull_of(bytes);
        struct protobuf_field field;
        bool is_known = false;
        int r;

        while ((r = protobuf_pull_next(&reader, &field)) == 1) {
                bool is_number = field.number == PFTRACE_TIMESTAMP || field.number == PFTRACE_SEQUENCE ||
                                 field.number == PFTRACE_FLAGS || field.number == 3;

                if (is_number && field.wire != PROTOBUF_VARINT)
                        return false;
                is_known = is_known || is_number || field.number == PFTRACE_CLOCK_SNAPSHOT ||
                           field.number == PFTRACE_COMPRESSED || field.number == PFTRACE_TRACK ||
                           field.number == PFTRACE_TRACK_EVENT;
        }
        return is_whole ? is_known && r == 0 : r == 0 || reader.short_read;
}

bool pftrace_packets_recognise(struct text_view head)
{
        struct byte_reader reader = byte_reader_of(head.bytes, head.n_bytes);
        unsigned n = 0;

        for (; n < JUDGED_PACKETS && reader.left > 0; n++) {
                struct text_view packet;
                uint64_t n_bytes;
                bool is_whole;

                if (bytes_u8(&reader) != (PACKET_FIELD << 3 | PROTOBUF_BYTES))
                        return false;
                n_bytes = bytes_varint(&reader);
                if (reader.short_read)
                        return n > 0;
                if (n_bytes > IMPORT_LINE_BYTES_MAX)
                        return false;
                is_whole = n_bytes <= reader.left;
                packet.n_bytes = is_whole ? (size_t)n_bytes : reader.left;
                packet.bytes = (const char *)bytes_take(&reader, packet.n_bytes);
                if (!is_packet(packet, is_whole) || (!is_whole && n == 0 && packet.n_bytes < JUDGED_BYTES))
                        return false;
        }
        return n > 0;
}
