/* SPDX-License-Identifier: MIT */
/*
 * format/trace_version.h - the version of a trace's format, and how much of the trace this program does not
 * know
 *
 * Way of the data:  FILE chunk -> [trace_version] -> trace_reader, trace_follow -> people
 *
 * A newer minor version only adds what a reader can skip (docs/understand/trace-format.md, Versions).  This
 * struct counts skipped chunks; event_decoder counts skipped events.
 */
#ifndef FORMAT_TRACE_VERSION_H
#define FORMAT_TRACE_VERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

struct trace_version {
        uint16_t major, minor;
        uint64_t n_unknown_chunks; /* of kinds that this version does not know */
};

/*
 * trace_version_decode() - the body of a FILE chunk
 * @path:  for words
 * Returns 0, -EBADMSG, -ENOTSUP for another major version.
 */
int trace_version_decode(struct trace_version *ret, const uint8_t *body, size_t body_bytes, const char *path,
                         struct error *err);

/* Counts a chunk if its kind is not known.  Call it once for each chunk. */
void trace_version_count(struct trace_version *v, uint16_t chunk_kind);

/* Whether a newer hyprof wrote it. */
bool trace_version_is_newer(const struct trace_version *v);

#endif /* FORMAT_TRACE_VERSION_H */
