/* SPDX-License-Identifier: MIT */
#include "import/perf/perf_unpack.h"

#include "base/bytes.h"
#include "import/perf/perf_entry.h"

#include <errno.h>
#include <string.h>
#include <zstd.h>

#define STEP_BYTES     ((size_t)128 << 10)
#define WINDOW_LOG_MAX 27 /* 128 MiB, zstd's own limit */

void perf_unpack_deinit(struct perf_unpack *u)
{
        (void)ZSTD_freeDCtx(u->stream);
        byte_buffer_deinit(&u->bytes);
        *u = (struct perf_unpack){ .stream = NULL };
}

int perf_unpack_add(struct perf_unpack *u, const struct perf_raw_record *record)
{
        struct byte_reader in = byte_reader_of(record->body, record->n_bytes);

        if (!u->stream) {
                u->stream = ZSTD_createDCtx();
                if (!u->stream)
                        return -ENOMEM;
                (void)ZSTD_DCtx_setParameter(u->stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
        }
        u->packed = record->body;
        u->n_packed = record->n_bytes;
        u->at = record->at;
        if (record->type == PERF_ENTRY_COMPRESSED2) { /* padded: it says its length itself */
                uint64_t n_bytes = bytes_u64(&in);

                u->packed = in.at;
                u->n_packed = n_bytes < in.left ? (size_t)n_bytes : in.left;
        }
        return 0;
}

/* Returns 1 if there are more bytes than before. */
static int unpack_some(struct perf_unpack *u)
{
        ZSTD_inBuffer from = { u->packed, u->n_packed, 0 };
        ZSTD_outBuffer to = { .size = STEP_BYTES };
        size_t r;

        if (u->n_taken > 0) {
                memmove(u->bytes.data, u->bytes.data + u->n_taken, u->bytes.used_bytes - u->n_taken);
                u->bytes.used_bytes -= u->n_taken;
                u->n_taken = 0;
        }
        to.dst = byte_buffer_reserve(&u->bytes, STEP_BYTES);
        if (!to.dst)
                return -ENOMEM;
        r = ZSTD_decompressStream(u->stream, &to, &from);
        u->packed += from.pos;
        u->n_packed -= from.pos;
        u->bytes.used_bytes += to.pos;
        if (ZSTD_isError(r))
                return -EBADMSG;
        return to.pos > 0 || from.pos > 0;
}

int perf_unpack_next(struct perf_unpack *u, struct perf_raw_record *ret_record)
{
        for (;;) {
                struct byte_reader in = byte_reader_of(NULL, 0);
                uint16_t n_bytes;
                int r;

                if (u->bytes.used_bytes > u->n_taken)
                        in = byte_reader_of(u->bytes.data + u->n_taken, u->bytes.used_bytes - u->n_taken);
                *ret_record = (struct perf_raw_record){ .type = bytes_u32(&in), .at = u->at };
                ret_record->misc = bytes_u16(&in);
                n_bytes = bytes_u16(&in);
                if (!in.short_read && n_bytes < 8)
                        return -EBADMSG;
                if (!in.short_read && n_bytes - 8U <= in.left) {
                        ret_record->body = in.at;
                        ret_record->n_bytes = n_bytes - 8U;
                        u->n_taken += n_bytes;
                        return 1;
                }
                r = unpack_some(u);
                if (r <= 0)
                        return r;
        }
}
