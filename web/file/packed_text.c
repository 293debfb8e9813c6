/* SPDX-License-Identifier: MIT */
#define ZLIB_CONST /* it only reads its input */
#include "web/file/html_parts.h"

#include "base/byte_buffer.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#define RAW_WINDOW_BITS (-15) /* of zlib: without a head */
#define LEVEL           6
#define MEMORY_LEVEL    8
#define THREADS_MAX     16

/* The length of parts does not depend on the threads: the same bytes give the same text. */
#define PART_BYTES (UINT32_C(1) << 22)

/* An estimate packs this many parts of this length. */
#define ESTIMATE_PARTS 16
#define ESTIMATE_BYTES (UINT32_C(1) << 16)

static void add_base64(struct byte_buffer *out, const uint8_t *bytes, size_t n)
{
        static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        uint8_t *at = byte_buffer_reserve(out, (n + 2) / 3 * 4);

        for (size_t i = 0; at && i < n; i += 3) {
                uint32_t three = (uint32_t)bytes[i] << 16 | (i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0) |
                                 (i + 2 < n ? bytes[i + 2] : 0);

                *at++ = (uint8_t)digits[three >> 18];
                *at++ = (uint8_t)digits[three >> 12 & 63];
                *at++ = i + 1 < n ? (uint8_t)digits[three >> 6 & 63] : '=';
                *at++ = i + 2 < n ? (uint8_t)digits[three & 63] : '=';
                out->used_bytes += 4;
        }
}

/* ---- parts --------------------------------------------------------------------------------------------- */

struct packed_part {
        struct byte_buffer bytes; /* owned */
        uint32_t crc;
        int failed; /* -ENOMEM */
};

struct packed_parts {
        const uint8_t *bytes;
        size_t n_bytes, n_parts;
        struct packed_part *parts; /* heap */
        atomic_size_t
                next; /* the part that the next thread takes; joining the threads pairs with all of it */
};

/* A part of a stream: it ends at a byte, and the last one ends the stream. */
static int deflate_part(struct byte_buffer *out, const uint8_t *bytes, size_t n_bytes, bool is_last)
{
        z_stream z = { .next_in = bytes, .avail_in = (uInt)n_bytes };
        uint8_t *at;
        int r;

        if (deflateInit2(&z, LEVEL, Z_DEFLATED, RAW_WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
                return -ENOMEM;
        z.avail_out = (uInt)deflateBound(&z, (uLong)n_bytes) + 16; /* a flush is five bytes */
        at = byte_buffer_reserve(out, z.avail_out);
        z.next_out = at;
        r = at ? deflate(&z, is_last ? Z_FINISH : Z_FULL_FLUSH) : Z_MEM_ERROR;
        if (at)
                out->used_bytes += (size_t)(z.next_out - at);
        (void)deflateEnd(&z);
        return r == (is_last ? Z_STREAM_END : Z_OK) ? 0 : -ENOMEM;
}

static void *pack_parts(void *context)
{
        struct packed_parts *p = context;
        size_t i;

        while ((i = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed)) < p->n_parts) {
                size_t from = i * PART_BYTES,
                       n = p->n_bytes - from < PART_BYTES ? p->n_bytes - from : PART_BYTES;
                struct packed_part *part = &p->parts[i];

                part->crc = (uint32_t)crc32(0, p->bytes + from, (uInt)n);
                part->failed = deflate_part(&part->bytes, p->bytes + from, n, i + 1 == p->n_parts);
        }
        return NULL;
}

/* This thread works as well, alone if no other can be started. */
static void run_threads(struct packed_parts *p)
{
        long n_processors = sysconf(_SC_NPROCESSORS_ONLN);
        size_t n_wanted = n_processors > 1 ? (size_t)n_processors - 1 : 0, n = 0;
        pthread_t threads[THREADS_MAX];

        while (n < THREADS_MAX && n < n_wanted && n + 1 < p->n_parts &&
               pthread_create(&threads[n], NULL, pack_parts, p) == 0)
                n++;
        (void)pack_parts(p);
        for (size_t i = 0; i < n; i++)
                (void)pthread_join(threads[i], NULL);
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static int add_gzip(struct byte_buffer *out, struct packed_parts *p)
{
        /* gzip, deflate, no flags, no time, no extra flags, Unix */
        static const uint8_t head[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3 };
        uint32_t crc = 0;

        byte_buffer_add(out, head, sizeof(head));
        for (size_t i = 0; i < p->n_parts; i++) {
                const struct packed_part *part = &p->parts[i];
                size_t from = i * PART_BYTES,
                       n = p->n_bytes - from < PART_BYTES ? p->n_bytes - from : PART_BYTES;

                if (part->failed != 0)
                        return -ENOMEM;
                byte_buffer_add(out, part->bytes.data, part->bytes.used_bytes);
                crc = (uint32_t)crc32_combine(crc, part->crc, (z_off_t)n);
        }
        byte_buffer_add_u32(out, crc);
        byte_buffer_add_u32(out, (uint32_t)p->n_bytes);
        return out->failed ? -ENOMEM : 0;
}

int packed_text_add(struct byte_buffer *out, const void *bytes, size_t n_bytes)
{
        struct packed_parts p = { .bytes = bytes, .n_bytes = n_bytes, .n_parts = n_bytes / PART_BYTES + 1 };
        struct byte_buffer packed = { .data = NULL };
        int r = -ENOMEM;

        p.parts = calloc(p.n_parts, sizeof(*p.parts));
        if (p.parts) {
                run_threads(&p);
                r = add_gzip(&packed, &p);
        }
        for (size_t i = 0; p.parts && i < p.n_parts; i++)
                byte_buffer_deinit(&p.parts[i].bytes);
        free(p.parts);
        if (r == 0)
                add_base64(out, packed.data, packed.used_bytes);
        byte_buffer_deinit(&packed);
        return r < 0 || out->failed ? -ENOMEM : 0;
}

uint64_t packed_text_estimate(const void *bytes, size_t n_bytes)
{
        struct byte_buffer packed = { .data = NULL };
        size_t step = n_bytes / ESTIMATE_PARTS;
        uint64_t n_packed = 0, n = 0;

        if (step < ESTIMATE_BYTES)
                step = ESTIMATE_BYTES;
        for (size_t at = 0; at < n_bytes; at += step) {
                size_t part = n_bytes - at < ESTIMATE_BYTES ? n_bytes - at : ESTIMATE_BYTES;

                if (deflate_part(&packed, (const uint8_t *)bytes + at, part, true) < 0)
                        break;
                n += part;
                n_packed += packed.used_bytes;
                byte_buffer_clear(&packed);
        }
        byte_buffer_deinit(&packed);
        return n == 0 ? 0 : (uint64_t)((double)n_packed / (double)n * (double)n_bytes * 4 / 3);
}
