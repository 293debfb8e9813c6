/* SPDX-License-Identifier: MIT */
#include "export/shared/export_stream.h"

#include "base/error.h"

#include <errno.h>

#define HELD_BACK_BYTES (UINT32_C(1) << 18)

void export_stream_init(struct export_stream *s, FILE *out)
{
        *s = (struct export_stream){ .out = out };
}

void export_stream_deinit(struct export_stream *s)
{
        byte_buffer_deinit(&s->buffer);
        *s = (struct export_stream){ .out = NULL };
}

static void flush_all(struct export_stream *s)
{
        size_t n_bytes = s->buffer.used_bytes;

        if (s->buffer.failed && s->code == 0)
                s->code = -ENOMEM;
        if (s->code == 0 && n_bytes != 0 && s->out && fwrite(s->buffer.data, 1, n_bytes, s->out) != n_bytes)
                s->code = -EIO;
        if (s->code == 0)
                s->n_bytes += n_bytes;
        byte_buffer_clear(&s->buffer);
}

int export_stream_flush_some(struct export_stream *s)
{
        if (s->buffer.failed || s->buffer.used_bytes >= HELD_BACK_BYTES)
                flush_all(s);
        return s->code;
}

int export_stream_finish(struct export_stream *s, struct error *err)
{
        flush_all(s);
        if (s->code == 0 && s->out && fflush(s->out) != 0)
                s->code = -EIO;
        if (s->code == -ENOMEM)
                return error_set(err, -ENOMEM, "not enough memory for the output");
        if (s->code < 0)
                return error_set(err, s->code, "the output cannot be written");
        return 0;
}
