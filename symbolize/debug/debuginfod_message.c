/* SPDX-License-Identifier: MIT */
#include "symbolize/debug/debuginfod_message.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"

#include <errno.h>

void debuginfod_message_encode(struct byte_buffer *out, const struct debuginfod_message *message)
{
        byte_buffer_add_u32(out, message->kind);
        byte_buffer_add_u32(out, message->request);
        byte_buffer_add_u32(out, message->state);
        byte_buffer_add_u32(out, (uint32_t)message->code);
        byte_buffer_add_u64(out, message->got_bytes);
        byte_buffer_add_u64(out, message->total_bytes);
        byte_buffer_add_u32(out, message->path_bytes);
        byte_buffer_add(out, message->path, message->path_bytes);
}

int debuginfod_message_decode(struct byte_reader *in, struct debuginfod_message *ret_message)
{
        struct debuginfod_message message;
        struct byte_reader r = *in;

        message.kind = bytes_u32(&r);
        message.request = bytes_u32(&r);
        message.state = bytes_u32(&r);
        message.code = (int32_t)bytes_u32(&r);
        message.got_bytes = bytes_u64(&r);
        message.total_bytes = bytes_u64(&r);
        message.path_bytes = bytes_u32(&r);
        if (!r.short_read && message.path_bytes > DEBUGINFOD_PATH_BYTES_MAX)
                return -EBADMSG;
        message.path = bytes_take(&r, message.path_bytes);
        if (r.short_read)
                return 0;
        *in = r;
        *ret_message = message;
        return 1;
}
