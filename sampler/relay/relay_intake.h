/* SPDX-License-Identifier: MIT */
/*
 * sampler/relay/relay_intake.h - a trace that comes over a connection, into a file
 *
 * Way of the data:  relay_server -> socket -> [relay_intake] -> trace_writer -> file
 *                   [relay_intake] -> a small file beside it -> a later relay_intake, which goes on there
 *
 * Every chunk is checked before it is written.  Chunks that the recorder does not have any more become rows
 * of LOSSES, and what is open after them becomes events, so that the file is an ordinary trace.  Beside it
 * lies a small file that says how much of the trace it has: a taker that is killed at any moment leaves
 * both, and the next one goes on.  The other side may send anything.
 */
#ifndef SAMPLER_RELAY_RELAY_INTAKE_H
#define SAMPLER_RELAY_RELAY_INTAKE_H

#include "base/byte_buffer.h"
#include "sampler/relay/relay_exchange.h"
#include "sampler/relay/relay_wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct trace_chunk_header;
struct trace_writer;

#define RELAY_PLACE_BYTES  64
#define RELAY_PLACE_ENDING ".taking" /* of the name of the small file */

/*
 * How much of a trace was taken, as noted in a small file beside it.  The note holds for one file: another
 * file that has its name by then is left alone.
 */
struct relay_place {
        uint64_t recording;
        uint32_t generation;
        uint32_t n_loss_rows; /* in the file, and how many of these the taker wrote */
        uint32_t n_own_rows;
        uint32_t reopens;    /* 1 = after a gap: the next STATES chunk says what is open */
        uint64_t position;   /* in the recorder's stream */
        uint64_t file_bytes; /* the file's length then */
        uint64_t file_id;    /* of relay_place_identify() */
};

struct relay_intake {
        int socket_fd, file_fd, place_fd; /* borrowed */
        struct relay_place place;
        struct trace_writer *writer;
        struct byte_buffer in, raw, body; /* the chunk that comes; scratch */
        uint64_t *zones;                  /* heap, owned: the open zones of one thread; scratch */
        struct relay_gap gap;             /* the announced gap: STATES or the end follow */
        bool has_gap;
        bool is_resumed, is_complete;
        bool is_unheard; /* the other side reads no positions any more; what it sent can still be read */
        uint64_t n_dropped, n_taken; /* events that are not in the file */
        uint64_t wire_bytes, n_chunks;
        struct relay_exchange exchange;
        uint32_t n_exchange_rows; /* in the file */
        uint64_t came_ns;         /* when the header of the chunk came */
};

/*
 * relay_intake_ask() - tells the recorder how much of its trace there is
 * @place:  of the file to go on with; recording 0 = a new file
 * Returns 0 or -errno.
 */
int relay_intake_ask(int socket_fd, const struct relay_place *place, struct error *err);

/*
 * relay_intake_begin() - after relay_intake_ask(), with the same place: learns from where on the trace
 * comes
 * Returns 0; -EBUSY: another taker is connected; -ESTALE: the file is of another recording, or another
 * taker has gone on with it; -EACCES: the recorder refuses this user; -EUSERS: too many connections to it;
 * -EBADMSG, -EPIPE, -errno.
 */
int relay_intake_begin(struct relay_intake *t, int socket_fd, int file_fd, int place_fd,
                       const struct relay_place *place, struct error *err);

/*
 * relay_intake_measure() - after relay_intake_begin(): asks for the recorder's clock as well, if it answers
 * @taker:  the boot of this machine, by whose clock the recorder's is placed; unknown = nothing is asked
 */
void relay_intake_measure(struct relay_intake *t, struct boot_number taker);

/*
 * relay_intake_next() - takes one chunk
 * Returns 1; 0 if it was the last; -EPIPE if the trace was cut off, -EBADMSG, -errno of the file, -ENOMEM.
 */
int relay_intake_next(struct relay_intake *t, struct error *err);
void relay_intake_deinit(struct relay_intake *t);

/* ------------------------------------------------------------------ how far it goes */

/* A number of the open file; another file in its place has another number. */
uint64_t relay_place_identify(int file_fd);

/*
 * relay_place_read() - reads the small file; both descriptors are borrowed
 * Returns 1 if the taker can go on with the trace; 0 if no chunk of it has come; -ENODATA: the trace is
 * shorter now; -ESTALE: it is another file; -EBADMSG: the small file has no place.
 */
int relay_place_read(int place_fd, int file_fd, struct relay_place *ret);

/* Overwrites the place before.  Returns 0 or -errno. */
int relay_place_write(int place_fd, const struct relay_place *place, struct error *err);

/* Returns 0, or -EBADMSG if the bytes are no place. */
int relay_place_decode(const uint8_t bytes[RELAY_PLACE_BYTES], struct relay_place *ret);

#endif /* SAMPLER_RELAY_RELAY_INTAKE_H */
