/* SPDX-License-Identifier: MIT */
/*
 * sampler/relay/relay_place.h - how far a trace that is taken goes, in a small file beside it
 *
 * Way of the data:  relay_intake -> [relay_place] -> a later relay_intake, which goes on there
 *
 * It speaks of one file: another one that has its name by then is left alone.
 */
#ifndef SAMPLER_RELAY_RELAY_PLACE_H
#define SAMPLER_RELAY_RELAY_PLACE_H

#include <stdint.h>

struct error;

#define RELAY_PLACE_BYTES  64
#define RELAY_PLACE_ENDING ".taking" /* of the name of the small file */

struct relay_place {
        uint64_t recording;
        uint32_t generation;
        uint32_t n_loss_rows; /* in the file, and how many of them are ours */
        uint32_t n_own_rows;
        uint32_t reopens;    /* 1 = after a gap: the next STATES chunk says what is open */
        uint64_t position;   /* in the recorder's stream */
        uint64_t file_bytes; /* the file's length then */
        uint64_t file_id;    /* of relay_place_identify() */
};

/* A number of the open file, which a file in its place does not have. */
uint64_t relay_place_identify(int file_fd);

/*
 * relay_place_read() - from the small file; both descriptors are borrowed
 * Returns 1 if the trace can be gone on with; 0 if no chunk of it has come; -ENODATA: it is shorter now;
 * -ESTALE: the trace is another file; -EBADMSG: there is no place.
 */
int relay_place_read(int place_fd, int file_fd, struct relay_place *ret);

/* Over the one before.  Returns 0 or -errno. */
int relay_place_write(int place_fd, const struct relay_place *place, struct error *err);

/* Returns 0, or -EBADMSG if the bytes are no place. */
int relay_place_decode(const uint8_t bytes[RELAY_PLACE_BYTES], struct relay_place *ret);

#endif /* SAMPLER_RELAY_RELAY_PLACE_H */
