/* SPDX-License-Identifier: MIT */
/*
 * sampler/relay/relay_server.h - between the recorder and its takers: takes every chunk at once, gives them
 * on as fast as a taker takes them
 *
 * Way of the data:  trace_writer -> pipe -> [relay_server] (relay_shelf) -> socket -> relay_intake
 *
 * The recorder never waits for a taker: what does not fit is dropped and counted.  It has one taker at a
 * time; it refuses others, and takers of other users, and tells them why.  Runs in a process of its own,
 * see relay_process.h; what a taker sends is hostile: forty bytes, and then positions and questions.
 */
#ifndef SAMPLER_RELAY_RELAY_SERVER_H
#define SAMPLER_RELAY_RELAY_SERVER_H

#include "format/trace_chunk.h"
#include "format/trace_spec.h"
#include "sampler/relay/relay_wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sockaddr_in;

/*
 * sampler/relay/relay_shelf.c - the chunks of a recording that wait for a taker
 *
 * Way of the data:  relay_server (from the recorder's pipe) -> [relay_shelf] -> relay_server (to the taker)
 *
 * With a file, each chunk is written to it and read from there: nothing is ever dropped.  Without one they
 * are in memory: chunks of events are bounded, tables and attachments stay, since later events refer to
 * them.
 *
 * Chunks of events are dropped in stretches that end before a STATES chunk: from it a taker knows what is
 * open there.  Chunks that a taker has stay for a taker that begins anew, and are freed likewise, in
 * stretches.
 */

enum shelf_state { SHELF_WAITS, SHELF_DROPPED, SHELF_TAKEN };

struct shelf_chunk {
        uint64_t at;    /* position of its header */
        uint8_t *bytes; /* heap, owned; NULL = in the file, or gone */
        uint64_t first_ns, last_ns;
        uint32_t n_bytes; /* with its header */
        uint32_t n_items; /* events; 0 of other kinds */
        uint16_t kind;
        uint8_t state; /* enum shelf_state */
        bool is_in_file;
};

struct relay_shelf {
        int file_fd; /* borrowed; -1 = in memory */
        uint64_t bytes_max;
        bool drops_newest;          /* else the oldest */
        struct shelf_chunk *chunks; /* heap, owned; in order */
        size_t n_chunks, capacity;
        uint64_t end;                /* position after the last chunk */
        uint64_t used_bytes;         /* of events in memory */
        bool skips;                  /* events are dropped until the next STATES chunk */
        bool is_complete;            /* the INDEX chunk is there */
        uint64_t n_dropped;          /* events, all together */
        uint64_t told_from, told_to; /* set by the shelf's user: no chunks are merged between these */
        /* -errno of a failed write: from then on chunks are in memory; 0 = none */
        int file_error;
};

void relay_shelf_init(struct relay_shelf *s, int file_fd, uint64_t bytes_max, bool drops_newest);
void relay_shelf_deinit(struct relay_shelf *s);

/*
 * relay_shelf_add() - the next chunk
 * @bytes:     heap; taken over, also on failure
 * @pinned:    chunks before this position are on their way to a taker that is connected: they are not
 * dropped Returns 0 or -ENOMEM.
 */
int relay_shelf_add(struct relay_shelf *s, const struct trace_chunk_header *header, uint8_t *bytes,
                    uint32_t n_bytes, uint64_t pinned);

/* A taker has written everything before @position. */
void relay_shelf_take(struct relay_shelf *s, uint64_t position);

/* The first chunk that begins at this position or later; n_chunks = there is none. */
size_t relay_shelf_find(const struct relay_shelf *s, uint64_t position);

/* Whether the chunk is there to be sent. */
static inline bool shelf_chunk_is_there(const struct shelf_chunk *c)
{
        return c->bytes || c->is_in_file;
}

/* Counts events from @position on that no taker has. */
uint64_t relay_shelf_count_waiting(const struct relay_shelf *s, uint64_t position);

/* ------------------------------------------------------------------ the server */

#define RELAY_STRANGERS_MAX 4 /* connections that have not said who they are */

enum relay_news {
        RELAY_TAKER_CAME,
        RELAY_GOES_ON, /* the recorder is done, and a taker still takes */
        RELAY_ENDED
};

/* A report of the relay's process to the recorder's. */
struct relay_report {
        uint32_t news;        /* enum relay_news */
        uint32_t n_takers;    /* that connected so far */
        uint32_t n_refused;   /* connections of other users, with garbage, or beyond the limit */
        int32_t file_error;   /* -errno of the file; 0 = none */
        uint64_t sent_bytes;  /* on the wire */
        uint64_t n_dropped;   /* events for which there was no room */
        uint64_t n_waiting;   /* events that no taker has: they were not sent, or not whole */
        uint64_t n_unsure;    /* events that were sent, and not confirmed: a taker may have them */
        uint32_t is_complete; /* a taker has the last chunk, or the file has */
        uint32_t reserved;
};

/* A connection whose hello has not come completely. */
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
         * Positions: of the next chunk; up to which all was sent, and up to which the taker has all; the
         * end of the last chunk that was sent, and of the furthest.
         */
        uint64_t next_at, whole_at, acked, last_end, sent_to;
        uint8_t ack[RELAY_ACK_BYTES];
        size_t n_ack;
        struct relay_gap gap; /* since the last chunk that was sent */
        bool needs_states, has_gap;
        struct relay_time time; /* the last question, which is answered next */
        bool has_question;
        bool sends_time;    /* `out` is an answer: it is no progress */
        const uint8_t *out; /* what is being sent */
        size_t out_left;
        uint8_t *own; /* heap: memory for `out`, or NULL */
        uint64_t progress_ns;
        uint64_t told_ns; /* when the recorder last heard of progress */

        struct trace_chunk_header header; /* of the chunk that comes in */
        uint8_t header_bytes[TRACE_CHUNK_HEADER_BYTES];
        uint8_t *in; /* heap: with its header */
        size_t n_in;
        bool input_ended, quits;
        struct relay_report report;
};

/*
 * Runs until a taker has everything, or the recorder orders it to stop.  Returns 0 or -errno: it cannot go
 * on.
 */
int relay_server_run(struct relay_server *s);

/*
 * Parts of it, for tests: they take what a taker sent.  Return 0, or -EBADMSG: the connection is to be
 * closed.  A taker that goes on with its file replaces the one that is connected: the other end of that one
 * may be long dead.
 */
int relay_server_take_hello(struct relay_server *s, const uint8_t bytes[RELAY_HELLO_BYTES],
                            struct relay_hello *ret_answer);
int relay_server_take_acks(struct relay_server *s, const uint8_t *bytes, size_t n_bytes);

/*
 * Chooses what is sent next: `out`.  Returns 1, 0 when there is nothing now, -ENOMEM, -errno of the
 * file.
 */
int relay_server_choose(struct relay_server *s);

/*
 * sampler/relay/relay_peer.c - finds the user at the other end of a connection within this machine
 *
 * Way of the data:  relay_server (a connection), /proc/net/tcp -> [relay_peer] -> relay_server
 */

/*
 * relay_peer_find_user() - the user at the other end of a connected socket
 * @tcp_fd:  /proc/net/tcp, for a connection to a port; borrowed
 * Returns 0; -ENOENT if no process has the other end any more; -ENOMEM, -errno.
 */
int relay_peer_find_user(int fd, int tcp_fd, uint32_t *ret_uid);

/* The same, for tests, for the connection from @peer to @own. */
int relay_peer_find_tcp_user(int tcp_fd, const struct sockaddr_in *peer, const struct sockaddr_in *own,
                             uint32_t *ret_uid);

#endif /* SAMPLER_RELAY_RELAY_SERVER_H */
