/* SPDX-License-Identifier: MIT */
/*
 * sampler/relay/relay_server.h - between the recorder and its takers: takes every chunk at once, gives them
 * on as fast as a taker takes them
 *
 * Way of the data:  trace_writer -> pipe -> [relay_server] (relay_shelf) -> socket -> relay_intake
 *
 * The recorder never waits for a taker: what does not fit is dropped and counted.  One taker at a time;
 * others are told so, and so are those of other users.  Runs in a process of its own, see relay_process.h;
 * what a taker sends is hostile: forty bytes, and then positions.
 */
#ifndef SAMPLER_RELAY_RELAY_SERVER_H
#define SAMPLER_RELAY_RELAY_SERVER_H

#include "format/trace_chunk.h"
#include "format/trace_spec.h"
#include "sampler/relay/relay_shelf.h"
#include "sampler/relay/relay_wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RELAY_STRANGERS_MAX 4 /* connections that have not said who they are */

enum relay_news {
        RELAY_TAKER_CAME,
        RELAY_GOES_ON, /* the recorder is done, and a taker takes */
        RELAY_ENDED
};

/* A report of the relay's process to the recorder's. */
struct relay_report {
        uint32_t news;        /* enum relay_news */
        uint32_t n_takers;    /* that connected so far */
        uint32_t n_refused;   /* connections of other users, with garbage, or one too many */
        int32_t file_error;   /* -errno of the file; 0 = none */
        uint64_t sent_bytes;  /* on the wire */
        uint64_t n_dropped;   /* events for which there was no room */
        uint64_t n_waiting;   /* events that no taker has: they were not sent, or not whole */
        uint64_t n_unsure;    /* events that were sent, and not confirmed: a taker may have them */
        uint32_t is_complete; /* the last chunk has been taken, or is in the file */
        uint32_t reserved;
};

/* A connection that has not said all of its hello. */
struct relay_stranger {
        int fd;
        size_t n_bytes;
        uint64_t until_ns;
        uint8_t bytes[RELAY_HELLO_BYTES];
};

struct relay_server {
        struct relay_shelf shelf;
        uint64_t recording;
        uint32_t generation;
        uint32_t uid;                                /* whose takers are heard, beside root */
        int control_fd, input_fd, listen_fd, tcp_fd; /* tcp_fd: /proc/net/tcp, or -1 for a path */
        struct relay_stranger strangers[RELAY_STRANGERS_MAX];
        size_t n_strangers;

        int taker_fd; /* -1 = none is connected */
        /*
         * Positions: of the next chunk; before which all is sent; is taken; the end of the last and
         * the furthest.
         */
        uint64_t next_at, whole_at, acked, last_end, sent_to;
        uint8_t ack[RELAY_ACK_BYTES];
        size_t n_ack;
        struct relay_gap gap; /* since the last chunk that was sent */
        bool needs_states, has_gap;
        const uint8_t *out; /* what is being sent */
        size_t out_left;
        uint8_t *own; /* heap: `out` is in it, or it is NULL */
        uint64_t progress_ns;
        uint64_t told_ns; /* when the recorder last heard of progress */

        struct trace_chunk_header header; /* of the chunk that comes in */
        uint8_t header_bytes[TRACE_CHUNK_HEADER_BYTES];
        uint8_t *in; /* heap: with its header */
        size_t n_in;
        bool input_ended, quits;
        struct relay_report report;
};

/* Until all is taken, or the recorder says so.  Returns 0 or -errno: it cannot go on. */
int relay_server_run(struct relay_server *s);

/*
 * Parts of it, for tests: what a taker sent.  Return 0, or -EBADMSG: the connection is to be closed.  A taker
 * that goes on with its file replaces the one that is connected: the other end of that one may be long dead.
 */
int relay_server_take_hello(struct relay_server *s, const uint8_t bytes[RELAY_HELLO_BYTES],
                            struct relay_hello *ret_answer);
int relay_server_take_acks(struct relay_server *s, const uint8_t *bytes, size_t n_bytes);

/*
 * Chooses what is sent next: `out`.  Returns 1, 0 when there is nothing now, -ENOMEM, -errno of the
 * file.
 */
int relay_server_choose(struct relay_server *s);

#endif /* SAMPLER_RELAY_RELAY_SERVER_H */
