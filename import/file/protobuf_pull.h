/* SPDX-License-Identifier: MIT */
/*
 * import/file/protobuf_pull.h - a protobuf message in memory, taken field by field
 *
 * Way of the data:  bytes of a packet -> [protobuf_pull] -> import_pftrace
 *
 * Nothing is built, and no schema is needed: a message within is a field whose bytes are entered in turn.
 * All fields of a number come in their order.  Allocates nothing.
 */
#ifndef IMPORT_PROTOBUF_PULL_H
#define IMPORT_PROTOBUF_PULL_H

#include "base/bytes.h"
#include "base/text_view.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#define PROTOBUF_NUMBER_MAX ((UINT32_C(1) << 29) - 1) /* of a field */

enum protobuf_wire { PROTOBUF_VARINT = 0, PROTOBUF_FIXED64 = 1, PROTOBUF_BYTES = 2, PROTOBUF_FIXED32 = 5 };

struct protobuf_field {
        uint32_t number;
        enum protobuf_wire wire;
        uint64_t value;         /* of a number; 0 of bytes */
        struct text_view bytes; /* borrowed from the message; empty of a number */
};

static inline struct byte_reader protobuf_pull_of(struct text_view message)
{
        return byte_reader_of(message.bytes, message.n_bytes);
}

/*
 * protobuf_pull_next() - takes the next field
 * Returns 1, 0 at the end, or -EBADMSG for what is no field, or is cut off; nothing after it can be read.
 */
static inline int protobuf_pull_next(struct byte_reader *r, struct protobuf_field *ret)
{
        uint64_t tag, n_bytes;

        if (r->left == 0 && !r->short_read)
                return 0;
        tag = bytes_varint(r);
        if (r->short_read || tag >> 3 == 0 || tag >> 3 > PROTOBUF_NUMBER_MAX)
                return -EBADMSG;
        *ret = (struct protobuf_field){ .number = (uint32_t)(tag >> 3), .wire = tag & 7 };
        switch (tag & 7) {
        case PROTOBUF_VARINT:
                ret->value = bytes_varint(r);
                break;
        case PROTOBUF_FIXED64:
                ret->value = bytes_u64(r);
                break;
        case PROTOBUF_FIXED32:
                ret->value = bytes_u32(r);
                break;
        case PROTOBUF_BYTES:
                n_bytes = bytes_varint(r);
                if (n_bytes > r->left)
                        r->short_read = true;
                ret->bytes.n_bytes = (size_t)n_bytes;
                ret->bytes.bytes = (const char *)bytes_take(r, (size_t)n_bytes);
                break;
        default:
                return -EBADMSG;
        }
        return r->short_read ? -EBADMSG : 1;
}

#endif /* IMPORT_PROTOBUF_PULL_H */
