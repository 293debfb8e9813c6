/* SPDX-License-Identifier: MIT */
#include "sampler/jit/jitdump_file.h"

#include "base/io.h"

#include <errno.h>
#include <string.h>

#define READ_BYTES        (UINT32_C(1) << 18)
#define LARGE_HEAD_BYTES  (UINT32_C(1) << 16) /* of a record that is too large: its name is in them */
#define BUFFER_KEPT_BYTES (UINT32_C(1) << 20)

void jitdump_file_deinit(struct jitdump_file *f)
{
        io_close(&f->fd);
        byte_buffer_deinit(&f->buffer);
}

static int give_up(struct jitdump_file *f)
{
        f->is_broken = true;
        f->n_garbage++;
        byte_buffer_deinit(&f->buffer);
        f->at_bytes = 0;
        return 0;
}

static size_t count_left(const struct jitdump_file *f)
{
        return f->buffer.used_bytes - f->at_bytes;
}

/* Makes the buffer hold @wanted bytes.  Returns 1, 0 if the file does not have them yet, -ENOMEM. */
static int fill(struct jitdump_file *f, size_t wanted)
{
        size_t left = count_left(f), n_bytes = 0;
        size_t room = wanted > left + READ_BYTES ? wanted - left : READ_BYTES;
        uint8_t *to;

        if (left >= wanted)
                return 1;
        if (f->is_dry)
                return 0;
        if (f->offset_bytes >= JITDUMP_FILE_BYTES_MAX)
                return give_up(f);
        if (f->at_bytes > 0)
                memmove(f->buffer.data, f->buffer.data + f->at_bytes, left);
        f->buffer.used_bytes = left;
        f->at_bytes = 0;
        to = byte_buffer_reserve(&f->buffer, room);
        if (!to)
                return -ENOMEM;
        if (io_pread_full(f->fd, to, room, f->offset_bytes, &n_bytes, NULL) < 0)
                return give_up(f);
        f->buffer.used_bytes += n_bytes;
        f->offset_bytes += n_bytes;
        f->is_dry = n_bytes < room;
        return count_left(f) >= wanted;
}

static const uint8_t *bytes_at(const struct jitdump_file *f)
{
        return f->buffer.data + f->at_bytes;
}

static int read_header(struct jitdump_file *f)
{
        int r = fill(f, JITDUMP_HEADER_BYTES);

        if (r <= 0)
                return r;
        if (jitdump_decode_header(bytes_at(f), count_left(f), &f->header, NULL) < 0)
                return give_up(f);
        r = fill(f, f->header.header_bytes);
        if (r <= 0)
                return r;
        f->at_bytes += f->header.header_bytes;
        f->has_header = true;
        return 1;
}

int jitdump_file_peek(struct jitdump_file *f, struct jitdump_item *ret_item)
{
        struct jitdump_item item = { .body = NULL };
        size_t wanted;
        int r = 1;

        if (f->fd < 0 || f->is_broken)
                return 0;
        if (!f->has_header)
                r = read_header(f);
        if (r == 1)
                r = fill(f, JITDUMP_PREFIX_BYTES);
        if (r <= 0)
                return r;
        if (jitdump_decode_prefix(bytes_at(f), count_left(f), &item.prefix, NULL) < 0)
                return give_up(f);
        wanted = item.prefix.record_bytes <= JITDUMP_RECORD_BYTES_MAX ? item.prefix.record_bytes
                                                                      : LARGE_HEAD_BYTES;
        r = fill(f, wanted);
        if (r <= 0)
                return r;
        item.body = bytes_at(f) + JITDUMP_PREFIX_BYTES;
        item.body_bytes = wanted - JITDUMP_PREFIX_BYTES;
        *ret_item = item;
        return 1;
}

int jitdump_file_last(struct jitdump_file *f, struct jitdump_item *ret_item)
{
        size_t left = count_left(f);
        struct jitdump_item item = { .body = NULL };

        if (f->fd < 0 || f->is_broken || left == 0)
                return 0;
        f->is_broken = true; /* nothing comes after it */
        if (!f->has_header || jitdump_decode_prefix(bytes_at(f), left, &item.prefix, NULL) < 0) {
                f->n_garbage++;
                return 0;
        }
        item.body = bytes_at(f) + JITDUMP_PREFIX_BYTES;
        item.body_bytes = left - JITDUMP_PREFIX_BYTES;
        *ret_item = item;
        return 1;
}

void jitdump_file_consume(struct jitdump_file *f, const struct jitdump_item *item)
{
        size_t left = count_left(f), record_bytes = item->prefix.record_bytes;

        if (record_bytes <= left) {
                f->at_bytes += record_bytes;
                return;
        }
        f->offset_bytes += record_bytes - left;
        f->at_bytes = 0;
        if (f->buffer.capacity_bytes > BUFFER_KEPT_BYTES)
                byte_buffer_deinit(&f->buffer);
        byte_buffer_clear(&f->buffer);
}
