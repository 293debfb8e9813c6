/* SPDX-License-Identifier: MIT */
#include "format/trace_version.h"

#include "base/bytes.h"
#include "base/error.h"
#include "format/trace_schema.h"
#include "format/trace_spec.h"

#include <errno.h>

int trace_version_decode(struct trace_version *ret, const uint8_t *body, size_t body_bytes, const char *path,
                         struct error *err)
{
        struct byte_reader in = byte_reader_of(body, body_bytes);
        uint16_t major = bytes_u16(&in);
        uint16_t minor = bytes_u16(&in);

        if (in.short_read)
                return error_set(err, -EBADMSG, "%s: not a hyprof trace", path);
        if (major != TRACE_VERSION_MAJOR)
                return error_set(err, -ENOTSUP, "%s: trace version %u.%u, this hyprof reads version %d", path,
                                 major, minor, TRACE_VERSION_MAJOR);
        *ret = (struct trace_version){ .major = major, .minor = minor };
        return 0;
}

static bool is_known_kind(uint16_t kind)
{
        switch (kind) {
#define X(id, name) case (id):
                TRACE_CHUNK_KINDS(X)
#undef X
                return true;
        default:
                return trace_schema_find(kind) != NULL;
        }
}

void trace_version_count(struct trace_version *v, uint16_t chunk_kind)
{
        v->n_unknown_chunks += !is_known_kind(chunk_kind);
}

bool trace_version_is_newer(const struct trace_version *v)
{
        return v->minor > TRACE_VERSION_MINOR;
}
