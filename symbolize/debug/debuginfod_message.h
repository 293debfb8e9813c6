/* SPDX-License-Identifier: MIT */
/*
 * symbolize/debug/debuginfod_message.h - the child that fetches files, and what it tells its parent
 *
 * Way of the data:  debuginfod servers -> debuginfod_client.c -> [debuginfod_message] -> debuginfod_fetch
 *
 * The child works on what a network sends, so its words are checked as foreign ones.
 */
#ifndef SYMBOLIZE_DEBUG_DEBUGINFOD_MESSAGE_H
#define SYMBOLIZE_DEBUG_DEBUGINFOD_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#define DEBUGINFOD_PATH_BYTES_MAX 4096

struct byte_buffer;
struct byte_reader;
struct debuginfod_options;
struct debuginfod_request;

enum debuginfod_message_kind {
        DEBUGINFOD_MESSAGE_PROGRESS = 1, /* `got_bytes` of `total_bytes` */
        DEBUGINFOD_MESSAGE_RESULT = 2,   /* `state`, `code`, `path` */
        DEBUGINFOD_MESSAGE_END = 3,      /* `code` that it ended with */
};

struct debuginfod_message {
        uint32_t kind;
        uint32_t request;
        uint32_t state;
        int32_t code;
        uint64_t got_bytes, total_bytes;
        uint32_t path_bytes;
        const uint8_t *path; /* not terminated; borrowed from the message */
};

void debuginfod_message_encode(struct byte_buffer *out, const struct debuginfod_message *message);

/* Returns 1, 0 if more bytes are needed (the reader is moved by whole messages only), -EBADMSG. */
int debuginfod_message_decode(struct byte_reader *in, struct debuginfod_message *ret_message);

/* All that the child does; it reports through @pipe_fd in messages.  Returns its exit status. */
int debuginfod_client_main(const struct debuginfod_request *requests, size_t n_requests,
                           const struct debuginfod_options *options, int pipe_fd);

#endif /* SYMBOLIZE_DEBUG_DEBUGINFOD_MESSAGE_H */
