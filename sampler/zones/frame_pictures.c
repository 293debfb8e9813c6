/* SPDX-License-Identifier: MIT */
#include "sampler/zones/event_translator.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "format/trace_event.h"
#include "format/trace_rows.h"
#include "instrument/client_abi.h"
#include "instrument/client_stream.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/recording.h"

#include <errno.h>

#define BLOCK_SIDE   4 /* pixels that are packed together, each way */
#define BLOCK_PIXELS (BLOCK_SIDE * BLOCK_SIDE)
#define CHANNELS     3
#define PIXEL_BYTES  4

/* The pixels of a block, and the line through their colors along which all of them are put. */
struct block {
        int pixel[BLOCK_PIXELS][CHANNELS];
        int from[CHANNELS], to[CHANNELS]; /* the ends of the line */
};

/* @row: its first pixel in the rows, of which each has @row_bytes */
static void read_block(struct block *b, const uint8_t *row, size_t row_bytes)
{
        for (int i = 0; i < BLOCK_PIXELS; i++)
                for (int c = 0; c < CHANNELS; c++)
                        b->pixel[i][c] = row[(size_t)(i / BLOCK_SIDE) * row_bytes +
                                             (size_t)(i % BLOCK_SIDE * PIXEL_BYTES + c)];
}

/*
 * The diagonal of the box around the colors that goes their way: a channel that falls where the one with the
 * widest range rises runs from its largest to its smallest.
 */
static void find_line(struct block *b)
{
        int mean[CHANNELS] = { 0 }, widest = 0;

        for (int c = 0; c < CHANNELS; c++) {
                b->from[c] = b->to[c] = b->pixel[0][c];
                for (int i = 0; i < BLOCK_PIXELS; i++) {
                        mean[c] += b->pixel[i][c];
                        if (b->pixel[i][c] < b->from[c])
                                b->from[c] = b->pixel[i][c];
                        if (b->pixel[i][c] > b->to[c])
                                b->to[c] = b->pixel[i][c];
                }
                if (b->to[c] - b->from[c] > b->to[widest] - b->from[widest])
                        widest = c;
        }
        for (int c = 0; c < CHANNELS; c++) {
                int together = 0, end = b->from[c];

                for (int i = 0; i < BLOCK_PIXELS; i++)
                        together += (BLOCK_PIXELS * b->pixel[i][c] - mean[c]) *
                                    (b->pixel[i][widest] - mean[widest] / BLOCK_PIXELS);
                if (together >= 0)
                        continue;
                b->from[c] = b->to[c];
                b->to[c] = end;
        }
}

/* 5, 6 and 5 bits. */
static uint16_t short_color(const int color[CHANNELS])
{
        return (uint16_t)((color[0] * 31 + 127) / 255 << 11 | (color[1] * 63 + 127) / 255 << 5 |
                          (color[2] * 31 + 127) / 255);
}

/* Which of four places on the line is nearest to each pixel: 0 and 1 are its ends, 2 and 3 between them. */
static uint32_t find_places(const struct block *b)
{
        static const uint32_t places[] = { 0, 2, 3, 1 };
        uint32_t bits = 0;
        int length = 0;

        for (int c = 0; c < CHANNELS; c++)
                length += (b->to[c] - b->from[c]) * (b->to[c] - b->from[c]);
        for (int i = 0; length > 0 && i < BLOCK_PIXELS; i++) {
                int along = 0, third;

                for (int c = 0; c < CHANNELS; c++)
                        along += (b->pixel[i][c] - b->from[c]) * (b->to[c] - b->from[c]);
                third = (6 * along + length) / (2 * length);
                bits |= places[third < 0 ? 0 : third > 3 ? 3 : third] << 2 * i;
        }
        return bits;
}

/* The first color is to be the larger number, or a reader takes the third place for the middle. */
static void put_block(const struct block *b, struct byte_buffer *to)
{
        uint16_t first = short_color(b->from), second = short_color(b->to);
        uint32_t places = find_places(b);

        if (first == second)
                places = 0;
        if (first < second)
                places ^= UINT32_C(0x55555555); /* 0 and 1, 2 and 3 change places */
        byte_buffer_add_u16(to, first < second ? second : first);
        byte_buffer_add_u16(to, first < second ? first : second);
        byte_buffer_add_u32(to, places);
}

/* Returns 0, -EINVAL if the payload is no picture, -ENOMEM. */
static int pack(const struct byte_buffer *payload, struct byte_buffer *to, uint64_t *ret_frames_back)
{
        struct byte_reader in = byte_reader_of(payload->data, payload->used_bytes);
        uint32_t width = bytes_u16(&in), height = bytes_u16(&in), flags = bytes_u32(&in);
        size_t row_bytes = (size_t)width * PIXEL_BYTES;
        struct block block;

        if (in.short_read || width == 0 || height == 0 || width % BLOCK_SIDE != 0 ||
            height % BLOCK_SIDE != 0 || width > CLIENT_ABI_PICTURE_SIDE_MAX ||
            height > CLIENT_ABI_PICTURE_SIDE_MAX || in.left != height * row_bytes)
                return -EINVAL;
        byte_buffer_add_u16(to, (uint16_t)width);
        byte_buffer_add_u16(to, (uint16_t)height);
        byte_buffer_add_u32(to, (flags & CLIENT_ABI_PICTURE_FLIPPED) != 0);
        for (size_t y = 0; y < height; y += BLOCK_SIDE)
                for (size_t x = 0; x < width; x += BLOCK_SIDE) {
                        read_block(&block, in.at + y * row_bytes + x * PIXEL_BYTES, row_bytes);
                        find_line(&block);
                        put_block(&block, to);
                }
        *ret_frames_back = flags & (CLIENT_ABI_PICTURE_FLIPPED - 1);
        return to->failed ? -ENOMEM : 0;
}

int event_translator_picture(struct event_translator *t, struct zone_region *region,
                             const struct client_event *from, struct trace_event *event)
{
        struct trace_attachment row = { .kind = TRACE_ATTACHMENT_FRAME_PICTURE };
        struct byte_buffer packed = { .data = NULL };
        uint32_t id = 0;
        int r = event_translator_gather(t, region, from);

        if (r <= 0)
                return r;
        r = pack(&t->payload, &packed, &event->frame_picture.frames_back);
        if (r == 0)
                r = attachment_store_add(&t->attachments, &row, &packed, 0, &id);
        byte_buffer_deinit(&packed);
        event->frame_picture.attachment = id;
        if (r != -EINVAL)
                return r < 0 ? r : id != 0;
        loss_counter_add(t->recording->losses, TRACE_LOSS_CLIENT_GARBAGE,
                         sizeof(uint64_t) + from->text_bytes);
        return 0;
}
