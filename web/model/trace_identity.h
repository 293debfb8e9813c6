/* SPDX-License-Identifier: MIT */
/*
 * web/model/trace_identity.h - whether a file is still the one that was opened: a trace may be replaced
 * while it is viewed
 *
 * Way of the data:  stat(2) -> [trace_identity] -> view_front, http_server
 */
#ifndef WEB_MODEL_TRACE_IDENTITY_H
#define WEB_MODEL_TRACE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

struct trace_identity {
        uint64_t device, inode, size_bytes;
        int64_t modified_s, modified_ns;
        bool grows;       /* set by a caller that follows the file: a larger one is still the same */
        bool is_replaced; /* likewise: its writer will replace the file; the new one is the same trace */
};

/* Reads that of an open file.  Returns 0 or -errno. */
int trace_identity_read(struct trace_identity *ret, int fd);

/* Whether @path leads to the same file with the same contents, as far as its size and time say. */
bool trace_identity_is_at(const struct trace_identity *identity, const char *path);

/* The same for an open file, which also has to have a name still. */
bool trace_identity_is_open(const struct trace_identity *identity, int fd);

#endif /* WEB_MODEL_TRACE_IDENTITY_H */
