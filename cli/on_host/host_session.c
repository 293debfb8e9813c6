/* SPDX-License-Identifier: MIT */
#include "cli/on_host/host_session.h"

#include "base/bytes.h"

#include <errno.h>
#include <string.h>

int host_frame_decode(const uint8_t *bytes, size_t n_bytes, struct host_frame *ret)
{
        struct byte_reader r = byte_reader_of(bytes, n_bytes);
        uint32_t kind = bytes_u32(&r), length = bytes_u32(&r);

        if (r.short_read)
                return 0;
        if (kind >= HOST_N_FRAME_KINDS || length > HOST_FRAME_BYTES_MAX)
                return -EBADMSG;
        if (r.left < length)
                return 0;
        *ret = (struct host_frame){ .kind = (enum host_frame_kind)kind,
                                    .bytes = r.at,
                                    .n_bytes = length,
                                    .frame_bytes = HOST_FRAME_HEADER_BYTES + length };
        return 1;
}

void host_frame_encode(struct byte_buffer *b, enum host_frame_kind kind, const void *bytes, size_t n_bytes)
{
        byte_buffer_add_u32(b, kind);
        byte_buffer_add_u32(b, (uint32_t)n_bytes);
        byte_buffer_add(b, bytes, n_bytes);
}

void host_frame_encode_number(struct byte_buffer *b, enum host_frame_kind kind, uint64_t number)
{
        byte_buffer_add_u32(b, kind);
        byte_buffer_add_u32(b, sizeof(number));
        byte_buffer_add_u64(b, number);
}

uint64_t host_frame_number(const struct host_frame *frame)
{
        struct byte_reader r = byte_reader_of(frame->bytes, frame->n_bytes);

        return bytes_u64(&r);
}

bool host_frame_is_counted(enum host_frame_kind kind)
{
        return kind == HOST_FRAME_OUT || kind == HOST_FRAME_ERR || kind == HOST_FRAME_END;
}

/* ---- frames that may be wanted again ------------------------------------------------------------------- */

void host_output_deinit(struct host_output *o)
{
        byte_buffer_deinit(&o->frames);
}

/* Drops the first frames, so that at most @bytes_max are left. */
static void drop_oldest(struct host_output *o, size_t bytes_max)
{
        struct byte_buffer *frames = &o->frames;
        struct host_frame frame;
        size_t n = 0;

        while (frames->used_bytes - n > bytes_max &&
               host_frame_decode(frames->data + n, frames->used_bytes - n, &frame) == 1)
                n += frame.frame_bytes;
        if (n == 0)
                return;
        memmove(frames->data, frames->data + n, frames->used_bytes - n);
        frames->used_bytes -= n;
        o->base += n;
        if (o->sent < o->base)
                o->sent = o->base;
}

void host_output_add(struct host_output *o, enum host_frame_kind kind, const void *bytes, size_t n_bytes)
{
        host_frame_encode(&o->frames, kind, bytes, n_bytes);
        /* Seldom, since what is left is moved. */
        if (o->frames.used_bytes > 2 * HOST_KEPT_BYTES)
                drop_oldest(o, HOST_KEPT_BYTES);
}

bool host_output_has_room(const struct host_output *o)
{
        return o->base + o->frames.used_bytes - o->sent < HOST_KEPT_BYTES - 2 * HOST_FRAME_BYTES_MAX;
}

int host_output_resume(struct host_output *o, uint64_t position)
{
        const struct byte_buffer *frames = &o->frames;
        struct host_frame frame;
        size_t n = 0;

        if (position <= o->base) { /* some of it may be lost: the answer says from where on it comes */
                o->sent = o->base;
                return 0;
        }
        while (o->base + n < position && n < frames->used_bytes &&
               host_frame_decode(frames->data + n, frames->used_bytes - n, &frame) == 1)
                n += frame.frame_bytes;
        if (o->base + n != position)
                return -EBADMSG;
        o->sent = position;
        return 0;
}

size_t host_output_rest(const struct host_output *o, const uint8_t **ret_bytes)
{
        size_t done = (size_t)(o->sent - o->base);

        *ret_bytes = o->frames.data + done;
        return o->frames.used_bytes - done;
}
